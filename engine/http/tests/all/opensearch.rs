//! `opensearch` with the real one.

use std::process::Command;

use temblor_testing::{Folder, OwnPeer, Ran, peer, temblor, wait_until};

/// Asks a node by curl.
fn ask(address: &str, method: &str, path: &str, body: &str) -> serde_json::Value {
    let ran = Command::new("curl")
        .args(["--silent", "-X", method, "-H", "content-type: application/json", "-d", body])
        .arg(format!("http://{address}{path}"))
        .output()
        .expect("curl starts");
    serde_json::from_slice(&ran.stdout).unwrap_or_default()
}

/// How many documents an index has.
fn count(address: &str, index: &str) -> u64 {
    ask(address, "POST", &format!("/{index}/_refresh"), "{}");
    ask(address, "GET", &format!("/{index}/_count"), "")["count"].as_u64().unwrap_or(0)
}

/// A name that no other run has.
fn fresh(name: &str) -> String {
    format!("temblor-{name}-{}", std::process::id())
}

fn run(program: &str, input: &str) -> Ran {
    let folder = Folder::new();
    let path = folder.write("program.tmb", program);
    temblor(["run".as_ref(), path.as_os_str()]).input(input).run()
}

#[test]
fn every_event_becomes_a_document_of_its_index() {
    let Some(address) = peer("OPENSEARCH") else { return };
    let index = fresh("count");
    let input: String = (0..5000)
        .map(|n| format!("{{\"n\":{n},\"kind\":\"{}\"}}\n", if n % 5 == 0 { "b" } else { "a" }))
        .collect();
    let program = format!(
        r#"source in from stdin;
sink search into opensearch "http://{address}" with
  index = "{index}-#{{event.kind}}", batch_events = 500, compression = "gzip"
end;
in |> search"#
    );
    let ran = run(&program, &input);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    let counts = (count(&address, &format!("{index}-a")), count(&address, &format!("{index}-b")));
    assert_eq!(counts, (4000, 1000));
    ask(&address, "DELETE", &format!("/{index}-a,{index}-b"), "");
}

