//! Another program in the place of the one that runs.

use super::asking::ctl;
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use temblor_testing::{Folder, Process, free_port, temblor, wait_for_listener, wait_until};

/// A run of a program that can be asked by its socket.
fn start(folder: &Folder, program: &str, more: &[&str]) -> (Process, PathBuf) {
    let file = folder.write("p.tmb", program).display().to_string();
    let socket = folder.file("control");
    let path = socket.display().to_string();
    let all = ["run", "-q", "--control", &path].into_iter().chain(more.iter().copied());
    let run = temblor(all.chain([file.as_str()])).folder(folder.path()).start();
    wait_until("the control socket", || socket.exists());
    (run, socket)
}

#[test]
fn sighup_takes_up_the_changed_program_and_keeps_connection_and_memory() {
    let (folder, port) = (Folder::new(), free_port());
    let text = |step: &str| {
        format!(
            "source in from tcp \"127.0.0.1:{port}\";\nsink out into file \"out.json\";\n\
             in |> dedup by event.n within 1h |> {step} |> out\n"
        )
    };
    let (mut run, _) = start(&folder, &text("where true"), &[]);
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let mut peer = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    peer.write_all(b"{\"n\":1}\n").expect("it reads");
    wait_until("the first event", || folder.read("out.json").lines().count() == 1);
    folder.write("p.tmb", text("set event.new = true"));
    run.signal(Signal::HUP);
    run.wait_for_text("note: reloaded");
    // The same connection; what was seen before is still known.
    peer.write_all(b"{\"n\":1}\n{\"n\":2}\n").expect("the connection is still there");
    wait_until("the second event", || folder.read("out.json").lines().count() == 2);
    assert_eq!(folder.read("out.json"), "{\"n\":1}\n{\"n\":2,\"new\":true}\n");
    let ran = run.terminate();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn a_program_with_a_fault_is_refused_and_the_old_one_goes_on() {
    let folder = Folder::new();
    let (mut run, socket) = start(&folder, "source in from stdin;\nin |> out\n", &[]);
    folder.write("p.tmb", "source in from stdin;\nin |> wherre true |> out\n");
    let (said, ok) = ctl(&socket, &["reload"]);
    assert!(!ok && said["error"].as_str().is_some_and(|why| why.contains("wherre")), "{said}");
    let (status, _) = ctl(&socket, &["status"]);
    assert_eq!(status["reloads"]["failed"], 1, "{status}");
    run.write("{\"a\":1}\n");
    run.wait_for_text("{\"a\":1}");
    // A source that cannot be opened is noticed before anything is touched.
    folder.write(
        "p.tmb",
        "source in from stdin;\nsource more from file \"absent.log\";\nin |> out;\nmore |> out\n",
    );
    let (said, ok) = ctl(&socket, &["reload"]);
    assert!(!ok && said["error"].as_str().is_some_and(|why| why.contains("absent.log")), "{said}");
    run.write("{\"a\":2}\n");
    run.wait_for_text("{\"a\":2}");
    assert_eq!(run.terminate().code, Some(0));
}

#[test]
fn a_dry_run_says_what_would_be_forgotten_and_changes_nothing() {
    let folder = Folder::new();
    let program = "source in from stdin;\nin |> dedup by event.n within 1h |> out\n";
    let (mut run, socket) = start(&folder, program, &[]);
    run.write("{\"n\":1}\n");
    run.wait_for_text("{\"n\":1}");
    let other = folder.write(
        "other.tmb",
        "source in from stdin;\nsink more into file \"more.json\";\nin |> more\n",
    );
    let (said, ok) = ctl(&socket, &["reload", "--dry-run", &other.display().to_string()]);
    assert!(ok && said["reloaded"] == false, "{said}");
    assert!(said["loses"][0].as_str().is_some_and(|one| one.contains("dedup")), "{said}");
    assert_eq!(said["begins"][0], "more", "{said}");
    assert!(!folder.file("more.json").exists());
    let control = socket.display().to_string();
    let call = ["reload", "--control", &control, "--dry-run", &other.display().to_string()];
    let told = temblor(call).run().succeeded();
    assert!(told.contains("\"reloaded\":false") && told.contains("dedup"), "{told}");
    run.write("{\"n\":1}\n{\"n\":2}\n");
    run.wait_for_text("{\"n\":2}");
    assert_eq!(run.out(), "{\"n\":1}\n{\"n\":2}\n", "the old program has forgotten nothing");
    run.terminate();
}

#[test]
fn sources_and_sinks_come_and_go() {
    let (folder, first, second) = (Folder::new(), free_port(), free_port());
    let text = |port: u16, sink: &str| {
        format!(
            "source in from tcp \"127.0.0.1:{port}\";\nsink out into file \"{sink}\";\nin |> out\n"
        )
    };
    let (run, socket) = start(&folder, &text(first, "a.json"), &[]);
    wait_for_listener(&format!("127.0.0.1:{first}"));
    let mut peer = TcpStream::connect(("127.0.0.1", first)).expect("it listens");
    peer.write_all(b"{\"n\":1}\n").expect("it reads");
    wait_until("the first event", || folder.read("a.json").lines().count() == 1);
    folder.write("p.tmb", text(second, "b.json"));
    let (said, ok) = ctl(&socket, &["reload"]);
    assert!(ok && said["begins"] == serde_json::json!(["in", "out"]), "{said}");
    wait_for_listener(&format!("127.0.0.1:{second}"));
    let mut peer = TcpStream::connect(("127.0.0.1", second)).expect("it listens");
    peer.write_all(b"{\"n\":2}\n").expect("it reads");
    wait_until("the second event", || {
        folder.file("b.json").exists() && folder.read("b.json").lines().count() == 1
    });
    assert!(TcpStream::connect(("127.0.0.1", first)).is_err(), "the old address is closed");
    assert_eq!(folder.read("a.json"), "{\"n\":1}\n");
    assert_eq!(run.terminate().code, Some(0));
}

#[test]
fn changed_files_are_taken_up_where_that_is_wanted() {
    let folder = Folder::new();
    let (mut run, _) = start(&folder, "source in from stdin;\nin |> out\n", &["--watch"]);
    // Nobody says when the files have been looked at for the first time: they change until it is noticed.
    let mut changed = None;
    wait_until("the change to be noticed", || {
        if changed.is_none_or(|at: Instant| at.elapsed() > Duration::from_secs(1)) {
            folder.write("p.tmb", "source in from stdin;\nin |> set event.b = 1 |> out\n");
            changed = Some(Instant::now());
        }
        run.err().contains("note: reloaded")
    });
    run.write("{\"a\":1}\n");
    run.wait_for_text("{\"a\":1,\"b\":1}");
    run.terminate();
}

/// Reloads of one run under load; `TEMBLOR_RELOADS=1000` makes a long test of it.
fn reloads() -> usize {
    let wanted = std::env::var("TEMBLOR_RELOADS").ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or(100)
}

#[test]
fn no_event_is_lost_or_repeated_over_many_reloads_under_load() {
    let (folder, tcp, http) = (Folder::new(), free_port(), free_port());
    let text = |version: usize| {
        // Every second program has another sink beside the first, every fifth another file to follow.
        let more = if version % 2 == 1 {
            "sink more into file \"more.json\";\nin |> where false |> more;\n"
        } else {
            ""
        };
        let tail =
            if version % 5 == 4 { "[\"tail.log\", \"absent*.log\"]" } else { "[\"tail.log\"]" };
        format!(
            "source in from tcp \"127.0.0.1:{tcp}\";\nsource web from http \"127.0.0.1:{http}\";\n\
             source tail from file \"tail.log\" with follow = true, every = \"20ms\", start = \"beginning\", patterns = {tail} end;\n\
             sink out into file \"out.json\";\n{more}\
             in |> set event.v = {version} |> out;\nweb |> set event.v = {version} |> out;\ntail |> set event.v = {version} |> out\n"
        )
    };
    folder.write("tail.log", "");
    let (run, socket) = start(&folder, &text(0), &[]);
    let (tcp, http) = (format!("127.0.0.1:{tcp}"), format!("127.0.0.1:{http}"));
    wait_for_listener(&tcp);
    wait_for_listener(&http);
    let over = AtomicBool::new(false);
    let count = reloads();
    let (sent_tcp, sent_http, sent_tail) = std::thread::scope(|scope| {
        let over = &over;
        let by_tcp = scope.spawn(|| {
            let mut peer = TcpStream::connect(&tcp).expect("it listens");
            send(over, "tcp", |line| peer.write_all(line).expect("the connection lasts"))
        });
        let by_http = scope.spawn(|| {
            let mut peer = TcpStream::connect(&http).expect("it listens");
            send(over, "http", |line| post(&mut peer, line))
        });
        let path = folder.file("tail.log");
        let by_file = scope.spawn(move || {
            let file = std::fs::OpenOptions::new().append(true).open(path);
            let mut file = file.expect("it is there");
            send(over, "tail", |line| file.write_all(line).expect("it can be written"))
        });
        for version in 1..=count {
            folder.write("p.tmb", text(version));
            let (said, ok) = ctl(&socket, &["reload"]);
            assert!(ok, "reload {version}: {said}");
        }
        over.store(true, Ordering::Release);
        let sent = |one: std::thread::ScopedJoinHandle<'_, usize>| one.join().expect("it sends");
        (sent(by_tcp), sent(by_http), sent(by_file))
    });
    let all = sent_tcp + sent_http + sent_tail;
    wait_until("all events", || folder.read("out.json").lines().count() >= all);
    let ran = run.terminate();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let out = folder.read("out.json");
    for (by, sent) in [("tcp", sent_tcp), ("http", sent_http), ("tail", sent_tail)] {
        let mut seen = vec![0_u32; sent];
        for line in out.lines().filter(|line| line.contains(&format!("\"by\":\"{by}\""))) {
            let event: serde_json::Value = serde_json::from_str(line).expect("whole lines");
            seen[event["n"].as_u64().expect("a number") as usize] += 1;
        }
        let lost = seen.iter().filter(|times| **times == 0).count();
        let repeated = seen.iter().filter(|times| **times > 1).count();
        assert_eq!((lost, repeated), (0, 0), "{by}, of {sent}");
        assert!(sent > 10, "{by}");
    }
    let versions: std::collections::BTreeSet<u64> = out
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok()?["v"].as_u64())
        .collect();
    assert!(versions.len() > count / 2, "the programs did run: {versions:?}");
}

