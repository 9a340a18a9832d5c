//! What is sent: messages of syslog whose lengths are spread as in real logs.

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// The least and the greatest length of a message, and the mean.
const LENGTH_MIN: f64 = 137.0;
const LENGTH_MAX: f64 = 2133.0;
const LENGTH_MEAN: f64 = 400.0;
/// The spread of the logarithms.
const SIGMA: f64 = 0.55;

/// A sequence of numbers that is the same in every run (xorshift).
pub(super) struct Numbers(u64);

impl Numbers {
    /// From a seed other than 0.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next, from 0 to 1.
    pub(super) fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normally distributed, with the mean 0 and the deviation 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (a, b) = (self.next().max(1e-12), self.next());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// The length of a message: log-normal, within its bounds.
    fn length(&mut self) -> usize {
        let middle = LENGTH_MEAN.ln() - SIGMA * SIGMA / 2.0;
        (middle + SIGMA * self.normal()).exp().clamp(LENGTH_MIN, LENGTH_MAX) as usize
    }
}

/// Messages of RFC 3164, with a newline behind each.
pub(super) fn messages(count: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut numbers = Numbers::new(seed);
    let words =
        ["request", "accepted", "from", "client", "after", "retry", "cache", "miss", "user"];
    let message = |number: usize| {
        let length = numbers.length();
        let severity = (numbers.next() * 8.0) as usize;
        let mut text =
            format!("<{}>Jan  1 12:00:00 host{} app[{number}]:", 128 + severity, number % 50);
        while text.len() < length {
            text.push(' ');
            text.push_str(words[(numbers.next() * words.len() as f64) as usize % words.len()]);
        }
        text.truncate(length);
        text.push('\n');
        text.into_bytes()
    };
    (0..count).map(message).collect()
}

/// Sends messages over several connections at the same time, as fast as they are taken.
pub(super) fn over_tcp(port: u16, connections: usize, messages: &[Vec<u8>]) -> Result<(), String> {
    let share = messages.len().div_ceil(connections);
    std::thread::scope(|scope| {
        let send = |part: &[Vec<u8>]| -> std::io::Result<()> {
            let mut stream = TcpStream::connect(("127.0.0.1", port))?;
            for some in part.chunks(64) {
                stream.write_all(&some.concat())?;
            }
            stream.shutdown(std::net::Shutdown::Write)
        };
        let parts: Vec<_> =
            messages.chunks(share).map(|part| scope.spawn(move || send(part))).collect();
        for part in parts {
            let sent = part.join().map_err(|_| "a sender has failed".to_string())?;
            sent.map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

/// Sends datagrams at a rate; gives how many left.
pub(super) fn over_udp(port: u16, per_second: usize, time: Duration) -> Result<usize, String> {
    let failed = |error: std::io::Error| error.to_string();
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(failed)?;
    socket.connect(("127.0.0.1", port)).map_err(failed)?;
    let messages = messages(10_000, 7);
    let (began, mut sent) = (Instant::now(), 0);
    while began.elapsed() < time {
        let due = (began.elapsed().as_secs_f64() * per_second as f64) as usize;
        while sent < due {
            let message = &messages[sent % messages.len()];
            socket.send(&message[..message.len() - 1]).map_err(failed)?;
            sent += 1;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::messages;

    #[test]
    fn messages_are_spread_within_their_bounds() {
        let all = messages(20_000, 1);
        let lengths: Vec<_> = all.iter().map(|one| one.len() - 1).collect();
        assert!(lengths.iter().all(|length| (137..=2133).contains(length)));
        let mean = lengths.iter().sum::<usize>() / lengths.len();
        assert!((380..=420).contains(&mean), "{mean}");
    }
}
