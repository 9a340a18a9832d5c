//! `sample`: keeps some events for many. Every event that is kept says in its metadata for how many
//! it stands (`$sampled`), so that sums over a sample can be scaled; the rest goes to `else`.

use super::key::Group;
use super::{MAX_KEYS, OperatorKind, Supplies};
use crate::event::Event;
use crate::operator::{AnyOperator, ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::operators::place::Place;
use crate::row::{self, Row};
use crate::store::{Reader, Recency, Writer};
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::builtin::CallError;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::error::EvalError;
use temblor_lang::random::scatter;
use temblor_lang::value::{Arena, Key as Field, Value};
use temblor_runtime::memory;

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "stream::sample",
    word: Some("sample"),
    doc: "Keeps a part of the events and sends the others to `else`. The number is either how many \
          events one stands for (`sample 10` keeps a tenth) or, below 1, the part that stays \
          (`sample 0.1`). Mode `key` (default when `by` is given) decides by the hash of the key: \
          events with the same key all stay or all go, also between runs and machines. Mode \
          `count` (default otherwise) keeps the first of each N events, of each key if `by` is \
          given. Mode `random` draws by chance, reproducibly with a seed. Modes `log` and `sqrt` \
          adapt to each key: one of N stays, where N is the natural logarithm or the square root of \
          the number of events that the key had in the period before (`per`, 30s), at most the \
          given number; keys with fewer than `minimum` events keep all. What is kept carries its \
          weight N in `$sampled`, or where `as` says.",
    examples: &[
        "in |> sample 10 |> out",
        "in |> sample 0.01 by event.trace else rest |> out",
        "in |> sample 100 by event.host mode sqrt per 1min as event.weight |> out",
    ],
    settings: &[
        Setting::new(
            "rate",
            Takes::Number,
            "For how many events one stands (1 or more), or the part that stays (below 1).",
        )
        .in_chain(InChain::Positional)
        .required(),
        Setting::new("by", Takes::Formula, "The key.").in_chain(InChain::Clause("by")),
        Setting::new(
            "mode",
            Takes::Word(&["count", "key", "random", "log", "sqrt"]),
            "How to choose: `count`, `key`, `random`, `log`, `sqrt`.",
        )
        .in_chain(InChain::Clause("mode")),
        Setting::new("per", Takes::Duration, "The period of the modes `log` and `sqrt`.")
            .or("30s")
            .in_chain(InChain::Clause("per")),
        Setting::new(
            "minimum",
            Takes::Whole { least: 0, most: u64::MAX },
            "Events of a key in a period up to which `log` and `sqrt` keep all.",
        )
        .or("30"),
        Setting::new("as", Takes::Place, "Where the weight is put (`$sampled`).")
            .in_chain(InChain::Clause("as")),
        MAX_KEYS,
    ],
    ports: &[ELSE],
    fallbacks: &[],
    build,
}];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Count,
    Key,
    Random,
    Log,
    Sqrt,
}

#[derive(Debug)]
struct Sample {
    key: Group,
    mode: Mode,
    /// For how many events one stands, at least 1.
    weight: f64,
    per_ns: u64,
    minimum: u64,
    weight_to: Place,
    keys_max: usize,
}

/// What is known of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    /// For how many events the next one that is kept stands.
    weight: f64,
    /// How much of that weight has been gathered: an event is kept when it reaches 0.
    owed: f64,
    /// Events in the running period.
    count: u64,
    /// When the running period began.
    period_ns: u64,
}

#[derive(Debug, Default)]
struct State {
    tallies: Recency<Tally>,
    evicted: u64,
    /// Draws so far, for mode `random`.
    draws: u64,
}

fn build(settings: &Settings, _: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let rate = settings.number("rate");
    let weight = if rate < 1.0 { 1.0 / rate } else { rate };
    if !(rate > 0.0 && weight.is_finite()) {
        return Err(settings
            .error("rate", "the rate must be above 0")
            .with_help("`sample 10` keeps one of ten events, `sample 0.1` does too"));
    }
    let has_key = settings.formula("by").is_some();
    let mode = match settings.optional_text("mode") {
        Some("count") => Mode::Count,
        Some("key") => Mode::Key,
        Some("random") => Mode::Random,
        Some("log") => Mode::Log,
        Some("sqrt") => Mode::Sqrt,
        _ if has_key => Mode::Key,
        _ => Mode::Count,
    };
    if mode == Mode::Key && !has_key {
        return Err(settings.error("mode", "mode `key` needs a key: `by event.id`"));
    }
    let per_ns = settings.nanoseconds("per");
    if per_ns == 0 {
        return Err(settings.error("per", "`per` must be longer than 0"));
    }
    let sampled = || Place::parse("$sampled").expect("a good place");
    Ok(Box::new(Sample {
        key: Group(settings.formula("by")),
        mode,
        weight,
        per_ns,
        minimum: settings.whole("minimum"),
        weight_to: Place::of(settings, "as")?.unwrap_or_else(sampled),
        keys_max: settings.size("max_keys"),
    }))
}

