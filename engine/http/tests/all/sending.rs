//! `http` as a sink, against a server that answers as the test says.

use crate::stand_in::StandIn;
use crate::started::start;
use temblor_testing::{Folder, peer, temblor, wait_until};

/// Runs a program over lines from standard input, in which `ADDRESS` stands for the server.
fn run(server: &StandIn, sink: &str, rest: &str, input: &str) -> temblor_testing::Ran {
    let folder = Folder::new();
    let program = format!(
        "source in from stdin;\nsink there into http \"http://{}/to\" with {sink} end;\n{rest}",
        server.address
    );
    let path = folder.write("program.tmb", program);
    temblor(["run".as_ref(), path.as_os_str()]).input(input).run()
}

const QUICK: &str = r#"retry = {"first": "1ms", "longest": "5ms"}, concurrency = 1"#;

fn lines(count: usize) -> String {
    (0..count).map(|number| format!("{{\"n\":{number}}}\n")).collect()
}

#[test]
fn events_arrive_in_batches_of_each_form() {
    for (batch, kind, bodies) in [
        ("ndjson", "application/x-ndjson", vec!["{\"n\":0}\n{\"n\":1}\n", "{\"n\":2}\n"]),
        ("json_array", "application/json", vec!["[{\"n\":0},{\"n\":1}]", "[{\"n\":2}]"]),
        ("single", "application/json", vec!["{\"n\":0}", "{\"n\":1}", "{\"n\":2}"]),
    ] {
        for compression in ["none", "gzip"] {
            let server = StandIn::start(|_, _| Some((200, "")));
            let sink = format!(
                "batch = \"{batch}\", batch_events = 2, compression = \"{compression}\", \
                 auth = {{\"bearer\": \"hush\"}}, {QUICK}"
            );
            let ran = run(&server, &sink, "in |> there", &lines(3));
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            let requests = server.requests();
            let found: Vec<_> = requests.iter().map(|request| request.body.as_str()).collect();
            assert_eq!(found, bodies, "{batch} {compression}");
            let headers = &requests[0].headers;
            assert!(headers.contains(&format!("content-type: {kind}\r\n")), "{headers}");
            assert!(headers.contains("authorization: bearer hush\r\n"), "{headers}");
            assert_eq!(requests[0].line, "POST /to HTTP/1.1");
        }
    }
}

#[test]
fn what_fails_for_now_is_sent_again_until_it_is_taken() {
    let server = StandIn::start(|number, _| match number {
        0 => Some((503, "busy")),
        1 => None,
        2 => Some((429, "slow down")),
        _ => Some((204, "")),
    });
    let ran = run(&server, QUICK, "in |> there", &lines(2));
    assert_eq!(server.requests().len(), 4, "{}", ran.err);
    assert!(ran.err.contains("answered with status 503 Service Unavailable: busy"), "{}", ran.err);
    let last = server.requests().pop().expect("there are some");
    assert_eq!(last.body, "{\"n\":0}\n{\"n\":1}\n");
}

#[test]
fn what_is_refused_goes_to_err_with_the_status_and_the_answer() {
    let server = StandIn::start(|_, request| match request.body.contains(":1}") {
        true => Some((422, "{\"why\":\"odd\"}")),
        false => Some((200, "")),
    });
    let sink = format!("batch = \"single\", {QUICK}");
    let ran = run(&server, &sink, "in |> there; there/err |> out", &lines(3));
    assert_eq!(server.requests().len(), 3);
    let event: serde_json::Value = serde_json::from_str(ran.out.trim()).expect("one event");
    assert_eq!(event["status"], 422, "{event}");
    assert_eq!(event["body"], "{\"why\":\"odd\"}");
    assert_eq!(event["event"], "{\"n\":1}");
    assert_eq!(event["sink"], "there");
}

#[test]
fn a_server_that_takes_less_gets_less() {
    let server = StandIn::start(|_, request| match request.body.lines().count() > 3 {
        true => Some((413, "")),
        false => Some((200, "")),
    });
    let ran = run(&server, QUICK, "in |> there", &lines(10));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let taken: String = server
        .requests()
        .iter()
        .filter(|request| request.body.lines().count() <= 3)
        .map(|request| request.body.clone())
        .collect();
    assert_eq!(taken, lines(10));
}

