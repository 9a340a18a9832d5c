//! Queues in front of sinks and behind sources, in memory and on disk, with peers that stall and die, and runs
//! that are killed at random moments.
//!
//! Invariant: a model knows what was acknowledged; what was acknowledged and never arrives is lost, and nothing may
//! be.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use temblor_testing::{Folder, Process, Ran, free_port, temblor, wait_for_listener, wait_until};

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What a peer does with a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    /// Takes it.
    Well = 0,
    /// Answers nothing, and keeps the connection.
    Stalls = 1,
    /// Takes it, and closes the connection without an answer.
    TakesAndDies = 2,
    /// Closes the connection in the middle of the request.
    Dies = 3,
}

/// An HTTP server of our own that has moods, and counts the lines that it took.
struct Peer {
    address: String,
    mood: Arc<AtomicU64>,
    taken: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Peer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it listens").to_string();
        let (mood, taken) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(BTreeMap::new())));
        let (moods, lines) = (Arc::clone(&mood), Arc::clone(&taken));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (moods, lines) = (Arc::clone(&moods), Arc::clone(&lines));
                std::thread::spawn(move || serve(stream, &moods, &lines));
            }
        });
        Self { address, mood, taken }
    }

    fn set(&self, mood: Mood) {
        self.mood.store(mood as u64, Ordering::Release);
    }

    fn count(&self) -> usize {
        self.taken.lock().expect("no test panics in it").len()
    }
}

fn serve(stream: TcpStream, mood: &AtomicU64, taken: &Mutex<BTreeMap<String, u64>>) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut chunked, mut line) = (0, false, String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let head = line.to_ascii_lowercase();
            if let Some(value) = head.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            chunked |= head.starts_with("transfer-encoding: chunked");
            if line == "\r\n" {
                break;
            }
        }
        assert!(!chunked, "the sink says how long its bodies are");
        if mood.load(Ordering::Acquire) == Mood::Dies as u64 {
            return None;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        while mood.load(Ordering::Acquire) == Mood::Stalls as u64 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let text = String::from_utf8(body).expect("the test sends text");
        for line in text.lines().filter(|line| !line.is_empty()) {
            *taken.lock().expect("no test panics in it").entry(line.to_string()).or_default() += 1;
        }
        if mood.load(Ordering::Acquire) == Mood::TakesAndDies as u64 {
            return None;
        }
        writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()?;
    }
}

