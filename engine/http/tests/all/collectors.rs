//! `loki` and `splunk_hec`, against a server that answers as they do.

use crate::stand_in::StandIn;
use temblor_testing::{Folder, Ran, temblor};

fn run(program: &str, server: &StandIn, input: &str) -> Ran {
    let folder = Folder::new();
    let text = program.replace("ADDRESS", &server.address);
    let path = folder.write("program.tmb", text);
    temblor(["run".as_ref(), path.as_os_str()]).input(input).run()
}

#[test]
fn lines_go_to_loki_by_their_labels() {
    let server = StandIn::start(|_, _| Some((204, "")));
    let ran = run(
        r#"source in from stdin;
sink logs into loki "http://ADDRESS" with
  labels = {"job": "app", "level": event.level}, line = event.message, timestamp = event.at, tenant = "one",
  concurrency = 1
end;
in |> logs; logs/err |> out"#,
        &server,
        "{\"level\":\"a\",\"message\":\"x \\\"y\\\"\",\"at\":1}\n{\"level\":\"b\",\"message\":\"z\",\"at\":2}\n\
         {\"level\":\"a\",\"message\":\"w\",\"at\":3}\n{\"level\":\"a\",\"message\":\"w\",\"at\":\"soon\"}\n",
    );
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /loki/api/v1/push HTTP/1.1", "{}", ran.err);
    assert!(requests[0].headers.contains("x-scope-orgid: one"), "{}", requests[0].headers);
    let wanted = r#"{"streams":[{"stream":{"job":"app","level":"a"},"values":[["1","x \"y\""],["3","w"]]},{"stream":{"job":"app","level":"b"},"values":[["2","z"]]}]}"#;
    assert_eq!(requests[0].body, wanted);
    assert!(
        ran.out.contains("`timestamp` must be nanoseconds since 1970, got soon"),
        "{}",
        ran.out
    );
}

#[test]
fn one_bad_event_does_not_take_its_neighbours_with_it() {
    let server = StandIn::start(|_, request| match request.body.contains("bad") {
        true => Some((400, "{\"text\":\"Invalid data format\",\"code\":6}")),
        false => Some((200, "{\"text\":\"Success\",\"code\":0}")),
    });
    let input = "{\"n\":1}\n{\"n\":2}\n{\"n\":\"bad\"}\n{\"n\":4}\n{\"n\":5}\n";
    let ran = run(
        r#"source in from stdin;
sink splunk into splunk_hec "http://ADDRESS" with
  token = "t0k", sourcetype = "app", index = "main", time = "1.5", fields = {"f": event.n}, concurrency = 1
end;
in |> splunk; splunk/err |> out"#,
        &server,
        input,
    );
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /services/collector/event HTTP/1.1", "{}", ran.err);
    assert!(requests[0].headers.contains("authorization: splunk t0k"), "{}", requests[0].headers);
    assert!(requests[0].headers.contains("x-splunk-request-channel: "), "{}", requests[0].headers);
    let taken: String = requests
        .iter()
        .filter(|one| !one.body.contains("bad"))
        .map(|one| one.body.clone())
        .collect();
    let wanted: String = [1, 2, 4, 5]
        .iter()
        .map(|n| {
            format!(
                "{{\"time\":1.5,\"sourcetype\":\"app\",\"index\":\"main\",\"fields\":{{\"f\":{n}}},\"event\":{{\"n\":{n}}}}}\n"
            )
        })
        .collect();
    assert_eq!(taken, wanted);
    let refused: serde_json::Value = serde_json::from_str(ran.out.trim()).expect("one event");
    assert_eq!(
        (refused["event"].as_str(), refused["status"].as_u64()),
        (Some("{\"n\":\"bad\"}"), Some(400))
    );
}
