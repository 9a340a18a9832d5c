//! The generators that need no settings: web server lines, syslog, application JSON, and the plainest.
//!
//! Invariant: each writes straight into the buffer; an event costs no allocation.

use super::digits::{push_hex, push_ipv4, push_number, push_two, push_uuid};
use super::stamp::{ISO, Stamp};
use super::{Generator, Moment, Random};

const METHODS: [&str; 8] = ["GET", "GET", "GET", "GET", "GET", "POST", "HEAD", "PUT"];
const STATUS: [&str; 16] = [
    "200", "200", "200", "200", "200", "200", "200", "200", "200", "304", "304", "301", "404",
    "404", "403", "500",
];
const PAGES: [&str; 16] = [
    "/",
    "/index.html",
    "/login",
    "/logout",
    "/cart",
    "/cart/checkout",
    "/product/",
    "/search?q=",
    "/api/v1/orders",
    "/api/v1/users/",
    "/static/app.js",
    "/static/site.css",
    "/images/logo.png",
    "/favicon.ico",
    "/blog/2026/03/",
    "/health",
];
const REFERRERS: [&str; 4] = [
    "-",
    "https://www.example.com/",
    "https://search.example.net/?q=logs",
    "https://news.example.org/",
];
const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "curl/8.8.0",
];

/// Takes some bits of a number and goes on to the rest.
#[inline]
fn choose<'a, const N: usize>(bits: &mut u64, choices: &[&'a str; N]) -> &'a [u8] {
    const { assert!(N.is_power_of_two(), "bits choose among powers of two") };
    let index = *bits as usize % N;
    *bits /= N as u64;
    choices[index].as_bytes()
}

/// Access log lines in Apache's combined format.
pub(crate) struct Weblog {
    random: Random,
    stamp: Stamp,
}

/// Syslog messages of RFC 3164, under 100 bytes on average.
pub(crate) struct Syslog {
    random: Random,
    stamp: Stamp,
}

/// JSON lines of an application.
pub(crate) struct JsonApp {
    random: Random,
    stamp: Stamp,
}

/// A time and a number: the least that is an event.
pub(crate) struct Windbag {
    stamp: Stamp,
}

fn stamp(format: &str) -> Stamp {
    Stamp::new(format).expect("the built-in formats are tried by a test")
}

impl Weblog {
    /// Lines of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Weblog { random: Random::seeded(seed), stamp: stamp("%d/%b/%Y:%H:%M:%S %z") }
    }
}

impl Generator for Weblog {
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        let random = &mut self.random;
        push_ipv4(random, out);
        out.extend_from_slice(b" - - [");
        self.stamp.push(moment.time, out);
        out.extend_from_slice(b"] \"");
        let mut bits = random.bits();
        out.extend_from_slice(choose(&mut bits, &METHODS));
        out.push(b' ');
        let page = choose(&mut bits, &PAGES);
        out.extend_from_slice(page);
        if matches!(page.last(), Some(b'/' | b'=')) && page.len() > 1 {
            push_number(bits & 0xfff, out);
        }
        bits >>= 12;
        out.extend_from_slice(b" HTTP/1.1\" ");
        let status = choose(&mut bits, &STATUS);
        out.extend_from_slice(status);
        out.push(b' ');
        match status {
            b"304" => out.push(b'-'),
            _ => push_number(200 + (bits & 0xffff), out),
        }
        bits >>= 16;
        out.extend_from_slice(b" \"");
        out.extend_from_slice(choose(&mut bits, &REFERRERS));
        out.extend_from_slice(b"\" \"");
        out.extend_from_slice(choose(&mut bits, &AGENTS));
        out.push(b'"');
        Ok(true)
    }
}

const HOSTS: [&str; 8] = ["web1", "web2", "db1", "db2", "mail", "gate", "build", "store"];
const PROGRAMS: [&str; 8] =
    ["sshd", "cron", "kernel", "postfix", "nginx", "systemd", "named", "dhcpd"];
const MESSAGES: [&str; 16] = [
    "connection accepted",
    "connection closed",
    "session opened for user root",
    "job started",
    "job finished",
    "time out while reading",
    "link is up",
    "link is down",
    "queue is empty",
    "lease renewed",
    "query refused",
    "disk is nearly full",
    "service restarted",
    "mail queued",
    "mail delivered",
    "access denied",
];

impl Syslog {
    /// Messages of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Syslog { random: Random::seeded(seed), stamp: stamp("%b %e %H:%M:%S") }
    }
}

