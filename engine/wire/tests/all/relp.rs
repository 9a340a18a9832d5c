//! `relp` with rsyslog's `imrelp` and `omrelp`, with a second Temblor, and with peers that break it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use temblor_testing::{Folder, free_port, peer, peers, temblor, wait_for_listener, wait_until};

use crate::support::{connect, lines, listening, rest, start};
use crate::syslog::rsyslogd;

#[test]
fn a_message_is_acknowledged_when_it_is_written() {
    let (port, folder) = (free_port(), Folder::new());
    let path = folder.file("got");
    let process = listening(
        &format!(
            "source s from relp \"127.0.0.1:{port}\"; sink f into file {path:?}; s |> select event.msg |> f"
        ),
        port,
    );
    let mut stream = connect(port);
    let open = b"1 open 32 relp_version=0\ncommands=syslog\n\n";
    let open = [&open[..8], b"30 ", &open[10..]].concat();
    let _ = open;
    let offer = "relp_version=0\ncommands=syslog";
    let text = format!("1 open {} {offer}\n2 syslog 5 hello\n3 syslog 5 world\n", offer.len());
    for part in text.as_bytes().chunks(9) {
        stream.write_all(part).expect("it reads");
    }
    let mut answers = String::new();
    let mut block = [0; 1000];
    while !answers.contains("3 rsp 6 200 OK\n") {
        let count = stream.read(&mut block).expect("it answers");
        assert!(count > 0, "{answers}");
        answers.push_str(&String::from_utf8_lossy(&block[..count]));
    }
    assert!(answers.starts_with("1 rsp ") && answers.contains("2 rsp 6 200 OK\n"), "{answers}");
    assert_eq!(folder.read("got").lines().count(), 2);
    stream.write_all(b"4 close 0\n").expect("it reads");
    assert_eq!(rest(&mut stream), b"4 rsp 0\n0 serverclose 0\n");
    process.terminate().succeeded();
}

#[test]
fn long_messages_are_reported_and_garbage_is_closed() {
    let port = free_port();
    let mut process = listening(
        &format!(
            "source s from relp \"127.0.0.1:{port}\" with max_message_bytes = 8 end; s |> select event.msg |> out"
        ),
        port,
    );
    let mut stream = connect(port);
    stream.write_all(b"1 syslog 9 123456789\n2 syslog 2 ok\n").expect("it reads");
    assert_eq!(lines(&process, 1), ["\"ok\""]);
    stream.write_all(b"3 close 0\n").expect("it reads");
    let answers = rest(&mut stream);
    assert!(answers.starts_with(b"1 rsp 6 200 OK\n2 rsp 6 200 OK\n"), "{answers:?}");
    let mut garbage = connect(port);
    garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it reads");
    rest(&mut garbage);
    process.wait_for_text("no frame of RELP");
    assert!(process.terminate().err.contains("longer than 8 bytes"));
}

#[test]
fn rsyslog_sends_and_takes() {
    let Some([program, logger]) = peers(["RSYSLOGD", "LOGGER"]) else { return };
    let (ours, theirs, folder) = (free_port(), free_port(), Folder::new());
    let process = listening(
        &format!(
            "source s from relp \"127.0.0.1:{ours}\"; s |> select [event.appname, event.msg] |> out"
        ),
        ours,
    );
    let (socket, path) = (folder.file("in"), folder.file("got"));
    let _daemon = rsyslogd(
        &program,
        &folder,
        &format!(
            "module(load=\"imuxsock\" SysSock.Use=\"off\")\nmodule(load=\"imrelp\")\nmodule(load=\"omrelp\")\n\
             input(type=\"imuxsock\" Socket=\"{}\" ruleset=\"out\")\n\
             input(type=\"imrelp\" port=\"{theirs}\" address=\"127.0.0.1\" ruleset=\"file\")\n\
             template(name=\"t\" type=\"string\" string=\"%app-name%|%msg%\\n\")\n\
             ruleset(name=\"out\") {{ action(type=\"omrelp\" target=\"127.0.0.1\" port=\"{ours}\") }}\n\
             ruleset(name=\"file\") {{ action(type=\"omfile\" file=\"{}\" template=\"t\") }}\n",
            socket.display(),
            path.display()
        ),
    );
    wait_for_listener(&format!("127.0.0.1:{theirs}"));
    wait_until("rsyslog's socket", || socket.exists());
    let place = socket.display().to_string();
    for n in 0..10 {
        let ran =
            Command::new(&logger).args(["-u", &place, "-t", "app", &format!("m{n}")]).status();
        assert!(ran.expect("logger starts").success());
    }
    assert!(lines(&process, 10)[9].contains("m9"));
    let input: String = (0..1000)
        .map(|n| format!("{{\"facility\":\"user\",\"severity\":\"err\",\"hostname\":\"h\",\"appname\":\"app\",\"msg\":\"n{n}\"}}\n"))
        .collect();
    let sink = format!("sink t into relp \"127.0.0.1:{theirs}\"; in |> t");
    temblor(["run", "-q", "-e", &sink]).input(input).run().succeeded();
    wait_until("all events", || folder.read("got").lines().count() >= 1000);
    assert!(folder.read("got").lines().any(|line| line.trim_end() == "app|n999"));
    process.terminate();
}

