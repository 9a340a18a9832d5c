//! `wal`: events on disk between two pipelines.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;

use temblor_testing::{Folder, Process, free_port, temblor, wait_until};

/// From standard input into a log, and out of it into `target`; what the log refuses is printed.
fn flow(log: &Path, size: &str, target: &str) -> String {
    let log = log.display();
    format!(
        r#"define flow main
flow
  define connector console from stdio with codec = "json", preprocessors = ["separate"], postprocessors = ["separate"] end;
  define connector log from wal with config = {{"path": "{log}"{size}}} end;
  {target}
  define pipeline mark
  pipeline
    define script mark
    script
      let $mark = "m#{{event.n}}";
      event
    end;
    create script mark;
    select event from in into mark;
    select event from mark into out;
  end;
  define pipeline show
  pipeline
    select merge event of {{"mark": $mark}} end from in into out;
  end;
  define pipeline complain
  pipeline
    select {{"error": event.error}} from in into out;
  end;
  create connector console;
  create connector log;
  create connector target;
  create pipeline mark;
  create pipeline show;
  create pipeline complain;
  connect /connector/console to /pipeline/mark;
  connect /pipeline/mark to /connector/log;
  connect /connector/log to /pipeline/show;
  connect /pipeline/show to /connector/target;
  connect /connector/log/err to /pipeline/complain;
  connect /pipeline/complain to /connector/console;
end;
deploy flow main;"#
    )
}

fn file(path: &Path) -> String {
    format!(
        "define connector target from file with codec = \"json\", postprocessors = [\"separate\"], \
         config = {{\"path\": {path:?}, \"mode\": \"truncate\"}} end;"
    )
}

fn client(port: u16) -> String {
    format!(
        "define connector target from tcp_client with codec = \"json\", postprocessors = [\"separate\"], \
         preprocessors = [\"separate\"], config = {{\"url\": \"127.0.0.1:{port}\"}}, \
         reconnect = {{\"retry\": {{\"interval_ms\": 50}}}} end;"
    )
}

fn events(count: usize) -> String {
    (0..count).map(|n| format!("{{\"n\":{n}}}\n")).collect()
}

fn start(folder: &Folder, flow: &str) -> Process {
    let path = folder.write("flow.troy", flow);
    temblor(["run".into(), "-q".into(), path.into_os_string()]).start()
}

/// Bytes of all segments.
fn held_bytes(log: &Folder) -> u64 {
    let entries = std::fs::read_dir(log.path()).expect("it is there");
    let segments = entries
        .flatten()
        .filter(|one| one.path().extension().is_some_and(|ending| ending == "segment"));
    segments.flat_map(|one| one.metadata()).map(|one| one.len()).sum()
}

#[test]
fn what_goes_in_comes_out_in_its_order_and_leaves_the_disk() {
    for size in ["", ", \"chunk_size\": 1024, \"max_chunks\": 64"] {
        let (folder, log) = (Folder::new(), Folder::new());
        let out = folder.file("out");
        let path = folder.write("flow.troy", flow(log.path(), size, &file(&out)));
        let ran = temblor(["run".into(), "-q".into(), path.into_os_string()]);
        let out_of_it = ran.input(events(5000)).run().succeeded();
        assert_eq!(out_of_it, "", "nothing was refused");
        let wanted: String =
            (0..5000).map(|n| format!("{{\"n\":{n},\"mark\":\"m{n}\"}}\n")).collect();
        let written = std::fs::read_to_string(&out).expect("it is written");
        assert!(written == wanted, "{} of 5000 lines", written.lines().count());
        let again = folder.write("again.troy", flow(log.path(), size, &file(&out)));
        let again = temblor(["run".into(), "-q".into(), again.into_os_string()]);
        again.input("").run().succeeded();
        let left = std::fs::read_to_string(&out).expect("it is written");
        assert_eq!(left, "", "what was delivered does not come again");
    }
}

#[test]
fn what_was_not_delivered_comes_again_after_a_kill() {
    let (folder, log, port) = (Folder::new(), Folder::new(), free_port());
    let flow = flow(log.path(), "", &client(port));
    let mut process = start(&folder, &flow);
    process.write(events(1000));
    // 16 bytes of lengths, `{"n":7}` and `{"mark":"m7"}` for each of them.
    let all: u64 = (0..1000).map(|n: u64| 34 + 2 * n.to_string().len() as u64).sum();
    wait_until("all events on disk", || held_bytes(&log) >= all);
    process.kill();
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    let process = start(&folder, &flow);
    let (stream, _) = listener.accept().expect("it connects");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("it is a socket");
    let mut got = vec![false; 1000];
    for line in BufReader::new(stream).lines() {
        let line = line.expect("all events come");
        let n = line.trim_start_matches("{\"n\":").split(',').next().expect("a number");
        let n: usize = n.parse().expect("it is a number");
        assert_eq!(line, format!("{{\"n\":{n},\"mark\":\"m{n}\"}}"));
        got[n] = true;
        if got.iter().all(|one| *one) {
            break;
        }
    }
    process.terminate();
}

#[test]
fn a_log_that_is_full_and_stuck_refuses() {
    let (folder, log) = (Folder::new(), Folder::new());
    let size = ", \"chunk_size\": 1024, \"max_chunks\": 4";
    let mut process = start(&folder, &flow(log.path(), size, &client(free_port())));
    process.write(events(1000));
    wait_until("a refusal", || process.out().contains("the log is full (4096 bytes)"));
    assert!(held_bytes(&log) <= 8192, "{}", held_bytes(&log));
    process.kill();
}

#[test]
fn two_runs_do_not_share_a_log_and_the_directory_must_be_there() {
    let (folder, log) = (Folder::new(), Folder::new());
    let flow_text = flow(log.path(), "", &file(&folder.file("out")));
    let process = start(&folder, &flow_text);
    wait_until("the log", || log.file("lock").exists());
    let other = folder.write("other.troy", &flow_text);
    let ran = temblor(["run".into(), "-q".into(), other.into_os_string()]).input("").run();
    assert!(ran.err.contains("is in use by another process"), "{}", ran.err);
    process.kill();
    let absent = flow(Path::new("/no/such/directory"), "", &file(&folder.file("out")));
    let absent = folder.write("absent.troy", &absent);
    let ran = temblor(["run".into(), "-q".into(), absent.into_os_string()]).input("").run();
    assert!(ran.err.contains("make the directory that `path` names"), "{}", ran.err);
}
