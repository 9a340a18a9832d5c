//! Plugins of Logstash configurations that talk to other machines, with plain sockets as the other side.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use temblor_testing::{
    Folder, Process, Ran, free_port, repository, temblor, wait_for_datagrams, wait_for_listener,
    wait_until,
};

/// Runs a configuration whose input is what is given.
fn run(output: &str, input: &str) -> Ran {
    let folder = Folder::new();
    let configuration = format!("input {{ stdin {{ codec => json }} }} output {{ {output} }}");
    let path = folder.write("pipeline.conf", configuration);
    temblor(["run".as_ref(), "-q".as_ref(), "--logstash".as_ref(), path.as_os_str()])
        .input(input)
        .run()
}

/// Starts a configuration that runs until it is stopped.
fn start(folder: &Folder, configuration: &str) -> Process {
    let path = folder.write("pipeline.conf", configuration);
    temblor(["run".as_ref(), "-q".as_ref(), "--logstash".as_ref(), path.as_os_str()]).start()
}

/// What comes over one connection.
fn taken(listener: TcpListener) -> String {
    let (mut stream, _) = listener.accept().expect("somebody connects");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it is text");
    text
}

fn udp() -> (UdpSocket, u16) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("the loopback address has free ports");
    socket.set_read_timeout(Some(Duration::from_secs(30))).expect("it is a socket");
    let port = socket.local_addr().expect("it is bound").port();
    (socket, port)
}

