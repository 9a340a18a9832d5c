//! `--api`, the control socket and the log.

use super::asking::{ctl, get, request, value};
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use temblor_testing::{Folder, free_port, temblor, wait_for, wait_for_listener, wait_until};

const PROGRAM: &str = r#"source in from tcp "127.0.0.1:PORT";
sink out into file "out.json";
in |> where event.n != 3 |> dedup by event.n within 1h |> out
"#;

#[test]
fn metrics_tell_of_sources_steps_ports_sinks_and_latency() {
    let (folder, port, api) = (Folder::new(), free_port(), free_port());
    let program = folder.write("p.tmb", PROGRAM.replace("PORT", &port.to_string()));
    let api = format!("127.0.0.1:{api}");
    let run = temblor(["run", "-q", "--api", &api, &program.display().to_string()])
        .folder(folder.path())
        .start();
    wait_for_listener(&format!("127.0.0.1:{port}"));
    wait_for_listener(&api);
    let mut peer = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    peer.write_all(b"{\"n\":1}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3}\nnonsense\n").expect("it reads");
    wait_until("two events in the file", || folder.read("out.json").lines().count() == 2);
    let source = format!("source=\"127.0.0.1:{port}\"");
    let metrics = wait_for("five events in the metrics", || {
        let (status, text) = get(&api, "/metrics");
        assert_eq!(status, 200);
        let latency = value(&text, &format!("temblor_source_ack_seconds_count{{{source}}}"));
        (value(&text, "temblor_port_events_total{port=\"out\"}") == Some(2.0)
            && latency.is_some_and(|count| count >= 1.0))
        .then_some(text)
    });
    let is = |series: &str, wanted: f64| {
        assert_eq!(value(&metrics, series), Some(wanted), "{series} in\n{metrics}");
    };
    is(&format!("temblor_source_events_total{{{source}}}"), 5.0);
    is(&format!("temblor_source_errors_total{{{source},reason=\"decode\"}}"), 1.0);
    is("temblor_sink_events_total{sink=\"out\"}", 2.0);
    is("temblor_errors_total{reason=\"decode\"}", 1.0);
    is(&format!("temblor_source_up{{{source}}}"), 1.0);
    is("temblor_draining", 0.0);
    assert!(metrics.contains("temblor_step_events_total{step="), "{metrics}");
    assert!(metrics.contains("temblor_step_entries{step="), "{metrics}");
    assert!(metrics.trim_end().ends_with("# EOF"), "{metrics}");
    assert!(metrics.contains("_bucket{le=\"+Inf\""), "{metrics}");

    assert_eq!(get(&api, "/health").0, 200);
    assert_eq!(get(&api, "/ready").0, 200);
    assert_eq!(get(&api, "/nothing").0, 404);
    assert_eq!(request(&api, "DELETE", "/metrics").0, 405);
    // The address only shows.
    for path in ["/reload", "/drain", "/log?level=off"] {
        assert_eq!(request(&api, "POST", path).0, 403, "{path}");
    }
    assert_eq!(run.terminate().code, Some(0));
}

#[test]
fn ready_says_why_not() {
    let (folder, port, api) = (Folder::new(), free_port(), free_port());
    let holder = std::net::TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    let text = format!(
        "source in from tcp \"127.0.0.1:{port}\";\nsource more from metronome with interval = \"1s\" end;\n\
         in |> out;\nmore |> out\n"
    );
    let program = folder.write("p.tmb", text);
    let api = format!("127.0.0.1:{api}");
    let run = temblor(["run", "-q", "--api", &api, &program.display().to_string()]).start();
    wait_for_listener(&api);
    let (_, said) = wait_for("an answer that it is not ready", || {
        let (status, body) = get(&api, "/ready");
        (status == 503 && body.contains("listened")).then_some((status, body))
    });
    assert!(said.contains(&format!("source 127.0.0.1:{port}")), "{said}");
    assert_eq!(get(&api, "/health").0, 200, "it lives all the same");
    drop(holder);
    run.terminate();
}

#[test]
fn an_address_that_is_taken_is_told_and_nothing_runs() {
    let holder = std::net::TcpListener::bind("127.0.0.1:0").expect("there are ports");
    let address = holder.local_addr().expect("it has one").to_string();
    let said = temblor(["run", "-e", "where true", "--api", &address]).run().failed_with(2);
    assert!(said.contains("--api") && said.contains("cannot be listened on"), "{said}");
}

#[test]
fn the_control_socket_is_its_owners_and_goes_with_the_process() {
    let (folder, socket) = (Folder::new(), Folder::new());
    let program = folder
        .write("p.tmb", "source in from metronome with interval = \"50ms\" end;\nin |> out\n");
    let (program, state) =
        (program.display().to_string(), folder.file("state").display().to_string());
    let run = temblor(["run", "-q", "--state", &state, &program]).start();
    let path = folder.file("state/control.sock");
    wait_until("the socket", || path.exists());
    let mode = std::fs::metadata(&path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (status, ok) = ctl(&path, &["status"]);
    assert!(
        ok && status["state"] == "running" && status["sinks"][0]["state"] == "working",
        "{status}"
    );
    // A second run cannot take it.
    let other = socket.write("p.tmb", "in |> out");
    let taken = ["run", "--control", &path.display().to_string(), &other.display().to_string()];
    let said = temblor(taken).run().failed_with(2);
    assert!(said.contains("another process listens there"), "{said}");
    let (said, ok) = ctl(&path, &["log", "debug"]);
    assert!(!ok && said["error"].as_str().is_some_and(|why| why.contains("--log")), "{said}");
    let (said, ok) = ctl(&path, &["drain"]);
    assert!(ok && said["draining"] == true, "{said}");
    assert_eq!(run.wait().code, Some(0));
    assert!(!path.exists());
}

#[test]
fn messages_go_to_a_log_whose_level_changes_while_it_runs() {
    let folder = Folder::new();
    let socket = folder.file("s").display().to_string();
    let program = folder.write("p.tmb", "source in from stdin;\nin |> where event.a |> out\n");
    let program = program.display().to_string();
    let mut run =
        temblor(["run", "-q", "--log-format", "json", "--control", &socket, &program]).start();
    run.write("nonsense\n");
    run.wait_for_text("\"level\":\"ERROR\"");
    let (said, ok) = ctl(&folder.file("s"), &["log", "off"]);
    assert!(ok && said["level"] == "off", "{said}");
    let before = run.err();
    run.write("other nonsense\n{\"a\":true}\n");
    run.wait_for_text("{\"a\":true}");
    assert_eq!(run.err(), before);
    let line = before.lines().next().expect("there is one");
    let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
    assert!(line["message"].as_str().is_some_and(|text| text.contains("stdin>:1")), "{line}");
    run.terminate();
    let said = temblor(["run", "--log", "loud", "-e", "where true"]).run().failed_with(2);
    assert!(said.contains("off, error, warn"), "{said}");
}
