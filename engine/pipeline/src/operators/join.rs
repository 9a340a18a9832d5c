//! `join`: several lines of text become one event again, such as a stack trace. Lines of different
//! streams never mix, and no line waits longer than it is told.

use super::key::Group;
use super::place::Place;
use super::saved_rows;
use super::{MAX_KEYS, OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, Emitter, Hold, OUT, Operator, Surroundings, Usage};
use crate::row::Row;
use crate::store::{Kept, Recency};
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Key as Field, Kind, Value};
use temblor_runtime::limits::{JOIN_BYTES_MAX, JOIN_LINES_MAX};
use temblor_runtime::memory;
use temblor_stdlib::grok::{Captures, Grok, Library, Options};

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "stream::join",
    word: Some("join"),
    doc: "Joins lines that belong together. The pattern is a regular expression that may name grok \
          patterns. A line that matches continues the line before it (mode `previous`, default), is \
          continued by the line after it (`next`), starts an event (`start`) or ends one (`end`). \
          The lines are the events themselves, or their field `message`, or what stands at `from`; \
          the joined event is the first one with all lines in that place, with line ends between \
          them. `by` keeps streams apart. An event also ends after `timeout` (5s) without another \
          line, at `max_lines` (500), at `max_bytes` (10 MiB), and at the end of the input.",
    examples: &[
        "in |> join \"^\\\\s\" by event.file |> out",
        "in |> join \"^%{TIMESTAMP_ISO8601}\" mode start from event.message timeout 2s |> out",
    ],
    settings: &[
        Setting::new("pattern", Takes::Text, "What is looked for in each line.")
            .in_chain(InChain::Positional)
            .required(),
        Setting::new(
            "mode",
            Takes::Word(&["previous", "next", "start", "end"]),
            "What a line that matches does.",
        )
        .in_chain(InChain::Clause("mode")),
        Setting::new("by", Takes::Formula, "The stream of a line.").in_chain(InChain::Clause("by")),
        Setting::new("from", Takes::Place, "Where the line stands.")
            .in_chain(InChain::Clause("from")),
        Setting::new("timeout", Takes::Duration, "How long to wait for another line.")
            .or("5s")
            .in_chain(InChain::Clause("timeout")),
        Setting::new(
            "max_lines",
            Takes::Whole { least: 1, most: JOIN_LINES_MAX as u64 },
            "Lines of an event at most.",
        )
        .or("500"),
        Setting::new(
            "max_bytes",
            Takes::Whole { least: 1, most: JOIN_BYTES_MAX as u64 },
            "Bytes of an event at most; a single line may be longer.",
        )
        .or("10485760"),
        MAX_KEYS,
    ],
    ports: &[],
    fallbacks: &[],
    build,
}];

/// What a line that matches does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Previous,
    Next,
    Start,
    End,
}

#[derive(Debug)]
struct Join {
    pattern: Grok,
    mode: Mode,
    key: Group,
    from: Option<Place>,
    message: Place,
    timeout_ns: u64,
    lines_max: usize,
    bytes_max: usize,
    keys_max: usize,
}

/// The lines of an event so far.
#[derive(Debug)]
struct Lines {
    first: Kept,
    text: String,
    count: usize,
    /// Claims on the batches of the other lines.
    holds: Vec<Hold>,
}

#[derive(Debug, Default)]
struct State {
    open: Recency<Option<Box<Lines>>>,
    captures: Captures,
    bytes: usize,
    evicted: u64,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let pattern = Grok::compile(settings.text("pattern"), &Library::legacy(), &Options::default())
        .map_err(|error| settings.error("pattern", error.to_string()))?;
    let mode = match settings.optional_text("mode") {
        Some("next") => Mode::Next,
        Some("start") => Mode::Start,
        Some("end") => Mode::End,
        _ => Mode::Previous,
    };
    Ok(Box::new(Join {
        pattern,
        mode,
        key: Group(settings.formula("by")),
        from: Place::of(settings, "from")?,
        message: Place::parse("event.message").expect("a good place"),
        timeout_ns: settings.nanoseconds("timeout"),
        lines_max: settings.size("max_lines"),
        bytes_max: settings.size("max_bytes"),
        keys_max: settings.size("max_keys"),
    }))
}

impl Join {
    /// Where the line stands in an event; `None` for the event itself.
    fn place(&self, event: &Event<'_>) -> Option<&Place> {
        match &self.from {
            Some(place) => Some(place),
            None if event.value.kind() == Kind::Record => Some(&self.message),
            None => None,
        }
    }