/// Sends numbered events until it is over; gives how many.
fn send(over: &AtomicBool, by: &str, mut write: impl FnMut(&[u8])) -> usize {
    let mut number = 0;
    while !over.load(Ordering::Acquire) {
        write(format!("{{\"by\":\"{by}\",\"n\":{number}}}\n").as_bytes());
        number += 1;
        std::thread::sleep(Duration::from_micros(300));
    }
    number
}

/// Sends an event over a kept connection and waits for the answer.
fn post(peer: &mut TcpStream, line: &[u8]) {
    let head = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", line.len());
    peer.write_all(head.as_bytes()).and_then(|()| peer.write_all(line)).expect("it is kept");
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"\r\n\r\n") {
        assert_eq!(peer.read(&mut byte).expect("an answer comes"), 1, "the connection is kept");
        answer.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&answer).to_lowercase();
    assert!(head.starts_with("http/1.1 2"), "{head}");
    let length = head.lines().find_map(|one| one.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().expect("a number"))];
    peer.read_exact(&mut body).expect("the body comes");
}

#[test]
fn an_unknown_run_is_told() {
    let said = temblor(["ctl", "--control", "/nonexistent/socket", "status"]).run().failed_with(1);
    assert!(said.contains("--control"), "{said}");
}

#[test]
fn a_port_that_somebody_else_has_is_refused_before_anything_is_touched() {
    let (folder, own) = (Folder::new(), free_port());
    let text = |more: &str| {
        format!(
            "source in from tcp \"127.0.0.1:{own}\";\nsink out into file \"out.json\";\nin |> out;\n{more}"
        )
    };
    for kind in ["tcp", "http", "relp", "beats"] {
        let (run, socket) = start(&folder, &text(""), &[]);
        wait_for_listener(&format!("127.0.0.1:{own}"));
        let held = std::net::TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let held_port = held.local_addr().expect("it has one").port();
        let mut peer = TcpStream::connect(("127.0.0.1", own)).expect("it listens");
        let more = format!("source more from {kind} \"127.0.0.1:{held_port}\";\nmore |> out\n");
        folder.write("p.tmb", text(&more));
        let (said, ok) = ctl(&socket, &["reload"]);
        let why = said["error"].as_str().unwrap_or_default();
        assert!(!ok && why.contains("cannot be listened on"), "{kind}: {said}");
        let (said, ok) = ctl(&socket, &["reload", "--dry-run"]);
        assert!(!ok, "{kind}: a rehearsal says the same: {said}");
        peer.write_all(b"{\"kind\":1}\n").expect("the old source goes on");
        wait_until("the event", || folder.read("out.json").contains("kind"));
        drop(held);
        let (said, ok) = ctl(&socket, &["reload"]);
        assert!(ok && said["begins"][0] == "more", "{kind}: {said}");
        wait_for_listener(&format!("127.0.0.1:{held_port}"));
        // The port goes over to a source with other settings.
        folder.write("p.tmb", text(&more.replacen(';', " with max_connections = 7 end;", 1)));
        let (said, ok) = ctl(&socket, &["reload"]);
        assert!(ok && said["begins"][0] == "more", "{kind}: {said}");
        wait_for_listener(&format!("127.0.0.1:{held_port}"));
        assert_eq!(run.terminate().code, Some(0));
        std::fs::remove_file(folder.file("out.json")).expect("it was written");
        std::fs::remove_file(&socket).ok();
    }
}
