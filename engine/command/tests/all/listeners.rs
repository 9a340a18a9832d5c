//! Every source that listens, against peers that mean harm or are broken: none of them stops the others, none
//! costs more than its bound, and the run ends as it should.
//!
//! Invariant: after each attack a good peer is served by the same process.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use temblor_testing::{Folder, Process, free_port, peer, temblor, wait_for_listener, wait_until};

/// Memory that none of them may take, in KiB, in a debug build.
const PEAK_KIB_MAX: usize = 300 << 10;
/// Bytes of what is far too long.
const ENDLESS_BYTES: usize = 48 << 20;
/// Connections of a flood.
const FLOOD: usize = 300;

/// A source that listens.
struct Listener {
    kind: &'static str,
    /// Behind the kind; `ADDRESS` stands for where it listens.
    address: &'static str,
    /// What a good peer sends for one event with `ok` in it.
    good: fn() -> Vec<u8>,
    /// Compressed bytes that become far more than may be, sent as a whole.
    bombs: fn() -> Vec<Vec<u8>>,
}

const LISTENERS: &[Listener] = &[
    Listener {
        kind: "tcp",
        address: "ADDRESS",
        good: || b"{\"ok\":1}\n".to_vec(),
        bombs: Vec::new,
    },
    Listener { kind: "syslog", address: "tcp://ADDRESS", good: syslog, bombs: Vec::new },
    Listener { kind: "relp", address: "ADDRESS", good: relp, bombs: Vec::new },
    Listener { kind: "http", address: "ADDRESS", good: http, bombs: http_bombs },
    Listener { kind: "websocket", address: "ADDRESS", good: websocket, bombs: Vec::new },
    Listener { kind: "loki", address: "ADDRESS", good: loki, bombs: loki_bombs },
    Listener { kind: "splunk_hec", address: "ADDRESS", good: hec, bombs: hec_bombs },
    Listener { kind: "otlp", address: "ADDRESS", good: otlp, bombs: otlp_bombs },
    Listener { kind: "beats", address: "ADDRESS", good: beats, bombs: beats_bombs },
    Listener { kind: "fluent", address: "ADDRESS", good: fluent, bombs: fluent_bombs },
];

fn syslog() -> Vec<u8> {
    b"<13>Nov  5 10:11:12 h a: ok\n".to_vec()
}

fn relp() -> Vec<u8> {
    let offer = "relp_version=0\nrelp_software=test\ncommands=syslog";
    let text = "<13>Nov  5 10:11:12 h a: ok";
    format!("1 open {} {offer}\n2 syslog {} {text}\n", offer.len(), text.len()).into_bytes()
}

/// A request with a body, after which the connection ends.
fn request(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

const JSON: &str = "content-type: application/json\r\n";
const GZIP: &str = "content-type: application/json\r\ncontent-encoding: gzip\r\n";

fn http() -> Vec<u8> {
    request("/", JSON, b"{\"ok\":1}")
}

fn loki() -> Vec<u8> {
    let body = br#"{"streams":[{"stream":{"a":"b"},"values":[["1","ok"]]}]}"#;
    request("/loki/api/v1/push", JSON, body)
}

fn hec() -> Vec<u8> {
    request("/services/collector/event", JSON, br#"{"event":"ok"}"#)
}

fn otlp() -> Vec<u8> {
    let body =
        br#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"ok"}}]}]}]}"#;
    request("/v1/logs", JSON, body)
}

fn websocket() -> Vec<u8> {
    let head = "GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
                sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    // One text frame with a mask of zeros (RFC 6455, section 5.2), and a closing one.
    let text = b"{\"ok\":1}";
    let frame = [&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], &text[..]].concat();
    [head.as_bytes(), &frame, &[0x88, 0x80, 0, 0, 0, 0]].concat()
}

fn beats() -> Vec<u8> {
    let event = b"{\"ok\":1}";
    let length = (event.len() as u32).to_be_bytes();
    [&b"2W\0\0\0\x012J\0\0\0\x01"[..], &length, event].concat()
}

fn fluent() -> Vec<u8> {
    // ["t", 1, {"ok": 1}] in MessagePack.
    vec![0x93, 0xa1, b't', 1, 0x81, 0xa2, b'o', b'k', 1]
}

fn gzip(bytes: usize) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    let block = vec![b' '; 1 << 20];
    (0..bytes >> 20).for_each(|_| packer.write_all(&block).expect("memory takes it"));
    packer.finish().expect("memory takes it")
}

/// Becomes 512 MiB.
fn bomb() -> Vec<u8> {
    gzip(512 << 20)
}

fn http_bombs() -> Vec<Vec<u8>> {
    vec![request("/", GZIP, &bomb())]
}

fn hec_bombs() -> Vec<Vec<u8>> {
    vec![request("/services/collector/event", GZIP, &bomb())]
}

