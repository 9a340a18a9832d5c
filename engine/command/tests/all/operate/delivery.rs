//! Sinks that send requests: peers that refuse, stall and come back, and the order in which events reach them.

use super::asking::ctl;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use temblor_testing::{Folder, Process, Ran, temblor, wait_until};

/// What the peer does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    /// Takes it.
    Well,
    /// Answers 503.
    Refuses,
    /// Answers nothing until the mood changes.
    Stalls,
    /// Refuses every third, and takes some milliseconds for each.
    Moody,
}

const MOODS: [Mood; 4] = [Mood::Well, Mood::Refuses, Mood::Stalls, Mood::Moody];

#[derive(Default)]
struct Seen {
    mood: AtomicU64,
    requests: AtomicU64,
    under_way: AtomicU64,
    most: AtomicU64,
    /// Bodies that were taken, in the order of their answers.
    taken: Mutex<Vec<String>>,
}

struct Peer {
    address: String,
    seen: Arc<Seen>,
}

impl Peer {
    fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let address = listener.local_addr().expect("it has one").to_string();
        let seen = Arc::<Seen>::default();
        let peer = Self { address, seen: Arc::clone(&seen) };
        peer.set(mood);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve(&stream, &seen));
            }
        });
        peer
    }

    fn set(&self, mood: Mood) {
        self.seen.mood.store(mood as u64, Ordering::Release);
    }

    fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::Acquire)
    }

    /// The numbers `n` of all events that were taken.
    fn numbers(&self) -> Vec<u64> {
        let taken = self.seen.taken.lock().expect("nobody panics");
        let events = taken.iter().flat_map(|body| body.lines());
        let number =
            |line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["n"].as_u64();
        events.filter_map(number).collect()
    }
}

impl Seen {
    fn mood(&self) -> Mood {
        MOODS[self.mood.load(Ordering::Acquire) as usize]
    }
}

fn serve(stream: &TcpStream, seen: &Seen) -> Option<()> {
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(text) = line.to_lowercase().strip_prefix("content-length: ") {
                length = text.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let number = seen.requests.fetch_add(1, Ordering::AcqRel);
        let under_way = seen.under_way.fetch_add(1, Ordering::AcqRel) + 1;
        seen.most.fetch_max(under_way, Ordering::AcqRel);
        let answer = answer(seen, number, body);
        seen.under_way.fetch_sub(1, Ordering::AcqRel);
        writer.write_all(answer).ok()?;
    }
}

fn answer(seen: &Seen, number: u64, body: Vec<u8>) -> &'static [u8] {
    while seen.mood() == Mood::Stalls {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mood = seen.mood();
    if mood == Mood::Moody {
        std::thread::sleep(Duration::from_millis(5));
    }
    if mood == Mood::Refuses || mood == Mood::Moody && number % 3 == 2 {
        return b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
    }
    let body = String::from_utf8(body).expect("the tests send text");
    seen.taken.lock().expect("nobody panics").push(body);
    b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
}

/// A program that follows a file and posts its lines.
fn posting(peer: &Peer, settings: &str) -> String {
    format!(
        "source in from file \"in.json\" with follow = true, start = \"beginning\", every = \"20ms\" end;\n\
         sink out into http \"http://{}/\" with {settings} end;\nin |> out\n",
        peer.address
    )
}

fn lines(count: u64) -> String {
    (0..count).map(|n| format!("{{\"n\":{n},\"k\":{}}}\n", n % 7)).collect()
}

fn start(folder: &Folder, program: &str) -> (Process, std::path::PathBuf) {
    folder.write("p.tmb", program);
    let socket = folder.file("control");
    let path = socket.display().to_string();
    let run = temblor(["run", "--control", &path, "--batch", "4KiB", "p.tmb"])
        .folder(folder.path())
        .start();
    wait_until("the control socket", || socket.exists());
    (run, socket)
}

/// What `status` says of the requests of the only sink.
fn requests(socket: &std::path::Path) -> serde_json::Value {
    ctl(socket, &["status"]).0["sinks"][0]["requests"].clone()
}

const QUICK: &str = "retry = {\"first\": \"20ms\", \"longest\": \"100ms\"}";

#[test]
fn a_peer_that_refuses_gets_one_trial_at_a_time_and_all_events_when_it_is_back() {
    let (peer, folder) = (Peer::start(Mood::Refuses), Folder::new());
    folder.write("in.json", lines(100));
    let settings = format!("batch = \"single\", concurrency = 8, {QUICK}");
    let (run, socket) = start(&folder, &posting(&peer, &settings));
    wait_until("the circuit is open", || requests(&socket)["circuit_opened"] == 1);
    assert_ne!(requests(&socket)["circuit"], "closed");
    let before = peer.requests();
    assert!(before <= 4 + 5 + 8, "{before}: those under way at first, and few more");
    peer.seen.most.store(0, Ordering::Release);
    // Trials come all the time, one by one.
    wait_until("ten trials", || peer.requests() >= before + 10);
    assert_eq!(peer.seen.most.load(Ordering::Acquire), 1);
    assert!(peer.numbers().is_empty());
    peer.set(Mood::Well);
    wait_until("all events", || peer.numbers().len() == 100);
    wait_until("a closed circuit", || requests(&socket)["circuit"] == "closed");
    let Ran { code, err, .. } = run.terminate();
    assert_eq!(code, Some(0), "a retry that ended well is no error: {err}");
    assert!(err.contains("warning: out: ") && err.contains("it is tried again"), "{err}");
    assert!(err.contains("note: out: works again"), "{err}");
    assert!(err.contains(" retried"), "the summary counts attempts: {err}");
    assert!(!err.contains("error"), "{err}");
    let mut numbers = peer.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>(), "each once: a refused one was not taken");
}

