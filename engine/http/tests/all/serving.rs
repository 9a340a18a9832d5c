//! `http` as a source, with curl.

use crate::stand_in::StandIn;
use crate::started::{Got, Started, curl, curl_with, start, start_in};
use temblor_testing::{peers, wait_until};

fn post(started: &Started, path: &str, kind: &str, body: &[u8]) -> Option<Got> {
    let url = format!("http://{}{path}", started.address);
    let kind = format!("content-type: {kind}");
    curl_with(&["--data-binary", "@-", "-H", &kind, &url], body)
}

#[test]
fn bodies_of_every_kind_become_events_before_they_are_answered() {
    let started = start(r#"source in from http "ADDRESS"; in |> out"#);
    let mut wanted = String::new();
    for (kind, body, lines) in [
        ("application/json", "{\"a\":\n 1}", "{\"a\":1}\n"),
        ("application/json", "[{\"a\":2},{\"a\":3}]", "{\"a\":2}\n{\"a\":3}\n"),
        ("application/x-ndjson", "{\"a\":4}\n{\"a\":5}\n", "{\"a\":4}\n{\"a\":5}\n"),
        ("application/x-ndjson", "{\"a\":6}\n{\"a\":7}", "{\"a\":6}\n{\"a\":7}\n"),
        ("text/plain", "one \"line\"\nanother", "\"one \\\"line\\\"\"\n\"another\"\n"),
        ("application/x-www-form-urlencoded", "{\"a\":8}", "{\"a\":8}\n"),
        ("application/json", "", ""),
    ] {
        let Some(got) = post(&started, "/", kind, body.as_bytes()) else { return };
        assert_eq!(got.status, 200, "{body}: {got:?}");
        wanted.push_str(lines);
        let shown = started.process.out().replace("\n 1", "1");
        assert_eq!(shown, wanted, "{kind}");
    }
    let out = started.process.terminate();
    assert_eq!(out.code, Some(0), "{}", out.err);
}

#[test]
fn compressed_bodies_are_read_up_to_their_bound() {
    let program =
        r#"source in from http "ADDRESS" with max_decompressed = "100KiB" end; in |> out"#;
    let started = start(program);
    let url = format!("http://{}/", started.address);
    let send = |encoding: &str, body: &[u8]| {
        let encoding = format!("content-encoding: {encoding}");
        curl_with(&["--data-binary", "@-", "-H", &encoding, &url], body)
    };
    let packed = temblor_http::content::gzip(b"{\"a\":1}");
    let Some(got) = send("gzip", &packed) else { return };
    assert_eq!(got.status, 200);
    assert_eq!(started.process.out(), "{\"a\":1}\n");
    let bomb = temblor_http::content::gzip(&vec![b' '; 200 << 20]);
    for (encoding, body, status, reason) in [
        ("gzip", &bomb[..], 413, "max_decompressed"),
        ("gzip", b"no gzip", 400, "cannot be decompressed"),
        ("gzip", &packed[..12], 400, "cannot be decompressed"),
        ("lzma", &packed[..], 415, "known are gzip, deflate, zstd, br"),
    ] {
        let got = send(encoding, body).expect("curl was there before");
        assert_eq!(got.status, status, "{got:?}");
        assert!(got.body.contains(reason), "{got:?}");
    }
    assert_eq!(started.process.out(), "{\"a\":1}\n");
}

#[test]
fn what_is_not_wanted_gets_its_status() {
    let started = start(
        r#"source in from http "ADDRESS" with
  paths = ["/events", "/more/*"], max_body = "1KiB", auth = {"basic": {"user": "ann", "password": "pw"}}
end;
in |> out"#,
    );
    let url = |path: &str| format!("http://{}{path}", started.address);
    let big = "x".repeat(2000);
    for (arguments, path, status, says) in [
        (&["-d", "{}"][..], "/events", 401, "credentials"),
        (&["-u", "ann:no", "-d", "{}"], "/events", 401, "credentials"),
        (&["-u", "ann:pw", "-d", "{}"], "/other", 404, "this path"),
        (&["-u", "ann:pw", "-d", "{}"], "/events", 200, ""),
        (&["-u", "ann:pw", "-d", "{}"], "/more/a/b?c=d", 200, ""),
        (&["-u", "ann:pw", "-X", "DELETE"], "/events", 405, "POST, PUT"),
        (&["-u", "ann:pw", "-d", &big], "/events", 413, "more than 1024 bytes"),
        (
            &["-u", "ann:pw", "-H", "transfer-encoding: chunked", "-d", &big],
            "/events",
            413,
            "1024 bytes",
        ),
        (
            &["-u", "ann:pw", "-H", "content-type: application/json", "-d", "{\"a\":"],
            "/events",
            400,
            "not JSON: ",
        ),
    ] {
        let url = url(path);
        let arguments = [arguments, &[url.as_str()]].concat();
        let Some(got) = curl(&arguments) else { return };
        assert_eq!(got.status, status, "{arguments:?}: {got:?}");
        assert!(got.body.contains(says), "{got:?}");
    }
    let ran = started.process.terminate();
    assert_eq!(ran.out, "{}\n{}\n");
    // The bad body is not lost: it is reported with its bytes.
    assert!(ran.err.contains(r#"{"a":"#), "{}", ran.err);
}

#[test]
fn events_know_their_request() {
    let started = start(
        r#"source in from http "ADDRESS";
in |> set event = {"method": $http.request.method, "path": $http.request.path, "q": $http.request.query.a,
  "h": $http.request.headers["x-one"], "tls": $http.tls, "peer": $http.peer.host} |> out"#,
    );
    let url = format!("http://{}/a/b?a=1%202", started.address);
    let Some(got) = curl(&["-X", "PUT", "-H", "X-One: two", "-d", "{}", &url]) else { return };
    assert_eq!(got.status, 200, "{}", started.process.err());
    let wanted =
        r#"{"method":"PUT","path":"/a/b","q":"1 2","h":"two","tls":false,"peer":"127.0.0.1"}"#;
    assert_eq!(started.process.out().trim_end(), wanted, "{}", started.process.err());
}

#[test]
fn requests_come_by_tls_and_http_2() {
    let Some([_, certificates]) = peers(["CURL", "CERTIFICATES"]) else { return };
    let program = r#"source in from http "ADDRESS" with
  tls = {"cert": "DIR/server.pem", "key": "DIR/server.key"}
end;
in |> set event.version = $http.request.version |> out"#;
    let started = start(&program.replace("DIR", &certificates));
    let port = started.address.rsplit(':').next().expect("it has a port");
    let url = format!("https://localhost:{port}/");
    let authority = format!("{certificates}/ca.pem");
    for version in ["--http1.1", "--http2"] {
        let got =
            curl(&[version, "--cacert", &authority, "-d", "{}", &url]).expect("there is curl");
        assert_eq!(got.status, 200, "{got:?} {}", started.process.err());
    }
    assert_eq!(
        curl(&["-d", "{}", &url]).expect("there is curl").status,
        0,
        "nobody trusts it unasked"
    );
    let out = started.process.terminate().out;
    assert_eq!(out, "{\"version\":\"HTTP/1.1\"}\n{\"version\":\"HTTP/2.0\"}\n");
}

#[test]
fn a_request_is_answered_when_its_events_have_got_there_and_not_before() {
    // The collector takes nothing: it breaks every connection.
    let collector = StandIn::start(|_, _| None);
    let program = r#"source in from http "ADDRESS" with max_requests = 1, answer_timeout = "4s" end;
sink there into http "http://COLLECTOR/" with retry = {"first": "50ms", "longest": "50ms"} end;
in |> there"#;
    let started = start(&program.replace("COLLECTOR", &collector.address));
    let url = format!("http://{}/", started.address);
    let first = std::thread::spawn({
        let url = url.clone();
        move || curl(&["-d", "{}", &url])
    });
    wait_until("the event at the collector", || {
        !collector.requests().is_empty() || first.is_finished()
    });
    let Some(second) = curl(&["-d", "{}", &url]) else { return };
    assert_eq!(second.status, 429, "{second:?}");
    assert!(second.headers.to_lowercase().contains("retry-after: 1"), "{second:?}");
    let first = first.join().expect("it does not panic").expect("there is curl");
    assert_eq!(first.status, 504, "{first:?}");
}

#[test]
fn answers_are_at_once_where_that_is_wanted() {
    let collector = StandIn::start(|_, _| None);
    let program = r#"source in from http "ADDRESS" with
  answer = "at_once", status = 202, response_headers = {"x-taken": "yes"}, response_body = "ok"
end;
sink there into http "http://COLLECTOR/" with retry = {"first": "50ms", "longest": "50ms"} end;
in |> there"#;
    let started = start(&program.replace("COLLECTOR", &collector.address));
    let url = format!("http://{}/", started.address);
    let Some(got) = curl(&["-d", "{}", &url]) else { return };
    assert_eq!((got.status, got.body.as_str()), (202, "ok"));
    assert!(got.headers.contains("x-taken: yes"), "{got:?}");
}

#[test]
fn many_clients_at_once_lose_nothing() {
    let started = start(
        r#"source in from http "ADDRESS"; sink all into file "FOLDER/all" with mode = "truncate" end; in |> all"#,
    );
    let address = started.address.clone();
    let clients: Vec<_> = (0..8)
        .map(|client| {
            let address = address.clone();
            std::thread::spawn(move || keep_sending(&address, client, 200))
        })
        .collect();
    let answered: usize =
        clients.into_iter().map(|one| one.join().expect("it does not panic")).sum();
    assert_eq!(answered, 1600);
    let mut lines: Vec<_> = started.folder.read("all").lines().map(str::to_string).collect();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 1600);
    assert_eq!(started.process.terminate().code, Some(0));
}

/// Sends requests on one connection; how many were answered with 200.
fn keep_sending(address: &str, client: usize, requests: usize) -> usize {
    use std::io::{BufRead, BufReader, Write};
    let stream = std::net::TcpStream::connect(address).expect("it listens");
    let mut reader = BufReader::new(stream.try_clone().expect("it can be cloned"));
    let mut answered = 0;
    for number in 0..requests {
        let body = format!("{{\"client\":{client},\"number\":{number}}}");
        let head = format!("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
        (&stream).write_all(format!("{head}{body}").as_bytes()).expect("it reads");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).expect("it answers") > 0, "{head}");
        }
        answered += usize::from(head.starts_with("HTTP/1.1 200"));
    }
    answered
}

