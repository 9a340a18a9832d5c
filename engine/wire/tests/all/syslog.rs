//! `syslog` with rsyslog, syslog-ng, logger and loggen, in both directions.

use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::process::Command;

use temblor_testing::{Folder, Process, free_port, peer, peers, wait_for_listener, wait_until};

use crate::support::{connect, lines, listening, rest, send, start};

/// A source of syslog that prints `[hostname, appname, severity, msg]`.
fn source(address: &str, with: &str) -> String {
    let with = if with.is_empty() { ";".to_string() } else { format!(" with {with} end;") };
    format!(
        "source s from syslog \"{address}\"{with} \
         s |> select [event.appname, event.severity, event.msg] |> out"
    )
}

fn run(program: &str, arguments: &[&str]) {
    let ran = Command::new(program).args(arguments).output().expect("the program starts");
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn both_framings_are_seen_on_one_port() {
    let port = free_port();
    let process = listening(&source(&format!("tcp://127.0.0.1:{port}"), ""), port);
    send(port, b"<11>Nov  5 10:11:12 h app: one\n<11>1 2021-11-05T10:11:12Z h app - - - two\n");
    let found = lines(&process, 2);
    assert_eq!(found, [r#"["app","err","one"]"#, r#"["app","err","two"]"#]);
    let message = |text: &str| {
        let message = format!("<11>1 2021-11-05T10:11:12Z h app - - - {text}");
        format!("{} {message}", message.len())
    };
    let mut counted = connect(port);
    for part in [message("three\nlines\n"), message("four")].concat().as_bytes().chunks(7) {
        counted.write_all(part).expect("it reads");
    }
    let found = lines(&process, 4);
    assert_eq!(found[2..], [r#"["app","err","three\nlines"]"#, r#"["app","err","four"]"#]);
    drop(counted);
    process.terminate().succeeded();
}

#[test]
fn logger_is_heard_over_every_carrier() {
    let Some(logger) = peer("LOGGER") else { return };
    let (tcp, folder) = (free_port(), Folder::new());
    let (stream, datagram) = (folder.file("stream"), folder.file("datagram"));
    let program = |address: String| source(&address, "");
    let on_tcp = listening(&program(format!("tcp://127.0.0.1:{tcp}")), tcp);
    let place = tcp.to_string();
    let to_tcp = ["-n", "127.0.0.1", "-P", &place, "-T", "-t", "app", "-p", "user.err"];
    run(&logger, &[&to_tcp[..], &["--rfc3164", "old"]].concat());
    run(&logger, &[&to_tcp[..], &["--rfc5424", "new"]].concat());
    run(&logger, &[&to_tcp[..], &["--rfc5424", "--octet-count", "counted"]].concat());
    let mut found = lines(&on_tcp, 3);
    found.sort();
    let wanted = ["counted", "new", "old"].map(|msg| format!("[\"app\",\"err\",\"{msg}\"]"));
    assert_eq!(found, wanted);

    let udp = free_port();
    let on_udp = start(&program(format!("udp://127.0.0.1:{udp}")));
    wait_until("a datagram", || {
        let place = udp.to_string();
        run(&logger, &["-n", "127.0.0.1", "-P", &place, "-d", "-t", "app", "-p", "user.err", "hi"]);
        on_udp.out().contains("[\"app\",\"err\",\"hi\"]")
    });

    let on_stream = start(&program(format!("unix://{}", stream.display())));
    let on_datagrams = start(&program(format!("unix-dgram://{}", datagram.display())));
    wait_until("both sockets", || stream.exists() && datagram.exists());
    for (socket, process) in [(stream, on_stream), (datagram, on_datagrams)] {
        let socket = socket.display().to_string();
        run(&logger, &["-u", &socket, "-t", "app", "-p", "user.err", "local"]);
        assert_eq!(lines(&process, 1), ["[\"app\",\"err\",\"local\"]"]);
    }
}

#[test]
fn loggen_loses_nothing_over_tcp_and_tls() {
    let Some([loggen, files]) = peers(["LOGGEN", "CERTIFICATES"]) else { return };
    let tls =
        format!("tls = {{\"cert\": \"{files}/server.pem\", \"key\": \"{files}/server.key\"}}");
    for (scheme, with, how) in
        [("tcp", "", &["--stream", "--inet"][..]), ("tls", &tls, &["--use-ssl"])]
    {
        let (port, folder) = (free_port(), Folder::new());
        let with = if with.is_empty() { ";".to_string() } else { format!(" with {with} end;") };
        let path = folder.file("messages");
        let program = format!(
            "source s from syslog \"{scheme}://127.0.0.1:{port}\"{with} sink f into file {path:?}; \
             s |> select event.msg |> f"
        );
        let process = listening(&program, port);
        let place = port.to_string();
        let load = "--number 2000 --rate 100000 --interval 30 --active-connections 5 --size 300";
        let load: Vec<&str> = load.split(' ').collect();
        run(&loggen, &[how, &load, &["127.0.0.1", &place]].concat());
        wait_until("all messages", || folder.read("messages").lines().count() >= 10_000);
        process.terminate();
        assert_eq!(folder.read("messages").lines().count(), 10_000, "{scheme}");
    }
}

/// rsyslogd with a configuration of its own.
pub(crate) fn rsyslogd(program: &str, folder: &Folder, configuration: &str) -> Process {
    let path = folder.write("rsyslog.conf", configuration);
    let mut command = Command::new(program);
    command.arg("-n").arg("-f").arg(path).arg("-i").arg(folder.file("rsyslog.pid"));
    Process::start(command)
}

fn syslog_ng(program: &str, folder: &Folder, configuration: &str) -> Process {
    let path = folder.write("syslog-ng.conf", configuration);
    let mut command = Command::new(program);
    command.arg("-F").arg("-f").arg(path).arg("-R").arg(folder.file("persist"));
    command.arg("-c").arg(folder.file("control")).arg("--pidfile").arg(folder.file("pid"));
    Process::start(command)
}

const EVENT: &str = r#"{"facility":"user","severity":"err","hostname":"h","appname":"app","msg":"#;

fn write_events(program: &str, count: usize) -> temblor_testing::Ran {
    let input: String = (0..count).map(|n| format!("{EVENT}\"message {n}\"}}\n")).collect();
    temblor_testing::temblor(["run", "-q", "-e", program]).input(input).run()
}

#[test]
fn rsyslog_takes_what_a_sink_sends() {
    let Some(program) = peer("RSYSLOGD") else { return };
    let (port, udp, folder) = (free_port(), free_port(), Folder::new());
    let path = folder.file("got").display().to_string();
    let _daemon = rsyslogd(
        &program,
        &folder,
        &format!(
            "module(load=\"imtcp\")\nmodule(load=\"imudp\")\ninput(type=\"imtcp\" port=\"{port}\" address=\"127.0.0.1\")\n\
             input(type=\"imudp\" port=\"{udp}\" address=\"127.0.0.1\")\n\
             template(name=\"t\" type=\"string\" string=\"%app-name%|%syslogseverity-text%|%msg%\\n\")\n\
             action(type=\"omfile\" file=\"{path}\" template=\"t\")\n"
        ),
    );
    wait_for_listener(&format!("127.0.0.1:{port}"));
    for framing in ["lines", "octet"] {
        let sink = format!(
            "sink t into syslog \"tcp://127.0.0.1:{port}\" with framing = \"{framing}\" end; in |> t"
        );
        write_events(&sink, 1000).succeeded();
    }
    write_events(&format!("sink t into syslog \"udp://127.0.0.1:{udp}\"; in |> t"), 10).succeeded();
    wait_until("all events", || folder.read("got").lines().count() >= 2010);
    let got = folder.read("got");
    assert_eq!(
        got.lines().filter(|line| line.trim_end() == "app|err|message 999").count(),
        2,
        "{got}"
    );
}

#[test]
fn rsyslog_is_heard_in_both_framings_and_over_tls() {
    let Some([program, logger, files]) = peers(["RSYSLOGD", "LOGGER", "CERTIFICATES"]) else {
        return;
    };
    let (port, secure, folder) = (free_port(), free_port(), Folder::new());
    let tls =
        format!("tls = {{\"cert\": \"{files}/server.pem\", \"key\": \"{files}/server.key\"}}");
    let plain = listening(&source(&format!("tcp://127.0.0.1:{port}"), ""), port);
    let secured = listening(&source(&format!("tls://127.0.0.1:{secure}"), &tls), secure);
    let socket = folder.file("in");
    let _daemon = rsyslogd(
        &program,
        &folder,
        &format!(
            "module(load=\"imuxsock\" SysSock.Use=\"off\")\ninput(type=\"imuxsock\" Socket=\"{}\")\n\
             action(type=\"omfwd\" target=\"127.0.0.1\" port=\"{port}\" protocol=\"tcp\" TCP_Framing=\"traditional\")\n\
             action(type=\"omfwd\" target=\"127.0.0.1\" port=\"{port}\" protocol=\"tcp\" TCP_Framing=\"octet-counted\" template=\"RSYSLOG_SyslogProtocol23Format\")\n\
             action(type=\"omfwd\" target=\"127.0.0.1\" port=\"{secure}\" protocol=\"tcp\" StreamDriver=\"gtls\" StreamDriverMode=\"1\" \
             StreamDriverAuthMode=\"anon\" StreamDriver.CAFile=\"{files}/ca.pem\" TCP_Framing=\"octet-counted\")\n",
            socket.display()
        ),
    );
    wait_until("rsyslog's socket", || socket.exists());
    let path = socket.display().to_string();
    (0..10).for_each(|n| {
        run(&logger, &["-u", &path, "-t", "app", "-p", "user.err", &format!("m{n}")])
    });
    let found = lines(&plain, 20);
    assert_eq!(
        found.iter().filter(|line| line.contains("\"app\",\"err\"") && line.contains("m7")).count(),
        2,
        "{found:?}"
    );
    assert!(lines(&secured, 10)[9].contains("m9"));
}

#[test]
fn syslog_ng_takes_and_sends() {
    let Some([program, logger]) = peers(["SYSLOG_NG", "LOGGER"]) else { return };
    let (takes, port, folder) = (free_port(), free_port(), Folder::new());
    let process = listening(&source(&format!("tcp://127.0.0.1:{port}"), ""), port);
    let path = folder.file("got").display().to_string();
    let _daemon = syslog_ng(
        &program,
        &folder,
        &format!(
            "@version: 3.38\nsource s {{ syslog(ip(127.0.0.1) port({takes}) transport(\"tcp\")); }};\n\
             destination f {{ file(\"{path}\" template(\"$PROGRAM|$LEVEL|$MSG\\n\")); }};\n\
             destination t {{ syslog(\"127.0.0.1\" port({port}) transport(\"tcp\")); }};\n\
             log {{ source(s); destination(f); destination(t); }};\n"
        ),
    );
    wait_for_listener(&format!("127.0.0.1:{takes}"));
    let sink = format!(
        "sink t into syslog \"tcp://127.0.0.1:{takes}\" with framing = \"octet\" end; in |> t"
    );
    write_events(&sink, 100).succeeded();
    wait_until("all events", || folder.read("got").lines().count() >= 100);
    assert!(folder.read("got").contains("app|err|message 99"), "{}", folder.read("got"));
    let found = lines(&process, 100);
    assert!(found[99].contains("[\"app\",\"err\",\"message 99\"]"), "{found:?}");
    drop(logger);
}

#[test]
fn sinks_frame_as_their_carrier_wants() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let port = listener.local_addr().expect("it is bound").port();
    let event = format!("{EVENT}\"a\\nb\"}}\n");
    for (with, wanted) in [
        (";", "<11>1 - h app - - - a#012b\n"),
        (" with framing = \"octet\" end;", "26 <11>1 - h app - - - a\nb"),
    ] {
        let program = format!("sink t into syslog \"tcp://127.0.0.1:{port}\"{with} in |> t");
        let mut process = start(&program);
        process.write(&event);
        let (mut stream, _) = listener.accept().expect("the sink connects");
        drop(process.take_input());
        let got = String::from_utf8_lossy(&rest(&mut stream)).into_owned();
        assert_eq!(
            got.split_once(' ').map(|(_, rest)| rest),
            wanted.split_once(' ').map(|(_, rest)| rest)
        );
        process.wait().succeeded();
    }
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    let port = receiver.local_addr().expect("it is bound").port();
    let program = format!("sink t into syslog \"udp://127.0.0.1:{port}\"; in |> t");
    temblor_testing::temblor(["run", "-q", "-e", &program]).input(event).run().succeeded();
    let mut block = [0; 100];
    let count = receiver.recv(&mut block).expect("the sink sends");
    assert_eq!(&block[..count], b"<11>1 - h app - - - a\nb");
}
