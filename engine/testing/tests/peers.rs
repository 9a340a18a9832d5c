//! Each peer answers in its own protocol: what connectors meet later is there, and is what it says.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use temblor_testing::wait::DEADLINE;
use temblor_testing::{OwnPeer, Process, free_port, peer, peers, wait_for_listener};

/// Sends a request and reads until the answer contains what is expected.
fn ask(address: &str, request: &[u8], expected: &str) {
    let mut stream = TcpStream::connect(address).expect("the peer listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a time-out can be set");
    stream.write_all(request).expect("the peer reads");
    let mut answer = Vec::new();
    let mut block = [0; 4096];
    while !String::from_utf8_lossy(&answer).contains(expected) {
        let length = stream.read(&mut block).expect("the peer answers");
        let text = String::from_utf8_lossy(&answer);
        assert!(length > 0, "expected {expected:?} from {address}, found {text:?}");
        answer.extend_from_slice(&block[..length]);
    }
}

/// What a program writes on both outputs.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("the program starts");
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// What OpenSSL says of the server's certificate, when it trusts one authority.
fn verified(certificates: &str, address: &str, authority: &str) -> String {
    let authority = format!("{certificates}/{authority}.pem");
    let arguments = ["s_client", "-brief", "-verify_return_error", "-connect", address, "-CAfile"];
    let mut openssl = Command::new("openssl");
    let output = openssl.args(arguments).arg(authority).stdin(std::process::Stdio::null()).output();
    String::from_utf8_lossy(&output.expect("openssl starts").stderr).into_owned()
}

#[test]
fn redis_answers() {
    let Some(address) = peer("REDIS") else { return };
    ask(&address, b"PING\r\n", "+PONG");
    ask(&address, b"AUTH temblor secret\r\n", "+OK");
    ask(&address, b"AUTH temblor wrong\r\n", "-WRONGPASS");
}

#[test]
fn nats_answers() {
    let Some([plain, tls]) = peers(["NATS", "NATS_TLS"]) else { return };
    ask(&plain, b"CONNECT {\"verbose\":false}\r\nPING\r\n", "PONG");
    ask(&plain, b"", "\"jetstream\":true");
    ask(&tls, b"", "\"tls_required\":true");
}

#[test]
fn mosquitto_answers() {
    let Some([plain, users]) = peers(["MQTT", "MQTT_USERS"]) else { return };
    // MQTT 3.1.1, a new session of client `t`; the answer is CONNACK with its reason.
    let connect = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01t";
    ask(&plain, connect, "\x20\x02\x00\x00");
    ask(&users, connect, "\x20\x02\x00\x05");
}

#[test]
fn rabbitmq_answers() {
    let Some(address) = peer("RABBITMQ") else { return };
    ask(&address, b"AMQP\x00\x00\x09\x01", "RabbitMQ");
}

#[test]
fn opensearch_indexes_and_finds() {
    let Some([address, curl]) = peers(["OPENSEARCH", "CURL"]) else { return };
    let url = |path: &str| format!("http://{address}{path}");
    let json = "content-type: application/x-ndjson";
    let bulk = "{\"index\":{}}\n{\"message\":\"found\"}\n";
    let bulk_url = url("/harness/_bulk?refresh=true");
    let written = said(&curl, &["-s", "-H", json, "--data-binary", bulk, &bulk_url]);
    assert!(written.contains("\"errors\":false"), "{written}");
    let found = said(&curl, &["-s", &url("/harness/_search?q=message:found")]);
    assert!(found.contains("\"_source\":{\"message\":\"found\"}"), "{found}");
    said(&curl, &["-s", "-X", "DELETE", &url("/harness")]);
}

#[test]
fn s3_checks_signatures() {
    let Some([address, curl]) = peers(["S3", "CURL"]) else { return };
    let Some([key, secret]) = peers(["S3_ACCESS_KEY", "S3_SECRET_KEY"]) else { return };
    let put = |secret: &str| {
        let user = format!("{key}:{secret}");
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let header = format!("x-amz-content-sha256: {empty}");
        let sign = [
            "-s",
            "-H",
            &header,
            "--aws-sigv4",
            "aws:amz:us-east-1:s3",
            "--user",
            &user,
            "-X",
            "PUT",
        ];
        let url = format!("http://{address}/harness");
        said(&curl, &[&sign[..], &["-w", "%{http_code}", &url]].concat())
    };
    assert!(put("wrong").contains("SignatureDoesNotMatch"), "{}", put("wrong"));
    // The bucket may be there from before.
    let made = put(&secret);
    assert!(made.contains("200") || made.contains("BucketAlreadyOwnedByYou"), "{made}");
}