fn datagram(socket: &UdpSocket) -> String {
    let mut bytes = [0; 4096];
    let count = socket.recv(&mut bytes).expect("a datagram comes");
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

const AT: &str = "\"@timestamp\":\"2026-01-05T01:02:03Z\"";

#[test]
fn syslog_writes_both_headers() {
    let (socket, port) = udp();
    let place = format!("host => \"127.0.0.1\" port => {port}");
    let old = format!(
        "syslog {{ {place} facility => \"local4\" severity => \"%{{sev}}\" appname => \"app\" sourcehost => \"%{{h}}\" }}"
    );
    let event = format!("{{\"message\":\"a\\nb\",\"sev\":\"warning\",\"h\":\"web1\",{AT}}}\n");
    run(&old, &event).succeeded();
    assert_eq!(datagram(&socket), "<164>Jan 05 01:02:03 web1 app[-]: a\\nb");
    let new = format!(
        "syslog {{ {place} rfc => \"rfc5424\" use_labels => false priority => \"%{{pri}}\" msgid => \"ID\" sourcehost => \"h\" }}"
    );
    run(&new, &format!("{{\"message\":\"hi\",\"pri\":34,{AT}}}\n")).succeeded();
    assert_eq!(datagram(&socket), "<34>1 2026-01-05T01:02:03.000+00:00 h LOGSTASH - ID - hi");
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
    let port = listener.local_addr().expect("it is bound").port();
    let reader = std::thread::spawn(move || taken(listener));
    let tcp = format!(
        "syslog {{ host => \"127.0.0.1\" port => {port} protocol => \"tcp\" sourcehost => \"h\" use_labels => false }}"
    );
    run(&tcp, &format!("{{\"message\":\"one\",{AT}}}\n{{\"message\":\"two\",{AT}}}\n")).succeeded();
    let wanted = "<13>Jan 05 01:02:03 h LOGSTASH[-]: one\n<13>Jan 05 01:02:03 h LOGSTASH[-]: two\n";
    assert_eq!(reader.join().expect("it reads"), wanted);
}

#[test]
fn metrics_are_lines() {
    let (socket, port) = udp();
    let statsd = format!(
        "statsd {{ host => \"127.0.0.1\" port => {port} increment => [\"hits.%{{s}}\"] timing => {{ \"t\" => \"%{{t}}\" }} sender => \"a.b\" }}"
    );
    run(&statsd, "{\"s\":200,\"t\":12.5}\n").succeeded();
    assert_eq!(datagram(&socket), "logstash.a_b.hits.200:1|c\nlogstash.a_b.t:12.5|ms");
    for (options, event, wanted) in [
        (
            "metrics => { \"a.%{n}\" => \"%{v}\" }",
            "\"n\":\"x\",\"v\":\"1.5\"",
            "a.x 1.5 1767574923\n",
        ),
        (
            "fields_are_metrics => true metrics_format => \"pre.*\" include_metrics => [\"cpu\"]",
            "\"cpu\":{\"load\":1},\"other\":\"2\"",
            "pre.cpu.load 1.0 1767574923\n",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
        let port = listener.local_addr().expect("it is bound").port();
        let reader = std::thread::spawn(move || taken(listener));
        let output = format!("graphite {{ host => \"127.0.0.1\" port => {port} {options} }}");
        run(&output, &format!("{{{event},{AT}}}\n")).succeeded();
        assert_eq!(reader.join().expect("it reads"), wanted);
    }
}

/// Takes one request, and gives its head in lower case and its body.
fn request(listener: &TcpListener, answer: &str) -> (String, String) {
    request_with(listener, |_, _| answer.to_string())
}

/// The same, with an answer that depends on them.
fn request_with(listener: &TcpListener, answer: impl Fn(&str, &str) -> String) -> (String, String) {
    let (mut stream, _) = listener.accept().expect("somebody connects");
    let (mut bytes, mut block) = (Vec::new(), [0; 4096]);
    let (head, body) = loop {
        let count = stream.read(&mut block).expect("it sends");
        bytes.extend_from_slice(&block[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.and_then(|text| text.parse().ok()).unwrap_or(0) {
            break (head, body.to_string());
        }
    };
    let answer = answer(&head, &body);
    let answer = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    );
    stream.write_all(answer.as_bytes()).expect("it reads");
    (head, body)
}

#[test]
fn http_writes_what_its_format_and_mapping_say() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
    let url = format!("http://{}/x", listener.local_addr().expect("it is bound"));
    for (options, kind, wanted) in [
        (
            "format => form mapping => { \"a\" => \"%{x}\" \"b\" => \"c d\" }",
            "application/x-www-form-urlencoded",
            "a=1%262&b=c+d",
        ),
        (
            "mapping => { \"a\" => { \"n\" => \"%{x}\" } \"l\" => [\"%{x}\", \"y\"] }",
            "application/json",
            "{\"a\":{\"n\":\"1&2\"},\"l\":[\"1&2\",\"y\"]}",
        ),
        (
            "format => json_batch mapping => { \"a\" => \"%{x}\" }",
            "application/json",
            "[{\"a\":\"1&2\"}]",
        ),
        ("format => message message => \"X %{x}\"", "text/plain", "X 1&2"),
    ] {
        let output = format!("http {{ url => \"{url}\" http_method => \"post\" {options} }}");
        let (head, body) = std::thread::scope(|scope| {
            let server = scope.spawn(|| request(&listener, "{}"));
            run(&output, "{\"x\":\"1&2\"}\n").succeeded();
            server.join().expect("it answers")
        });
        assert!(head.contains(&format!("content-type: {kind}")), "{head}");
        assert_eq!(body, wanted, "{options}");
    }
    let said =
        run(&format!("http {{ url => \"{url}\" http_method => post format => message }}"), "");
    assert!(said.err.contains("with `message`"), "{}", said.err);
}

#[test]
fn a_poller_makes_events_of_answers_and_of_their_absence() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
    let address = listener.local_addr().expect("it is bound");
    let folder = Folder::new();
    let configuration = format!(
        "input {{ http_poller {{ urls => {{ \"one\" => {{ url => \"http://{address}/p\" query => {{ \"q\" => \"a b\" }} }} \
         \"lost\" => \"http://127.0.0.1:{}/\" }} schedule => {{ every => \"1h\" }} metadata_target => \"meta\" target => \"doc\" \
         ecs_compatibility => disabled }} }} output {{ stdout {{ codec => json_lines }} }}",
        free_port()
    );
    let process = start(&folder, &configuration);
    let (head, _) = request(&listener, "[{\"n\":1},{\"n\":2}]");
    assert!(head.starts_with("get /p?q=a%20b http/1.1"), "{head}");
    wait_until("all events", || process.out().lines().count() == 3);
    let out = process.terminate().out;
    for wanted in ["\"doc\":{\"n\":2}", "\"code\":200", "\"name\":\"one\"", "_http_request_failure"]
    {
        assert!(out.contains(wanted), "{wanted}: {out}");
    }
    let said = |schedule: &str| {
        let text = format!(
            "input {{ http_poller {{ urls => {{ \"a\" => \"http://h/\" }} schedule => {{ {schedule} }} }} }} output {{ stdout {{ }} }}"
        );
        let path = folder.write("wrong.conf", text);
        temblor(["check".as_ref(), "--logstash".as_ref(), path.as_os_str()]).run().err
    };
    assert!(said("every => \"soon\"").contains("a time such as"), "{}", said("every => \"soon\""));
    assert!(said("cron => \"x\"").contains("E0"), "{}", said("cron => \"x\""));
}

#[test]
fn lines_of_graphite_and_of_unix_sockets_become_events() {
    let folder = Folder::new();
    let (port, socket) = (free_port(), folder.file("socket"));
    let configuration = format!(
        "input {{ graphite {{ host => \"127.0.0.1\" port => {port} }} unix {{ path => \"{}\" }} }} \
         output {{ stdout {{ codec => json_lines }} }}",
        socket.display()
    );
    let process = start(&folder, &configuration);
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(b"a.b 1.5 1767225600\nbroken\n").expect("it reads");
    drop(stream);
    wait_until("the socket is there", || socket.exists());
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).expect("it listens");
    stream.write_all(b"line\n").expect("it reads");
    drop(stream);
    wait_until("three events", || process.out().lines().count() == 3);
    let out = process.terminate().out;
    for wanted in [
        "{\"a.b\":1.5,\"@timestamp\":\"2026-01-01T00:00:00.000Z\"",
        "_graphiteparsefailure",
        "\"message\":\"line\"",
    ] {
        assert!(out.contains(wanted), "{wanted}: {out}");
    }
}

