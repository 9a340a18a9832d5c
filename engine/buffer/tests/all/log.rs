//! The log by itself: order, restart, damage, bounds, full disks, sparse giants, and random histories against
//! a model.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use temblor_buffer::holdings::SET_ASIDE_MAX;
use temblor_buffer::log::{Durability, Log, OpenError, Refused, Settings};
use temblor_buffer::reader::{Item, Loss, Reader};
use temblor_buffer::seal::Key;
use temblor_buffer::segment;
use temblor_testing::Folder;

const SOON: Duration = Duration::from_millis(1);

fn settings(bytes_max: u64) -> Settings {
    let (reserve_bytes, compresses, durability, key) = (0, false, Durability::System, None);
    Settings { bytes_max, reserve_bytes, compresses, durability, key }
}

fn open(folder: &Path, settings: Settings) -> (Arc<Log>, Reader) {
    let log = Log::open(folder, settings, Arc::default()).expect("it can be opened");
    (Arc::clone(&log), Reader::new(log))
}

fn take(log: &Log, body: &str) -> u64 {
    log.append(body.as_bytes(), 1).expect("there is room")
}

/// All that can be read now: bodies and losses, and the numbers of the bodies.
fn read_all(reader: &mut Reader) -> (Vec<String>, Vec<Loss>, Vec<u64>) {
    let (mut bodies, mut losses, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        match reader.next_now() {
            Item::Record(record) => {
                bodies.push(String::from_utf8(record.body).expect("the test wrote text"));
                numbers.push(record.sequence);
            }
            Item::Lost(loss) => losses.push(loss),
            Item::Nothing | Item::End => return (bodies, losses, numbers),
        }
    }
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path());
    let mut found: Vec<_> = names.filter(|path| segment::first_of(path).is_some()).collect();
    found.sort();
    found
}

fn set_aside(folder: &Path) -> usize {
    let names = fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path());
    names.filter(|path| segment::is_set_aside(path)).count()
}