#[test]
fn what_does_not_fit_goes_to_err_and_the_rest_is_there() {
    let Some(address) = peer("OPENSEARCH") else { return };
    let index = fresh("mapping");
    ask(
        &address,
        "PUT",
        &format!("/{index}"),
        r#"{"mappings":{"properties":{"n":{"type":"integer"}}}}"#,
    );
    let program = format!(
        r#"source in from stdin;
sink search into opensearch "http://{address}" with
  index = "{index}", id = event.id, action = event.action, doc_as_upsert = true, concurrency = 1
end;
in |> search; search/err |> out"#
    );
    let input = r#"{"id":"1","n":1}
{"id":"2","n":"two"}
{"id":"3","n":3}
{"id":"3","n":4,"action":"create"}
{"id":"1","m":5,"action":"update"}
{"id":"9","m":5,"action":"update"}
{"id":"3","action":"delete"}
{"id":"4","action":"explode"}
"#;
    let ran = run(&program, input);
    let refused: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let statuses: Vec<_> = refused.iter().map(|one| one["status"].as_u64()).collect();
    assert_eq!(refused.len(), 3, "{} {}", ran.out, ran.err);
    assert!(
        statuses.contains(&Some(400)) && statuses.contains(&Some(409)) && statuses.contains(&None)
    );
    let mapping = refused.iter().find(|one| one["status"] == 400).expect("it is there");
    assert!(
        mapping["error"].as_str().expect("a text").contains("mapper_parsing_exception"),
        "{mapping}"
    );
    assert_eq!(mapping["event"], r#"{"id":"2","n":"two"}"#);
    assert_eq!(mapping["id"], "2");
    assert_eq!(count(&address, &index), 2);
    let first = ask(&address, "GET", &format!("/{index}/_doc/1"), "");
    assert_eq!(first["_source"]["m"], 5, "{first}");
    ask(&address, "DELETE", &format!("/{index}"), "");
}

#[test]
fn a_data_stream_takes_events() {
    let Some(address) = peer("OPENSEARCH") else { return };
    let stream = fresh("stream");
    let template =
        format!(r#"{{"index_patterns":["{stream}*"],"data_stream":{{}},"priority":500}}"#);
    ask(&address, "PUT", &format!("/_index_template/{stream}"), &template);
    let program = format!(
        r#"source in from stdin;
sink search into opensearch "http://{address}" with index = "{stream}", data_stream = true end;
in |> search; search/err |> out"#
    );
    let ran = run(&program, "{\"@timestamp\":\"2026-01-01T00:00:00Z\",\"a\":1}\n{\"a\":2}\n");
    assert_eq!(count(&address, &stream), 1, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("timestamp"), "{}", ran.out);
    ask(&address, "DELETE", &format!("/_data_stream/{stream}"), "");
    ask(&address, "DELETE", &format!("/_index_template/{stream}"), "");
}

#[test]
fn nothing_is_lost_and_nothing_is_there_twice_when_the_server_is_killed() {
    let Some(server) = OwnPeer::start("opensearch") else { return };
    let address = server.address("OPENSEARCH");
    let folder = Folder::new();
    let program = format!(
        r#"source in from stdin;
sink search into opensearch "http://127.0.0.1:9" with
  nodes = ["http://{address}"], index = "all", id = event.id, batch_events = 100,
  retry = {{"first": "50ms", "longest": "500ms"}}
end;
in |> search"#
    );
    let path = folder.write("program.tmb", program);
    let mut process = temblor(["run".as_ref(), path.as_os_str()]).start();
    let lines = |from: usize, to: usize| -> String {
        (from..to).map(|n| format!("{{\"id\":\"{n}\",\"n\":{n}}}\n")).collect()
    };
    process.write(lines(0, 3000));
    wait_until("the first documents", || count(&address, "all") > 0);
    process.write(lines(3000, 20_000));
    server.kill();
    process.write(lines(20_000, 25_000));
    server.resume();
    drop(process.take_input());
    let ran = process.wait();
    assert_eq!(count(&address, "all"), 25_000, "{}", ran.err);
    assert!(ran.err.contains("is the node running?"), "{}", ran.err);
}

#[test]
fn what_is_sent_again_after_a_kill_changes_nothing_when_ids_stem_from_places() {
    let Some(address) = peer("OPENSEARCH") else { return };
    const LINES: u64 = 20_000;
    let (index, folder) = (fresh("idempotent"), Folder::new());
    // The same line twice is two events.
    let input: String = (0..LINES).map(|line| format!("{{\"n\":{}}}\n", line / 2)).collect();
    folder.write("in.log", input);
    let program = |settings: &str| {
        format!(
            r#"source in from file "in.log" with follow = true, start = "beginning", every = "50ms" end;
sink search into opensearch "http://{address}" with
  index = "{index}", batch_events = 200, buffer = "disk", {settings}
end;
in |> search"#
        )
    };
    for settings in ["idempotent = true", "idempotent = true, action = \"create\""] {
        let _ = std::fs::remove_dir_all(folder.file("state"));
        folder.write("program.tmb", program(settings));
        let start = || {
            temblor(["run", "-q", "program.tmb", "--state", "state"]).folder(folder.path()).start()
        };
        for round in 0..6_u64 {
            let process = start();
            // At random moments: that is what is tested.
            std::thread::sleep(std::time::Duration::from_millis(60 + round * 97 % 250));
            process.kill();
        }
        let process = start();
        wait_until("all are there", || count(&address, &index) >= LINES);
        let ran = process.terminate();
        assert_eq!(count(&address, &index), LINES, "{}", ran.err);
        assert!(!ran.err.contains("refused"), "{}", ran.err);
    }
    ask(&address, "DELETE", &format!("/{index}"), "");
}

#[test]
fn the_example_of_a_collector_brings_its_events_to_a_file_and_to_opensearch() {
    let Some(address) = peer("OPENSEARCH") else { return };
    let (folder, index) = (Folder::new(), fresh("collector"));
    let ran = Command::new("bash")
        .arg("examples/collector/run.sh")
        .current_dir(temblor_testing::repository())
        .env("TEMBLOR", temblor_testing::command_path())
        .env("OPENSEARCH", &address)
        .env("FOLDER", folder.path())
        .env("INDEX", &index)
        .env("SYSLOG_PORT", temblor_testing::free_port().to_string())
        .env("HTTP_PORT", temblor_testing::free_port().to_string())
        .output()
        .expect("bash starts");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    assert_eq!(out.matches("HTTP/1.1 200 OK").count(), 2, "{out}{err}");
    assert!(out.contains("archived:  6 events"), "{out}{err}");
    let counts = ["notice", "crit", "info", "debug"]
        .map(|severity| count(&address, &format!("{index}-{severity}")));
    assert_eq!(counts, [2, 1, 1, 0], "{out}{err}");
    let archive = folder.read("archive.ndjson");
    for text in ["GET /a 200", "denied", "only archived", "paid", "one", "two"] {
        assert!(archive.contains(text), "{text}: {archive}");
    }
    ask(&address, "DELETE", &format!("/{index}-notice,{index}-crit,{index}-info"), "");
}