    fn line<'a>(&self, event: &Event<'a>) -> Result<&'a str, EvalError> {
        let value = match self.place(event) {
            Some(place) => place.get(event),
            None => Some(event.value),
        };
        value.and_then(Value::as_str).ok_or_else(not_a_line)
    }

    fn let_go<'a>(
        &'a self,
        state: &mut State,
        lines: Lines,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        state.bytes -= lines.first.bytes() + lines.text.len();
        let arena = around.arena();
        let mut event = lines.first.event(arena);
        if lines.count > 1 {
            let text = Value::Str(arena.str(&lines.text));
            event = match self.place(&event) {
                Some(place) => place.put(arena, event, text)?,
                None => event.with_value(text),
            };
        }
        out.emit(OUT, event);
        lines.first.release(out);
        lines.holds.into_iter().for_each(|hold| out.release(hold));
        Ok(())
    }

    fn end<'a>(
        &'a self,
        state: &mut State,
        hash: u128,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        match state.open.remove(hash).and_then(|seen| seen.value) {
            Some(lines) => self.let_go(state, *lines, around, out),
            None => Ok(()),
        }
    }

    /// Adds a line to the open event of its stream, or begins one with it.
    fn add<'a>(
        &'a self,
        state: &mut State,
        hash: u128,
        (event, line): (&Event<'a>, &str),
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if let Some(Some(lines)) = state.open.touch(hash, around.now_ns) {
            lines.text.push('\n');
            lines.text.push_str(line);
            lines.count += 1;
            lines.holds.push(around.hold());
            state.bytes += line.len() + 1;
            return Ok(());
        }
        if memory::is_full(state.open.len(), self.keys_max)
            && let Some(oldest) = state.open.pop_oldest()
            && let Some(lines) = oldest.value
        {
            state.evicted += 1;
            self.let_go(state, *lines, around, out)?;
        }
        let first = Kept::new(event, around);
        let lines = Lines { first, text: line.to_string(), count: 1, holds: Vec::new() };
        state.bytes += lines.first.bytes() + line.len();
        state.open.insert(hash, around.now_ns, Some(Box::new(lines)));
        Ok(())
    }

    fn is_full(&self, state: &mut State, hash: u128) -> bool {
        let Some(Some(lines)) = state.open.get_mut(hash) else { return false };
        lines.count >= self.lines_max || lines.text.len() >= self.bytes_max
    }
}

impl Operator for Join {
    type State = State;

    fn start(&self) -> State {
        State::default()
    }

    fn process<'a>(
        &'a self,
        state: &mut State,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let hash = self.key.hash(&event, around)?;
        let line = self.line(&event)?;
        let matches = self.pattern.matches(line, &mut state.captures);
        let (starts, ends) = match self.mode {
            Mode::Previous => (!matches, false),
            Mode::Start => (matches, false),
            Mode::Next => (false, !matches),
            Mode::End => (false, matches),
        };
        if starts {
            self.end(state, hash, around, out)?;
        }
        self.add(state, hash, (&event, line), around, out)?;
        if ends || self.is_full(state, hash) {
            self.end(state, hash, around, out)?;
        }
        Ok(())
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn tick<'a>(
        &'a self,
        state: &mut State,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let Some(horizon) = around.now_ns.checked_sub(self.timeout_ns) else { return Ok(()) };
        while let Some(seen) = state.open.pop_until(horizon) {
            if let Some(lines) = seen.value {
                self.let_go(state, *lines, around, out)?;
            }
        }
        Ok(())
    }

    fn flush<'a>(
        &'a self,
        state: &mut State,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        while let Some(seen) = state.open.pop_oldest() {
            if let Some(lines) = seen.value {
                self.let_go(state, *lines, around, out)?;
            }
        }
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let mut open = arena.array_builder(state.open.len());
        for (hash, at_ns, lines) in state.open.iter() {
            let Some(lines) = lines else { continue };
            let mut saved = arena.record_builder(5);
            saved.append("key", Value::Str(arena.format(format_args!("{hash:032x}"))));
            saved.append("at_ns", Value::UInt(at_ns));
            saved.append("count", Value::UInt(lines.count as u64));
            saved.append("text", Value::Str(arena.str(&lines.text)));
            saved.append("first", lines.first.save(arena));
            open.push(saved.finish());
        }
        open.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let arena = Arena::new();
        let saved = saved.copy_into(&arena);
        let damaged = || CallError::failed("the saved state of `join` is damaged");
        let mut state = State::default();
        for item in saved.as_array(&arena).ok_or_else(damaged)? {
            let part = |name| item.get(&Field::new(name)).unwrap_or(Value::Null);
            let hash = part("key").as_str().and_then(|key| u128::from_str_radix(key, 16).ok());
            let (at_ns, count) = (part("at_ns").as_u64(), part("count").as_usize());
            let text = part("text").as_str();
            let (Some(hash), Some(at_ns), Some(count), Some(text)) = (hash, at_ns, count, text)
            else {
                return Err(damaged());
            };
            let first = Kept::restore(part("first"))?;
            let lines = Lines { first, text: text.to_string(), count, holds: Vec::new() };
            state.bytes += lines.first.bytes() + lines.text.len();
            state.open.insert(hash, at_ns, Some(Box::new(lines)));
        }
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        Some(saved_rows::rows(self, state, arena))
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        saved_rows::amend(self, state, hash, columns)
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        saved_rows::forget(self, state, hash)
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let entries = state.open.len();
        let bytes = state.open.bytes() + state.bytes + entries * size_of::<Lines>();
        Some(Usage { entries: entries as u64, bytes: bytes as u64, evicted: state.evicted })
    }
}

