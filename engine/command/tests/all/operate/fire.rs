//! The fire range: runs that are killed, stopped and starved, behind networks on bad days. A model counts what
//! was sent, acknowledged and delivered: what was acknowledged must be there.
//!
//! `TEMBLOR_FIRE=50` makes as many rounds of each; a few are made without.

use super::asking::request;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use temblor_testing::{
    Fault, Folder, Process, Proxy, free_port, peer, temblor, wait_for_listener, wait_until,
};

/// How long events may stay away after a fault: a second or so on an idle machine; tests share theirs.
const RECOVERY_MAX: Duration = Duration::from_secs(60);

/// How often each fault strikes.
fn rounds() -> usize {
    std::env::var("TEMBLOR_FIRE").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

fn start(folder: &Folder, more: &[&str]) -> Process {
    let all = ["run", "-q", "--state", "state"].into_iter().chain(more.iter().copied());
    temblor(all.chain(["p.tmb"])).folder(folder.path()).start()
}

/// How often each number is in the events.
fn numbers(text: &str) -> BTreeMap<u64, u32> {
    let mut seen = BTreeMap::new();
    for line in text.lines() {
        let event: Result<serde_json::Value, _> = serde_json::from_str(line);
        // A line may be torn where the process was killed; the next run cuts it off or begins a new one.
        if let Some(number) = event.ok().and_then(|event| event["n"].as_u64()) {
            *seen.entry(number).or_default() += 1;
        }
    }
    seen
}

/// Posts an event over a new connection; whether it was acknowledged.
fn post(address: &str, number: usize) -> std::io::Result<bool> {
    let body = format!("{{\"n\":{number}}}");
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.starts_with("HTTP/1.1 2"))
}

#[test]
fn what_http_acknowledged_is_in_the_file_after_kills() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("p.tmb", format!("source in from http \"127.0.0.1:{port}\";\nsink out into file \"out.json\";\nin |> out\n"));
    let address = format!("127.0.0.1:{port}");
    let (over, acknowledged) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let sent = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let mut run = start(&folder, &[]);
        wait_for_listener(&address);
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    let number = sent.fetch_add(1, Ordering::Relaxed);
                    // Sent again until it is acknowledged, as a client does that must not lose anything.
                    while !over.load(Ordering::Acquire) && !post(&address, number).unwrap_or(false)
                    {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    if !over.load(Ordering::Acquire) {
                        acknowledged.lock().expect("nobody panics").push(number as u64);
                    }
                }
            });
        }
        for round in 0..rounds() {
            let before = acknowledged.lock().expect("nobody panics").len();
            wait_until("more events", || {
                acknowledged.lock().expect("nobody panics").len() > before + 50
            });
            if round % 3 == 2 {
                run.signal(Signal::STOP);
                std::thread::sleep(Duration::from_millis(200));
                run.signal(Signal::CONT);
            } else {
                run.kill();
                run = start(&folder, &[]);
                wait_for_listener(&address);
            }
        }
        over.store(true, Ordering::Release);
        run.terminate();
    });
    let seen = numbers(&folder.read("out.json"));
    let acknowledged = acknowledged.into_inner().expect("nobody panics");
    let lost: Vec<_> = acknowledged.iter().filter(|number| !seen.contains_key(number)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?} of {}", acknowledged.len());
}

/// A server that takes posts and keeps their lines.
fn collector(kept: Arc<Mutex<String>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let address = listener.local_addr().expect("it has one").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || while take_one(&stream, &kept).is_some() {});
        }
    });
    address
}

/// Takes one request whole, keeps its body, and answers.
fn take_one(stream: &TcpStream, kept: &Mutex<String>) -> Option<()> {
    // What is behind the request in the buffer is dropped with it: there is nothing before the answer.
    let mut reader = BufReader::new(stream);
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.parse().ok();
        }
    }
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    let mut kept = kept.lock().expect("nobody panics");
    kept.push_str(&String::from_utf8_lossy(&body));
    kept.push('\n');
    drop(kept);
    let mut stream = stream;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()
}

#[test]
fn a_file_reaches_http_whole_through_kills_and_bad_networks() {
    const LINES: u64 = 20_000;
    let folder = Folder::new();
    let kept = Arc::<Mutex<String>>::default();
    let proxy = Proxy::start(&collector(Arc::clone(&kept)));
    let lines: String = (0..LINES).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    folder.write("in.json", lines);
    folder.write(
        "p.tmb",
        format!(
            "source in from file \"in.json\";\nsink out into http \"http://{}/\" with codec = \"json\", batch_events = 50, \
             timeout = \"2s\", retry = {{\"first\": \"20ms\", \"longest\": \"200ms\"}} end;\nin |> out\n",
            proxy.address()
        ),
    );
    let count = || numbers(&kept.lock().expect("nobody panics")).len() as u64;
    let faults = [
        Fault::Slow(64 << 10),
        Fault::Reset,
        Fault::Cut,
        Fault::Delay(Duration::from_millis(20)),
        Fault::Stall,
    ];
    let mut run = start(&folder, &[]);
    let mut longest = Duration::ZERO;
    for round in 0..rounds().max(faults.len()) {
        let wanted = (count() + 200).min(LINES);
        wait_until("more events", || count() >= wanted);
        proxy.set(faults[round % faults.len()]);
        std::thread::sleep(Duration::from_millis(200));
        run.kill();
        proxy.set(Fault::None);
        run = start(&folder, &[]);
        let (before, began) = (count(), Instant::now());
        wait_until("events again", || count() > before || count() == LINES);
        longest = longest.max(began.elapsed());
        assert!(began.elapsed() < RECOVERY_MAX, "{:?} after the fault", began.elapsed());
    }
    println!("file to http: {} faults, longest pause {longest:?}", rounds().max(faults.len()));
    let ran = run.wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(count(), LINES, "each event at least once");
}