fn rounds(default: u64) -> u64 {
    std::env::var("TEMBLOR_KILL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// What a run said that ended with this code.
fn failed(ran: Ran, code: i32) -> String {
    assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
    ran.err
}

const HTTP: &str = "buffer = \"disk\", buffer_bytes = \"1MiB\", timeout = \"300ms\"";

fn start(folder: &Folder, program: &str) -> Process {
    folder.write("p.tmb", program);
    temblor(["run", "-q", "p.tmb", "--state", "state"]).folder(folder.path()).start()
}

#[test]
fn nothing_is_lost_between_a_file_and_a_peer_that_stalls_and_dies_when_runs_are_killed() {
    const LINES: usize = 20_000;
    for seed in 0..rounds(2) {
        let (mut chance, peer, folder) = (Chance(seed), Peer::start(), Folder::new());
        let input: String =
            (0..LINES).map(|line| format!("{{\"seed\":{seed},\"line\":{line}}}\n")).collect();
        folder.write("in.log", &input);
        let program = format!(
            "source in from file \"in.log\" with follow = true, start = \"beginning\", every = \"50ms\" end;\n\
             sink out into http \"http://{}/\" with {HTTP} end;\nin |> out",
            peer.address
        );
        let mut process = start(&folder, &program);
        for _ in 0..12 {
            let mood = [Mood::Well, Mood::Stalls, Mood::TakesAndDies, Mood::Dies]
                [chance.below(4) as usize];
            peer.set(mood);
            std::thread::sleep(Duration::from_millis(chance.below(150)));
            if chance.below(3) > 0 {
                process.kill();
                process = start(&folder, &program);
            }
        }
        peer.set(Mood::Well);
        wait_until("everything has arrived", || peer.count() == LINES);
        // An earlier run may have sent the rest: the last one is to listen for signals before it gets one.
        let ready = || temblor(["ctl", "--state", "state", "ready"]).folder(folder.path()).run();
        wait_until("the last run runs", || ready().code == Some(0));
        let ran = process.terminate();
        assert_eq!(ran.code, Some(0), "requests that were sent again are no error: {}", ran.err);
        let taken = peer.taken.lock().unwrap();
        let lost = input.lines().filter(|line| !taken.contains_key(*line)).count();
        assert_eq!(lost, 0, "seed {seed}");
        assert_eq!(taken.len(), LINES, "seed {seed}: nothing arrived that was never sent");
    }
}

/// Sends lines one by one and counts what was answered with 200.
fn post(address: &str, line: &str) -> Option<bool> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let request = format!(
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{line}",
        line.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).ok()?;
    Some(answer.starts_with("HTTP/1.1 200"))
}

#[test]
fn a_source_with_a_buffer_answers_its_peer_while_the_sink_is_dead_and_loses_nothing_when_killed() {
    let (mut chance, peer, folder, port) = (Chance(7), Peer::start(), Folder::new(), free_port());
    let address = format!("127.0.0.1:{port}");
    // The sink has no buffer: it holds the program up, but not the source.
    let program = format!(
        "source in from http \"{address}\" with buffer = \"disk\", buffer_bytes = \"10MiB\" end;\n\
         sink out into http \"http://{}/\" with queue_bytes = 2000, timeout = \"300ms\" end;\n\
         in |> out",
        peer.address
    );
    peer.set(Mood::Dies);
    let mut process = start(&folder, &program);
    wait_for_listener(&address);
    let mut acknowledged = Vec::new();
    for line in 0..600 {
        let text = format!("{{\"line\":{line},\"text\":\"{}\"}}", "x".repeat(100));
        if post(&address, &text) == Some(true) {
            acknowledged.push(text);
        }
        if line % 100 == 99 {
            process.kill();
            process = start(&folder, &program);
            wait_for_listener(&address);
            peer.set([Mood::Dies, Mood::Well, Mood::Stalls][chance.below(3) as usize]);
        }
    }
    assert!(acknowledged.len() > 500, "{} of 600 were answered", acknowledged.len());
    peer.set(Mood::Well);
    wait_until("everything acknowledged has arrived", || {
        let taken = peer.taken.lock().unwrap();
        acknowledged.iter().all(|line| taken.contains_key(line))
    });
    process.terminate();
}

#[test]
fn a_sink_that_is_stuck_does_not_hold_up_a_file_beside_it() {
    const LINES: usize = 100_000;
    let (peer, folder) = (Peer::start(), Folder::new());
    peer.set(Mood::Stalls);
    let input: String = (0..LINES).map(|line| format!("{{\"line\":{line}}}\n")).collect();
    folder.write("in.log", &input);
    let program = |policy: &str| {
        format!(
            "source in from file \"in.log\" with follow = true, start = \"beginning\", every = \"50ms\" end;\n\
             sink stuck into http \"http://{}/\" with queue_bytes = \"64KiB\", {policy} end;\n\
             sink beside into file \"beside.log\" with mode = \"truncate\" end;\n\
             create stream both;\nin |> both;\nboth |> stuck;\nboth |> beside",
            peer.address
        )
    };
    for policy in ["buffer = \"disk\"", "when_full = \"spill\"", "when_full = \"drop_newest\""] {
        folder.write("beside.log", "");
        let _ = std::fs::remove_dir_all(folder.file("state"));
        let began = Instant::now();
        let process = start(&folder, &program(policy));
        wait_until("the file is whole", || folder.read("beside.log").len() == input.len());
        assert!(began.elapsed() < Duration::from_secs(20), "{policy}: {:?}", began.elapsed());
        process.kill();
    }
}

/// A run of a program over lines of input, to its end, with a peer that stalls until the run ends.
fn run_against_a_stalled_peer(settings: &str, rest: &str, input: &str) -> (Folder, Peer, String) {
    let (peer, folder) = (Peer::start(), Folder::new());
    peer.set(Mood::Stalls);
    folder.write("in.log", input);
    let program = format!(
        "source in from file \"in.log\";\n\
         sink out into http \"http://{}/\" with concurrency = 1, {settings} end;\n{rest}\nin |> out",
        peer.address
    );
    folder.write("p.tmb", &program);
    let mood = Arc::clone(&peer.mood);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(2));
        mood.store(0, Ordering::Release);
    });
    let ran =
        temblor(["run", "p.tmb", "--batch", "4KiB", "--workers", "1"]).folder(folder.path()).run();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    (folder, peer, ran.err)
}