/// The data of an example.
fn data(name: &str) -> String {
    let path = repository().join("examples/logstash").join(name);
    std::fs::read_to_string(path).expect("the examples have data")
}

/// How an example is run.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// As it is.
    Configuration,
    /// As the Temblor file that `temblor convert logstash` makes of it.
    Conversion,
}

const WAYS: [Way; 2] = [Way::Configuration, Way::Conversion];

/// Starts one of the examples over the network, which listens at `port`.
fn example((name, way): (&str, Way), port: u16, target: &str) -> Process {
    let path = repository().join("examples/logstash/network").join(format!("{name}.conf"));
    let path = path.display().to_string();
    let (_, target_port) = target.rsplit_once(':').expect("it is an address");
    let command = |arguments: &[&str]| {
        temblor(arguments)
            .env("PORT", port.to_string())
            .env("TARGET", target)
            .env("TARGET_PORT", target_port)
    };
    match way {
        Way::Configuration => command(&["run", "-q", "--logstash", &path]).start(),
        Way::Conversion => {
            let folder = Folder::new();
            let converted = command(&["convert", "logstash", &path]).run();
            assert_eq!(converted.code, Some(0), "{}", converted.err);
            // What the environment says is not written down.
            assert!(!converted.out.contains(target), "{}", converted.out);
            let file = folder.write("converted.tmb", &converted.out).display().to_string();
            let process = command(&["run", "-q", &file]).start();
            // It has been read once the process listens; the file goes with the folder.
            wait_until("the program", || is_bound(port));
            process
        }
    }
}

/// Whether somebody listens at a port, for connections or datagrams.
fn is_bound(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_err() || UdpSocket::bind(("127.0.0.1", port)).is_err()
}

/// Lines that come over connections from a program that has been sent something, once there are so many.
fn lines_of(name: (&str, Way), count: usize, send: impl FnOnce(u16)) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
    let target = listener.local_addr().expect("it is bound").to_string();
    let port = free_port();
    let process = example(name, port, &target);
    let (line, lines) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("somebody connects");
        let texts = BufReader::new(stream).lines().map(|text| text.expect("it is text"));
        texts.for_each(|text| line.send(text).expect("somebody waits for it"));
    });
    send(port);
    let limit = Duration::from_secs(60);
    let mut all: Vec<String> =
        (0..count).map(|_| lines.recv_timeout(limit).expect("a line comes")).collect();
    process.terminate();
    reader.join().expect("it reads");
    all.extend(lines.try_iter());
    all
}

fn over_tcp(port: u16, text: &str) {
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(text.as_bytes()).expect("it reads");
}

#[test]
fn examples_take_their_data_over_the_network_and_send_it_on() {
    for way in WAYS {
        let java = lines_of(("java", way), 6, |port| over_tcp(port, &data("java.log")));
        assert_eq!(java.len(), 6, "{java:?}");
        assert!(
            java.iter().any(|line| line.contains("PaymentException: card was refused")),
            "{java:?}"
        );
        let syslog = lines_of(("syslog", way), 30, |port| over_tcp(port, &data("syslog.log")));
        assert_eq!(syslog.len(), 30, "of 41 lines 11 are of no weight: {syslog:?}");
        let is_modern = |line: &String| line.starts_with('<') && line.contains(">1 ");
        assert!(syslog.iter().all(is_modern), "{syslog:?}");
        let count = data("firewall.log").lines().count();
        let firewall = lines_of(("firewall", way), count, |port| {
            let (socket, _) = udp();
            wait_for_datagrams(port);
            for line in data("firewall.log").lines() {
                socket.send_to(line.as_bytes(), ("127.0.0.1", port)).expect("it is sent");
            }
        });
        assert_eq!(firewall.len(), count, "{firewall:?}");
    }
}

#[test]
fn examples_take_requests_and_make_requests() {
    WAYS.into_iter().for_each(takes_and_makes_requests);
}

