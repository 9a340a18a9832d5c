//! Requests that the program answers.

use crate::started::{curl, start};

const PROGRAM: &str = r#"source in from http "ADDRESS" with answer = "program", answer_timeout = "1s" end;
sink back into reply "in" with
  status = (match event of case %{ present bad } => 422 case _ => 201 end),
  headers = {"x-path": $http.request.path, "x-many": ["a", "b"]}
end;
in |> where absent event.silent |> set event.seen = true |> back"#;

#[test]
fn the_program_answers_with_status_headers_and_body() {
    let started = start(PROGRAM);
    let url = format!("http://{}/ask", started.address);
    let ask = |body: &str| curl(&["-H", "content-type: application/json", "-d", body, &url]);
    let Some(got) = ask(r#"{"a":1}"#) else { return };
    assert_eq!(
        (got.status, got.body.as_str()),
        (201, r#"{"a":1,"seen":true}"#),
        "{}",
        started.process.err()
    );
    let headers = got.headers.to_lowercase();
    for wanted in ["x-path: /ask", "x-many: a", "x-many: b", "content-type: application/json"] {
        assert!(headers.contains(wanted), "{headers}");
    }
    assert_eq!(ask(r#"{"bad":1}"#).expect("there is curl").status, 422);
    let silent = ask(r#"{"silent":1}"#).expect("there is curl");
    assert_eq!(silent.status, 504, "{silent:?}");
    let wrong = ask("{\"a\":").expect("there is curl");
    assert_eq!(wrong.status, 400, "{wrong:?}");
}

#[test]
fn an_answer_that_nobody_waits_for_goes_to_err() {
    let started = start(
        r#"source in from http "ADDRESS";
sink back into reply "in";
in |> back; back/err |> out"#,
    );
    let url = format!("http://{}/", started.address);
    let Some(got) = curl(&["-d", "{\"a\":1}", &url]) else { return };
    assert_eq!(got.status, 200, "{}", started.process.err());
    let out = started.process.terminate().out;
    assert!(out.contains("waits at `in`"), "{out}");
    assert!(out.contains(r#""event":"{\"a\":1}""#), "{out}");
}
