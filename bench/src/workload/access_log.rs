//! Apache combined access log lines. One line in `BROKEN_EVERY` lacks its closing parts, and no other line is broken, so that
//! the number of lines that match is known beforehand.

use super::{Random, words};

/// Every so many lines, one does not have the combined format.
pub(super) const BROKEN_EVERY: usize = 50;

const METHODS: [&str; 5] = ["GET", "GET", "POST", "HEAD", "PUT"];
const STATUS: [&str; 9] = ["200", "200", "304", "404", "301", "403", "500", "206", "503"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Generates `count` lines of about 230 bytes; those whose index is `BROKEN_EVERY - 1` modulo `BROKEN_EVERY` are cut short.
pub fn access_log_lines(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random::seeded(seed);
    (0..count)
        .map(|index| {
            let line = access_log_line(&mut random, index as u64);
            if index % BROKEN_EVERY == BROKEN_EVERY - 1 { cut(line) } else { line }
        })
        .collect()
}

/// Keeps the line up to the middle of its timestamp.
fn cut(mut line: String) -> String {
    let end = line.find('[').map_or(0, |bracket| bracket + 8);
    line.truncate(end);
    line
}

fn access_log_line(random: &mut Random, index: u64) -> String {
    let user = if random.chance(50) { random.pick(&["ada", "grace", "linus"]) } else { "-" };
    let status = random.skewed(&STATUS);
    let bytes =
        if status == "304" { "-".to_string() } else { random.between(40, 250_000).to_string() };
    let segments = random.between(1, 6);
    let request = words::path(random, segments);
    let referrer = if random.chance(400) {
        "-".to_string()
    } else {
        format!("http://www.example.org{}", words::path(random, 3))
    };
    format!(
        "{} - {user} [{}] \"{} {request} HTTP/1.1\" {status} {bytes} \"{referrer}\" \"{}\"",
        words::address(random),
        timestamp(index),
        random.pick(&METHODS),
        words::user_agent(random),
    )
}

/// One request every third of a second from the first of January 2026 on, within 28-day months.
fn timestamp(index: u64) -> String {
    let second = index / 3;
    let day = second / 86_400;
    format!(
        "{:02}/{}/2026:{:02}:{:02}:{:02} +0000",
        day % 28 + 1,
        MONTHS[(day / 28 % 12) as usize],
        second / 3_600 % 24,
        second / 60 % 60,
        second % 60,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_announced_share_of_lines_is_broken() {
        let lines = access_log_lines(1, 1_000);
        let whole = lines.iter().filter(|line| line.ends_with('"')).count();
        assert_eq!(whole, 1_000 - 1_000 / BROKEN_EVERY);
    }
}
