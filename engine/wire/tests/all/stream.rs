//! `tcp`, `unix` and `udp` from one Temblor to another and to plain sockets.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};

use temblor_testing::{Folder, free_port, peer, temblor, wait_until};

use crate::support::{connect, lines, listening, rest, send, start};

#[test]
fn lines_of_many_connections_arrive_with_their_peer() {
    let port = free_port();
    let program = format!(
        "source s from tcp \"127.0.0.1:{port}\" with codec = \"string\" end; \
         s |> select [event, $tcp.peer.host, $tcp.tls] |> out"
    );
    let process = listening(&program, port);
    (0..20).for_each(|n| send(port, format!("one {n}\nlast {n}").as_bytes()));
    let found = lines(&process, 40);
    for n in 0..20 {
        assert!(found.contains(&format!("[\"one {n}\",\"127.0.0.1\",false]")), "{found:?}");
        assert!(found.contains(&format!("[\"last {n}\",\"127.0.0.1\",false]")), "{found:?}");
    }
    process.terminate().succeeded();
}

#[test]
fn counted_messages_hold_newlines_and_long_ones_are_reported() {
    let port = free_port();
    let program = format!(
        "source s from tcp \"127.0.0.1:{port}\" with codec = \"string\", framing = \"octet\", \
         max_message_bytes = 10 end; s |> out"
    );
    let process = listening(&program, port);
    send(port, b"3 a\nb11 01234567890\n10 0123456789");
    assert_eq!(lines(&process, 2), [r#""a\nb""#, r#""0123456789""#]);
    let ran = process.terminate();
    assert!(ran.err.contains("longer than 10 bytes (11 bytes)"), "{}", ran.err);
}

#[test]
fn preprocessors_are_those_of_the_connection() {
    let port = free_port();
    let program = format!(
        "source s from tcp \"127.0.0.1:{port}\" with preprocessors = [\"length-prefixed\"] end; s |> out"
    );
    let process = listening(&program, port);
    let message = br#"{"a":1}"#;
    let mut first = connect(port);
    let mut framed = (message.len() as u64).to_be_bytes().to_vec();
    framed.extend_from_slice(message);
    first.write_all(&framed[..5]).expect("it reads");
    send(port, &framed);
    assert_eq!(lines(&process, 1), [r#"{"a":1}"#]);
    first.write_all(&framed[5..]).expect("it reads");
    assert_eq!(lines(&process, 2).len(), 2);
    process.terminate().succeeded();
}

#[test]
fn what_was_sent_before_the_stop_is_taken() {
    let port = free_port();
    let process = listening(&format!("source s from tcp \"127.0.0.1:{port}\"; s |> out"), port);
    let mut stream = connect(port);
    for n in 0..1000 {
        stream.write_all(format!("{{\"n\":{n}}}\n").as_bytes()).expect("it reads");
    }
    stream.write_all(b"{\"n\":").expect("it reads");
    let ran = process.terminate();
    assert_eq!(ran.out.lines().count(), 1000);
    assert!(ran.err.contains("before the message had come whole"), "{}", ran.err);
}

#[test]
fn a_sink_waits_for_its_peer_and_comes_back_to_it() {
    let port = free_port();
    let program = format!(
        "sink t into tcp \"127.0.0.1:{port}\" with retry = {{\"first\": \"20ms\", \"longest\": \"100ms\"}} end; \
         in |> t"
    );
    let mut process = start(&program);
    process.write("{\"n\":1}\n");
    process.wait_for_text("events wait until it works again");
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
    let (mut first, _) = listener.accept().expect("the sink connects");
    let mut block = [0; 8];
    first.read_exact(&mut block).expect("the sink writes");
    assert_eq!(&block, b"{\"n\":1}\n");
    first.shutdown(Shutdown::Both).expect("it is open");
    drop(first);
    process.write("{\"n\":2}\n");
    let (mut second, _) = listener.accept().expect("the sink connects again");
    drop(process.take_input());
    assert_eq!(rest(&mut second), b"{\"n\":2}\n");
    process.wait().succeeded();
}

#[test]
fn several_addresses_take_over_or_take_turns() {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("there is a port"));
    let ports = listeners.each_ref().map(|one| one.local_addr().expect("it is bound").port());
    let dead = free_port();
    let program = |first: u16, second: u16, strategy: &str| {
        format!(
            "sink t into tcp \"127.0.0.1:{first}\" with addresses = [\"127.0.0.1:{second}\"], \
             strategy = \"{strategy}\" end; in |> t"
        )
    };
    let mut process = start(&program(dead, ports[0], "failover"));
    process.write("{\"n\":1}\n");
    let (mut stream, _) = listeners[0].accept().expect("the second address is used");
    drop(process.take_input());
    assert_eq!(rest(&mut stream), b"{\"n\":1}\n");
    process.wait().succeeded();

    let mut process = start(&program(ports[0], ports[1], "round_robin"));
    process.write("{\"n\":1}\n");
    let (mut second, _) = listeners[1].accept().expect("it is the next in turn");
    process.write("{\"n\":2}\n");
    let (mut first, _) = listeners[0].accept().expect("it is the next in turn");
    drop(process.take_input());
    let both = [rest(&mut second), rest(&mut first)].concat();
    assert_eq!(both, b"{\"n\":1}\n{\"n\":2}\n");
    process.wait().succeeded();
}

#[test]
fn all_addresses_get_everything_and_a_quorum_is_enough() {
    let ports: Vec<u16> = (0..3).map(|_| free_port()).collect();
    let source =
        |port: u16| listening(&format!("source s from tcp \"127.0.0.1:{port}\"; s |> out"), port);
    let (first, second) = (source(ports[0]), source(ports[1]));
    let sink = |quorum: &str| {
        format!(
            "sink o into tcp \"127.0.0.1:{}\" with addresses = [\"127.0.0.1:{}\", \"127.0.0.1:{}\"], \
             strategy = \"all\"{quorum}, retry = {{\"attempts\": 3, \"first\": \"10ms\"}} end; in |> o",
            ports[0], ports[1], ports[2]
        )
    };
    let input = "{\"n\":1}\n{\"n\":2}\n";
    temblor(["run", "-q", "-e", &sink(", quorum = 2")]).input(input).run().succeeded();
    for process in [&first, &second] {
        assert_eq!(lines(process, 2), ["{\"n\":1}", "{\"n\":2}"]);
    }
    // Without a quorum the third one is missed.
    let ran = temblor(["run", "-q", "-e", &sink("")]).input(input).run();
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(ran.err.contains("the attempts are used up"), "{}", ran.err);
    let ran = temblor(["run", "-q", "-e", &sink(", quorum = 4")]).input("").run();
    assert!(ran.err.contains("4 of 3 addresses can never be reached"), "{}", ran.err);
}

#[test]
fn roles_can_be_turned_round() {
    let port = free_port();
    let mut sink =
        start(&format!("sink t into tcp \"127.0.0.1:{port}\" with mode = \"listen\" end; in |> t"));
    let source = start(&format!(
        "source s from tcp \"127.0.0.1:{port}\" with mode = \"connect\", \
         retry = {{\"first\": \"20ms\", \"longest\": \"50ms\"}} end; s |> out"
    ));
    sink.write("{\"n\":1}\n");
    assert_eq!(lines(&source, 1), ["{\"n\":1}"]);
    drop(sink.take_input());
    sink.wait().succeeded();
    source.terminate();
}

#[test]
fn tls_is_checked_on_both_sides_and_follows_its_files() {
    let Some(files) = peer("CERTIFICATES") else { return };
    let (port, folder) = (free_port(), Folder::new());
    let copy = |name: &str, to: &str| {
        std::fs::copy(format!("{files}/{name}"), folder.file(to)).expect("it can be copied");
    };
    copy("expired.pem", "cert.pem");
    copy("expired.key", "cert.key");
    let own = folder.path().display();
    let source = format!(
        "source s from tcp \"127.0.0.1:{port}\" with tls = {{\"cert\": \"{own}/cert.pem\", \
         \"key\": \"{own}/cert.key\", \"ca\": \"{files}/ca.pem\"}} end; s |> select [event.n, $tcp.tls] |> out"
    );
    let mut server = listening(&source, port);
    let client = |who: &str, n: u32, attempts: u32| {
        let program = format!(
            "sink t into tcp \"127.0.0.1:{port}\" with tls = {{\"ca\": \"{files}/ca.pem\", \
             \"cert\": \"{files}/{who}.pem\", \"key\": \"{files}/{who}.key\"}}, \
             retry = {{\"first\": \"20ms\", \"attempts\": {attempts}}} end; in |> t"
        );
        temblor_testing::temblor(["run", "-q", "-e", &program])
            .input(format!("{{\"n\":{n}}}\n"))
            .run()
    };
    let refused = client("client", 1, 2);
    assert!(refused.err.contains("xpired"), "{}", refused.err);
    copy("server.pem", "cert.pem");
    copy("server.key", "cert.key");
    std::thread::sleep(std::time::Duration::from_millis(1100));
    client("client", 2, 5).succeeded();
    assert_eq!(lines(&server, 1), ["[2,true]"]);
    // TLS 1.3 refuses a client's certificate only after the client's handshake.
    client("stranger", 3, 2);
    server.wait_for_text("TLS handshake failed");
    assert_eq!(server.terminate().out.lines().count(), 1);
}

#[test]
fn datagrams_come_with_their_peer_and_leave_one_for_each_event() {
    let (port, target) = (free_port(), free_port());
    let receiver = UdpSocket::bind(("127.0.0.1", target)).expect("the port is free");
    let program = format!(
        "source s from udp \"127.0.0.1:{port}\" with codec = \"string\" end; \
         sink t into udp \"127.0.0.1:{target}\" with codec = \"string\" end; \
         s |> select \"#{{event}} from #{{$udp.peer.host}}\" |> t"
    );
    let process = start(&program);
    let sender = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    let other = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    let listens = || {
        let table = std::fs::read_to_string("/proc/net/udp").unwrap_or_default();
        table.contains(&format!("0100007F:{port:04X}"))
    };
    wait_until("the program listens", listens);
    sender.send_to(b"one\n", ("127.0.0.1", port)).expect("it listens");
    other.send_to(b"two", ("127.0.0.1", port)).expect("it listens");
    let mut block = [0; 100];
    let mut found: Vec<String> = (0..2)
        .map(|_| {
            let count = receiver.recv(&mut block).expect("the program sends");
            String::from_utf8_lossy(&block[..count]).into_owned()
        })
        .collect();
    found.sort();
    assert_eq!(found, ["one from 127.0.0.1", "two from 127.0.0.1"]);
    process.terminate().succeeded();
}

#[test]
fn sockets_of_the_unix_domain_carry_streams_and_datagrams() {
    let folder = Folder::new();
    let (stream, datagram) = (folder.file("stream"), folder.file("datagram"));
    let process = start(&format!(
        "source s from unix {stream:?} with codec = \"string\", permissions = \"0600\" end; \
         sink t into unix {datagram:?} with codec = \"string\", type = \"datagram\" end; s |> t"
    ));
    let receiver = UnixDatagram::bind(&datagram).expect("the folder is there");
    wait_until("the socket", || UnixStream::connect(&stream).is_ok());
    let mut sender = UnixStream::connect(&stream).expect("it listens");
    sender.write_all(b"one\ntwo\n").expect("it reads");
    let mut block = [0; 100];
    for wanted in [&b"one"[..], b"two"] {
        let count = receiver.recv(&mut block).expect("the program sends");
        assert_eq!(&block[..count], wanted);
    }
    process.terminate().succeeded();
    assert!(!stream.exists());
}

#[test]
fn ten_thousand_idle_connections_take_little_memory() {
    // Both ends of each connection need a descriptor; the test has one end, the command the other.
    let limit =
        rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    let count = usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(100).min(10_000);
    let port = free_port();
    let process = listening(&format!("source s from tcp \"127.0.0.1:{port}\"; s |> out"), port);
    let mut open: Vec<_> = (0..count).map(|_| connect(port)).collect();
    for (n, stream) in open.iter_mut().enumerate() {
        stream.write_all(format!("{{\"n\":{n}}}\n").as_bytes()).expect("it reads");
    }
    lines(&process, count);
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id()))
        .expect("the process runs");
    let resident =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells it");
    let kib: usize = resident.trim().trim_end_matches(" kB").parse().expect("it is a number");
    assert!(kib < 200 << 10, "{kib} KiB for {count} connections");
    eprintln!("{kib} KiB for {count} connections");
    drop(open);
    process.terminate().succeeded();
}

#[test]
fn datagrams_that_the_kernel_has_no_room_for_are_counted() {
    const SENT: usize = 20_000;
    let port = free_port();
    let program = format!(
        "source s from udp \"127.0.0.1:{port}\" with codec = \"string\", receive_buffer = \"16KiB\" end; s |> out"
    );
    let process = temblor_testing::temblor(["run", "-e", &program]).start();
    let sender = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    wait_until("the first datagram", || {
        // Until the program listens, datagrams are refused.
        let _ = sender.send_to(b"begin", ("127.0.0.1", port));
        !process.out().is_empty()
    });
    process.signal(rustix::process::Signal::STOP);
    for _ in 0..SENT {
        sender.send_to(&[b'x'; 100], ("127.0.0.1", port)).expect("the socket is bound");
    }
    process.signal(rustix::process::Signal::CONT);
    sender.send_to(b"end", ("127.0.0.1", port)).expect("the socket is bound");
    let ran = process.terminate();
    let taken = ran.out.lines().filter(|line| line.contains("xxx")).count();
    assert!(taken < SENT && ran.err.contains("udp_kernel"), "{taken} {}", ran.err);
}
