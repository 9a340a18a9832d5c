//! MQTT: topics of both versions, with kills on both sides.

use temblor_testing::{Folder, OwnPeer, peer, wait_until};

use crate::{counted, ends_in_peace, numbered, outlives, run, start, wait_for_lines};

/// A name that no other test has.
fn name(text: &str) -> String {
    format!("temblor-test-{text}-{}", std::process::id())
}

/// Publishes until a reader that has just been started has something.
fn until_it_reads(folder: &Folder, sink: &str, file: &str) {
    wait_until("a listener", || {
        run(folder, sink, "{\"n\":-1}\n").succeeded();
        !folder.read(file).is_empty()
    });
}

#[test]
fn events_go_through_topics_of_both_versions() {
    let Some(address) = peer("MQTT") else { return };
    for (version, headers, of_headers) in [
        ("3.1.1", "", "null"),
        ("5", ", headers = {\"h\": event.n}, content_type = \"application/json\"", "\"7\""),
    ] {
        let (folder, name) =
            (Folder::new(), name("both").replace("both", &version.replace('.', "")));
        let source = format!(
            "source s from mqtt \"mqtt://{address}\"
               with topics = [\"{name}/+\"], version = \"{version}\", client_id = \"{name}\" end;
             sink f into file \"out.json\";
             s |> set event.topic = $mqtt.topic
               |> set event.qos = $mqtt.qos
               |> set event.h = $mqtt.headers.h ?? null |> f"
        );
        let sink = format!(
            "sink out into mqtt \"mqtt://{address}\"
               with topic = \"{name}/#{{event.n}}\", version = \"{version}\"{headers} end;
             in |> out"
        );
        let process = start(&folder, "read.tmb", &source);
        until_it_reads(&folder, &sink, "out.json");
        run(&folder, &sink, &numbered(3000)).succeeded();
        wait_until("the last line", || folder.read("out.json").contains("\"n\":2999,"));
        process.terminate().succeeded();
        let text = folder.read("out.json");
        let wanted = format!("{{\"n\":7,\"topic\":\"{name}/7\",\"qos\":1,\"h\":{of_headers}}}\n");
        assert!(text.contains(&wanted), "{wanted} {}", &text[..text.len().min(500)]);
        let numbers: Vec<_> = text.lines().filter(|line| !line.starts_with("{\"n\":-1,")).collect();
        assert_eq!(numbers.len(), 3000);
        assert!(
            numbers.iter().enumerate().all(|(n, line)| line.starts_with(&format!("{{\"n\":{n},")))
        );
    }
}

#[test]
fn the_broker_keeps_what_a_reader_that_was_killed_has_not_acknowledged() {
    let Some(address) = peer("MQTT") else { return };
    // The subscription's quality holds for what comes.
    for qos in [1, 2] {
        let (folder, name) =
            (Folder::new(), name("killed").replace("killed", &format!("killed{qos}")));
        let source = format!(
            "source s from mqtt \"mqtt://{address}\"
               with topics = \"{name}\", client_id = \"{name}\" end;
             sink f into file \"out.json\" with mode = \"append\" end; s |> f"
        );
        let sink = format!(
            "sink out into mqtt \"mqtt://{address}\" with topic = \"{name}\", qos = {qos} end; in |> out"
        );
        let process = start(&folder, "read.tmb", &source);
        until_it_reads(&folder, &sink, "out.json");
        process.kill();
        // Nobody listens now: the session does.
        let count = 10_000;
        run(&folder, &sink, &numbered(count)).succeeded();
        for kill in 1..=2 {
            let process = start(&folder, "read.tmb", &source);
            wait_for_lines(&folder, "out.json", kill * 2000);
            process.kill();
        }
        // Mosquitto sends all that it kept without waiting for acknowledgements: much of it comes twice.
        let process = start(&folder, "read.tmb", &source);
        wait_until("all lines", || {
            let lines = counted(&folder.read("out.json"));
            (0..count).all(|n| lines.contains_key(&format!("{{\"n\":{n}}}")))
        });
        process.terminate().succeeded();
    }
}

#[test]
fn what_mqtt_cannot_hold_goes_to_err() {
    let Some(address) = peer("MQTT") else { return };
    let (folder, name) = (Folder::new(), name("err"));
    let program = format!(
        "sink m into mqtt \"mqtt://{address}\"
           with topic = event.topic, headers = event.headers, version = \"5\", message_bytes = 1000 end;
         in |> m; m/err |> out"
    );
    let input = format!(
        "{{\"topic\":\"{name}\"}}\n{{\"topic\":\"{name}/#\"}}\n{{}}\n{{\"topic\":\"{name}\",\"headers\":7}}\n\
         {{\"topic\":\"{name}\",\"text\":\"{}\"}}\n",
        "x".repeat(2000)
    );
    let out = run(&folder, &program, &input).succeeded();
    for wanted in ["no topic that can be", "names no topic", "must be a record", "too many"] {
        assert!(out.contains(wanted), "{wanted}: {out}");
    }
    assert_eq!(out.lines().count(), 4, "{out}");
}

#[test]
fn a_broker_that_dies_is_waited_for() {
    let Some(server) = OwnPeer::start("mqtt") else { return };
    let (address, folder) = (server.address("MQTT"), Folder::new());
    let program = format!(
        "source s from mqtt \"mqtt://{address}\" with topics = \"t\", client_id = \"reader\" end;
         sink m into mqtt \"mqtt://{address}\" with topic = \"t\", retain = true end;
         source lines from stdin;
         sink f into file \"out.json\";
         lines |> m; s |> f"
    );
    let process = start(&folder, "both.tmb", &program);
    // What is retained comes whenever the reader is there.
    let process = outlives(&server, &folder, process, 1);
    ends_in_peace(process);
}

#[test]
fn users_are_known_and_connections_are_made_over_tls() {
    let Some(users) = peer("MQTT_USERS") else { return };
    let Some(tls) = peer("MQTT_TLS") else { return };
    let Some(certificates) = peer("CERTIFICATES") else { return };
    let folder = Folder::new();
    for version in ["3.1.1", "5"] {
        let sink = |password: &str| {
            format!(
                "sink out into mqtt \"mqtt://{users}\"
                   with topic = \"t\", username = \"temblor\", password = \"{password}\",
                        version = \"{version}\", retry = {{\"attempts\": 1}} end;
                 in |> out"
            )
        };
        run(&folder, &sink("secret"), &numbered(1)).succeeded();
        let ran = run(&folder, &sink("wrong"), &numbered(1));
        assert!(ran.err.contains("check `username` and `password`"), "{}", ran.err);
        let port = tls.rsplit(':').next().unwrap();
        let sink = |ca: &str| {
            format!(
                "sink out into mqtt \"mqtts://localhost:{port}\"
                   with topic = \"t\", tls = {{\"ca\": \"{certificates}/{ca}\"}},
                        version = \"{version}\", retry = {{\"attempts\": 1}} end;
                 in |> out"
            )
        };
        run(&folder, &sink("ca.pem"), &numbered(1)).succeeded();
        let ran = run(&folder, &sink("other-ca.pem"), &numbered(1));
        assert!(ran.err.to_lowercase().contains("certificate"), "{}", ran.err);
    }
}
