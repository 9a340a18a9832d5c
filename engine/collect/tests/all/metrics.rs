//! `statsd` and `graphite` with peers that speak by hand, and with themselves.

use std::net::UdpSocket;

use temblor_testing::{Folder, free_port, peer, wait_until};

use crate::support::{ByHand, lines, listen, run};

#[test]
fn lines_of_graphite_come_over_tcp_and_broken_ones_go_to_err() {
    let (folder, port) = (Folder::new(), free_port());
    let text = format!(
        "source metrics from graphite \"127.0.0.1:{port}\";\n\
         sink kept into file \"kept.ndjson\";\nsink err into file \"odd.ndjson\";\n\
         metrics |> set event.host = $graphite.peer.host |> kept"
    );
    let program = listen(&folder, "in.tmb", &text, port);
    let mut client = ByHand::connect(port);
    client.send(b"a.b 1.5 7\nodd\nc 2 ");
    client.send(b"8\n");
    let host = "\"host\":\"127.0.0.1\"";
    let wanted = [
        format!("{{\"metric\":\"a.b\",\"value\":1.5,\"timestamp\":7000000000,{host}}}"),
        format!("{{\"metric\":\"c\",\"value\":2,\"timestamp\":8000000000,{host}}}"),
    ];
    assert_eq!(lines(&folder, "kept.ndjson", 2), wanted);
    assert_eq!(lines(&folder, "odd.ndjson", 1).len(), 1);
    program.terminate().succeeded();
}

#[test]
fn datagrams_of_statsd_go_there_and_back() {
    let (folder, port) = (Folder::new(), free_port());
    let text = format!(
        "source metrics from statsd \"127.0.0.1:{port}\";\nsink kept into file \"kept.ndjson\";\nmetrics |> kept"
    );
    let program = run(&folder, "in.tmb", &text);
    let client = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    // Nobody tells when the program listens: datagrams before that are lost.
    wait_until("the first metric", || {
        client.send_to(b"hits:1|c\nload:0.5|g\n", ("127.0.0.1", port)).expect("it can be sent");
        !folder.read("kept.ndjson").is_empty()
    });
    let first = "{\"metric\":\"hits\",\"type\":\"c\",\"value\":1}\n{\"metric\":\"load\",\"type\":\"g\",\"value\":0.5}\n";
    assert!(folder.read("kept.ndjson").starts_with(first), "{}", folder.read("kept.ndjson"));
    let event = "{\"metric\":\"sent\",\"type\":\"ms\",\"value\":7}\n";
    folder.write("events.ndjson", event.repeat(300));
    let text = format!(
        "source events from file \"events.ndjson\";\n\
         sink metrics into statsd \"udp://127.0.0.1:{port}\";\nevents |> metrics"
    );
    run(&folder, "out.tmb", &text).wait().succeeded();
    wait_until("all metrics", || folder.read("kept.ndjson").matches("sent").count() == 300);
    program.terminate().succeeded();
}

/// Sends by the clients of PyPI; ends with 77 where they are not there.
const CLIENTS: &str = r#"
import sys
try:
    import graphyte, statsd
except ImportError:
    sys.exit(77)
kind, port = sys.argv[1], int(sys.argv[2])
if kind == "graphite":
    graphyte.init("127.0.0.1", port=port, prefix="app")
    for n in range(3):
        graphyte.send("load", n + 0.5, timestamp=100 + n)
else:
    client = statsd.StatsClient("127.0.0.1", port, prefix="app")
    client.incr("hits", 2)
    client.timing("took", 7)
    client.gauge("level", 3)
    client.gauge("level", -1, delta=True)
    client.set("users", 9)
"#;

/// Whether the clients are there, and have sent.
fn send(folder: &Folder, kind: &str, port: u16) -> bool {
    let Some(python) = peer("PYTHON") else { return false };
    let script = folder.write("clients.py", CLIENTS);
    let mut command = std::process::Command::new(python);
    let ran = command.arg(script).arg(kind).arg(port.to_string()).output().expect("it starts");
    if ran.status.code() == Some(77) {
        eprintln!("skipped: needs the packages graphyte and statsd");
        return false;
    }
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    true
}

#[test]
fn clients_of_other_projects_are_understood() {
    let (folder, port) = (Folder::new(), free_port());
    let text = format!(
        "source metrics from graphite \"127.0.0.1:{port}\";\nsink kept into file \"kept.ndjson\";\nmetrics |> kept"
    );
    let program = listen(&folder, "in.tmb", &text, port);
    if !send(&folder, "graphite", port) {
        return;
    }
    let line = |n: u64| {
        let (value, time) = (n as f64 + 0.5, 100 + n);
        format!("{{\"metric\":\"app.load\",\"value\":{value},\"timestamp\":{time}000000000}}")
    };
    assert_eq!(lines(&folder, "kept.ndjson", 3), [line(0), line(1), line(2)]);
    program.terminate().succeeded();

    let (folder, port) = (Folder::new(), free_port());
    let text = format!(
        "source metrics from statsd \"127.0.0.1:{port}\";\nsink kept into file \"kept.ndjson\";\nmetrics |> kept"
    );
    let program = run(&folder, "in.tmb", &text);
    // Nobody tells when the program listens: datagrams before that are lost.
    wait_until("a set", || {
        send(&folder, "statsd", port);
        folder.read("kept.ndjson").contains("\"app.users\"")
    });
    let kept = folder.read("kept.ndjson");
    for wanted in [
        "{\"metric\":\"app.hits\",\"type\":\"c\",\"value\":2}",
        "\"metric\":\"app.took\",\"type\":\"ms\",\"value\":7",
        "{\"metric\":\"app.level\",\"type\":\"g\",\"value\":3}",
        "\"action\":\"sub\"",
        "\"type\":\"s\",\"value\":9",
    ] {
        assert!(kept.contains(wanted), "{wanted}: {kept}");
    }
    program.terminate().succeeded();
}
