//! How a run ends: it brings to an end what it has read, within a limit, and the next run goes on.

use rustix::process::Signal;
use std::net::TcpListener;
use std::time::{Duration, Instant};
use temblor_testing::{Folder, free_port, temblor, wait_until};

/// A program whose sink takes nothing: a peer that accepts and never reads.
fn stuck(folder: &Folder, port: u16) -> String {
    let lines: String =
        (0..200_000).map(|n| format!("{{\"n\":{n},\"text\":\"{}\"}}\n", "x".repeat(100))).collect();
    folder.write("in.json", lines);
    let text = format!(
        "source in from file \"in.json\";\nsink out into tcp \"127.0.0.1:{port}\";\nin |> out\n"
    );
    folder.write("p.tmb", text).display().to_string()
}

#[test]
fn the_drain_has_a_limit_and_the_next_run_goes_on() {
    let (folder, port) = (Folder::new(), free_port());
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("it is free");
    let program = stuck(&folder, port);
    let run = temblor(["run", "-q", "--state", "state", "--drain-timeout", "1s", &program])
        .folder(folder.path())
        .start();
    let (held, _) = listener.accept().expect("it connects");
    wait_until("a checkpoint", || folder.file("state/checkpoint").exists());
    let began = Instant::now();
    let ran = run.terminate();
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_ne!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("--drain-timeout"), "{}", ran.err);
    drop((held, listener));
    // Everything arrives now: what was not confirmed is sent again.
    let text = std::fs::read_to_string(&program).expect("it is there");
    let text = text.replace(&format!("tcp \"127.0.0.1:{port}\""), "file \"out.json\"");
    std::fs::write(&program, text).expect("it can be written");
    temblor(["run", "-q", "--state", "state", &program]).folder(folder.path()).run().succeeded();
    let out = folder.read("out.json");
    let last = out.lines().last().unwrap_or_default();
    assert!(last.starts_with("{\"n\":199999,"), "{last}");
    let first: u64 =
        out.lines().next().and_then(|line| line[5..].split(',').next()?.parse().ok()).unwrap_or(0);
    assert_eq!(out.lines().count() as u64, 200_000 - first, "nothing is missing behind the first");
}

#[test]
fn a_second_signal_ends_at_once_and_says_so() {
    let (folder, port) = (Folder::new(), free_port());
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("it is free");
    let program = stuck(&folder, port);
    let mut run =
        temblor(["run", "-q", "--state", "state", &program]).folder(folder.path()).start();
    let (_held, _) = listener.accept().expect("it connects");
    wait_until("a checkpoint", || folder.file("state/checkpoint").exists());
    run.signal(Signal::INT);
    run.wait_for_text("again: stop at once");
    run.signal(Signal::INT);
    let ran = run.wait();
    assert_eq!(ran.code, Some(130));
    assert!(ran.err.contains("stopped at once"), "{}", ran.err);
    let text = std::fs::read_to_string(&program).expect("it is there");
    let text = text.replace(&format!("tcp \"127.0.0.1:{port}\""), "file \"out.json\"");
    std::fs::write(&program, text).expect("it can be written");
    temblor(["run", "-q", "--state", "state", &program]).folder(folder.path()).run().succeeded();
    assert!(
        folder.read("out.json").lines().last().unwrap_or_default().starts_with("{\"n\":199999,")
    );
}