#[test]
fn a_peer_that_stalls_is_tried_until_it_answers() {
    let (peer, folder) = (Peer::start(Mood::Stalls), Folder::new());
    folder.write("in.json", lines(50));
    let settings = format!("batch = \"single\", timeout = \"100ms\", {QUICK}");
    let (run, socket) = start(&folder, &posting(&peer, &settings));
    wait_until("the circuit is open", || requests(&socket)["circuit_opened"] == 1);
    let limit = requests(&socket)["limit"].as_u64().expect("a number");
    assert!(limit < 4, "{limit}: it was 4, and answers that do not come make it less");
    peer.set(Mood::Well);
    // What stalled may have been taken, and is sent again: at least once.
    wait_until("all events", || {
        peer.numbers().into_iter().collect::<std::collections::BTreeSet<_>>().len() == 50
    });
    assert_eq!(run.terminate().code, Some(0));
}

#[test]
fn more_requests_go_at_the_same_time_while_the_peer_bears_them_within_the_bound() {
    let (peer, folder) = (Peer::start(Mood::Stalls), Folder::new());
    folder.write("in.json", lines(3000));
    let settings = "batch = \"single\", batch_events = 1, concurrency = 6, queue_events = 10";
    let (run, socket) = start(&folder, &posting(&peer, settings));
    wait_until("four are under way", || peer.seen.under_way.load(Ordering::Acquire) == 4);
    assert_eq!(requests(&socket)["limit"], 4);
    peer.set(Mood::Well);
    wait_until("all events", || peer.numbers().len() == 3000);
    assert!(peer.seen.most.load(Ordering::Acquire) <= 6);
    assert_eq!(run.terminate().code, Some(0));
}

#[test]
fn the_order_of_the_source_holds_over_retries() {
    let (peer, folder) = (Peer::start(Mood::Moody), Folder::new());
    folder.write("in.json", lines(200));
    let settings = format!(
        "batch = \"single\", queue_events = 20, order = \"source\", concurrency = 8, {QUICK}"
    );
    let (run, _) = start(&folder, &posting(&peer, &settings));
    wait_until("all events", || peer.numbers().len() == 200);
    assert_eq!(run.terminate().code, Some(0));
    assert_eq!(peer.numbers(), (0..200).collect::<Vec<_>>());
    assert_eq!(peer.seen.most.load(Ordering::Acquire), 1, "one request at a time");
}

#[test]
fn events_with_the_same_key_keep_their_order_and_others_go_beside_them() {
    let (peer, folder) = (Peer::start(Mood::Moody), Folder::new());
    folder.write("in.json", lines(700));
    let settings =
        format!("batch_events = 3, order = \"key #{{event.k}}\", concurrency = 8, {QUICK}");
    let (run, _) = start(&folder, &posting(&peer, &settings));
    wait_until("all events", || peer.numbers().len() == 700);
    assert_eq!(run.terminate().code, Some(0));
    let mut by_key: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for number in peer.numbers() {
        by_key.entry(number % 7).or_default().push(number);
    }
    assert_eq!(by_key.len(), 7);
    for (key, numbers) in by_key {
        assert!(numbers.is_sorted() && numbers.len() == 100, "key {key}: {numbers:?}");
    }
    assert!(peer.seen.most.load(Ordering::Acquire) > 1, "keys do not wait for each other");
}

#[test]
fn without_an_order_nothing_is_lost() {
    let (peer, folder) = (Peer::start(Mood::Moody), Folder::new());
    folder.write("in.json", lines(500));
    let settings = format!("batch_events = 3, order = \"none\", {QUICK}");
    let (run, _) = start(&folder, &posting(&peer, &settings));
    wait_until("all events", || peer.numbers().len() == 500);
    assert_eq!(run.terminate().code, Some(0));
    let mut numbers = peer.numbers();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
}

#[test]
fn an_order_that_is_none_is_refused_for_every_sink() {
    let folder = Folder::new();
    for sink in ["http \"http://127.0.0.1:1/\"", "file \"o\"", "tcp \"127.0.0.1:1\""] {
        for good in ["\"source\"", "\"none\"", "\"key #{event.k}\"", "event.k"] {
            folder.write("p.tmb", format!("sink o into {sink} with order = {good} end; in |> o"));
            temblor(["check", "p.tmb"]).folder(folder.path()).run().succeeded();
        }
        folder.write("p.tmb", format!("sink o into {sink} with order = \"sorce\" end; in |> o"));
        let ran = temblor(["check", "p.tmb"]).folder(folder.path()).run();
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(1), "{said}");
        assert!(
            said.contains("`order` cannot be `sorce`") && said.contains("\"source\""),
            "{said}"
        );
    }
}