#[test]
fn a_few_descriptors_are_enough_and_too_many_connections_wait() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("p.tmb", format!("source in from tcp \"127.0.0.1:{port}\";\nsink out into file \"out.json\";\nin |> out\n"));
    let mut command = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_temblor");
    command
        .args(["-c", &format!("ulimit -n 64; exec {program} run -q p.tmb")])
        .current_dir(folder.path());
    let run = Process::start(command);
    let address = format!("127.0.0.1:{port}");
    wait_for_listener(&address);
    // More connections than there are descriptors: each sends one event and ends.
    let peers: Vec<_> = (0..150)
        .map(|number| {
            let address = address.clone();
            std::thread::spawn(move || {
                let mut peer = TcpStream::connect(address).expect("the backlog takes it");
                peer.write_all(format!("{{\"n\":{number}}}\n").as_bytes()).expect("it is sent");
            })
        })
        .collect();
    peers.into_iter().for_each(|peer| peer.join().expect("it sends"));
    wait_until("all events", || numbers(&folder.read("out.json")).len() == 150);
    assert_eq!(run.terminate().code, Some(0));
}

/// Sends a file by Beats to a run that is killed again and again, and has a buffer on disk; gives the longest time that
/// events stayed away. `sink` is where that run sends to, `count` how many of the events are there.
fn ship_through_kills(sink: &str, lines: u64, count: impl Fn() -> u64) -> Duration {
    let (sender, receiver, port) = (Folder::new(), Folder::new(), free_port());
    let address = format!("127.0.0.1:{port}");
    let text: String = (0..lines).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    sender.write("in.json", text);
    sender.write(
        "p.tmb",
        format!(
            "source in from file \"in.json\";\nsink out into beats \"{address}\" with\n\
             \x20 retry = {{\"first\": \"20ms\", \"longest\": \"200ms\"}}\nend;\nin |> out\n"
        ),
    );
    let program = format!(
        "source in from beats \"{address}\" with buffer = \"disk\" end;\nsink out into {sink};\nin |> out\n"
    );
    receiver.write("p.tmb", program);
    let mut run = start(&receiver, &[]);
    wait_for_listener(&address);
    let sending = start(&sender, &["--batch", "4KiB"]);
    let mut longest = Duration::ZERO;
    for _ in 0..rounds() {
        let wanted = (count() + 100).min(lines);
        wait_until("more events", || count() >= wanted);
        run.kill();
        run = start(&receiver, &[]);
        let (before, began) = (count(), Instant::now());
        wait_until("events again", || count() > before || count() == lines);
        longest = longest.max(began.elapsed());
        assert!(began.elapsed() < RECOVERY_MAX, "{:?} after the fault", began.elapsed());
    }
    // The sender ends when all it sent is acknowledged.
    let ran = sending.wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    wait_until("all that was acknowledged", || count() >= lines);
    run.terminate();
    longest
}

#[test]
fn what_beats_acknowledged_reaches_http_through_kills_of_the_receiver() {
    const LINES: u64 = 20_000;
    let kept = Arc::<Mutex<String>>::default();
    let sink =
        format!("http \"http://{}/\" with batch_events = 50 end", collector(Arc::clone(&kept)));
    let count = || numbers(&kept.lock().expect("nobody panics")).len() as u64;
    let longest = ship_through_kills(&sink, LINES, count);
    assert_eq!(count(), LINES);
    println!("beats to disk to http: {} kills, longest pause {longest:?}", rounds());
}

#[test]
fn what_beats_acknowledged_is_once_in_opensearch_through_kills_of_the_receiver() {
    const LINES: u64 = 20_000;
    let Some(address) = peer("OPENSEARCH") else { return };
    let index = format!("temblor-fire-{}", std::process::id());
    let sink = format!(
        "opensearch \"http://{address}\" with index = \"{index}\", id = \"#{{event.n}}\", batch_events = 100 end"
    );
    let count = || {
        request(&address, "POST", &format!("/{index}/_refresh"));
        let (_, body) = request(&address, "GET", &format!("/{index}/_count"));
        let said: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
        said["count"].as_u64().unwrap_or(0)
    };
    let longest = ship_through_kills(&sink, LINES, count);
    assert_eq!(count(), LINES, "each once: what is sent again has its id");
    request(&address, "DELETE", &format!("/{index}"));
    println!("beats to disk to opensearch: {} kills, longest pause {longest:?}", rounds());
}