#[test]
fn a_program_that_takes_no_more_says_so_and_takes_again_when_it_can() {
    static OPEN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    // The collector is shut at first.
    let collector =
        StandIn::start(|_, _| OPEN.load(std::sync::atomic::Ordering::Relaxed).then_some((200, "")));
    let program = r#"source in from http "ADDRESS" with answer = "at_once", wait = "300ms" end;
sink there into http "http://COLLECTOR/" with retry = {"first": "20ms", "longest": "50ms"} end;
in |> there"#;
    let started = start(&program.replace("COLLECTOR", &collector.address));
    let url = format!("http://{}/", started.address);
    let body = format!("{{\"a\":\"{}\"}}", "x".repeat(2 << 20));
    let send = || curl_with(&["--data-binary", "@-", &url], body.as_bytes());
    let mut taken = 0;
    let refused = loop {
        let Some(got) = send() else { return };
        if got.status != 200 {
            break got;
        }
        taken += 1;
        assert!(taken < 60, "it takes everything");
    };
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.headers.to_lowercase().contains("retry-after: 1"), "{refused:?}");
    OPEN.store(true, std::sync::atomic::Ordering::Relaxed);
    wait_until("room again", || send().is_some_and(|got| got.status == 200));
    let ran = started.process.terminate();
    assert_eq!(ran.code, Some(0), "the collector was only shut for a while: {}", ran.err);
    let arrived: usize =
        collector.requests().iter().map(|request| request.body.lines().count()).sum();
    assert!(arrived > taken, "{arrived} {taken}");
}

#[test]
fn a_renewed_certificate_holds_for_the_next_connection() {
    let Some([_, certificates]) = peers(["CURL", "CERTIFICATES"]) else { return };
    let program = r#"source in from http "ADDRESS" with
  tls = {"cert": "FOLDER/cert.pem", "key": "FOLDER/key.pem"}
end;
in |> out"#;
    let copy = |folder: &temblor_testing::Folder, name: &str| {
        for (from, to) in [("pem", "cert.pem"), ("key", "key.pem")] {
            let bytes =
                std::fs::read(format!("{certificates}/{name}.{from}")).expect("it is there");
            folder.write(to, bytes);
        }
    };
    let started = start_in(program, |folder| copy(folder, "expired"));
    let port = started.address.rsplit(':').next().expect("it has a port");
    let url = format!("https://localhost:{port}/");
    let authority = format!("{certificates}/ca.pem");
    let send = || curl(&["--cacert", &authority, "-d", "{}", &url]).expect("there is curl").status;
    assert_eq!(send(), 0, "the certificate has expired");
    started.folder.write("cert.pem", "none");
    copy(&started.folder, "server");
    wait_until("the new certificate", || send() == 200);
}