#[test]
fn kafka_carries_messages_of_another_client() {
    let Some([plain, tls, sasl, python, certificates]) =
        peers(["KAFKA", "KAFKA_TLS", "KAFKA_SASL", "PYTHON", "CERTIFICATES"])
    else {
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kafka_client.py");
    let text = said(&python, &[script, &plain, &tls, &sasl, &certificates]);
    assert_eq!(text, "plain one\ntls two\nPLAIN three\nSCRAM-SHA-256 four\n");
}

#[test]
fn certificates_are_what_they_are_called() {
    let Some([certificates, openssl]) = peers(["CERTIFICATES", "OPENSSL"]) else { return };
    let check = |authority: &str, name: &str| {
        let file = |name: &str| format!("{certificates}/{name}.pem");
        let name_of_host = ["verify", "-verify_hostname", "localhost", "-CAfile"];
        said(&openssl, &[&name_of_host[..], &[&file(authority), &file(name)]].concat())
    };
    assert!(check("ca", "server").contains("server.pem: OK"), "{}", check("ca", "server"));
    assert!(check("ca", "expired").contains("certificate has expired"));
    assert!(check("ca", "elsewhere").to_lowercase().contains("hostname mismatch"));
    assert!(check("ca", "stranger").contains("unable to get local issuer"));
    assert!(check("other-ca", "stranger").contains("stranger.pem: OK"));
}

#[test]
fn servers_show_their_certificate() {
    let names = ["CERTIFICATES", "REDIS_TLS", "RABBITMQ_TLS", "MQTT_TLS", "KAFKA_TLS"];
    let Some([certificates, servers @ ..]) = peers(names) else { return };
    for server in servers {
        let trusted = verified(&certificates, &server, "ca");
        assert!(trusted.contains("Verification: OK"), "{server}: {trusted}");
        let strange = verified(&certificates, &server, "other-ca");
        assert!(strange.contains("verify error"), "{server}: {strange}");
    }
}

#[test]
fn rsyslog_and_loggen_speak_to_each_other() {
    let names = ["RSYSLOGD", "LOGGEN", "CERTIFICATES"];
    let Some([rsyslogd, loggen, certificates]) = peers(names) else { return };
    let folder = temblor_testing::Folder::new();
    let (port, relp) = (free_port(), free_port());
    let modules = ["imtcp", "imrelp", "omrelp", "omkafka"];
    let load: String = modules.map(|name| format!("module(load=\"{name}\")\n")).concat();
    let configuration = format!(
        "{load}global(defaultNetstreamDriver=\"gtls\" defaultNetstreamDriverCAFile=\"{certificates}/ca.pem\")\n\
         input(type=\"imtcp\" port=\"{port}\" address=\"127.0.0.1\")\n\
         input(type=\"imrelp\" port=\"{relp}\" address=\"127.0.0.1\")\n\
         action(type=\"omfile\" file=\"{}\")\n",
        folder.file("out.log").display()
    );
    let file = folder.write("rsyslog.conf", configuration);
    let mut command = Command::new(rsyslogd);
    command.arg("-n").arg("-f").arg(file).arg("-i").arg(folder.file("pid"));
    let daemon = Process::start(command);
    wait_for_listener(&format!("127.0.0.1:{port}"));
    let port = port.to_string();
    let load = ["--stream", "--inet", "--number", "100", "--rate", "1000", "127.0.0.1", &port];
    said(&loggen, &load);
    temblor_testing::wait_until("100 lines of rsyslog", || {
        folder.read("out.log").lines().filter(|line| line.contains("prg00000")).count() == 100
    });
    let ran = daemon.terminate();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn programs_are_there() {
    let names = ["SYSLOG_NG", "TST_LJ", "TST_SEND", "PYTHON", "LOGGER"];
    let Some([syslog_ng, tst_lj, tst_send, python, logger]) = peers(names) else { return };
    let version = said(&syslog_ng, &["--version"]);
    assert!(
        version.contains("syslog-ng 3") && version.contains("Available-Modules: kafka,"),
        "{version}"
    );
    assert!(said(&tst_lj, &["-h"]).contains("-v2"));
    assert!(said(&tst_send, &["-h"]).contains("-pipeline"));
    assert!(said(&logger, &["--help"]).contains("--octet-count"));
    let clients = "import confluent_kafka, pika, redis, fluent.sender, websockets\n\
                   import opentelemetry.exporter.otlp.proto.http, opentelemetry.exporter.otlp.proto.grpc";
    assert_eq!(said(&python, &["-c", clients]), "");
}

#[test]
fn an_own_server_comes_back_where_it_was() {
    let Some(redis) = OwnPeer::start("redis") else { return };
    let address = redis.address("REDIS");
    assert_ne!(Some(&address), peer("REDIS").as_ref(), "it is not the shared one");
    ask(&address, b"SET a 1\r\n", "+OK");
    redis.kill();
    let refused = std::net::SocketAddr::from(([127, 0, 0, 1], port_of(&address)));
    assert!(TcpStream::connect_timeout(&refused, Duration::from_secs(1)).is_err());
    redis.resume();
    assert_eq!(redis.address("REDIS"), address);
    ask(&address, b"GET a\r\n", "$-1");
}

fn port_of(address: &str) -> u16 {
    address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("it ends in a port")
}

#[test]
fn an_own_broker_keeps_what_it_has_acknowledged() {
    let Some(python) = peer("PYTHON") else { return };
    let Some(rabbitmq) = OwnPeer::start("rabbitmq") else { return };
    let address = rabbitmq.address("RABBITMQ");
    let client = |what: &str| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rabbitmq_client.py");
        said(&python, &[script, &address.replace("127.0.0.1:", ""), what])
    };
    assert_eq!(client("publish"), "confirmed\n");
    rabbitmq.kill();
    rabbitmq.resume();
    assert_eq!(client("get"), "kept\n");
    rabbitmq.stop();
    assert!(TcpStream::connect(&address).is_err(), "it was asked to end, and has");
}
