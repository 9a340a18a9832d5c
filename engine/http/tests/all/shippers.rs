//! What ships to Splunk and Loki ships to Temblor: sources of both protocols, and sinks that send to them.

use crate::started::start;
use std::io::{Read, Write};
use std::net::TcpStream;
use temblor_testing::{Folder, Process, temblor, wait_until};

/// Sends a request, and gives the status and the body of its answer.
fn ask(address: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers and closes");
    let status = answer.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_string()).unwrap_or_default())
}

fn lines(process: &Process) -> Vec<String> {
    process.out().lines().map(str::to_string).collect()
}

const TOKEN: &str = "authorization: Splunk t0k\r\n";

#[test]
fn forwarders_of_splunk_are_answered_in_its_words() {
    let splunk = start(
        r#"source f from splunk_hec "ADDRESS" with tokens = ["t0k"] end;
f |> set event = {"event": event, "time": $splunk_hec.time ?? null, "host": $splunk_hec.host ?? null} |> out"#,
    );
    let at = |path: &str, headers: &str, body: &str| ask(&splunk.address, path, headers, body);
    let good = (200, "{\"text\":\"Success\",\"code\":0}".to_string());
    let two = r#"{"event":{"a":1},"time":"1.5","host":"h"} {"event":"text"}"#;
    assert_eq!(at("/services/collector", TOKEN, two), good);
    assert_eq!(at("/services/collector/raw?host=r&token=t0k", "", "one\ntwo\n"), good);
    let coded = "authorization: Basic eDp0MGs=\r\n";
    assert_eq!(at("/services/collector/event/1.0", coded, "{\"event\":1}"), good);
    for (path, headers, body, status, code) in [
        ("/services/collector", "", "{\"event\":1}", 401, 2),
        ("/services/collector", "authorization: Splunk no\r\n", "{\"event\":1}", 403, 4),
        ("/services/collector", TOKEN, "", 400, 5),
        ("/services/collector", TOKEN, "{\"event\":1}{\"event\"", 400, 6),
        ("/services/collector", TOKEN, "{\"time\":1}", 400, 12),
        ("/services/collector", TOKEN, "{\"event\":\"\"}", 400, 13),
        ("/services/collector/ack", TOKEN, "{\"acks\":[0]}", 400, 14),
        ("/elsewhere", TOKEN, "", 404, 404),
    ] {
        let (got, said) = at(path, headers, body);
        assert_eq!(got, status, "{path} {said}");
        assert!(said.contains(&format!("\"code\":{code}")), "{path} {said}");
    }
    assert_eq!(at("/services/collector/health", "", "").0, 200);
    wait_until("all events are out", || lines(&splunk.process).len() == 5);
    let out = splunk.process.terminate().out;
    for wanted in [
        r#"{"event":{"a":1},"time":1.5,"host":"h"}"#,
        r#"{"event":"text","time":null,"host":null}"#,
        r#"{"event":"two","time":null,"host":"r"}"#,
    ] {
        assert!(out.contains(wanted), "{wanted}: {out}");
    }
}

#[test]
fn ids_are_acknowledged_when_events_are_written() {
    let splunk = start(
        r#"source f from splunk_hec "ADDRESS" with tokens = ["t0k"], acknowledge = true end; f |> out"#,
    );
    let channel = format!("{TOKEN}x-splunk-request-channel: c\r\n");
    let (status, said) = ask(&splunk.address, "/services/collector", &channel, "{\"event\":1}");
    assert_eq!((status, said.contains("\"ackId\":0")), (200, true), "{said}");
    let asked = || ask(&splunk.address, "/services/collector/ack", &channel, "{\"acks\":[0,1]}").1;
    wait_until("it is acknowledged", || asked() == "{\"acks\":{\"0\":true,\"1\":false}}");
    assert_eq!(asked(), "{\"acks\":{\"0\":false,\"1\":false}}", "an id is told once");
    // The sink of the same protocol waits for acknowledgements, too.
    let folder = Folder::new();
    let program = format!(
        r#"sink s into splunk_hec "http://{}" with token = "t0k", acknowledge = true end; in |> s"#,
        splunk.address
    );
    let path = folder.write("sink.tmb", program);
    let sent = temblor(["run".as_ref(), path.as_os_str()]).input("{\"a\":1}\n{\"a\":2}\n");
    sent.run().succeeded();
    assert_eq!(splunk.process.terminate().out, "1\n{\"a\":1}\n{\"a\":2}\n");
}

#[test]
fn lines_that_are_pushed_to_loki_are_texts_with_labels() {
    let loki = start(
        r#"source f from loki "ADDRESS" with auth = {"basic": {"user": "u", "password": "p"}} end;
f |> set event = {"line": event, "job": $loki.labels.job, "at": $loki.timestamp} |> out"#,
    );
    let kind = "content-type: application/json\r\n";
    let body = r#"{"streams":[{"stream":{"job":"a"},"values":[["7","x \"y\""],["8","z"]]}]}"#;
    let push = |headers: &str, body: &str| ask(&loki.address, "/loki/api/v1/push", headers, body);
    assert_eq!(push(kind, body).0, 401);
    let shown = format!("{kind}authorization: Basic dTpw\r\n");
    assert_eq!(push(&shown, body).0, 204);
    assert_eq!(push(&shown, "{\"streams\":[{}]}").0, 400);
    assert_eq!(push("authorization: Basic dTpw\r\n", body).0, 415);
    let folder = Folder::new();
    let program = format!(
        r#"sink s into loki "http://{}" with
  labels = {{"job": "b"}}, line = event.m, timestamp = "9", auth = {{"basic": {{"user": "u", "password": "p"}}}}
end;
in |> s"#,
        loki.address
    );
    let path = folder.write("sink.tmb", program);
    temblor(["run".as_ref(), path.as_os_str()]).input("{\"m\":\"hello\"}\n").run().succeeded();
    let wanted = "{\"line\":\"x \\\"y\\\"\",\"job\":\"a\",\"at\":7}\n{\"line\":\"z\",\"job\":\"a\",\"at\":8}\n\
                  {\"line\":\"hello\",\"job\":\"b\",\"at\":9}\n";
    assert_eq!(loki.process.terminate().out, wanted);
}
