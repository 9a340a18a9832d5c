//! The harness itself: processes, waiting, ports and folders.

use std::process::Command;

use temblor_testing::{Folder, Process, free_port, wait_for_listener};

fn shell(script: &str) -> Process {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Process::start(command)
}

#[test]
fn a_process_is_read_while_it_runs_and_told_to_end() {
    let mut process =
        shell("trap 'echo bye; exit 3' TERM; echo ready; while :; do read line; done");
    process.wait_for_text("ready\n");
    assert!(process.status().is_none());
    let ran = process.terminate();
    assert_eq!((ran.out.as_str(), ran.code), ("ready\nbye\n", Some(3)));
}

#[test]
fn a_process_ends_with_its_value() {
    let process = shell("exec sleep 1000");
    let status = format!("/proc/{}", process.id());
    assert!(std::fs::exists(&status).is_ok_and(|there| there));
    drop(process);
    assert!(std::fs::exists(&status).is_ok_and(|there| !there));
}

#[test]
#[should_panic(expected = "ended without \"never\": only this")]
fn a_text_that_cannot_come_any_more_is_not_waited_for() {
    shell("echo only this").wait_for_text("never");
}

#[test]
fn more_than_a_pipe_holds_goes_through() {
    let mut process = shell("cat");
    process.write("x".repeat(1 << 20));
    drop(process.take_input());
    assert_eq!(process.wait().out.len(), 1 << 20);
}

#[test]
fn a_free_port_can_be_listened_on() {
    // Tests beside this one may take a port in between.
    let tries = (0..20).map(|_| free_port());
    let mut bound = tries
        .filter_map(|port| Some((port, std::net::TcpListener::bind(("127.0.0.1", port)).ok()?)));
    let (port, _listener) = bound.next().expect("one of twenty is free");
    wait_for_listener(&format!("127.0.0.1:{port}"));
}

#[test]
fn folders_are_apart_and_go_away() {
    let (one, two) = (Folder::new(), Folder::new());
    one.write("deep/file", "text");
    assert_eq!((one.read("deep/file").as_str(), two.read("deep/file").as_str()), ("text", ""));
    let path = one.path().to_path_buf();
    drop(one);
    assert!(!path.exists());
}
