//! `dns` and tremor's `dns_client`, against a server that answers as it is told.

use std::net::UdpSocket;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use temblor_testing::{Folder, Ran, temblor};

/// Codes of types (RFC 1035, 3.2.2).
const A: u16 = 1;
const PTR: u16 = 12;
const TXT: u16 = 16;

/// A server of DNS.
struct Names {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names {
    /// `silent.test` gets no answer, `none.test` does not exist; everything else has an answer of each kind.
    fn start() -> Names {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("the loopback address has free ports");
        let address = socket.local_addr().expect("it is bound").to_string();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut bytes = [0; 2048];
            while let Ok((count, peer)) = socket.recv_from(&mut bytes) {
                let (name, kind, end) = question(&bytes[..count]);
                kept.lock().expect("no server panics").push(name.clone());
                if name != "silent.test" {
                    let answer = answer(&bytes[..end], &name, kind);
                    socket.send_to(&answer, peer).expect("the loopback address takes it");
                }
            }
        });
        Names { address, asked }
    }

    fn asked(&self, name: &str) -> usize {
        self.asked.lock().expect("no server panics").iter().filter(|one| *one == name).count()
    }
}

/// The name and the type that a message asks for, and where its question ends.
fn question(message: &[u8]) -> (String, u16, usize) {
    let (mut at, mut labels) = (12, Vec::new());
    while message[at] > 0 {
        let end = at + 1 + usize::from(message[at]);
        labels.push(String::from_utf8_lossy(&message[at + 1..end]).to_lowercase());
        at = end;
    }
    (labels.join("."), u16::from_be_bytes([message[at + 1], message[at + 2]]), at + 5)
}

fn answer(question: &[u8], name: &str, kind: u16) -> Vec<u8> {
    let data: &[u8] = match kind {
        A => &[192, 0, 2, 7],
        PTR => b"\x04host\x04test\x00",
        TXT => b"\x05hello",
        _ => &[],
    };
    let is_there = name != "none.test" && !data.is_empty();
    let code: u16 = if name == "none.test" { 0x8183 } else { 0x8180 };
    let mut message = question[..2].to_vec();
    for number in [code, 1, u16::from(is_there), 0, 0] {
        message.extend_from_slice(&number.to_be_bytes());
    }
    message.extend_from_slice(&question[12..]);
    if is_there {
        message.extend_from_slice(&[0xc0, 0x0c]);
        message.extend_from_slice(&kind.to_be_bytes());
        message.extend_from_slice(&[0, 1, 0, 0, 0, 60]);
        message.extend_from_slice(&u16::try_from(data.len()).expect("it is short").to_be_bytes());
        message.extend_from_slice(data);
    }
    message
}

fn run(program: &str, names: &Names, input: &str) -> Ran {
    let folder = Folder::new();
    let path = folder.write("program.tmb", program.replace("SERVER", &names.address));
    temblor(["run".as_ref(), path.as_os_str()]).input(input).run()
}

#[test]
fn events_come_back_in_order_with_answers_and_failures_go_elsewhere() {
    let names = Names::start();
    let ran = run(
        r#"sink names into dns "SERVER" with name = event.h, timeout = "300ms", attempts = 2 end;
sink unanswered into file "/dev/stderr" with mode = "append" end;
in |> lookup names into event.a else unanswered |> out"#,
        &names,
        "{\"h\":\"a.test\"}\n{\"h\":\"silent.test\"}\n{\"h\":\"none.test\"}\n{\"h\":null}\n{\"h\":\"a.test\"}\n\
         {\"h\":\"a..b\"}\n",
    );
    assert_eq!(
        ran.out,
        "{\"h\":\"a.test\",\"a\":[\"192.0.2.7\"]}\n{\"h\":\"none.test\",\"a\":null}\n{\"h\":null,\"a\":null}\n\
         {\"h\":\"a.test\",\"a\":[\"192.0.2.7\"]}\n",
        "{}",
        ran.err
    );
    for wanted in ["\"question\":\"silent.test\"", "`a..b` is no name"] {
        assert!(ran.err.contains(wanted), "{wanted}: {}", ran.err);
    }
    assert_eq!(names.asked("a.test"), 1, "an answer is kept, and asked for once");
    // Within an attempt the resolver may say it again, since datagrams get lost.
    let asked = names.asked("silent.test");
    assert!((2..=8).contains(&asked), "{asked}");
}

#[test]
fn addresses_have_names_and_names_have_texts() {
    let names = Names::start();
    let ran = run(
        r#"sink hosts into dns "SERVER" with name = event.ip, type = "PTR" end;
sink texts into dns "SERVER" with name = "t.test", type = "TXT" end;
in |> lookup hosts into event.host |> lookup texts into event.text |> out"#,
        &names,
        "{\"ip\":\"192.0.2.7\"}\n",
    );
    let wanted = "{\"ip\":\"192.0.2.7\",\"host\":[\"host.test\"],\"text\":[\"hello\"]}\n";
    assert_eq!(ran.out, wanted, "{}", ran.err);
    assert_eq!(names.asked("7.2.0.192.in-addr.arpa"), 1);
}

#[test]
fn questions_of_a_batch_go_out_together() {
    let names = Names::start();
    let input: String = (0..40).map(|_| "{\"h\":\"silent.test\"}\n").collect();
    let began = Instant::now();
    let ran = run(
        r#"sink names into dns "SERVER" with name = event.h, timeout = "500ms", attempts = 1 end;
sink lost into null;
in |> lookup names into event.a else lost |> out"#,
        &names,
        &input,
    );
    assert_eq!(ran.out, "", "{}", ran.err);
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    let asked = names.asked("silent.test");
    assert!((1..=4).contains(&asked), "the same question is asked once, not {asked} times");
}

#[test]
fn what_is_wrong_with_a_lookup_is_said_where_it_stands() {
    let folder = Folder::new();
    let wrong = |program: &str, wanted: &str| {
        let path = folder.write("program.tmb", program);
        let said = temblor(["check".as_ref(), path.as_os_str()]).run().err;
        assert!(said.contains(wanted), "{program}: {said}");
    };
    let sink = "sink n into dns \"system\" with name = event.h end; ";
    wrong("in |> lookup nobody |> out", "no sink `nobody` is declared");
    wrong(&format!("{sink}in |> lookup |> out"), "`lookup` needs the name of a sink");
    wrong(&format!("{sink}in |> lookup n |> lookup n |> out"), "`lookup n` is there twice");
    wrong(
        "sink n into dns \"dns.example\" with name = event.h end; in |> n",
        "no address of a server",
    );
    wrong("sink n into dns \"system\"; in |> n", "`name`");
    wrong(
        "sink n into dns \"system\" with name = \"a\", type = \"B\" end; in |> n",
        "one of A, AAAA",
    );
}