#[test]
fn what_goes_in_comes_out_in_order_and_what_is_not_settled_comes_again() {
    let folder = Folder::new();
    {
        let (log, mut reader) = open(folder.path(), settings(1 << 20));
        for index in 0..10 {
            take(&log, &index.to_string());
        }
        let (bodies, _, numbers) = read_all(&mut reader);
        assert_eq!(bodies, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        // All but the fourth: the mark stays there.
        numbers.iter().filter(|number| **number != 3).for_each(|number| log.settle(*number, true));
        assert_eq!(log.fill().records, 7);
    }
    let (log, mut reader) = open(folder.path(), settings(1 << 20));
    take(&log, "new");
    let (bodies, losses, numbers) = read_all(&mut reader);
    assert_eq!(bodies, ["3", "4", "5", "6", "7", "8", "9", "new"]);
    assert_eq!(losses, []);
    numbers.iter().for_each(|number| log.settle(*number, true));
    assert!(log.is_drained());
    let again = Log::open(folder.path(), settings(1 << 20), Arc::default());
    assert!(matches!(again, Err(OpenError::InUse)));
}

#[test]
fn what_fails_comes_again_before_anything_new() {
    let folder = Folder::new();
    let (log, mut reader) = open(folder.path(), settings(1 << 20));
    ["a", "b", "c"].iter().for_each(|body| {
        take(&log, body);
    });
    let (_, _, numbers) = read_all(&mut reader);
    log.settle(numbers[1], false);
    log.settle(numbers[0], false);
    log.settle(numbers[2], true);
    take(&log, "d");
    assert_eq!(reader.next_now(), Item::Nothing, "there is a pause after a failure");
    let mut bodies = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(10);
    while bodies.len() < 3 && Instant::now() < deadline {
        if let Item::Record(record) = reader.next(Duration::from_millis(50)) {
            log.settle(record.sequence, true);
            bodies.push(record.body);
        }
    }
    assert_eq!(bodies, [b"a", b"b", b"d"]);
    assert!(log.is_drained());
}

#[test]
fn it_is_bounded_and_has_room_again_when_segments_are_settled() {
    let folder = Folder::new();
    let (log, mut reader) = open(folder.path(), settings(64 << 10));
    let body = "x".repeat(1000);
    let mut taken = 0;
    while log.append(body.as_bytes(), 1).is_ok() {
        taken += 1;
    }
    assert!((50..64).contains(&taken), "{taken}");
    let on_disk: u64 =
        segments(folder.path()).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(on_disk <= 64 << 10 && on_disk == log.fill().bytes, "{on_disk}");
    let (bodies, _, numbers) = read_all(&mut reader);
    assert_eq!(bodies.len(), taken);
    assert!(
        matches!(log.append(body.as_bytes(), 1), Err(Refused::Full)),
        "what is under way takes room"
    );
    numbers[..taken / 2].iter().for_each(|number| log.settle(*number, true));
    take(&log, &body);
    numbers.iter().for_each(|number| log.settle(*number, true));
    // However long it runs, only what is not settled takes room.
    for _ in 0..1000 {
        take(&log, &body);
        let (_, _, numbers) = read_all(&mut reader);
        numbers.iter().for_each(|number| log.settle(*number, true));
        assert!(log.fill().bytes <= 64 << 10);
    }
}

#[test]
fn a_run_has_the_room_that_an_earlier_one_left_settled() {
    let folder = Folder::new();
    let body = "x".repeat(40_000);
    {
        let (log, mut reader) = open(folder.path(), settings(64 << 10));
        take(&log, &body);
        let numbers = read_all(&mut reader).2;
        assert!(matches!(log.append(body.as_bytes(), 1), Err(Refused::Full)));
        numbers.iter().for_each(|number| log.settle(*number, true));
    }
    let (log, mut reader) = open(folder.path(), settings(64 << 10));
    take(&log, &body);
    assert_eq!(read_all(&mut reader).0, [body]);
}

#[test]
fn the_oldest_segment_can_be_given_up_and_its_events_are_counted() {
    let folder = Folder::new();
    let (log, mut reader) = open(folder.path(), settings(64 << 10));
    let mut index = 0;
    while log.append(format!("{index:01000}").as_bytes(), 2).is_ok() {
        index += 1;
    }
    let Item::Record(first) = reader.next_now() else { panic!("there is one") };
    let dropped = log.drop_oldest();
    let (bodies, losses, _) = read_all(&mut reader);
    assert_eq!(losses, []);
    assert_eq!(dropped / 2 + bodies.len() as u64 + 1, index, "dropped, read and under way are all");
    assert_eq!(bodies[0], format!("{:01000}", index as usize - bodies.len()));
    log.settle(first.sequence, true);
}

/// A buffer with three segments of ten records each.
fn three_segments(folder: &Path) -> Vec<PathBuf> {
    let (log, _) = open(folder, settings(80 << 10));
    for index in 0..30 {
        take(&log, &format!("{index:01000}"));
    }
    drop(log);
    let found = segments(folder);
    assert_eq!(found.len(), 3, "the test's sizes fit");
    found
}

#[test]
fn torn_and_flipped_records_are_passed_over_counted_and_set_aside() {
    let folder = Folder::new();
    let paths = three_segments(folder.path());
    // One byte of the body of the third record of the first segment, and the end of the last.
    let file = OpenOptions::new().write(true).open(&paths[0]).unwrap();
    file.write_all_at(b"?", segment::HEAD_BYTES + 2 * 1040 + 500).unwrap();
    let last = OpenOptions::new().write(true).open(&paths[2]).unwrap();
    last.set_len(fs::metadata(&paths[2]).unwrap().len() - 7).unwrap();
    let (log, mut reader) = open(folder.path(), settings(80 << 10));
    take(&log, "new");
    let (bodies, losses, numbers) = read_all(&mut reader);
    let mut wanted: Vec<_> =
        (0..29).filter(|index| *index != 2).map(|index| format!("{index:01000}")).collect();
    wanted.push("new".to_string());
    assert_eq!(bodies, wanted);
    assert_eq!(losses.len(), 2, "{losses:?}");
    assert_eq!(
        (losses[0].records, losses[0].bytes, losses[0].reason.as_str()),
        (1, 1040, "is damaged")
    );
    assert_eq!((losses[1].bytes, losses[1].reason.as_str()), (1033, "is no whole record"));
    numbers.iter().for_each(|number| log.settle(*number, true));
    take(&log, "next");
    assert_eq!(set_aside(folder.path()), 2);
    assert_eq!(read_all(&mut reader).0, ["next"]);
}

#[test]
fn a_whole_damaged_segment_is_set_aside_and_the_rest_goes_on() {
    for damage in ["garbage", "zeros", "head", "empty", "gone"] {
        let folder = Folder::new();
        let paths = three_segments(folder.path());
        let length = fs::metadata(&paths[1]).unwrap().len() as usize;
        let second: Vec<_> = (10..20).map(|index| format!("{index:01000}")).collect();
        let mut kept = Vec::new();
        match damage {
            "garbage" => fs::write(&paths[1], vec![0xb5; length]).unwrap(),
            "zeros" => fs::write(&paths[1], vec![0; length]).unwrap(),
            "empty" => fs::write(&paths[1], b"").unwrap(),
            "gone" => fs::remove_file(&paths[1]).unwrap(),
            _ => {
                // Without its head the records still tell by themselves.
                let file = OpenOptions::new().write(true).open(&paths[1]).unwrap();
                file.write_all_at(&[0; 64], 0).unwrap();
                kept = second;
            }
        }
        let (log, mut reader) = open(folder.path(), settings(80 << 10));
        let (bodies, losses, numbers) = read_all(&mut reader);
        let first = (0..10).map(|index| format!("{index:01000}"));
        let third = (20..30).map(|index| format!("{index:01000}"));
        let wanted: Vec<_> = first.chain(kept).chain(third).collect();
        assert_eq!(bodies, wanted, "{damage}");
        let is_told = matches!(damage, "garbage" | "zeros");
        assert_eq!(losses.len(), usize::from(is_told), "{damage}: {losses:?}");
        numbers.iter().for_each(|number| log.settle(*number, true));
        take(&log, "x");
        assert_eq!(set_aside(folder.path()), usize::from(is_told), "{damage}");
    }
}

#[test]
fn segments_that_are_set_aside_do_not_pile_up() {
    let folder = Folder::new();
    for _ in 0..SET_ASIDE_MAX + 4 {
        let (log, mut reader) = open(folder.path(), settings(80 << 10));
        take(&log, "body");
        let path = segments(folder.path()).pop().unwrap();
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(b"?", segment::HEAD_BYTES + 41).unwrap();
        let (bodies, losses, _) = read_all(&mut reader);
        assert_eq!((bodies.len(), losses.len()), (0, 1));
        drop((log, reader));
        // The next run finds it dealt with.
        let (log, mut reader) = open(folder.path(), settings(80 << 10));
        take(&log, "other");
        let numbers = read_all(&mut reader).2;
        numbers.iter().for_each(|number| log.settle(*number, true));
    }
    assert!(set_aside(folder.path()) <= SET_ASIDE_MAX);
}

#[test]
fn a_lost_mark_gives_everything_again_and_a_mark_beyond_the_end_nothing() {
    let folder = Folder::new();
    {
        let (log, mut reader) = open(folder.path(), settings(1 << 20));
        (0..5).for_each(|index| {
            take(&log, &index.to_string());
        });
        let numbers = read_all(&mut reader).2;
        numbers[..3].iter().for_each(|number| log.settle(*number, true));
    }
    fs::write(folder.file("mark"), b"garbage").unwrap();
    {
        let (log, mut reader) = open(folder.path(), settings(1 << 20));
        let (bodies, _, numbers) = read_all(&mut reader);
        assert_eq!(bodies, ["0", "1", "2", "3", "4"]);
        numbers.iter().for_each(|number| log.settle(*number, true));
    }
    // All segments are lost while the mark stays: numbers go on behind it.
    segments(folder.path()).iter().for_each(|path| fs::remove_file(path).unwrap());
    let (log, mut reader) = open(folder.path(), settings(1 << 20));
    assert_eq!(read_all(&mut reader).0, [""; 0]);
    assert!(take(&log, "new") >= 5);
    assert_eq!(read_all(&mut reader).0, ["new"]);
}

#[test]
fn sealed_and_compressed_buffers_are_read_with_their_key_only() {
    let folder = Folder::new();
    let text = "very secret, ".repeat(200);
    let key = |byte: u8| Some(Key::read(&[byte; 32]).expect("it has the length"));
    let with = |key| Settings { compresses: true, key, ..settings(1 << 20) };
    {
        let (log, _) = open(folder.path(), with(key(1)));
        take(&log, &text);
    }
    let stored = fs::read(&segments(folder.path())[0]).unwrap();
    assert!(stored.len() < 300, "{} bytes", stored.len());
    assert!(!stored.windows(11).any(|bytes| bytes == b"very secret"));
    {
        let (_log, mut reader) = open(folder.path(), with(key(1)));
        assert_eq!(read_all(&mut reader).0, [text.as_str()]);
    }
    for other in [key(2), None] {
        let copy = Folder::new();
        for path in segments(folder.path()) {
            fs::copy(&path, copy.file(&path.file_name().unwrap().to_string_lossy())).unwrap();
        }
        let (_log, mut reader) = open(copy.path(), with(other));
        let (bodies, losses, _) = read_all(&mut reader);
        assert_eq!(bodies, [""; 0]);
        assert_eq!(losses[0].reason, "was sealed with another key");
        assert_eq!(segments(copy.path()).len(), 1, "what cannot be opened is not removed");
    }
}

/// A file system of its own, of that size; nothing where the system does not let us make one.
struct Small(Folder);

impl Small {
    fn new(bytes: u64) -> Option<Self> {
        let folder = Folder::new();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(folder.path());
        let mounted = command.output().is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("skipped: no file system can be mounted here");
        }
        mounted.then_some(Self(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_takes_nothing_damages_nothing_and_goes_on_when_there_is_room() {
    let Some(disk) = Small::new(1 << 20) else { return };
    let folder = disk.0.path();
    let (log, mut reader) = open(folder, settings(1 << 30));
    let body = "y".repeat(10_000);
    let mut taken = 0;
    let error = loop {
        match log.append(body.as_bytes(), 1) {
            Ok(_) => taken += 1,
            Err(Refused::NoSpace(error)) => break error,
            Err(other) => panic!("{other:?}"),
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert!(taken > 50, "{taken}");
    assert!(matches!(log.append(body.as_bytes(), 1), Err(Refused::NoSpace(_))));
    let (bodies, losses, numbers) = read_all(&mut reader);
    assert_eq!((bodies.len(), losses.len()), (taken, 0));
    numbers.iter().for_each(|number| log.settle(*number, true));
    take(&log, &body);
    assert_eq!(read_all(&mut reader).0, [body]);
    drop((log, reader));
    // A reserve is kept for others.
    let (log, _) = open(folder, Settings { reserve_bytes: 2 << 20, ..settings(1 << 30) });
    let Err(Refused::NoSpace(error)) = log.append(b"z", 1) else { panic!("the reserve is gone") };
    assert!(
        error
            .to_string()
            .ends_with("bytes are free on the disk, and 2097152 must remain for others")
    );
}

#[test]
fn a_hundred_gigabytes_are_opened_at_once_and_with_little_memory() {
    const SEGMENTS: u64 = 1600;
    const BYTES: u64 = 64 << 20;
    let folder = Folder::new();
    {
        let (log, _) = open(folder.path(), settings(200 << 30));
        take(&log, "first");
    }
    // Each of the others has one record, and then nothing that was ever written.
    let template = fs::read(&segments(folder.path())[0]).unwrap();
    for index in 0..SEGMENTS {
        let file = File::create(segment::path(folder.path(), (index + 1) * 1000)).unwrap();
        file.write_all_at(&template, 0).unwrap();
        file.set_len(BYTES).unwrap();
    }
    let memory = || {
        let status = fs::read_to_string("/proc/self/statm").unwrap();
        status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    let (before, began) = (memory(), Instant::now());
    let (log, mut reader) = open(folder.path(), settings(200 << 30));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(log.fill().segments as u64, SEGMENTS + 1);
    assert!(log.fill().bytes > 100 << 30);
    let used = memory().saturating_sub(before);
    assert!(used < 16 << 20, "{used} bytes");
    // Their records have numbers that come before: only the first is what it says. All the rest is passed over.
    let began = Instant::now();
    let (bodies, losses, _) = read_all(&mut reader);
    assert_eq!((bodies.len(), losses.len() as u64), (1, SEGMENTS));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(memory().saturating_sub(before) < 16 << 20);
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Random histories of taking, reading, settling well and badly, restarts without a word, and torn ends: what was
/// taken is read, in order but for repeats, and nothing is lost that was settled by nobody.
#[test]
fn random_histories_lose_nothing() {
    for seed in 0..50 {
        let mut chance = Chance(seed);
        let folder = Folder::new();
        let compresses = chance.below(2) == 0;
        let sizes = Settings { compresses, ..settings(64 << 10) };
        let (mut log, mut reader) = open(folder.path(), sizes.clone());
        let (mut taken, mut settled) = (Vec::new(), std::collections::BTreeSet::new());
        let mut given: Vec<(u64, String)> = Vec::new();
        for _ in 0..600 {
            match chance.below(100) {
                0..45 => {
                    let length = chance.below(3000) as usize;
                    let body = format!("{}:{}", taken.len(), "z".repeat(length));
                    if log.append(body.as_bytes(), 1).is_ok() {
                        taken.push(body);
                    }
                }
                45..75 => match reader.next(SOON) {
                    Item::Record(record) => {
                        given.push((record.sequence, String::from_utf8(record.body).unwrap()));
                    }
                    Item::Lost(loss) => panic!("seed {seed}: {loss:?}"),
                    Item::Nothing | Item::End => {}
                },
                75..97 if !given.is_empty() => {
                    let index = chance.below(given.len() as u64) as usize;
                    let (number, body) = given.remove(index);
                    let good = chance.below(20) > 0;
                    log.settle(number, good);
                    if good {
                        settled.insert(body);
                    }
                }
                97 => {
                    drop((log, reader));
                    given.clear();
                    (log, reader) = open(folder.path(), sizes.clone());
                }
                _ => {}
            }
        }
        given.drain(..).for_each(|(number, _)| log.settle(number, false));
        let deadline = Instant::now() + Duration::from_secs(60);
        while !log.is_drained() {
            assert!(Instant::now() < deadline, "seed {seed} does not come to an end");
            if let Item::Record(record) = reader.next(Duration::from_millis(20)) {
                log.settle(record.sequence, true);
                settled.insert(String::from_utf8(record.body).unwrap());
            }
        }
        assert!(taken.iter().all(|body| settled.contains(body)), "seed {seed}: something is lost");
        assert_eq!(taken.len(), settled.len(), "seed {seed}: something was never taken");
    }
}