fn otlp_bombs() -> Vec<Vec<u8>> {
    vec![request("/v1/logs", GZIP, &bomb())]
}

fn loki_bombs() -> Vec<Vec<u8>> {
    // Snappy says its length in front: 1 GiB, and 4 GiB less one.
    let protobuf = "content-type: application/x-protobuf\r\n";
    let lengths = [&[0x80, 0x80, 0x80, 0x80, 0x04][..], &[0xff, 0xff, 0xff, 0xff, 0x0f]];
    let snappy = lengths.map(|length| request("/loki/api/v1/push", protobuf, length));
    let packed = request("/loki/api/v1/push", GZIP, &bomb());
    snappy.into_iter().chain([packed]).collect()
}

fn beats_bombs() -> Vec<Vec<u8>> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    let block = vec![0; 1 << 20];
    (0..512).for_each(|_| packer.write_all(&block).expect("memory takes it"));
    let packed = packer.finish().expect("memory takes it");
    let length = (packed.len() as u32).to_be_bytes();
    let long_event = b"2W\0\0\0\x012J\0\0\0\x01\xff\xff\xff\xff".to_vec();
    let long_window = b"2W\xff\xff\xff\xff".to_vec();
    vec![[&b"2W\0\0\0\x012C"[..], &length, &packed].concat(), long_event, long_window]
}

fn fluent_bombs() -> Vec<Vec<u8>> {
    let packed = bomb();
    let length = (packed.len() as u32).to_be_bytes();
    // ["t", packed, {"compressed": "gzip"}]
    let option = b"\x81\xaacompressed\xa4gzip";
    let compressed = [&b"\x93\xa1t\xc6"[..], &length, &packed, option].concat();
    // Lengths that nobody sends: an array, a text and a map of 4 GiB.
    let long = [b"\xdd\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff"];
    let deep = vec![0x91; 1 << 20];
    long.into_iter().map(|one| one.to_vec()).chain([compressed, deep]).collect()
}

/// A program that listens, and how many good events it has been sent.
struct Running<'l> {
    listener: &'l Listener,
    process: Process,
    address: String,
    sent: usize,
}

impl<'l> Running<'l> {
    fn start(listener: &'l Listener, folder: &Folder, settings: &str) -> Self {
        let address = format!("127.0.0.1:{}", free_port());
        let place = listener.address.replace("ADDRESS", &address);
        let kind = listener.kind;
        let end =
            if settings.is_empty() { ";".to_string() } else { format!(" with {settings} end;") };
        let program = format!("source in from {kind} \"{place}\"{end}\nin |> out");
        let path = folder.write("program.tmb", program);
        let process = temblor(["run".as_ref(), "-q".as_ref(), path.as_os_str()]).start();
        wait_for_listener(&address);
        Self { listener, process, address, sent: 0 }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it is a socket");
        stream.set_write_timeout(Some(Duration::from_secs(60))).expect("it is a socket");
        stream
    }

    /// A good peer sends one event; it gets through.
    fn serves(&mut self, after: &str) {
        let mut stream = self.connect();
        let good = (self.listener.good)();
        let mut said = good.as_slice();
        if self.listener.kind == "websocket" {
            // Frames may only come behind the answer to the request (RFC 6455, section 4.1).
            let end = said.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
            stream.write_all(&said[..end]).expect("it reads");
            let mut answer = [0; 4096];
            assert!(stream.read(&mut answer).is_ok_and(|count| count > 0), "{after}");
            said = &said[end..];
        }
        stream.write_all(said).expect("it reads");
        self.sent += 1;
        let what = format!("{}: an event after {after}", self.listener.kind);
        let (process, sent) = (&self.process, self.sent);
        wait_until(&what, || process.out().matches("ok").count() >= sent);
        assert_eq!(self.process.out().matches("ok").count(), sent, "{what}");
        // Not before: who closes with an answer unread resets the connection, and may take the event with it.
        drop(stream);
    }

    /// Sends bytes and does not care what becomes of them, but that the other side reads or closes.
    fn send(&self, bytes: &[u8]) {
        let mut stream = self.connect();
        for block in bytes.chunks(1 << 20) {
            match stream.write_all(block) {
                Ok(()) => {}
                Err(error)
                    if [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset]
                        .contains(&error.kind()) =>
                {
                    return;
                }
                Err(error) => panic!("{}: neither read nor closed: {error}", self.listener.kind),
            }
        }
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = vec![0; 4096];
        // An answer, an end, or a reset: what counts is that it does not stay open for ever.
        if let Err(error) = stream.read(&mut answer) {
            let kind = self.listener.kind;
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{kind}: {error}");
        }
    }

