//! `grouper::bucket`: a rate limit whose settings come with each event, in its metadata. The time
//! range slides in steps: it is cut into windows, and the oldest is forgotten as a whole.

use super::OperatorKind;
use crate::event::Event;
use crate::operator::{ERR, Emitter, OUT, OVERFLOW, Operator, Surroundings, Usage};
use crate::row::{self, Row};
use crate::store::{Reader, Recency, Writer};
use std::collections::VecDeque;
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::value::{Arena, Key, Value, hash128};
use temblor_runtime::limits::{BUCKET_WINDOWS_MAX, CLASSES_MAX};

/// Dimensions that a class remembers unless `$cardinality` says otherwise.
const CARDINALITY_DEFAULT: u64 = 1000;

/// Milliseconds of the time range unless `$time_range` says otherwise.
const TIME_RANGE_DEFAULT_MS: u64 = 1000;

/// Parts of the time range unless `$windows` says otherwise.
const WINDOWS_DEFAULT: u64 = 100;

const NS_PER_MS: u64 = 1_000_000;

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "grouper::bucket",
    word: Some("bucket"),
    doc: "Limits the rate of events by what their metadata says: `$class`, a text; `$rate`, how many \
          events pass in the time range; `$dimensions`, any value by which a class is divided; \
          `$cardinality` (1000), how many dimensions of a class are remembered; `$time_range` (1000), \
          in milliseconds; `$windows` (100), the parts of the time range. Events over the rate go to \
          `overflow`; events without class, or without rate when their dimension is first seen, go \
          to `err` as they are. What is set counts from when a class or dimension is first seen.",
    examples: &["in |> set $class = \"all\", $rate = 100 |> bucket |> out"],
    settings: &[],
    ports: &[OVERFLOW],
    fallbacks: &[],
    build: |_, _| Ok(Box::new(Bucket)),
}];

#[derive(Debug)]
struct Bucket;

/// The limit of one dimension of one class.
#[derive(Debug, Default)]
struct Limit {
    rate: u64,
    window_ns: u64,
    windows: u64,
    /// Number of the window and events in it, the oldest first.
    counts: VecDeque<(u64, u64)>,
    sum: u64,
}

#[derive(Debug, Default)]
struct Class {
    cardinality: usize,
    limits: Recency<Option<Box<Limit>>>,
}

#[derive(Debug, Default)]
struct State {
    classes: Recency<Option<Box<Class>>>,
    evicted: u64,
}

impl Limit {
    /// Counts an event if it is within the rate.
    fn passes(&mut self, now_ns: u64) -> bool {
        let now = now_ns / self.window_ns;
        while let Some((window, count)) = self.counts.front().copied()
            && now.saturating_sub(window) >= self.windows
        {
            self.sum -= count;
            self.counts.pop_front();
        }
        if self.sum >= self.rate {
            return false;
        }
        self.sum += 1;
        match self.counts.back_mut() {
            Some((window, count)) if *window >= now => *count += 1,
            _ => self.counts.push_back((now, 1)),
        }
        true
    }
}

fn field<'a>(event: &Event<'a>, name: &str) -> Option<Value<'a>> {
    event.meta.get(&Key::new(name))
}

fn number(event: &Event<'_>, name: &str, otherwise: u64) -> u64 {
    field(event, name).and_then(Value::as_u64).unwrap_or(otherwise)
}

/// The limit of a dimension that is first seen.
fn limit(event: &Event<'_>) -> Option<Limit> {
    let rate = field(event, "rate").and_then(Value::as_u64)?;
    let windows = number(event, "windows", WINDOWS_DEFAULT).clamp(1, BUCKET_WINDOWS_MAX);
    let range_ns = number(event, "time_range", TIME_RANGE_DEFAULT_MS).saturating_mul(NS_PER_MS);
    Some(Limit { rate, window_ns: (range_ns / windows).max(1), windows, ..Limit::default() })
}

/// The hash of a dimension of a class.
fn both(class: u128, dimensions: u128) -> u128 {
    class.rotate_left(1) ^ dimensions
}

impl State {
    /// All limits: the hashes of class and dimensions, one of both, and the limit.
    fn limits(&self) -> impl Iterator<Item = (u128, u128, u128, &Limit)> {
        let classes =
            self.classes.iter().filter_map(|(hash, _, class)| Some((hash, class.as_ref()?)));
        classes.flat_map(|(class, of_class)| {
            let limits = of_class.limits.iter();
            limits.filter_map(move |(dimensions, _, limit)| {
                Some((class, dimensions, both(class, dimensions), &**limit.as_ref()?))
            })
        })
    }