#[test]
fn attempts_have_an_end_where_it_is_wanted() {
    let server = StandIn::start(|_, _| Some((500, "")));
    let sink = r#"retry = {"first": "1ms", "attempts": 3}"#;
    let ran = run(&server, sink, "in |> there", &lines(1));
    assert_eq!(server.requests().len(), 3);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
}

#[test]
fn each_event_may_say_where_and_how() {
    let server = StandIn::start(|_, _| Some((200, "{\"said\":\"yes\"}")));
    let other = StandIn::start(|_, _| Some((200, "plain")));
    let sink = format!(
        "url = event.url, method = event.method, headers = {{\"x-n\": event.n}}, batch = \"single\", \
         auth = {{\"bearer\": \"hush\"}}, {QUICK}"
    );
    let input = format!(
        "{{\"n\":1}}\n{{\"n\":2,\"method\":\"put\",\"url\":\"http://{}/b?c\"}}\n{{\"n\":3,\"url\":\"ftp://x\"}}\n",
        other.address
    );
    let rest = "in |> there; there/err |> select {\"bad\": event.error} |> out; \
                there/out |> select {\"said\": event, \"status\": $http.response.status} |> out";
    let rest = rest.replace("select {", "set event = {");
    let ran = run(&server, &sink, &rest, &input);
    let (first, second) = (&server.requests()[0], &other.requests()[0]);
    assert_eq!(
        (first.line.as_str(), second.line.as_str()),
        ("POST /to HTTP/1.1", "PUT /b?c HTTP/1.1")
    );
    assert!(first.headers.contains("x-n: 1") && second.headers.contains("x-n: 2"));
    assert!(first.headers.contains("authorization"), "{}", first.headers);
    assert!(!second.headers.contains("authorization"), "credentials are for their own server");
    for wanted in [
        r#"{"said":{"said":"yes"},"status":200}"#,
        r#"{"bad":"`ftp://x` is no URL of a server: it cannot be `ftp://`"}"#,
    ] {
        assert!(ran.out.contains(wanted), "{} {}", ran.out, ran.err);
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let folder = Folder::new();
    for (sink, says) in [
        (r#"http "ftp://x""#, "it cannot be `ftp://`"),
        (r#"http "http://u:p@x""#, "holds a password"),
        (r#"http "http://x" with batch = "xml" end"#, "one of ndjson, json_array, single"),
        (r#"http "http://x" with auth = {"basic": {"user": "a"}} end"#, "`password` is missing"),
        (r#"http "http://x" with auth = {} end"#, "exactly one of"),
        (r#"http "https://x" with tls = {"ca": "/nowhere"} end"#, "/nowhere"),
        (r#"opensearch "http://x""#, "`index` is missing"),
        (r#"splunk_hec "http://x""#, "`token` is missing"),
    ] {
        let path = folder.write("bad.tmb", format!("sink there into {sink};\nin |> there"));
        let ran = temblor(["check".as_ref(), path.as_os_str()]).run();
        assert_ne!(ran.code, Some(0), "{sink}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(says), "{sink}: {said}");
    }
}

#[test]
fn a_renewed_certificate_of_the_client_holds_for_the_next_connection() {
    let Some(certificates) = peer("CERTIFICATES") else { return };
    let server = r#"source in from http "ADDRESS" with
  tls = {"cert": "DIR/server.pem", "key": "DIR/server.key", "ca": "DIR/ca.pem"}
end;
in |> out"#;
    let server = start(&server.replace("DIR", &certificates));
    let port = server.address.rsplit(':').next().expect("it has a port");
    let folder = Folder::new();
    let copy = |name: &str| {
        for (from, to) in [("pem", "cert.pem"), ("key", "key.pem")] {
            let file = format!("{certificates}/{name}.{from}");
            folder.write(to, std::fs::read(file).expect("it is there"));
        }
    };
    let place = folder.path().display();
    let program = format!(
        r#"sink there into http "https://localhost:{port}/" with
  tls = {{"ca": "{certificates}/ca.pem", "cert": "{place}/cert.pem", "key": "{place}/key.pem"}},
  retry = {{"first": "50ms", "longest": "100ms"}}
end;
in |> there"#
    );
    copy("stranger");
    let path = folder.write("program.tmb", program);
    let mut client = temblor(["run".as_ref(), path.as_os_str()]).start();
    client.write("{\"a\":1}\n");
    wait_until("a refusal", || client.err().contains("it is tried again"));
    assert_eq!(server.process.out(), "");
    copy("client");
    wait_until("the event", || server.process.out() == "{\"a\":1}\n");
    client.terminate();
}