    /// Closes with a reset.
    fn reset(&self, bytes: &[u8]) {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO))
            .expect("it is a socket");
    }

    fn peak_kib(&self) -> usize {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).expect("it runs");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.expect("Linux tells it").trim().trim_end_matches(" kB");
        peak.parse().expect("it is a number")
    }

    fn ends_well(self) {
        let kind = self.listener.kind;
        let peak = self.peak_kib();
        assert!(peak < PEAK_KIB_MAX, "{kind}: {peak} KiB");
        let ran = self.process.terminate();
        assert_eq!(ran.code, Some(0), "{kind}: {}", ran.err);
        assert!(!ran.err.contains("panicked"), "{kind}: {}", ran.err);
    }
}

/// Bytes that look like nothing, the same each time.
fn garbage(bytes: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn garbage_torn_frames_and_resets_harm_nobody() {
    for listener in LISTENERS {
        let folder = Folder::new();
        let mut running = Running::start(listener, &folder, "");
        running.serves("nothing");
        running.send(&garbage(256 << 10));
        running.serves("garbage");
        let good = (listener.good)();
        for end in (1..good.len()).step_by(good.len().div_ceil(24)) {
            running.reset(&good[..end]);
            let mut changed = good.clone();
            changed[end] ^= 0x80;
            // Where a peer is to say more, silence would be waited for.
            running.reset(&changed);
        }
        // What was torn and changed may still have been an event.
        running.sent = settled_count(&running.process);
        running.serves("torn frames");
        running.ends_well();
    }
}

/// How many events have come, once no more do.
fn settled_count(process: &Process) -> usize {
    let mut seen = (usize::MAX, 0);
    wait_until("quiet", || {
        let now = process.out().matches("ok").count();
        seen = if now == seen.0 { (now, seen.1 + 1) } else { (now, 0) };
        seen.1 >= 50
    });
    seen.0
}

#[test]
fn half_open_and_slow_peers_hold_up_nobody() {
    for listener in LISTENERS {
        let folder = Folder::new();
        let mut running = Running::start(listener, &folder, "");
        let silent: Vec<_> = (0..50).map(|_| running.connect()).collect();
        let good = (listener.good)();
        let mut slow: Vec<_> = (0..50).map(|_| running.connect()).collect();
        for stream in &mut slow {
            stream.write_all(&good[..good.len() / 2]).expect("it reads");
        }
        running.serves("silence");
        for at in good.len() / 2..good.len() - 1 {
            // One byte after the other, as far as it is taken.
            slow.iter_mut().for_each(|stream| drop(stream.write_all(&good[at..=at])));
        }
        running.serves("slow peers");
        drop((silent, slow));
        // What lacked only its end is a whole message for some.
        running.sent = settled_count(&running.process);
        running.serves("they have gone");
        running.ends_well();
    }
}

#[test]
fn a_flood_of_connections_leaves_the_listener_well() {
    for listener in LISTENERS {
        let folder = Folder::new();
        let mut running = Running::start(listener, &folder, "");
        for _ in 0..FLOOD {
            running.reset(b"");
        }
        running.serves("a flood");
        running.ends_well();
    }
}

#[test]
fn what_never_ends_is_bounded() {
    let endless = vec![b'x'; ENDLESS_BYTES];
    for listener in LISTENERS {
        let folder = Folder::new();
        let mut running = Running::start(listener, &folder, "");
        running.send(&endless);
        let good = (listener.good)();
        // Behind a good beginning: an endless header, name or length.
        running.send(&[&good[..good.len() / 3], &endless].concat());
        running.sent = settled_count(&running.process);
        running.serves("what does not end");
        running.ends_well();
    }
}

#[test]
fn bombs_are_not_unpacked_and_lengths_are_not_believed() {
    for listener in LISTENERS {
        let bombs = (listener.bombs)();
        if bombs.is_empty() {
            continue;
        }
        let folder = Folder::new();
        let mut running = Running::start(listener, &folder, "");
        for bomb in &bombs {
            running.send(bomb);
        }
        running.serves("bombs");
        running.ends_well();
    }
}

#[test]
fn garbage_in_the_handshake_harms_nobody() {
    let Some(files) = peer("CERTIFICATES") else { return };
    let settings =
        format!("tls = {{\"cert\": \"{files}/server.pem\", \"key\": \"{files}/server.key\"}}");
    // A record of TLS that promises more than comes.
    let torn = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    for listener in LISTENERS {
        let folder = Folder::new();
        let address = if listener.kind == "syslog" { "tls://ADDRESS" } else { listener.address };
        let listener = &Listener { address, ..*listener };
        let running = Running::start(listener, &folder, &settings);
        for _ in 0..20 {
            running.reset(torn);
            running.send(&garbage(4096));
            running.send(&(listener.good)());
        }
        let silent: Vec<_> = (0..20).map(|_| running.connect()).collect();
        wait_for_listener(&running.address);
        assert_eq!(running.process.out().matches("ok").count(), 0, "{}", listener.kind);
        drop(silent);
        running.ends_well();
    }
}