    fn class(&mut self, hash: u128, event: &Event<'_>, now_ns: u64) -> Option<&mut Class> {
        if self.classes.touch(hash, now_ns).is_none() {
            if self.classes.len() >= CLASSES_MAX {
                self.classes.pop_oldest();
                self.evicted += 1;
            }
            let cardinality = number(event, "cardinality", CARDINALITY_DEFAULT).max(1);
            let cardinality = usize::try_from(cardinality).unwrap_or(usize::MAX);
            let class = Class { cardinality, limits: Recency::default() };
            self.classes.insert(hash, now_ns, Some(Box::new(class)));
        }
        self.classes.get_mut(hash)?.as_deref_mut()
    }
}

impl Operator for Bucket {
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
        let Some(class @ Value::Str(_)) = field(&event, "class") else {
            out.emit(ERR, event);
            return Ok(());
        };
        let now_ns = event.ingest_ns.max(around.now_ns);
        let dimensions = hash128(field(&event, "dimensions").unwrap_or(Value::Null));
        let mut evicted = 0;
        let class = state.class(hash128(class), &event, now_ns).expect("the class was added");
        if class.limits.touch(dimensions, now_ns).is_none() {
            let Some(limit) = limit(&event) else {
                out.emit(ERR, event);
                return Ok(());
            };
            if class.limits.len() >= class.cardinality {
                class.limits.pop_oldest();
                evicted = 1;
            }
            class.limits.insert(dimensions, now_ns, Some(Box::new(limit)));
        }
        let limit = class.limits.get_mut(dimensions).and_then(Option::as_mut);
        let passes = limit.is_some_and(|limit| limit.passes(now_ns));
        state.evicted += evicted;
        out.emit(if passes { OUT } else { OVERFLOW }, event);
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let mut writer = Writer::default();
        writer.number(state.evicted);
        for (hash, at_ns, class) in state.classes.iter() {
            let Some(class) = class else { continue };
            writer.hash(hash).number(at_ns).number(class.cardinality as u64);
            writer.number(class.limits.len() as u64);
            for (hash, at_ns, limit) in class.limits.iter() {
                let Some(limit) = limit else { continue };
                writer.hash(hash).number(at_ns).number(limit.rate).number(limit.window_ns);
                writer.number(limit.windows).number(limit.counts.len() as u64);
                limit.counts.iter().for_each(|(window, count)| {
                    writer.number(*window).number(*count);
                });
            }
        }
        let mut saved = arena.record_builder(1);
        saved.append("classes", writer.finish(arena));
        saved.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let mut reader = Reader::new(saved.get(&Key::new("classes")))?;
        let mut state = State { evicted: reader.number()?, ..State::default() };
        while !reader.is_at_end() {
            let (hash, at_ns) = (reader.hash()?, reader.number()?);
            let mut class = Class { cardinality: reader.small()?, ..Class::default() };
            for _ in 0..reader.number()? {
                let (hash, at_ns) = (reader.hash()?, reader.number()?);
                class.limits.insert(hash, at_ns, Some(Box::new(read_limit(&mut reader)?)));
            }
            state.classes.insert(hash, at_ns, Some(Box::new(class)));
        }
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let limits = state.limits().map(|(_, _, hash, limit)| {
            let windows = limit
                .counts
                .iter()
                .map(|(window, count)| arena.array([Value::UInt(*window), Value::UInt(*count)]));
            let columns = [
                ("rate", Value::UInt(limit.rate)),
                ("window_ns", Value::UInt(limit.window_ns)),
                ("windows", Value::UInt(limit.windows)),
                ("counts", arena.array(windows)),
            ];
            Row::new(hash, &columns, arena)
        });
        Some(limits.collect())
    }

    fn key<'a>(&self, event: &Event<'a>, arena: &'a Arena) -> Option<(u128, Value<'a>)> {
        let class = field(event, "class")?;
        let dimensions = field(event, "dimensions").unwrap_or(Value::Null);
        let hash = both(hash128(class), hash128(dimensions));
        Some((hash, arena.array([class, dimensions])))
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        let found = state.limits().find(|(.., known, _)| *known == hash);
        let unknown = || CallError::failed("only a class and dimension that was seen has a limit");
        let (class, dimensions, ..) = found.ok_or_else(unknown)?;
        let limit = limit_of_columns(columns)?;
        let limits = state.classes.get_mut(class).and_then(Option::as_mut);
        if let Some(known) = limits.and_then(|class| class.limits.get_mut(dimensions)) {
            *known = Some(Box::new(limit));
        }
        Ok(())
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        let found = state.limits().find(|(.., known, _)| *known == hash);
        let Some((class, dimensions, ..)) = found else { return false };
        let class = state.classes.get_mut(class).and_then(Option::as_mut);
        class.is_some_and(|class| class.limits.remove(dimensions).is_some())
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let mut usage = Usage { evicted: state.evicted, ..Usage::default() };
        usage.bytes = state.classes.bytes() as u64;
        for class in state.classes.iter().filter_map(|(_, _, class)| class.as_ref()) {
            usage.entries += class.limits.len() as u64;
            let limits = class.limits.len() * size_of::<Limit>();
            usage.bytes += (class.limits.bytes() + limits + size_of::<Class>()) as u64;
        }
        Some(usage)
    }
}