/// A number from 0 up to 1 out of a hash.
fn part(hash: u128) -> f64 {
    /// A float holds 53 bits.
    const BITS: u32 = 53;
    ((hash >> (128 - BITS)) as f64) / ((1u64 << BITS) as f64)
}

impl Sample {
    /// The weight of the event if it is kept.
    fn choose(&self, state: &mut State, hash: u128, around: &Surroundings<'_>) -> Option<f64> {
        match self.mode {
            Mode::Key => (part(hash) * self.weight < 1.0).then_some(self.weight),
            Mode::Random => {
                state.draws = state.draws.wrapping_add(1);
                let drawn = scatter(around.call.facts.seed, state.draws);
                let part = part(u128::from(drawn) << 64);
                (part * self.weight < 1.0).then_some(self.weight)
            }
            Mode::Count | Mode::Log | Mode::Sqrt => self.count(state, hash, around.now_ns),
        }
    }

    fn count(&self, state: &mut State, hash: u128, now_ns: u64) -> Option<f64> {
        if state.tallies.touch(hash, now_ns).is_none() {
            if memory::is_full(state.tallies.len(), self.keys_max) {
                state.tallies.pop_oldest();
                state.evicted += 1;
            }
            let weight = if self.mode == Mode::Count { self.weight } else { 1.0 };
            let period_ns = now_ns - now_ns % self.per_ns;
            state.tallies.insert(hash, now_ns, Tally { weight, owed: 0.0, count: 0, period_ns });
        }
        let tally = state.tallies.get_mut(hash)?;
        if self.mode != Mode::Count {
            self.turn(tally, now_ns);
        }
        tally.count += 1;
        if tally.owed < 1.0 {
            // What is left over of a fraction goes to the next: 1 of 2.5 is 2 of 5.
            tally.owed += tally.weight - 1.0;
            return Some(tally.weight);
        }
        tally.owed -= 1.0;
        None
    }

    /// Begins a new period when it is time, with a weight after the count of the one before.
    fn turn(&self, tally: &mut Tally, now_ns: u64) {
        let periods = now_ns.saturating_sub(tally.period_ns) / self.per_ns;
        if periods == 0 {
            return;
        }
        let count = if periods == 1 { tally.count } else { 0 };
        let wanted = match self.mode {
            _ if count < self.minimum.max(1) => 1.0,
            Mode::Log => (count as f64).ln(),
            _ => (count as f64).sqrt(),
        };
        tally.weight = wanted.floor().clamp(1.0, self.weight);
        tally.owed = 0.0;
        tally.count = 0;
        tally.period_ns += periods * self.per_ns;
    }
}

/// A whole weight is an integer.
fn number<'a>(weight: f64) -> Value<'a> {
    if weight.fract() == 0.0 && weight < u64::MAX as f64 {
        Value::UInt(weight as u64)
    } else {
        Value::Float(weight)
    }
}

