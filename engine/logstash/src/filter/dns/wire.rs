//! Questions and answers of DNS over UDP (RFC 1035): addresses of names, and names of addresses. Many questions
//! are under way at once.
//!
//! Invariant: a malformed answer is ignored like one that never came; the question goes on waiting for a good one.

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// The address of a name.
    Address(String),
    /// The name of an address.
    Name(IpAddr),
}

/// What a server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Found(String),
    Nothing,
    /// Nothing came in time.
    Silence,
}

/// Where DNS is asked for.
const PORT: u16 = 53;
/// Answers over UDP are no longer.
const ANSWER_BYTES_MAX: usize = 4096;
/// Questions that wait for one server at a time.
const IN_FLIGHT_MAX: usize = 500;

impl Question {
    /// What is asked, as text.
    pub(super) fn text(&self) -> String {
        match self {
            Question::Address(name) => name.clone(),
            Question::Name(address) => address.to_string(),
        }
    }

    /// The name in the message (RFC 1035 §3.5, RFC 3596 §2.5); nothing for a text that cannot be a name.
    fn name(&self) -> Option<Name> {
        match self {
            Question::Address(name) => {
                let labels = name.trim_end_matches('.').split('.').map(str::as_bytes);
                Name::from_labels(labels).ok()
            }
            Question::Name(address) => Some(Name::from(*address)),
        }
    }

    fn kind(&self) -> RecordType {
        match self {
            Question::Address(_) => RecordType::A,
            Question::Name(_) => RecordType::PTR,
        }
    }
}

/// Servers as they are named, with or without a port.
pub(super) fn servers(names: &[String]) -> Vec<SocketAddr> {
    let server = |name: &String| {
        name.parse().ok().or_else(|| name.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip, PORT)))
    };
    names.iter().filter_map(server).collect()
}

/// The servers in `/etc/resolv.conf`.
pub(super) fn system_servers() -> Vec<SocketAddr> {
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let names: Vec<String> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("nameserver"))
        .map(|name| name.trim().to_string())
        .collect();
    servers(&names)
}

/// Reads a file such as `/etc/hosts`: names lead to addresses and addresses to their first name.
pub(super) fn read_hosts(text: &str, hosts: &mut HashMap<String, String>) {
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or("");
        let mut words = line.split_whitespace();
        let Some(address) = words.next() else { continue };
        for (at, name) in words.enumerate() {
            hosts.entry(name.to_string()).or_insert_with(|| address.to_string());
            if at == 0 {
                hosts.entry(address.to_string()).or_insert_with(|| name.to_string());
            }
        }
    }
}

/// Asks all questions together: each server in turn for what is not answered yet, and all of that again, up
/// to `tries` times. The answers in the order of the questions.
pub(super) fn ask_all(
    questions: &[Question],
    servers: &[SocketAddr],
    timeout: Duration,
    tries: u32,
) -> Vec<Answer> {
    let mut answers = vec![Answer::Silence; questions.len()];
    for server in (0..tries).flat_map(|_| servers) {
        let silent = |at: &usize| answers[*at] == Answer::Silence;
        let open: Vec<usize> = (0..questions.len()).filter(silent).collect();
        for group in open.chunks(IN_FLIGHT_MAX) {
            // What one server does not answer, for whatever reason, the next one may.
            let _ = exchange(questions, group, *server, timeout, &mut answers);
        }
    }
    answers
}

/// Asks one server the questions of a group, and waits until all are answered or the time is over.
fn exchange(
    questions: &[Question],
    group: &[usize],
    server: SocketAddr,
    timeout: Duration,
    answers: &mut [Answer],
) -> std::io::Result<()> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(server)?;
    let mut waiting: HashMap<u16, usize> = HashMap::with_capacity(group.len());
    for at in group {
        let free = |number: &u16| !waiting.contains_key(number);
        let number = std::iter::repeat_with(number).find(free).expect("few numbers are taken");
        match message(&questions[*at], number) {
            Some(message) => {
                socket.send(&message)?;
                waiting.insert(number, *at);
            }
            None => answers[*at] = Answer::Nothing,
        }
    }
    let end = Instant::now() + timeout;
    let mut bytes = [0; ANSWER_BYTES_MAX];
    while !waiting.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        socket.set_read_timeout(Some(left))?;
        let length = socket.recv(&mut bytes)?;
        let Some(number) = bytes[..length].first_chunk() else { continue };
        let number = u16::from_be_bytes(*number);
        let Some(at) = waiting.get(&number) else { continue };
        if let Some(answer) = read(&bytes[..length], number, questions[*at].kind()) {
            answers[*at] = answer;
            waiting.remove(&number);
        }
    }
    Ok(())
}

/// A number that others cannot guess.
fn number() -> u16 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish() as u16
}

/// The question as a message; nothing for what cannot be a name.
fn message(question: &Question, number: u16) -> Option<Vec<u8>> {
    let mut message = Message::new(number, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(question.name()?, question.kind()));
    message.to_vec().ok()
}

