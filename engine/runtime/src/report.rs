//! The counts of a run as the user sees them: progress line, summary table, JSON.
//!
//! Invariant: every count appears in table and JSON alike.

use std::fmt::Write as _;

use crate::stats::{Counts, Row};

/// One line on how the run goes, at most `width` characters long.
pub fn progress_line(counts: &Counts, width: usize) -> String {
    let seconds = counts.elapsed.as_secs_f64().max(0.001);
    let mut line = String::new();
    if let Some(share) = counts.share_read {
        let _ = write!(line, "{:3.0} %  ", share * 100.0);
    }
    let events = counts.events();
    let _ = write!(
        line,
        "{} events  {}/s  {:.1} MB/s",
        grouped(events),
        grouped((events as f64 / seconds) as u64),
        counts.bytes() as f64 / seconds / 1e6,
    );
    for port in counts.ports.iter().filter(|port| port.events > 0) {
        let _ = write!(line, "  {} {}", port.name, grouped(port.events));
    }
    if counts.error_count() > 0 {
        let _ = write!(line, "  errors {}", grouped(counts.error_count()));
    }
    line.chars().take(width).collect()
}

/// The summary at the end of a run; ends without a newline.
pub fn summary_table(counts: &Counts) -> String {
    let seconds = counts.elapsed.as_secs_f64();
    let rate = counts.events() as f64 / seconds.max(0.001);
    let speed = counts.bytes() as f64 / seconds.max(0.001) / 1e6;
    let mut table = Table::default();
    table.section("source", &counts.sources);
    table.section("port", &counts.ports);
    table.section("sink", &counts.sinks);
    for (reason, count) in &counts.dropped {
        table.row("dropped", reason, &grouped(*count), "", "");
    }
    for (kind, count) in &counts.errors {
        table.row("error", kind, &grouped(*count), "", "");
    }
    if !counts.slowed.is_zero() {
        let note =
            format!("reads were held up for {:.1} s (--memory)", counts.slowed.as_secs_f64());
        table.row("memory", &note, "", "", "");
    }
    if counts.given_up > 0 {
        table.row("memory", "keys given up (--memory)", &grouped(counts.given_up), "", "");
    }
    let mut text = table.render();
    let events = grouped(counts.events());
    let _ = write!(
        text,
        "{events} events in {seconds:.2} s ({} events/s, {speed:.1} MB/s)",
        grouped(rate as u64)
    );
    text
}

/// Rows of words, padded to columns when rendered.
#[derive(Default)]
struct Table {
    rows: Vec<[String; 5]>,
}

impl Table {
    fn section(&mut self, kind: &str, rows: &[Row]) {
        for row in rows {
            let notes = [(row.failed, "failed"), (row.retries, "retried")];
            let notes = notes.iter().filter(|(count, _)| *count > 0);
            let notes = notes.map(|(count, what)| format!("{} {what}", grouped(*count)));
            let notes = notes.collect::<Vec<_>>().join(", ");
            self.row(kind, &row.name, &grouped(row.events), &scaled(row.bytes), &notes);
        }
    }

    fn row(&mut self, kind: &str, name: &str, events: &str, bytes: &str, note: &str) {
        self.rows.push([kind, name, events, bytes, note].map(str::to_string));
    }

    fn render(&self) -> String {
        let heads = ["", "", "events", "bytes", ""].map(str::to_string);
        let width = |column: usize| {
            let rows = self.rows.iter().chain([&heads]);
            rows.map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2), width(3)];
        let mut text = String::new();
        for [kind, name, events, bytes, note] in [&heads].into_iter().chain(&self.rows) {
            let line = format!(
                "{kind:<0$}  {name:<1$}  {events:>2$}  {bytes:>3$}  {note}",
                widths[0], widths[1], widths[2], widths[3]
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// The counts as one line of JSON; ends without a newline.
pub fn json(counts: &Counts) -> String {
    let seconds = counts.elapsed.as_secs_f64();
    let mut text = format!(
        r#"{{"seconds":{seconds:.6},"events":{},"bytes":{},"failed":{}"#,
        counts.events(),
        counts.bytes(),
        counts.failed()
    );
    for (key, rows) in
        [("sources", &counts.sources), ("ports", &counts.ports), ("sinks", &counts.sinks)]
    {
        let rows: Vec<String> = rows.iter().map(row_json).collect();
        let _ = write!(text, r#","{key}":[{}]"#, rows.join(","));
    }
    for (key, pairs) in [("dropped", &counts.dropped), ("errors", &counts.errors)] {
        let pairs = pairs.iter().map(|(name, count)| format!("{}:{count}", quoted(name)));
        let _ = write!(text, r#","{key}":{{{}}}"#, pairs.collect::<Vec<_>>().join(","));
    }
    if !counts.slowed.is_zero() {
        let _ = write!(text, r#","slowed_seconds":{:.3}"#, counts.slowed.as_secs_f64());
    }
    if counts.given_up > 0 {
        let _ = write!(text, r#","given_up":{}"#, counts.given_up);
    }
    text.push('}');
    text
}

fn row_json(row: &Row) -> String {
    let retries = match row.retries {
        0 => String::new(),
        retries => format!(r#","retries":{retries}"#),
    };
    format!(
        r#"{{"name":{},"events":{},"bytes":{},"failed":{}{retries}}}"#,
        quoted(&row.name),
        row.events,
        row.bytes,
        row.failed
    )
}

/// A text as a JSON string (RFC 8259, section 7).
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..='\u{1f}' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// A number with a thin separator between thousands: `1_234_567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes with a unit of a thousandfold that suits it.
fn scaled(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn counts() -> Counts {
        let row = |name: &str, events, failed| Row {
            name: name.to_string(),
            events,
            bytes: events * 100,
            failed,
            retries: failed / 5,
        };
        Counts {
            elapsed: Duration::from_secs(2),
            sources: vec![row("a.log", 1_234_567, 0)],
            ports: vec![row("out", 1_000_000, 0)],
            sinks: vec![row("file \"x\"", 999_990, 10)],
            errors: vec![("decode".to_string(), 3)],
            dropped: vec![("dedup".to_string(), 234_564)],
            share_read: Some(0.5),
            slowed: Duration::ZERO,
            given_up: 0,
        }
    }

    #[test]
    fn the_progress_line_fits_its_width() {
        let line = progress_line(&counts(), 200);
        let expected = " 50 %  1_234_567 events  617_283/s  61.7 MB/s  out 1_000_000  errors 3";
        assert_eq!(line, expected);
        assert_eq!(progress_line(&counts(), 10), " 50 %  1_2");
    }

    #[test]
    fn the_table_has_straight_columns() {
        let expected = "                      events     bytes\n\
                        source   a.log     1_234_567  123.5 MB\n\
                        port     out       1_000_000  100.0 MB\n\
                        sink     file \"x\"    999_990  100.0 MB  10 failed, 2 retried\n\
                        dropped  dedup       234_564\n\
                        error    decode            3\n\
                        1_234_567 events in 2.00 s (617_283 events/s, 61.7 MB/s)";
        assert_eq!(summary_table(&counts()), expected);
    }

    #[test]
    fn json_holds_all_counts_and_escapes_names() {
        let text = json(&counts());
        assert!(text.starts_with(r#"{"seconds":2.000000,"events":1234567,"#), "{text}");
        assert!(text.contains(
            r#"{"name":"file \"x\"","events":999990,"bytes":99999000,"failed":10,"retries":2}"#
        ));
        assert!(text.ends_with(r#""dropped":{"dedup":234564},"errors":{"decode":3}}"#), "{text}");
    }
}