impl Operator for Sample {
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
        match self.choose(state, hash, around) {
            Some(weight) => {
                let event = self.weight_to.put(around.arena(), event, number(weight))?;
                out.emit(OUT, event);
            }
            None => out.emit(ELSE, event),
        }
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let mut writer = Writer::default();
        state.tallies.iter().for_each(|(hash, at_ns, tally)| {
            writer.hash(hash).number(at_ns).number(tally.weight.to_bits());
            writer.number(tally.owed.to_bits()).number(tally.count).number(tally.period_ns);
        });
        let mut saved = arena.record_builder(3);
        saved.append("keys", writer.finish(arena));
        saved.append("draws", Value::UInt(state.draws));
        saved.append("evicted", Value::UInt(state.evicted));
        saved.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let mut state = State::default();
        let mut reader = Reader::new(saved.get(&Field::new("keys")))?;
        while !reader.is_at_end() {
            let (hash, at_ns) = (reader.hash()?, reader.number()?);
            let (weight, owed) = (reader.number()?, reader.number()?);
            let (weight, owed) = (f64::from_bits(weight), f64::from_bits(owed));
            let (count, period_ns) = (reader.number()?, reader.number()?);
            state.tallies.insert(hash, at_ns, Tally { weight, owed, count, period_ns });
        }
        let number = |name| saved.get(&Field::new(name)).and_then(Value::as_u64).unwrap_or(0);
        state.draws = number("draws");
        state.evicted = number("evicted");
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let row = |(hash, at_ns, tally): (u128, u64, &Tally)| {
            let columns = [
                ("at_ns", Value::UInt(at_ns)),
                ("weight", number(tally.weight)),
                ("owed", number(tally.owed)),
                ("count", Value::UInt(tally.count)),
                ("period_ns", Value::UInt(tally.period_ns)),
            ];
            Row::new(hash, &columns, arena)
        };
        Some(state.tallies.iter().map(row).collect())
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        let tally = Tally {
            weight: row::number(columns, "weight")?,
            owed: row::number(columns, "owed")?,
            count: row::whole(columns, "count")?,
            period_ns: row::whole(columns, "period_ns")?,
        };
        state.tallies.place(hash, row::whole(columns, "at_ns")?, tally);
        Ok(())
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        state.tallies.remove(hash).is_some()
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let (entries, bytes) = (state.tallies.len() as u64, state.tallies.bytes() as u64);
        Some(Usage { entries, bytes, evicted: state.evicted })
    }
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND, refusal};

    fn kept(sample: &mut Harness, events: impl Iterator<Item = u64>, now_ns: u64) -> Vec<u64> {
        let kept = |event: &u64| sample.send(now_ns, &event.to_string())[0].starts_with("out ");
        events.filter(kept).collect()
    }

    #[test]
    fn keeps_one_of_n_and_says_so() {
        let mut sample = Harness::new("sample", &[("rate", "3")]);
        assert_eq!(sample.send(0, "1"), [r#"out 1 $ {"sampled":3}"#]);
        assert_eq!(sample.send(0, "2"), ["else 2"]);
        assert_eq!(kept(&mut sample, 3..=9, 0), [4, 7]);
        sample.restart();
        assert_eq!(kept(&mut sample, 10..=13, 0), [10, 13]);
    }

    #[test]
    fn a_fraction_keeps_that_part() {
        let mut sample = Harness::new("sample", &[("rate", "0.4"), ("as", "event.w")]);
        assert_eq!(sample.send(0, r#"{"a":1}"#), [r#"out {"a":1,"w":2.5}"#]);
        let mut sample = Harness::new("sample", &[("rate", "0.4")]);
        assert_eq!(kept(&mut sample, 0..1000, 0).len(), 400);
        let mut all = Harness::new("sample", &[("rate", "1")]);
        assert_eq!(kept(&mut all, 0..10, 0).len(), 10);
    }

    #[test]
    fn a_key_stays_or_goes_for_good() {
        let mut sample = Harness::new("sample", &[("rate", "10"), ("by", "event")]);
        let first = kept(&mut sample, 0..10_000, 0);
        assert!((900..1100).contains(&first.len()), "{}", first.len());
        assert_eq!(kept(&mut sample, 0..10_000, SECOND), first);
        assert_eq!(sample.usage().entries, 0);
    }

    #[test]
    fn chance_is_reproducible() {
        let settings = [("rate", "4"), ("mode", "random")];
        let mut sample = Harness::new("sample", &settings);
        let first = kept(&mut sample, 0..4000, 0);
        assert!((900..1100).contains(&first.len()), "{}", first.len());
        assert_eq!(kept(&mut Harness::new("sample", &settings), 0..4000, 7), first);
    }

    #[test]
    fn adapts_to_the_period_before() {
        let settings = [("rate", "10"), ("mode", "sqrt"), ("by", "1"), ("per", "1s")];
        let mut sample = Harness::new("sample", &settings);
        assert_eq!(kept(&mut sample, 0..64, 0).len(), 64);
        assert_eq!(kept(&mut sample, 0..800, SECOND).len(), 100);
        // The root of 800 is more than the given number: 1 of 10.
        assert_eq!(kept(&mut sample, 0..29, 2 * SECOND).len(), 3);
        // 29 events are fewer than the minimum.
        assert_eq!(kept(&mut sample, 0..64, 3 * SECOND).len(), 64);
        // A period without events in between starts anew.
        assert_eq!(kept(&mut sample, 0..64, 5 * SECOND).len(), 64);
        let settings = [("rate", "100"), ("mode", "log"), ("by", "1"), ("per", "1s")];
        let mut log = Harness::new("sample", &settings);
        assert_eq!(kept(&mut log, 0..1000, 0).len(), 1000);
        assert_eq!(log.send(SECOND, "1"), [r#"out 1 $ {"sampled":6}"#]);
    }

    #[test]
    fn memory_has_a_bound() {
        let settings = [("rate", "2"), ("mode", "count"), ("by", "event"), ("max_keys", "10")];
        let mut sample = Harness::new("sample", &settings);
        kept(&mut sample, 0..25, 0);
        assert_eq!((sample.usage().entries, sample.usage().evicted), (10, 15));
    }

    #[test]
    fn wrong_settings_are_refused() {
        for rate in ["0", "-1", "0.0"] {
            assert!(refusal("sample", &[("rate", rate)]).contains("above 0"));
        }
        assert!(refusal("sample", &[("rate", "2"), ("mode", "key")]).contains("needs a key"));
        assert!(refusal("sample", &[("rate", "2"), ("per", "0")]).contains("longer than 0"));
        assert!(refusal("sample", &[("rate", "2"), ("as", "a[1]")]).contains("not a place"));
    }
}