/// The first answer of the kind. Nothing when the message belongs to another question, or is malformed.
fn read(bytes: &[u8], number: u16, kind: RecordType) -> Option<Answer> {
    let message = Message::from_vec(bytes).ok()?;
    let head = message.metadata;
    if head.id != number || head.message_type != MessageType::Response {
        return None;
    }
    if head.response_code != ResponseCode::NoError {
        return Some(Answer::Nothing);
    }
    let mut answers = message.answers.iter().filter(|record| record.record_type() == kind);
    let found = answers.find_map(|record| match &record.data {
        RData::A(address) => Some(address.to_string()),
        RData::AAAA(address) => Some(address.to_string()),
        RData::PTR(name) => Some(plain(name)),
        _ => None,
    });
    Some(found.map_or(Answer::Nothing, Answer::Found))
}

/// A name as Logstash shows it: without escapes, and without the dot at its end.
fn plain(name: &Name) -> String {
    name.iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::{Answer, Question, ask_all, message, plain, read, read_hosts};
    use hickory_proto::rr::RecordType;
    use std::collections::HashMap;
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    #[test]
    fn many_questions_wait_at_once() {
        const QUESTIONS: usize = 125;
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let questions: Vec<_> =
            (0..QUESTIONS).map(|number| Question::Address(format!("n{number}.example"))).collect();
        // It answers nothing before it has seen all, and the last one never.
        let answering = std::thread::spawn(move || {
            let mut bytes = [0; 512];
            let mut seen = Vec::new();
            while seen.len() < QUESTIONS {
                let (length, from) = server.recv_from(&mut bytes).unwrap();
                seen.push((bytes[..length].to_vec(), from));
            }
            seen.pop();
            for (mut answer, from) in seen {
                answer[2] = 0x81;
                answer[7] = 1;
                answer.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
                server.send_to(&answer, from).unwrap();
            }
        });
        let start = Instant::now();
        let answers = ask_all(&questions, &[address], Duration::from_secs(2), 1);
        answering.join().unwrap();
        let found = Answer::Found("192.0.2.1".to_string());
        assert_eq!(answers.iter().filter(|answer| **answer == found).count(), QUESTIONS - 1);
        assert_eq!(answers.last(), Some(&Answer::Silence));
        assert!(start.elapsed() < Duration::from_secs(10), "they waited for each other");
    }

    #[test]
    fn reads_answers_and_survives_others() {
        let question = Question::Address("a.example".to_string());
        let mut bytes = message(&question, 7).expect("it is a name");
        bytes[2] = 0x81;
        bytes[7] = 1;
        bytes.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
        assert_eq!(read(&bytes, 7, RecordType::A), Some(Answer::Found("192.0.2.1".to_string())));
        assert_eq!(read(&bytes, 8, RecordType::A), None);
        for end in 0..bytes.len() {
            let _ = read(&bytes[..end], 7, RecordType::A);
        }
        let looped = [0, 7, 0x81, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xC0, 12];
        assert_eq!(read(&looped, 7, RecordType::A), None);
        let mut answer = message(&Question::Name("192.0.2.1".parse().unwrap()), 7).unwrap();
        assert_eq!(read(&answer, 7, RecordType::PTR), None, "a question is no answer");
        answer[2] = 0x81;
        assert_eq!(read(&answer, 7, RecordType::PTR), Some(Answer::Nothing));
        answer[7] = 1;
        answer.extend([0xC0, 12, 0, 12, 0, 1, 0, 0, 0, 60, 0, 6, 3, b'a', b' ', b'b', 0xC0, 30]);
        let Some(Answer::Found(name)) = read(&answer, 7, RecordType::PTR) else { panic!() };
        assert_eq!(name, "a b.arpa");
    }

    #[test]
    fn names_of_addresses_are_turned_round() {
        let name = |text: &str| {
            let question = Question::Name(text.parse().unwrap());
            plain(&question.name().unwrap())
        };
        assert_eq!(name("192.0.2.1"), "1.2.0.192.in-addr.arpa");
        let wide = name("2001:db8::1");
        assert!(wide.starts_with("1.0.0.0") && wide.ends_with("8.b.d.0.1.0.0.2.ip6.arpa"));
        for text in ["", ".", "a..b", &"x".repeat(64), &"x.".repeat(200)] {
            assert_eq!(message(&Question::Address(text.to_string()), 7), None, "{text}");
        }
        assert!(message(&Question::Address("under_score.a b.example.".to_string()), 7).is_some());
    }

    #[test]
    fn reads_hosts() {
        let mut hosts = HashMap::new();
        read_hosts("192.0.2.1 one alias # text\n\n::1 local", &mut hosts);
        assert_eq!(hosts["alias"], "192.0.2.1");
        assert_eq!(hosts["192.0.2.1"], "one");
    }
}
