//! Questions and answers of DNS over UDP (RFC 1035), as far as addresses and names go. Many questions are
//! on their way at once; a malformed answer is none.

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
/// Pointers that are followed within one name.
const POINTERS_MAX: usize = 16;
/// Type of an address.
const TYPE_A: u16 = 1;
/// Type of a name.
const TYPE_PTR: u16 = 12;
/// Type of a wide address.
const TYPE_AAAA: u16 = 28;

impl Question {
    /// What is asked, as text.
    pub(super) fn text(&self) -> String {
        match self {
            Question::Address(name) => name.clone(),
            Question::Name(address) => address.to_string(),
        }
    }

    /// The name in the message (RFC 1035 §3.5, RFC 3596 §2.5).
    fn name(&self) -> String {
        match self {
            Question::Address(name) => name.trim_end_matches('.').to_string(),
            Question::Name(IpAddr::V4(address)) => {
                let [a, b, c, d] = address.octets();
                format!("{d}.{c}.{b}.{a}.in-addr.arpa")
            }
            Question::Name(IpAddr::V6(address)) => {
                let digits = address.octets().into_iter().rev();
                let digits = digits.map(|byte| format!("{:x}.{:x}.", byte & 15, byte >> 4));
                format!("{}ip6.arpa", digits.collect::<String>())
            }
        }
    }

    fn kind(&self) -> u16 {
        match self {
            Question::Address(_) => TYPE_A,
            Question::Name(_) => TYPE_PTR,
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
        let Some(number) = word(&bytes[..length], 0) else { continue };
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
    let mut bytes = Vec::with_capacity(64);
    bytes.extend(number.to_be_bytes());
    // Recursion is desired; there is one question.
    bytes.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in question.name().split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..64).contains(length))?;
        bytes.push(length);
        bytes.extend(label.bytes());
    }
    bytes.push(0);
    bytes.extend(question.kind().to_be_bytes());
    bytes.extend([0, 1]);
    Some(bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The first answer of the kind. Nothing when the message is another, or malformed.
fn read(bytes: &[u8], number: u16, kind: u16) -> Option<Answer> {
    if word(bytes, 0)? != number {
        return None;
    }
    if bytes.get(3)? & 15 != 0 {
        return Some(Answer::Nothing);
    }
    let (questions, answers) = (word(bytes, 4)?, word(bytes, 6)?);
    let mut at = 12;
    for _ in 0..questions {
        at = name(bytes, at)?.1 + 4;
    }
    for _ in 0..answers {
        at = name(bytes, at)?.1;
        let found = word(bytes, at)?;
        let length = usize::from(word(bytes, at + 8)?);
        let data = at + 10;
        if found == kind {
            let text = match (found, bytes.get(data..data + length)?) {
                (TYPE_A, [a, b, c, d]) => Ipv4Addr::new(*a, *b, *c, *d).to_string(),
                (TYPE_AAAA, wide) => Ipv6Addr::from(<[u8; 16]>::try_from(wide).ok()?).to_string(),
                _ => name(bytes, data)?.0,
            };
            return Some(Answer::Found(text));
        }
        at = data + length;
    }
    Some(Answer::Nothing)
}

/// A name and where it ends.
fn name(bytes: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut end = None;
    let mut pointers = 0;
    loop {
        let length = usize::from(*bytes.get(at)?);
        match length {
            0 => return Some((text, end.unwrap_or(at + 1))),
            1..=63 => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(&String::from_utf8_lossy(bytes.get(at + 1..at + 1 + length)?));
                at += 1 + length;
            }
            _ => {
                pointers += 1;
                if pointers > POINTERS_MAX {
                    return None;
                }
                end = end.or(Some(at + 2));
                at = usize::from(word(bytes, at)? & 0x3FFF);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Question, TYPE_A, ask_all, message, read, read_hosts};
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
        assert_eq!(read(&bytes, 7, TYPE_A), Some(Answer::Found("192.0.2.1".to_string())));
        assert_eq!(read(&bytes, 8, TYPE_A), None);
        for end in 0..bytes.len() {
            let _ = read(&bytes[..end], 7, TYPE_A);
        }
        let looped = [0, 7, 0x81, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xC0, 12];
        assert_eq!(read(&looped, 7, TYPE_A), None);
        let wide = Question::Name("2001:db8::1".parse().expect("it is an address"));
        assert!(
            wide.name().starts_with("1.0.0.0") && wide.name().ends_with("8.b.d.0.1.0.0.2.ip6.arpa")
        );
    }

    #[test]
    fn reads_hosts() {
        let mut hosts = HashMap::new();
        read_hosts("192.0.2.1 one alias # text\n\n::1 local", &mut hosts);
        assert_eq!(hosts["alias"], "192.0.2.1");
        assert_eq!(hosts["192.0.2.1"], "one");
    }
}