impl Generator for Syslog {
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        let mut bits = self.random.bits();
        out.push(b'<');
        // Facility times eight plus severity (RFC 3164, section 4.1.1).
        push_number((bits & 15) * 8 + (bits >> 4 & 7), out);
        bits >>= 7;
        out.push(b'>');
        self.stamp.push(moment.time, out);
        out.push(b' ');
        out.extend_from_slice(choose(&mut bits, &HOSTS));
        out.push(b' ');
        out.extend_from_slice(choose(&mut bits, &PROGRAMS));
        out.push(b'[');
        push_number(100 + (bits & 0x3fff), out);
        bits >>= 14;
        out.extend_from_slice(b"]: ");
        out.extend_from_slice(choose(&mut bits, &MESSAGES));
        out.extend_from_slice(b", id ");
        push_number(moment.index, out);
        Ok(true)
    }
}

const LEVELS: [&str; 8] = ["info", "info", "info", "info", "debug", "debug", "warn", "error"];
const SERVICES: [&str; 8] =
    ["cart", "checkout", "search", "login", "catalog", "billing", "mailer", "stock"];

impl JsonApp {
    /// Events of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        JsonApp { random: Random::seeded(seed), stamp: stamp(ISO) }
    }
}

impl Generator for JsonApp {
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        let random = &mut self.random;
        let mut bits = random.bits();
        out.extend_from_slice(b"{\"time\":\"");
        self.stamp.push(moment.time, out);
        out.extend_from_slice(b"\",\"level\":\"");
        out.extend_from_slice(choose(&mut bits, &LEVELS));
        out.extend_from_slice(b"\",\"service\":\"");
        out.extend_from_slice(choose(&mut bits, &SERVICES));
        out.extend_from_slice(b"\",\"host\":\"app-");
        push_two(bits & 31, out);
        bits >>= 5;
        out.extend_from_slice(b"\",\"message\":\"");
        out.extend_from_slice(choose(&mut bits, &MESSAGES));
        out.extend_from_slice(b"\",\"client\":\"");
        push_ipv4(random, out);
        out.extend_from_slice(b"\",\"duration_ms\":");
        push_number(bits & 0x7ff, out);
        out.extend_from_slice(b",\"user\":");
        push_number(bits >> 11 & 0xffff, out);
        out.extend_from_slice(b",\"trace\":\"");
        push_hex(random, 16, out);
        out.extend_from_slice(b"\",\"id\":\"");
        push_uuid(random, out);
        out.extend_from_slice(b"\"}");
        Ok(true)
    }
}

impl Default for Windbag {
    fn default() -> Self {
        Windbag { stamp: stamp("%Y-%m-%d %H:%M:%S") }
    }
}

impl Generator for Windbag {
    #[inline]
    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        if moment.of == 0 {
            self.stamp.push(moment.time, out);
            out.extend_from_slice(b" -0000 WINDBAG Event ");
            push_number(moment.place + 1, out);
            return Ok(true);
        }
        // In an execution the times rise evenly, and each event says how many there are.
        let (earliest, latest) = moment.window;
        let part = (moment.place + 1) as f64 / moment.of as f64;
        let span = latest.saturating_sub(earliest) as f64 * part;
        self.stamp.push(earliest + span as u64, out);
        out.extend_from_slice(b" -0000 WINDBAG Event ");
        push_number(moment.place + 1, out);
        out.extend_from_slice(b" of ");
        push_number(moment.of, out);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(generator: &mut dyn Generator, count: u64) -> Vec<String> {
        let write = |index| {
            let mut out = Vec::new();
            let time = 1_772_323_200_000_000_000 + index * 250_000_000;
            assert!(generator.write(Moment::at(index, time), &mut out).unwrap());
            String::from_utf8(out).unwrap()
        };
        (0..count).map(write).collect()
    }

    #[test]
    fn web_lines_have_the_combined_format() {
        let format = r#"^\d+(\.\d+){3} - - \[\d\d/Mar/2026:00:\d\d:\d\d \+0000\] "[A-Z]+ /\S* HTTP/1\.1" \d{3} (\d+|-) "[^"]+" "[^"]+"$"#;
        let format = regex::Regex::new(format).unwrap();
        let lines = lines(&mut Weblog::new(1), 1000);
        assert!(lines.iter().all(|line| format.is_match(line)), "{}", lines[0]);
    }

    #[test]
    fn syslog_messages_are_short_and_applications_write_json() {
        let messages = lines(&mut Syslog::new(1), 1000);
        assert!(messages.iter().map(String::len).sum::<usize>() < 100 * 1000);
        assert!(messages[0].starts_with('<') && messages[0].contains("Mar  1 00:00:00"));
        for mut line in lines(&mut JsonApp::new(1), 1000) {
            let length = line.len();
            // SAFETY-free way to hand out bytes: the parser works in place.
            let mut bytes = std::mem::take(&mut line).into_bytes();
            let event = simd_json::to_tape(&mut bytes).unwrap();
            assert!(event.0.len() > 10 && length > 200);
        }
    }

    #[test]
    fn the_windbag_counts() {
        let lines = lines(&mut Windbag::default(), 5);
        assert_eq!(lines[4], "2026-03-01 00:00:01 -0000 WINDBAG Event 5");
    }
}