/// The number behind a word in the summary.
fn counted(summary: &str, word: &str) -> usize {
    let line = summary
        .lines()
        .find(|line| line.contains(word))
        .unwrap_or_else(|| panic!("{word}: {summary}"));
    let number = line.split_whitespace().last().expect("a row has columns");
    number.replace('_', "").parse().expect("it is a number")
}

#[test]
fn events_without_room_are_shed_by_priority_the_least_important_first() {
    const LINES: usize = 5000;
    let level = |line: usize| ["debug", "info", "err", "crit"][line % 4];
    let input: String = (0..LINES)
        .map(|line| format!("{{\"line\":{line},\"level\":\"{}\"}}\n", level(line)))
        .collect();
    let settings = "queue_bytes = \"100KiB\", when_full = \"shed\"";
    let (_folder, peer, summary) = run_against_a_stalled_peer(settings, "", &input);
    let shed = counted(&summary, "out: priority");
    let taken = peer.taken.lock().unwrap();
    assert_eq!(taken.len() + shed, LINES, "each event arrived, or was counted");
    assert!(shed > 500, "{summary}");
    let of = |level: &str| taken.keys().filter(|line| line.contains(level)).count();
    assert_eq!(
        (of("\"crit\""), of("\"err\"")),
        (LINES / 4, LINES / 4),
        "what is important all arrived"
    );
    assert!(of("\"debug\"") < of("\"info\"") || of("\"debug\"") < LINES / 8, "{}", of("\"debug\""));
}

#[test]
fn events_without_room_go_to_the_port_full() {
    const LINES: usize = 5000;
    let input: String =
        (0..LINES).map(|line| format!("{{\"line\":{line},\"pad\":\"0123456789\"}}\n")).collect();
    let settings = "queue_events = 1000, when_full = \"divert\"";
    let rest =
        "sink spare into file \"spare.log\" with mode = \"truncate\" end;\nout/full |> spare;";
    let (folder, peer, summary) = run_against_a_stalled_peer(settings, rest, &input);
    let spare = folder.read("spare.log");
    let diverted = counted(&summary, "out: diverted");
    assert_eq!(spare.lines().count(), diverted, "{summary}");
    assert!(diverted > 1000, "{summary}");
    let taken = peer.taken.lock().unwrap();
    let mut all: Vec<_> = taken.keys().map(String::as_str).chain(spare.lines()).collect();
    all.sort_unstable();
    let mut wanted: Vec<_> = input.lines().collect();
    wanted.sort_unstable();
    assert_eq!(all, wanted, "each event is in one of both");
}