fn takes_and_makes_requests(way: Way) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
    let target = listener.local_addr().expect("it is bound").to_string();
    let port = free_port();
    let process = example(("access", way), port, &target);
    let search = std::thread::spawn(move || {
        let mut documents = 0;
        while documents < 38 {
            let (_, body) = request_with(&listener, |head, body| {
                if head.starts_with("get") {
                    return "{\"version\":{\"number\":\"2.19.1\",\"distribution\":\"opensearch\"}}"
                        .to_string();
                }
                let items =
                    vec!["{\"index\":{\"status\":201}}"; body.lines().count() / 2].join(",");
                format!("{{\"errors\":false,\"items\":[{items}]}}")
            });
            documents += body.lines().count() / 2;
        }
        documents
    });
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let log = data("access.log");
    let head = format!(
        "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n",
        log.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(format!("{head}{log}").as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
    // The answer says that all are indexed: three of 41 lines are dropped by the filters.
    assert_eq!(search.join().expect("it answers"), 38);
    process.terminate().succeeded();
}

#[test]
fn the_filter_http_keeps_answers_and_tags_what_has_none() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback address has free ports");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        loop {
            request_with(&listener, |head, body| {
                match head.split(' ').nth(1).unwrap_or_default() {
                    "/broken" => "{\"name\":".to_string(),
                    "/sent" => format!("{{\"got\":{body}}}"),
                    path => format!("{{\"name\":\"{}\"}}", path.trim_start_matches('/')),
                }
            });
        }
    });
    let folder = Folder::new();
    let filtered = |filter: &str, input: &str| {
        let text = format!(
            "input {{ stdin {{ codec => json }} }} filter {{ http {{ {filter} }} }} output {{ stdout {{ codec => json_lines }} }}"
        );
        let path = folder.write("pipeline.conf", text);
        let arguments = ["run".as_ref(), "-q".as_ref(), "--logstash".as_ref(), path.as_os_str()];
        temblor(arguments).input(input).run().succeeded()
    };
    let input = "{\"u\":\"ann\"}\n{\"u\":\"bob\"}\n{\"u\":\"ann\"}\n{\"u\":\"broken\"}\n";
    let out =
        filtered(&format!("url => \"http://{address}/%{{u}}\" target_body => \"who\""), input);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    for (line, wanted) in lines.iter().zip([
        "\"who\":{\"name\":\"ann\"}",
        "\"who\":{\"name\":\"bob\"}",
        "\"who\":{\"name\":\"ann\"}",
        "_jsonparsefailure",
    ]) {
        assert!(line.contains(wanted), "{line}");
    }
    let posted = filtered(
        &format!(
            "url => \"http://{address}/sent\" verb => POST body => {{ \"a\" => \"%{{u}}\" }} body_format => json target_body => \"[r][b]\""
        ),
        "{\"u\":\"x\"}\n",
    );
    assert!(posted.contains("\"r\":{\"b\":{\"got\":{\"a\":\"x\"}}}"), "{posted}");
    let refused = filtered(
        &format!(
            "url => \"http://127.0.0.1:{}/\" automatic_retries => 0 target_body => \"b\"",
            free_port()
        ),
        "{\"u\":\"x\"}\n",
    );
    assert!(refused.contains("_httprequestfailure"), "{refused}");
}

#[test]
fn the_forward_protocol_comes_by_the_codec_of_tcp() {
    let (folder, port) = (Folder::new(), free_port());
    let configuration = format!(
        "input {{ tcp {{ host => \"127.0.0.1\" port => {port} codec => fluent tags => [\"in\"] }} }}\n\
         output {{ stdout {{ codec => json_lines }} }}"
    );
    let process = start(&folder, &configuration);
    wait_for_listener(&format!("127.0.0.1:{port}"));
    // ["app.web", 1767225600, {"ok": 1}] and ["t", [[1767225601, {"ok": 2}], [1767225602, {"ok": 3}]]]
    let mut message = b"\x93\xa7app.web\xce\x69\x55\xb9\x00\x81\xa2ok\x01".to_vec();
    message.extend_from_slice(b"\x92\xa1t\x92\x92\xce\x69\x55\xb9\x01\x81\xa2ok\x02");
    message.extend_from_slice(b"\x92\xce\x69\x55\xb9\x02\x81\xa2ok\x03");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(&message).expect("it reads");
    wait_until("three events", || process.out().lines().count() == 3);
    let out = process.terminate().out;
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for (line, (n, tag)) in lines.iter().zip([(1, "app.web"), (2, "t"), (3, "t")]) {
        assert_eq!(line["ok"], n, "{out}");
        assert_eq!(line["@timestamp"], format!("2026-01-01T00:00:0{}.000Z", n - 1), "{out}");
        let tags = line["tags"].as_array().expect("an array");
        assert!(tags.iter().any(|one| one == tag) && tags.iter().any(|one| one == "in"), "{out}");
        assert_eq!(line["@metadata"], serde_json::Value::Null, "{out}");
    }
}
