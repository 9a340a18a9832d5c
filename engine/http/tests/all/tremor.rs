//! tremor's connectors that speak HTTP, in flows.

use crate::stand_in::StandIn;
use crate::started::{curl, start_file};
use temblor_testing::{Folder, peer, temblor, wait_until};

#[test]
fn a_server_answers_with_what_comes_back() {
    let flow = r#"define flow echo
flow
  define connector server from http_server with config = {"url": "http://ADDRESS/"} end;
  create connector server;
  define pipeline answer
  pipeline
    define script mark
    script
      let $http_server.response = match $http_server.request.method of
        case "PUT" => {"status": 418, "headers": {"x-a": ["1", "2"], "x-path": $http_server.request.url}}
        case _ => {"headers": {}}
      end;
      {"got": event}
    end;
    create script mark;
    select event from in into mark;
    select event from mark into out;
  end;
  create pipeline answer;
  connect /connector/server to /pipeline/answer;
  connect /pipeline/answer to /connector/server;
end;
deploy flow echo;"#;
    let started = start_file("flow.troy", flow);
    let url = format!("http://{}/a?b=c", started.address);
    for (arguments, status, body) in [
        (&["-d", "{\"a\":1}"][..], 201, r#"{"got":{"a":1}}"#),
        (&["-X", "PUT", "-d", "[1,2]"], 418, r#"{"got":[1,2]}"#),
        (&[], 200, r#"{"got":null}"#),
        (&["-X", "DELETE"], 204, ""),
        (&["-H", "content-type: text/plain", "-d", "hello"], 201, r#"{"got":"hello"}"#),
    ] {
        let arguments = [arguments, &[url.as_str()]].concat();
        let Some(got) = curl(&arguments) else { return };
        assert_eq!(
            (got.status, got.body.as_str()),
            (status, body),
            "{arguments:?} {}",
            started.process.err()
        );
        if status == 418 {
            assert!(
                got.headers.contains("x-a: 1") && got.headers.contains("x-a: 2"),
                "{}",
                got.headers
            );
            assert!(got.headers.contains(&format!("x-path: {url}")), "{}", got.headers);
        }
    }
    assert_eq!(started.process.terminate().code, Some(0));
}

#[test]
fn a_client_gives_answers_with_their_correlation() {
    let server = StandIn::start(|_, request| match request.line.contains("/no") {
        true => Some((404, "{\"none\":true}")),
        false => Some((200, "{\"some\":true}")),
    });
    let flow = r#"define flow ask
flow
  define connector server from http_server with config = {"url": "http://ADDRESS/"} end;
  define connector client from http_client with config = {"url": "http://SERVER/yes", "method": "PUT"} end;
  define connector file from file with
    codec = "json", config = {"path": "FOLDER/answers", "mode": "truncate"}, postprocessors = ["separate"]
  end;
  create connector server; create connector client; create connector file;
  define pipeline asking
  pipeline
    define script mark
    script
      let $correlation = event.n;
      let $http_client.request = match event of
        case %{ present path } => {"url": "http://SERVER" + event.path, "method": "GET", "headers": {"x-n": ["1"]}}
        case _ => {}
      end;
      event
    end;
    create script mark;
    select event from in into mark;
    select event from mark into out;
  end;
  define pipeline answers
  pipeline
    select {"n": $correlation, "status": $http_client.response.status, "body": event} from in into out
  end;
  create pipeline asking; create pipeline answers;
  connect /connector/server to /pipeline/asking;
  connect /pipeline/asking to /connector/client;
  connect /connector/client to /pipeline/answers;
  connect /pipeline/answers to /connector/file;
end;
deploy flow ask;"#;
    let started = start_file("flow.troy", &flow.replace("SERVER", &server.address));
    let url = format!("http://{}/", started.address);
    for body in [r#"{"n":1}"#, r#"{"n":2,"path":"/no"}"#] {
        let Some(_) = curl(&["--max-time", "0.5", "-d", body, &url]) else { return };
    }
    wait_until("both answers", || started.folder.read("answers").lines().count() == 2);
    let answers = started.folder.read("answers");
    assert!(answers.contains(r#"{"n":1,"status":200,"body":{"some":true}}"#), "{answers}");
    assert!(answers.contains(r#"{"n":2,"status":404,"body":{"none":true}}"#), "{answers}");
    let lines: Vec<_> = server.requests().iter().map(|one| one.line.clone()).collect();
    assert!(lines.contains(&"PUT /yes HTTP/1.1".to_string()), "{lines:?}");
    assert!(lines.contains(&"GET /no HTTP/1.1".to_string()), "{lines:?}");
}

#[test]
fn documents_go_to_an_index_and_what_came_of_them_comes_back() {
    let Some(address) = peer("OPENSEARCH") else { return };
    let index = format!("temblor-tremor-{}", std::process::id());
    let flow = r#"define flow fill
flow
  define connector lines from stdio with
    codec = "json", preprocessors = ["separate"], postprocessors = ["separate"]
  end;
  define connector search from elastic with
    config = {"nodes": ["http://ADDRESS"], "index": "INDEX", "include_payload_in_response": true, "concurrency": 1}
  end;
  create connector lines; create connector search;
  define pipeline filling
  pipeline
    define script mark
    script
      let $correlation = event.n;
      let $elastic = {"_id": event.id, "action": event.action};
      event
    end;
    create script mark;
    select event from in into mark;
    select event from mark into out;
  end;
  define pipeline good
  pipeline
    select {"n": $correlation, "id": $elastic["_id"], "ok": $elastic.success, "was": event.payload.n} from in into out
  end;
  define pipeline bad pipeline select {"bad": event.status} from in into out end;
  create pipeline filling; create pipeline good; create pipeline bad;
  connect /connector/lines to /pipeline/filling;
  connect /pipeline/filling to /connector/search;
  connect /connector/search/out to /pipeline/good;
  connect /connector/search/err to /pipeline/bad;
  connect /pipeline/good to /connector/lines;
  connect /pipeline/bad to /connector/lines;
end;
deploy flow fill;"#;
    let folder = Folder::new();
    let path =
        folder.write("flow.troy", flow.replace("ADDRESS", &address).replace("INDEX", &index));
    let input = "{\"n\":1,\"id\":\"a\",\"action\":\"index\"}\n{\"n\":2,\"id\":\"a\",\"action\":\"create\"}\n";
    let ran = temblor(["run".as_ref(), path.as_os_str()]).input(input).run();
    assert!(ran.out.contains(r#"{"n":1,"id":"a","ok":true,"was":1}"#), "{} {}", ran.out, ran.err);
    assert!(ran.out.contains(r#"{"bad":409}"#), "{} {}", ran.out, ran.err);
    curl(&["-X", "DELETE", &format!("http://{address}/{index}")]);
}