#[test]
fn what_a_run_leaves_behind_is_sent_by_the_next_before_anything_new() {
    let folder = Folder::new();
    let program = "source in from file \"in.log\";\n\
                   sink out into file \"#{event.dir}/out.log\" with buffer = \"disk\" end;\nin |> out";
    folder.write("p.tmb", program);
    // The place is a file: nothing can be written below it.
    folder.write("there", "in the way");
    folder.write("in.log", "{\"dir\":\"there\",\"n\":1}\n{\"dir\":\"there\",\"n\":2}\n");
    let run = || temblor(["run", "-q", "p.tmb", "--state", "state"]).folder(folder.path()).start();
    let mut process = run();
    process.wait_for_text("its events are kept in its buffer and tried again");
    process.kill();
    std::fs::remove_file(folder.file("there")).expect("it is there");
    folder.write(
        "in.log",
        "{\"dir\":\"there\",\"n\":1}\n{\"dir\":\"there\",\"n\":2}\n{\"dir\":\"there\",\"n\":3}\n",
    );
    let ran = run().wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let text = folder.read("there/out.log");
    let numbers: Vec<_> = text.lines().map(|line| line.chars().rev().nth(1)).collect();
    assert!(
        numbers.starts_with(&[Some('1'), Some('2')]) && numbers.ends_with(&[Some('3')]),
        "{text}"
    );
}

#[test]
fn a_buffer_needs_a_place_and_settings_that_fit_together() {
    let folder = Folder::new();
    folder.write("in.log", "{}\n");
    let with = |settings: &str| {
        let program = format!(
            "source in from file \"in.log\"; sink out into file \"o\" with {settings} end; in |> out"
        );
        folder.write("p.tmb", program);
        temblor(["run", "-q", "p.tmb"]).folder(folder.path()).run()
    };
    let err = failed(with("buffer = \"disk\""), 2);
    assert!(err.contains("out: has a buffer on disk") && err.contains("--state DIR"), "{err}");
    for (settings, message) in [
        ("buffer = \"disk\", when_full = \"shed\"", "does not go with `buffer = \"disk\"`"),
        ("priority = 1", "`priority` has no meaning without `shed`"),
        ("buffer_bytes = \"1GiB\"", "is about a buffer on disk, and there is none"),
        ("buffer = \"disk\", buffer_bytes = 100", "must be at least 65536 bytes, got 100"),
        ("buffer = \"disk\", buffer_key = \"x\"", "64 hexadecimal digits"),
        ("buffer = \"dusk\"", "disk"),
    ] {
        let err = failed(with(settings), 1);
        assert!(err.contains("E0510") && err.contains(message), "{settings}: {err}");
    }
}

const FAILING: &str = "source in from file \"in.log\";\nsink good into file \"good.log\" with mode = \"append\" end;\n";