#[test]
fn what_was_not_acknowledged_is_sent_again() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it is bound").port();
    let mut process = start(&format!(
        "sink t into relp \"127.0.0.1:{port}\" with codec = \"string\", retry = {{\"first\": \"10ms\"}} end; in |> t"
    ));
    process.write("{\"n\":1}\n{\"n\":2}\n");
    // Takes all, answers `open` and the first message only, and dies.
    let (mut stream, _) = listener.accept().expect("the sink connects");
    let mut got = String::new();
    let mut block = [0; 1000];
    stream.write_all(b"1 rsp 6 200 OK\n").expect("it reads");
    while !got.contains("{\"n\":2}") {
        let count = stream.read(&mut block).expect("it sends");
        got.push_str(&String::from_utf8_lossy(&block[..count]));
    }
    assert!(got.contains("2 syslog 7 {\"n\":1}\n3 syslog 7 {\"n\":2}\n"), "{got}");
    stream.write_all(b"2 rsp 6 200 OK\n").expect("it reads");
    drop(stream);
    let (mut stream, _) = listener.accept().expect("the sink connects again");
    stream.write_all(b"1 rsp 6 200 OK\n").expect("it reads");
    let mut got = String::new();
    while !got.contains("{\"n\":2}") {
        let count = stream.read(&mut block).expect("it sends");
        got.push_str(&String::from_utf8_lossy(&block[..count]));
    }
    drop(process.take_input());
    let last = if got.contains("{\"n\":1}") { "3" } else { "2" };
    let answers = if last == "3" { "2 rsp 6 200 OK\n3 rsp 6 200 OK\n" } else { "2 rsp 6 200 OK\n" };
    stream.write_all(answers.as_bytes()).expect("it reads");
    while !got.contains("close 0\n") {
        let count = stream.read(&mut block).expect("it closes");
        got.push_str(&String::from_utf8_lossy(&block[..count]));
    }
    drop(stream);
    process.wait().succeeded();
}

#[test]
fn two_temblors_speak_over_tls_and_a_kill_loses_nothing() {
    let Some(files) = peer("CERTIFICATES") else { return };
    let (port, folder) = (free_port(), Folder::new());
    let path = folder.file("got");
    let source = format!(
        "source s from relp \"127.0.0.1:{port}\" with codec = \"string\", \
         tls = {{\"cert\": \"{files}/server.pem\", \"key\": \"{files}/server.key\"}} end; \
         sink f into file {path:?} with codec = \"string\", mode = \"append\" end; s |> f"
    );
    let mut server = listening(&source, port);
    let mut client = start(&format!(
        "sink t into relp \"127.0.0.1:{port}\" with codec = \"string\", tls = {{\"ca\": \"{files}/ca.pem\"}}, \
         retry = {{\"first\": \"20ms\", \"longest\": \"100ms\"}} end; in |> t"
    ));
    const COUNT: usize = 20_000;
    let feeding = {
        let mut input = client.take_input();
        std::thread::spawn(move || {
            for n in 0..COUNT {
                input.write_all(format!("{{\"n\":{n}}}\n").as_bytes()).expect("the client reads");
            }
        })
    };
    wait_until("some events", || folder.read("got").lines().count() > COUNT / 10);
    server.kill();
    server = listening(&source, port);
    feeding.join().expect("it writes all");
    client.wait().succeeded();
    server.terminate();
    let got = folder.read("got");
    let mut found: Vec<&str> = got.lines().collect();
    found.sort_unstable();
    found.dedup();
    let whole =
        (0..COUNT).filter(|n| found.binary_search(&format!("{{\"n\":{n}}}").as_str()).is_ok());
    assert_eq!(whole.count(), COUNT);
}