/// What the row of a limit says.
fn limit_of_columns(columns: Value<'_>) -> Result<Limit, CallError> {
    let number = |name| row::whole(columns, name);
    let (rate, window_ns, windows) = (number("rate")?, number("window_ns")?, number("windows")?);
    let mut limit = Limit { rate, window_ns: window_ns.max(1), windows, ..Limit::default() };
    let counts = columns.get(&Key::new("counts")).unwrap_or(Value::Null);
    for at in 0..counts.size().unwrap_or(0) {
        let pair = counts.at(at).unwrap_or(Value::Null);
        let number = |place: usize| pair.at(place).and_then(Value::as_u64);
        let (Some(window), Some(count)) = (number(0), number(1)) else {
            return Err(CallError::failed("`counts` has to be pairs of a window and its events"));
        };
        limit.sum = limit.sum.saturating_add(count);
        limit.counts.push_back((window, count));
    }
    Ok(limit)
}

fn read_limit(reader: &mut Reader<'_>) -> Result<Limit, CallError> {
    let (rate, window_ns, windows) = (reader.number()?, reader.number()?.max(1), reader.number()?);
    let mut limit = Limit { rate, window_ns, windows, ..Limit::default() };
    for _ in 0..reader.number()? {
        let (window, count) = (reader.number()?, reader.number()?);
        limit.sum = limit.sum.saturating_add(count);
        limit.counts.push_back((window, count));
    }
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::Harness;

    const MS: u64 = super::NS_PER_MS;

    fn ports(bucket: &mut Harness, now_ns: u64, meta: &str, count: usize) -> String {
        (0..count).map(|_| bucket.send_with(now_ns, "1", meta)[0][..2].to_string()).collect()
    }

    #[test]
    fn lets_the_rate_through_and_no_more() {
        let mut bucket = Harness::new("grouper::bucket", &[]);
        let meta = r#"{"class":"a","rate":2}"#;
        assert_eq!(ports(&mut bucket, 0, meta, 3), "ououov");
        assert_eq!(ports(&mut bucket, 999 * MS, meta, 1), "ov");
        bucket.restart();
        assert_eq!(ports(&mut bucket, 999 * MS, meta, 1), "ov");
        assert_eq!(ports(&mut bucket, 1000 * MS, meta, 3), "ououov");
        let out = bucket.send_with(0, r#"{"x":1}"#, r#"{"class":"b","rate":1}"#);
        assert_eq!(out, [r#"out {"x":1} $ {"class":"b","rate":1}"#]);
    }

    #[test]
    fn dimensions_have_limits_of_their_own_and_few_are_kept() {
        let mut bucket = Harness::new("grouper::bucket", &[]);
        let meta = |dimension: u8| {
            format!(r#"{{"class":"a","rate":1,"cardinality":2,"dimensions":[{dimension}]}}"#)
        };
        assert_eq!(ports(&mut bucket, 0, &meta(1), 2), "ouov");
        assert_eq!(ports(&mut bucket, 0, &meta(2), 2), "ouov");
        assert_eq!(ports(&mut bucket, 0, &meta(3), 2), "ouov");
        assert_eq!(ports(&mut bucket, 0, &meta(1), 1), "ou");
        assert_eq!((bucket.usage().entries, bucket.usage().evicted), (2, 2));
    }

    #[test]
    fn settings_stay_as_first_seen() {
        let mut bucket = Harness::new("grouper::bucket", &[]);
        assert_eq!(ports(&mut bucket, 0, r#"{"class":"a","rate":1}"#, 1), "ou");
        assert_eq!(ports(&mut bucket, 0, r#"{"class":"a","rate":100}"#, 1), "ov");
        assert_eq!(ports(&mut bucket, 0, r#"{"class":"a"}"#, 1), "ov");
        let odd = r#"{"class":"z","rate":1,"time_range":0,"windows":0}"#;
        assert_eq!(ports(&mut bucket, u64::MAX, odd, 2), "ouov");
    }

    #[test]
    fn events_that_do_not_say_enough_go_to_err() {
        let mut bucket = Harness::new("grouper::bucket", &[]);
        assert!(bucket.send(0, "1")[0].starts_with("err 1"));
        for meta in [r#"{"class":1,"rate":1}"#, r#"{"class":"a"}"#, r#"{"class":"a","rate":-1}"#] {
            assert!(bucket.send_with(0, "1", meta)[0].starts_with("err 1"), "{meta}");
        }
    }
}