#[test]
fn dead_letters_are_kept_listed_shown_and_replayed_until_they_go_through() {
    let folder = Folder::new();
    folder.write("in.log", "{\"a\":1}\nnot json\n{\"b\":\"\\u0001x\"}\n{\"b\":2}\n");
    let program = |step: &str| {
        format!("{FAILING}sink err into dead_letters \"letters\";\nin |> {step} |> good")
    };
    folder.write("p.tmb", program("set event.x = event.a + 1"));
    let call = |arguments: &[&str]| temblor(arguments).folder(folder.path()).run();
    call(&["run", "-q", "p.tmb"]).succeeded();
    assert_eq!(folder.read("good.log"), "{\"a\":1,\"x\":2}\n");
    let list = call(&["dead", "list", "letters"]).succeeded();
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split('\t').collect()).collect();
    let seen: Vec<_> = rows.iter().map(|row| (row[0], row[2], row[3])).collect();
    assert_eq!(
        seen,
        [("0", "-", "in.log:2"), ("1", "E0401", "in.log:3"), ("2", "E0401", "in.log:4")]
    );
    let letter = call(&["dead", "show", "letters", "--number", "1"]).succeeded();
    for part in [
        "\"code\":\"E0401\"",
        "\"place\":\"p.tmb:4:",
        "\"input\":\"in\"",
        "\"original\":\"{\\\"b\\\":\\\"\\\\u0001x\\\"}\"",
        "\"source\":\"in.log\",\"line\":3",
    ] {
        assert!(letter.contains(part), "{part}: {letter}");
    }
    // The same program changes nothing; a better one takes what it can.
    let again = call(&["dead", "replay", "letters"]);
    assert_eq!(again.code, Some(3), "{}", again.err);
    assert!(again.err.contains("0 letters went through, 3 stay"), "{}", again.err);
    folder.write("better.tmb", program("set event.x = string::len(event.b)"));
    let some = call(&["dead", "replay", "letters", "--through", "better.tmb", "--reason", "E0401"]);
    assert_eq!(some.code, Some(3), "{}", some.err);
    assert!(some.err.contains("1 letters went through, 1 stay"), "{}", some.err);
    folder.write(
        "best.tmb",
        program("set event.x = 0").replace("\"in.log\"", "\"in.log\" with codec = \"string\" end"),
    );
    call(&["dead", "replay", "letters", "--through", "best.tmb", "--reason", "not JSON"]);
    let left = call(&["dead", "list", "letters"]).succeeded();
    assert!(left.starts_with("0\t") && left.lines().count() == 2, "a text has no fields: {left}");
    folder.write("best.tmb", program("set event.x = 0"));
    let rest = call(&["dead", "replay", "letters", "--through", "best.tmb", "--number", "2"]);
    assert_eq!(rest.code, Some(0), "{}", rest.err);
    assert_eq!(folder.read("good.log").lines().count(), 3);
    let left = call(&["dead", "list", "letters"]).succeeded();
    assert!(left.starts_with("0\t") && left.lines().count() == 1, "{left}");
    // A run goes on with other numbers, and without a word in the program.
    folder.write("in.log", "{}\n");
    let chain =
        ["run", "-q", "-e", "set event.x = event.a", "-i", "in.log", "--dead-letters", "letters"];
    call(&chain).succeeded();
    let list = call(&["dead", "list", "letters"]).succeeded();
    assert!(list.lines().nth(1).is_some_and(|row| row.starts_with("3\t")), "{list}");
}

#[test]
fn a_folder_of_letters_is_bounded() {
    let folder = Folder::new();
    let input: String = (0..5000)
        .map(|line| format!("{{\"line\":{line},\"pad\":\"{}\"}}\n", "x".repeat(50)))
        .collect();
    folder.write("in.log", input);
    for (policy, kept) in [("drop_oldest", "4999"), ("drop_newest", "\"line\":1,")] {
        let _ = std::fs::remove_dir_all(folder.file("letters"));
        let settings =
            format!("max_bytes = \"64KiB\", on_full = \"{policy}\", compression = \"none\"");
        let sink = format!("sink err into dead_letters \"letters\" with {settings} end;\n");
        folder.write("p.tmb", format!("{FAILING}{sink}in |> set event.x = event.nothing |> good"));
        let ran = temblor(["run", "p.tmb"]).folder(folder.path()).run();
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let letters = temblor(["dead", "show", "letters"]).folder(folder.path()).run().succeeded();
        assert!(letters.contains(kept), "{policy}");
        let dropped = counted(&ran.err, "err: dead letters full");
        assert_eq!(letters.lines().count() + dropped, 5000, "{policy}");
    }
    let sink = "sink err into dead_letters \"letters\" with max_bytes = \"64KiB\", on_full = \"stop\" end;\n";
    folder.write("p.tmb", format!("{FAILING}{sink}in |> set event.x = event.nothing |> good"));
    let ran = temblor(["run", "p.tmb"]).folder(folder.path()).run();
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(ran.err.contains("there is no room for more, and the run ends then"), "{}", ran.err);
}