#[cold]
fn not_a_line() -> EvalError {
    EvalError::new("E0608", "there is no text to join")
        .with_help("say with `from` which field the line is in: `join \"^\\s\" from event.line`")
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND, refusal};

    fn joined(mode: &str, lines: &[&str]) -> Vec<String> {
        let settings = [("pattern", r#""^ ""#), ("mode", mode)];
        let mut join = Harness::new("join", &settings);
        let mut all: Vec<String> =
            lines.iter().flat_map(|line| join.send(0, &format!("\"{line}\""))).collect();
        all.push("flush".to_string());
        all.extend(join.flush(0));
        all
    }

    #[test]
    fn a_line_that_matches_continues_the_line_before() {
        let all = joined("previous", &["a", " b", " c", "d", "e"]);
        assert_eq!(all, [r#"out "a\n b\n c""#, r#"out "d""#, "flush", r#"out "e""#]);
        assert_eq!(joined("previous", &[" b", " c"]), ["flush", r#"out " b\n c""#]);
    }

    #[test]
    fn a_line_that_matches_starts_ends_or_goes_on() {
        let lines = [" a", "b", " c", "d", "e"];
        assert_eq!(joined("start", &lines), [r#"out " a\nb""#, "flush", r#"out " c\nd\ne""#]);
        assert_eq!(
            joined("end", &lines),
            [r#"out " a""#, r#"out "b\n c""#, "flush", r#"out "d\ne""#]
        );
        assert_eq!(
            joined("next", &lines),
            [r#"out " a\nb""#, r#"out " c\nd""#, r#"out "e""#, "flush"]
        );
    }

    #[test]
    fn streams_do_not_mix() {
        let settings = [("pattern", r#""^ ""#), ("by", "event.s")];
        let mut join = Harness::new("join", &settings);
        let line = |stream: u8, text: &str| format!(r#"{{"s":{stream},"message":"{text}"}}"#);
        assert!(join.send(0, &line(1, "a")).is_empty());
        assert!(join.send(0, &line(2, "b")).is_empty());
        assert!(join.send(0, &line(1, " c")).is_empty());
        assert_eq!(join.usage().entries, 2);
        join.restart();
        assert_eq!(join.send(0, &line(1, "d")), [r#"out {"s":1,"message":"a\n c"}"#]);
        assert_eq!(join.flush(0).len(), 2);
        assert_eq!(join.usage().entries, 0);
        assert!(join.send(0, r#"{"s":1}"#)[0].contains("no text to join"));
        assert!(join.send(0, "7")[0].starts_with("err "));
    }

    #[test]
    fn no_line_waits_for_ever() {
        let settings = [("pattern", r#""^ ""#), ("timeout", "2s"), ("from", "$l")];
        let mut join = Harness::new("join", &settings);
        join.send_with(0, "1", r#"{"l":"a"}"#);
        join.send_with(SECOND, "2", r#"{"l":" b"}"#);
        assert!(join.tick(3 * SECOND - 1).is_empty());
        assert_eq!(join.tick(3 * SECOND), [r#"out 1 $ {"l":"a\n b"}"#]);
    }

    #[test]
    fn events_have_a_bound() {
        let mut lines = Harness::new("join", &[("pattern", r#""^ ""#), ("max_lines", "2")]);
        assert!(lines.send(0, r#""a""#).is_empty());
        assert_eq!(lines.send(0, r#"" b""#), [r#"out "a\n b""#]);
        assert!(lines.send(0, r#"" c""#).is_empty());
        let mut bytes = Harness::new("join", &[("pattern", r#""^ ""#), ("max_bytes", "4")]);
        assert_eq!(bytes.send(0, r#""long""#), [r#"out "long""#]);
        let settings = [("pattern", r#""^ ""#), ("max_keys", "1"), ("by", "event")];
        let mut keys = Harness::new("join", &settings);
        assert!(keys.send(0, r#""a""#).is_empty());
        assert_eq!(keys.send(0, r#""b""#), [r#"out "a""#]);
        assert_eq!(keys.usage().evicted, 1);
    }

    #[test]
    fn grok_patterns_have_names() {
        let settings = [("pattern", r#""^%{YEAR}-""#), ("mode", "start")];
        let mut join = Harness::new("join", &settings);
        join.send(0, r#""2024-01 a""#);
        join.send(0, r#""b""#);
        assert_eq!(join.send(0, r#""2024-02 c""#), [r#"out "2024-01 a\nb""#]);
        assert!(refusal("join", &[("pattern", r#""(""#)]).len() > 5);
    }
}
