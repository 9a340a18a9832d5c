//! `multiline`: lines that belong together become one event. What is kept waits for the next line, for
//! the time after which an event is complete, or for the end of the input.

use crate::complain;
use crate::filter::grok_library;
use crate::options::Arguments;
use crate::saved;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_stdlib::grok::{Captures, Grok, Options};

/// Lines of an event unless a configuration says so.
const LINES_MAX: f64 = 500.0;
/// Bytes of an event unless a configuration says so.
const BYTES_MAX: u64 = 10 << 20;

/// Joins lines.
#[derive(Debug)]
pub(crate) struct Multiline {
    pattern: Grok,
    negate: bool,
    /// Whether a line that is meant belongs to the one before.
    previous: bool,
    lines_max: usize,
    bytes_max: usize,
    /// The tag of events of several lines.
    pub tag: String,
    /// After this many nanoseconds without a line an event is complete.
    pub(crate) flush_after_ns: Option<u64>,
}

/// Lines that wait.
#[derive(Debug)]
pub(crate) struct Buffer {
    captures: Captures,
    lines: Vec<String>,
    bytes: usize,
    /// When the first line came.
    began_ns: u64,
    /// When the last line came.
    pub(crate) changed_ns: u64,
}

impl Default for Buffer {
    fn default() -> Self {
        Self { captures: Captures::new(), lines: Vec::new(), bytes: 0, began_ns: 0, changed_ns: 0 }
    }
}

/// A complete event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    /// Its lines with newlines between them.
    pub text: String,
    /// Its tags.
    pub tags: Vec<&'static str>,
    /// Whether it has more than one line.
    pub several: bool,
    /// When its first line came.
    pub(crate) began_ns: u64,
}

impl Buffer {
    /// Its lines and times as a value.
    pub(super) fn save<'a>(&self, arena: &'a Arena) -> Datum<'a> {
        let times = [self.began_ns, self.changed_ns].map(Datum::whole);
        let lines = self.lines.iter().map(|line| Datum::Str(arena.str(line)));
        Datum::List(times.into_iter().chain(lines).collect())
    }

    /// The buffer that [`Buffer::save`] gave.
    pub(super) fn restore(saved: &Datum<'_>) -> Option<Self> {
        let (times, lines) = saved::list(Some(saved))?.split_at_checked(2)?;
        let time = |at: usize| u64::try_from(saved::whole(times.get(at))?).ok();
        let lines: Vec<String> = lines.iter().map(Datum::text).collect();
        Some(Self {
            bytes: lines.iter().map(String::len).sum(),
            began_ns: time(0)?,
            changed_ns: time(1)?,
            lines,
            ..Self::default()
        })
    }
}

impl Multiline {
    /// Reads the options.
    pub(super) fn compile(arguments: &mut Arguments<'_>) -> Option<Self> {
        let written = arguments.text("pattern")?;
        let place = arguments.place("pattern");
        let (library, is_complete) = grok_library(arguments)?;
        let pattern = match Grok::compile(&written, &library, &Options::default()) {
            Ok(pattern) => pattern,
            Err(error) if !is_complete => {
                arguments.complain(complain::absent_pattern(place, &error.to_string()));
                return None;
            }
            Err(error) => {
                arguments.complain(complain::bad_pattern(&written, place, &error.to_string()));
                return None;
            }
        };
        let bytes_max = match arguments.text("max_bytes") {
            None => BYTES_MAX,
            Some(text) => match bytes(&text) {
                Some(bytes) => bytes,
                None => {
                    let place = arguments.place("max_bytes");
                    arguments.complain(complain::bad_value("max_bytes", place, "a size: 10 MiB"));
                    return None;
                }
            },
        };
        Some(Self {
            pattern,
            negate: arguments.flag("negate", false),
            previous: arguments.text("what").as_deref() == Some("previous"),
            lines_max: arguments.number("max_lines").unwrap_or(LINES_MAX).max(1.0) as usize,
            bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
            tag: arguments.text("multiline_tag").unwrap_or_else(|| "multiline".to_string()),
            flush_after_ns: arguments
                .number("auto_flush_interval")
                .filter(|seconds| *seconds > 0.0)
                .map(|seconds| (seconds * 1e9) as u64),
        })
    }

    /// Takes a line; gives the events that are complete.
    pub(super) fn line(&self, buffer: &mut Buffer, line: &str, now_ns: u64) -> Vec<Joined> {
        buffer.changed_ns = now_ns;
        let meant = self.pattern.matches(line, &mut buffer.captures) != self.negate;
        let mut complete = Vec::new();
        if self.previous && !meant {
            complete.extend(self.flush(buffer));
        }
        if buffer.lines.is_empty() {
            buffer.began_ns = now_ns;
        }
        buffer.bytes += line.len();
        buffer.lines.push(line.to_string());
        let is_over = buffer.lines.len() > self.lines_max || buffer.bytes > self.bytes_max;
        if !self.previous && !meant || is_over {
            complete.extend(self.flush(buffer));
        }
        complete
    }

    /// The event that waits, if there is one.
    pub(super) fn flush(&self, buffer: &mut Buffer) -> Option<Joined> {
        if buffer.lines.is_empty() {
            return None;
        }
        let mut tags = Vec::new();
        if buffer.bytes > self.bytes_max {
            tags.push("multiline_codec_max_bytes_reached");
        }
        if buffer.lines.len() > self.lines_max {
            tags.push("multiline_codec_max_lines_reached");
        }
        let lines = std::mem::take(&mut buffer.lines);
        buffer.bytes = 0;
        let began_ns = buffer.began_ns;
        Some(Joined { several: lines.len() > 1, text: lines.join("\n"), tags, began_ns })
    }
}

/// `10 MiB`, `5kb`, `100`
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|one: char| !one.is_ascii_digit() && one != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (letter, base) = match unit.strip_suffix('i') {
        Some(letter) => (letter, 1024_f64),
        None => (unit, 1000.0),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|one| *one == letter)?;
    Some((number * base.powi(i32::try_from(power).ok()?)) as u64)
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Multiline, bytes};
    use temblor_stdlib::grok::{Grok, Library, Options};

    fn joined(pattern: &str, negate: bool, previous: bool, lines: &[&str]) -> Vec<String> {
        let codec = Multiline {
            pattern: Grok::compile(pattern, &Library::empty(), &Options::default()).unwrap(),
            negate,
            previous,
            lines_max: 3,
            bytes_max: 1000,
            tag: "multiline".to_string(),
            flush_after_ns: None,
        };
        let mut buffer = Buffer::default();
        let mut out: Vec<_> =
            lines.iter().flat_map(|line| codec.line(&mut buffer, line, 0)).collect();
        out.extend(codec.flush(&mut buffer));
        out.into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn joins_to_the_line_before_or_behind() {
        let lines = ["a", " b", " c", "d"];
        assert_eq!(joined(r"^\s", false, true, &lines), ["a\n b\n c", "d"]);
        assert_eq!(joined(r"^\S", true, true, &lines), ["a\n b\n c", "d"]);
        assert_eq!(joined(r"\\$", false, false, &["a\\", "b", "c"]), ["a\\\nb", "c"]);
        assert_eq!(joined(r"^\s", false, true, &["a", " 1", " 2", " 3", " 4"]).len(), 2);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("10 MiB"), Some(10 << 20));
        assert_eq!(bytes("5kb"), Some(5000));
        assert_eq!(bytes("7"), Some(7));
        assert_eq!(bytes("x"), None);
    }
}