#[test]
fn buffers_are_inspected_verified_repaired_and_exported() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("in.log", "{\"n\":1}\n{\"n\":2}\n");
    let sink = format!("sink out into tcp \"127.0.0.1:{port}\" with buffer = \"disk\" end;");
    folder.write("p.tmb", format!("source in from file \"in.log\" with follow = true, start = \"beginning\" end;\n{sink}\nin |> out"));
    let start =
        || temblor(["run", "-q", "p.tmb", "--state", "state"]).folder(folder.path()).start();
    let call = |arguments: &[&str]| temblor(arguments).folder(folder.path()).run();
    let process = start();
    wait_until("both are kept", || {
        let seen = call(&["buffer", "inspect", "state", "--json"]);
        seen.out.contains("\"pending_events\":2") && seen.out.contains("\"in_use\":true")
    });
    let refused = failed(call(&["buffer", "repair", "state"]), 6);
    assert!(refused.contains("is in use"), "{refused}");
    let ran = process.terminate();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("remain in the buffer of `out`"), "{}", ran.err);
    assert_eq!(call(&["buffer", "export", "state"]).succeeded(), "{\"n\":1}\n{\"n\":2}\n");
    call(&["buffer", "verify", "state"]).succeeded();
    // Damage behind the records: bytes that are none.
    let path = folder.file("state/buffers/out/00000000000000000000.segment");
    let mut bytes = std::fs::read(&path).expect("it is there");
    bytes.extend_from_slice(b"no record");
    std::fs::write(&path, bytes).expect("it can be written");
    let damaged = call(&["buffer", "verify", "state"]);
    assert_eq!(damaged.code, Some(6));
    assert!(damaged.out.contains("9 bytes damaged"), "{}", damaged.out);
    let repaired = call(&["buffer", "repair", "state"]).succeeded();
    assert!(repaired.contains("without 9 damaged bytes"), "{repaired}");
    call(&["buffer", "verify", "state"]).succeeded();
    assert_eq!(call(&["buffer", "export", "state"]).succeeded(), "{\"n\":1}\n{\"n\":2}\n");
    let nothing = failed(call(&["buffer", "inspect", "nowhere"]), 6);
    assert!(nothing.contains("nowhere") && nothing.contains("help"), "{nothing}");
}

/// A file system of its own, of that size; nothing where the system does not let us make one.
struct Small(Folder);

impl Small {
    fn new(bytes: u64) -> Option<Self> {
        let folder = Folder::new();
        let mut command = std::process::Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(folder.path());
        let is_mounted = command.output().is_ok_and(|output| output.status.success());
        is_mounted.then_some(Self(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_holds_the_program_up_says_so_and_all_arrives_once_there_is_room() {
    const LINES: usize = 6_000;
    let Some(disk) = Small::new(2 << 20) else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    let (peer, folder) = (Peer::start(), Folder::new());
    peer.set(Mood::Dies);
    // Somebody else takes most of the disk.
    disk.0.write("ballast", vec![0_u8; 1_700_000]);
    let pad = "x".repeat(100);
    let input: String =
        (0..LINES).map(|line| format!("{{\"line\":{line},\"pad\":\"{pad}\"}}\n")).collect();
    folder.write("in.log", &input);
    folder.write(
        "p.tmb",
        format!(
            "source in from file \"in.log\" with follow = true, start = \"beginning\", every = \"50ms\" end;\n\
             sink out into http \"http://{}/\" with buffer = \"disk\", buffer_reserve = 0, timeout = \"300ms\" end;\n\
             in |> out",
            peer.address
        ),
    );
    let state = disk.0.path().display().to_string();
    let mut process = temblor(["run", "-q", "p.tmb", "--batch", "16KiB", "--state", &state])
        .folder(folder.path())
        .start();
    process.wait_for_text("No space left on device");
    let held = temblor(["buffer", "verify", &state]).run();
    assert_eq!(held.code, Some(0), "nothing is torn by it: {}{}", held.out, held.err);
    assert!(peer.count() < LINES, "the disk was too small for all");
    // Room comes from others going, and from the peer taking what is there.
    std::fs::remove_file(disk.0.file("ballast")).expect("it is there");
    peer.set(Mood::Well);
    wait_until("everything has arrived", || peer.count() == LINES);
    let ran = process.terminate();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = ran.err.matches("No space left on device").count();
    assert_eq!(told, 1, "it is told once: {}", ran.err);
}
