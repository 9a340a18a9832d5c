//! `across`: removes the copies that redundant streams bring of the same events and keeps repeats
//! within a stream. For each hash it counts what each stream brought, and how many events were
//! emitted; an event is new if its stream is ahead of what was emitted. So the number of events that
//! go through is that of the stream with most of them, in any interleaving of any number of streams.

use super::{Key, Memory, Seed};
use crate::event::Event;
use crate::operator::{ELSE, Emitter, OUT, Operator, Surroundings, Usage};
use crate::operators::key::evaluate;
use crate::row::{self, Row};
use crate::store::{Reader, Table, Writer};
use std::sync::Arc;
use temblor_lang::builtin::CallError;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, Key as Field, Value, keyed_hash128};
use temblor_runtime::memory;

/// Rows are added in steps of this part of what there is, since memory is promised.
const GROWTH_DIVISOR: usize = 4;

/// Where a row has the number of emitted events; the streams follow.
const EMITTED: usize = 0;

#[derive(Debug)]
pub(super) struct Across {
    pub key: Key,
    pub stream: Arc<Formula>,
    pub memory: Memory,
    pub streams_max: usize,
}

/// Counts of one generation: a row of `stride` numbers for each hash.
#[derive(Debug, Default)]
struct Generation {
    rows: Table<u32>,
    counts: Vec<u32>,
    free: Vec<u32>,
    /// Where the removal of entries goes on.
    hand: usize,
}

/// Time is cut into generations of the length of `within`; the young one counts, of the old one
/// only what is owed is still used up. So what a stream owes expires, whatever it was owed for.
#[derive(Debug, Default)]
pub(super) struct State {
    seed: Seed,
    /// The column of each stream, from 1.
    streams: Table<u32>,
    young: Generation,
    old: Generation,
    /// When the young generation began.
    turned_ns: u64,
    evicted: u64,
}

impl Generation {
    fn row(&mut self, hash: u128, stride: usize) -> Option<&mut [u32]> {
        let row = *self.rows.get_mut(hash)? as usize;
        Some(&mut self.counts[row * stride..(row + 1) * stride])
    }

    fn add(&mut self, hash: u128, stride: usize) -> &mut [u32] {
        let row = self.free.pop().map_or(self.counts.len() / stride, |row| row as usize);
        let end = (row + 1) * stride;
        if end > self.counts.capacity() {
            let more = (self.counts.len() / GROWTH_DIVISOR).max(stride);
            self.counts.reserve_exact(more);
        }
        if end > self.counts.len() {
            self.counts.resize(end, 0);
        }
        self.rows.insert(hash, u32::try_from(row).expect("fewer keys than 2^32"));
        let counts = &mut self.counts[row * stride..end];
        counts.fill(0);
        counts
    }

    /// Makes room for another stream in each row.
    fn widen(&mut self, stride: usize) {
        let rows = self.counts.len() / stride;
        let mut counts = Vec::with_capacity(rows * (stride + 1));
        for row in self.counts.chunks_exact(stride) {
            counts.extend_from_slice(row);
            counts.push(0);
        }
        self.counts = counts;
    }

    /// Removes any one entry. Over the life of a generation the hand goes round once.
    fn remove_one(&mut self) {
        while !self.rows.is_empty() {
            match self.rows.at(self.hand) {
                Some((hash, row)) => {
                    self.rows.remove(hash);
                    self.free.push(row);
                    return;
                }
                None if self.hand >= self.rows.places() => self.hand = 0,
                None => self.hand += 1,
            }
        }
    }

    fn forget(&mut self, hash: u128) -> bool {
        let row = self.rows.remove(hash);
        self.free.extend(row);
        row.is_some()
    }

    /// A row as people read it: `{"emitted", "streams"}`; `null` if there is none.
    fn show<'a>(&self, hash: u128, stride: usize, arena: &'a Arena) -> Value<'a> {
        let Some(row) = self.rows.get(hash) else { return Value::Null };
        let start = row as usize * stride;
        let counts = &self.counts[start..start + stride];
        let count = |count: &u32| Value::UInt(u64::from(*count));
        let mut shown = arena.record_builder(2);
        shown.append("emitted", count(&counts[EMITTED]));
        shown.append("streams", arena.array(counts[EMITTED + 1..].iter().map(count)));
        shown.finish()
    }

    /// Takes over what [`Generation::show`] gave.
    fn take(&mut self, hash: u128, stride: usize, shown: Value<'_>) -> Result<(), CallError> {
        if shown == Value::Null {
            self.forget(hash);
            return Ok(());
        }
        let streams = shown.get(&Field::new("streams")).unwrap_or(Value::Null);
        let count = |number: u64| u32::try_from(number).ok();
        let emitted = count(row::whole(shown, "emitted")?);
        let brought =
            (0..stride - 1).map(|at| streams.at(at).and_then(Value::as_u64).and_then(count));
        let counts: Option<Vec<u32>> = std::iter::once(emitted).chain(brought).collect();
        let wrong = || {
            let streams = stride - 1;
            CallError::failed(format!("`streams` has to be {streams} counts, one for each stream"))
        };
        let counts = counts.filter(|_| streams.size() == Some(stride - 1)).ok_or_else(wrong)?;
        let row = match self.rows.get(hash) {
            Some(_) => self.row(hash, stride).expect("the row is there"),
            None => self.add(hash, stride),
        };
        row.copy_from_slice(&counts);
        Ok(())
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.counts.clear();
        self.free.clear();
        self.hand = 0;
    }

    fn bytes(&self) -> usize {
        self.rows.bytes() + (self.counts.capacity() + self.free.capacity()) * size_of::<u32>()
    }
}

impl State {
    fn stride(&self) -> usize {
        self.streams.len() + 1
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.young, &mut self.old);
        self.young.clear();
    }

    /// Lets what is older than `within` expire.
    fn advance(&mut self, now_ns: u64, within_ns: u64) {
        let age_ns = now_ns.saturating_sub(self.turned_ns);
        let Some(generations) = age_ns.checked_div(within_ns) else {
            self.young.clear();
            self.old.clear();
            return;
        };
        if generations > 0 {
            self.turn();
            self.turned_ns += generations * within_ns;
        }
        if generations > 1 {
            self.old.clear();
        }
    }

    fn make_room(&mut self, now_ns: u64) {
        if self.old.rows.is_empty() {
            self.turn();
            self.turned_ns = now_ns;
        }
        self.old.remove_one();
        self.evicted += 1;
    }

    /// The column of a stream, new if need be; `None` when there are too many.
    fn column(&mut self, stream: u128, streams_max: usize) -> Option<usize> {
        if let Some(column) = self.streams.get_mut(stream) {
            return Some(*column as usize);
        }
        if self.streams.len() >= streams_max {
            return None;
        }
        let stride = self.stride();
        self.young.widen(stride);
        self.old.widen(stride);
        self.streams.insert(stream, u32::try_from(stride).expect("fewer streams than 2^32"));
        Some(stride)
    }

    /// Whether the stream owes this event since the generation before.
    fn is_owed(&mut self, hash: u128, column: usize) -> bool {
        let stride = self.stride();
        let Some(row) = self.old.row(hash, stride) else { return false };
        let owed = row[column] < row[EMITTED];
        row[column] += u32::from(owed);
        owed
    }
}

/// Counts an event of a stream; says whether it is ahead of what was emitted.
fn count(row: &mut [u32], column: usize) -> bool {
    if row[column] == u32::MAX {
        // Only differences count. Who is behind by more than half the range is forgiven.
        row.iter_mut().for_each(|count| *count = count.saturating_sub(u32::MAX / 2));
    }
    row[column] += 1;
    let is_ahead = row[column] > row[EMITTED];
    if is_ahead {
        row[EMITTED] = row[column];
    }
    is_ahead
}

impl Across {
    fn is_new(&self, state: &mut State, hash: u128, column: usize, now_ns: u64) -> bool {
        if state.is_owed(hash, column) {
            return false;
        }
        let stride = state.stride();
        if let Some(row) = state.young.row(hash, stride) {
            return count(row, column);
        }
        let held = state.young.rows.len() + state.old.rows.len();
        if memory::is_full(held, self.memory.keys_max) {
            state.make_room(now_ns);
        }
        count(state.young.add(hash, stride), column)
    }
}

impl Operator for Across {
    type State = State;

    fn start(&self) -> State {
        State::default()
    }

    fn rehearse(&self) -> State {
        State { seed: Seed::NONE, ..State::default() }
    }

    fn process<'a>(
        &'a self,
        state: &mut State,
        _: &str,
        event: Event<'a>,
        around: &Surroundings<'a>,
        out: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        let hash = self.key.keyed_hash(&event, around, state.seed.0)?;
        let stream = keyed_hash128(evaluate(&self.stream, &event, around)?, state.seed.0);
        if let Some(within_ns) = self.memory.within_ns {
            state.advance(around.now_ns, within_ns);
        }
        let Some(column) = state.column(stream, self.streams_max) else {
            return Err(too_many(self.streams_max));
        };
        let is_new = self.is_new(state, hash, column, around.now_ns);
        out.emit(if is_new { OUT } else { ELSE }, event);
        Ok(())
    }

    fn wants_ticks(&self) -> bool {
        self.memory.within_ns.is_some()
    }

    fn tick<'a>(
        &'a self,
        state: &mut State,
        around: &Surroundings<'a>,
        _: &mut Emitter<'a>,
    ) -> Result<(), EvalError> {
        if let Some(within_ns) = self.memory.within_ns {
            state.advance(around.now_ns, within_ns);
        }
        Ok(())
    }

    fn save<'a>(&self, state: &State, arena: &'a Arena) -> Value<'a> {
        let mut writer = Writer::default();
        writer.number(state.turned_ns).number(state.evicted).number(state.streams.len() as u64);
        let mut streams: Vec<_> = state.streams.iter().collect();
        streams.sort_unstable_by_key(|(_, column)| *column);
        streams.iter().for_each(|(stream, _)| {
            writer.hash(*stream);
        });
        for generation in [&state.old, &state.young] {
            write_generation(generation, state.stride(), &mut writer);
        }
        let mut saved = arena.record_builder(2);
        saved.append(Seed::FIELD, state.seed.value());
        saved.append("counts", writer.finish(arena));
        saved.finish()
    }

    fn restore(&self, saved: Value<'_>) -> Result<State, CallError> {
        let mut reader = Reader::new(saved.get(&Field::new("counts")))?;
        let (turned_ns, evicted) = (reader.number()?, reader.number()?);
        let mut state =
            State { seed: Seed::restore(saved), turned_ns, evicted, ..State::default() };
        for column in 1..=reader.small::<u32>()? {
            state.streams.insert(reader.hash()?, column);
        }
        let stride = state.stride();
        read_generation(&mut state.old, stride, &mut reader)?;
        read_generation(&mut state.young, stride, &mut reader)?;
        Ok(state)
    }

    fn rows<'a>(&self, state: &State, arena: &'a Arena) -> Option<Vec<Row<'a>>> {
        let mut hashes: Vec<_> = state.old.rows.iter().map(|(hash, _)| hash).collect();
        let is_old = |hash: &u128| state.old.rows.get(*hash).is_some();
        hashes.extend(state.young.rows.iter().map(|(hash, _)| hash).filter(|one| !is_old(one)));
        let row = |hash: u128| {
            let counts = |generation: &Generation| generation.show(hash, state.stride(), arena);
            let columns = [("young", counts(&state.young)), ("old", counts(&state.old))];
            Row::new(hash, &columns, arena)
        };
        Some(hashes.into_iter().map(row).collect())
    }

    fn amend(&self, state: &mut State, hash: u128, columns: Value<'_>) -> Result<(), CallError> {
        let stride = state.stride();
        for (name, generation) in [("young", &mut state.young), ("old", &mut state.old)] {
            let counts = columns.get(&Field::new(name)).unwrap_or(Value::Null);
            generation.take(hash, stride, counts)?;
        }
        Ok(())
    }

    fn forget(&self, state: &mut State, hash: u128) -> bool {
        let generations = [&mut state.young, &mut state.old];
        generations.into_iter().map(|one| one.forget(hash)).fold(false, |known, one| known | one)
    }

    fn usage(&self, state: &State) -> Option<Usage> {
        let entries = (state.young.rows.len() + state.old.rows.len()) as u64;
        let bytes = state.young.bytes() + state.old.bytes() + state.streams.bytes();
        Some(Usage { entries, bytes: bytes as u64, evicted: state.evicted })
    }
}

fn write_generation(generation: &Generation, stride: usize, writer: &mut Writer) {
    writer.number(generation.rows.len() as u64);
    for (hash, row) in generation.rows.iter() {
        writer.hash(hash);
        let start = row as usize * stride;
        generation.counts[start..start + stride].iter().for_each(|count| {
            writer.number(u64::from(*count));
        });
    }
}

fn read_generation(
    generation: &mut Generation,
    stride: usize,
    reader: &mut Reader<'_>,
) -> Result<(), CallError> {
    for _ in 0..reader.number()? {
        let hash = reader.hash()?;
        for count in generation.add(hash, stride) {
            *count = reader.small()?;
        }
    }
    Ok(())
}

#[cold]
fn too_many(streams_max: usize) -> EvalError {
    EvalError::new("E0601", format!("there are more than {streams_max} streams"))
        .with_help("set `max_streams`, or check that `across` gives the stream, not the event")
}

#[cfg(test)]
mod tests {
    use crate::operators::harness::{Harness, SECOND};

    fn event(stream: usize, key: u64) -> String {
        format!(r#"{{"s":{stream},"k":{key}}}"#)
    }

    fn across(more: &[(&str, &str)]) -> Harness {
        let mut settings = vec![("by", "event.k"), ("across", "event.s")];
        settings.extend_from_slice(more);
        Harness::new("dedup", &settings)
    }

    fn passes(dedup: &mut Harness, now_ns: u64, stream: usize, key: u64) -> bool {
        dedup.send(now_ns, &event(stream, key))[0].starts_with("out ")
    }

    fn next(word: &mut u64) -> u64 {
        *word =
            word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *word >> 33
    }

    #[test]
    fn as_many_go_through_as_the_fullest_stream_has() {
        let mut word = 42;
        for run in 0..300usize {
            let streams = 2 + run % 4;
            let mut dedup = across(&[]);
            let mut brought = vec![[0u64; 3]; streams];
            let mut passed = [0u64; 3];
            for _ in 0..next(&mut word) % 60 {
                let stream = next(&mut word) as usize % streams;
                let key = next(&mut word) % 3;
                brought[stream][key as usize] += 1;
                passed[key as usize] += u64::from(passes(&mut dedup, 0, stream, key));
                // It holds after every event, not only at the end.
                let wanted = |key: usize| brought.iter().map(|counts| counts[key]).max();
                assert_eq!(Some(passed[key as usize]), wanted(key as usize), "run {run}");
                if next(&mut word).is_multiple_of(20) {
                    dedup.restart();
                }
            }
        }
    }

    #[test]
    fn three_streams_in_turn_give_each_event_once() {
        let mut dedup = across(&[]);
        let passed = (0..15).filter(|number| passes(&mut dedup, 0, number % 3, 9)).count();
        assert_eq!(passed, 5);
    }

    #[test]
    fn what_a_stream_owes_expires() {
        let mut dedup = across(&[("within", "10s")]);
        assert!(passes(&mut dedup, SECOND, 0, 1));
        // Stream 1 lost its copy. The next event that only stream 1 brings must not suffer from it.
        assert!(passes(&mut dedup, 22 * SECOND, 1, 1));
        // A copy within the time is recognised also when a generation ends between the two.
        assert!(!passes(&mut dedup, 31 * SECOND, 0, 1));
        assert!(passes(&mut dedup, 39 * SECOND, 0, 1));
        assert!(!passes(&mut dedup, 48 * SECOND, 1, 1));
    }

    #[test]
    fn a_copy_in_time_is_always_recognised() {
        let mut word = 3;
        let mut dedup = across(&[("within", "1000")]);
        let mut now_ns = 0;
        let mut due: Vec<(u64, u64)> = Vec::new();
        for key in 0..5000u64 {
            now_ns += next(&mut word) % 50;
            while let Some(at) = due.iter().position(|(time_ns, _)| *time_ns <= now_ns) {
                let (time_ns, key) = due.remove(at);
                assert!(!passes(&mut dedup, time_ns, 1, key), "a copy went through");
            }
            assert!(passes(&mut dedup, now_ns, 0, key), "an event was lost");
            due.push((now_ns + next(&mut word) % 1000, key));
            due.sort_unstable();
        }
        assert!(dedup.usage().entries < 300, "{:?}", dedup.usage());
    }

    #[test]
    fn memory_has_a_bound_and_the_loss_is_counted() {
        let mut dedup = across(&[("max_keys", "100")]);
        (0..1000).for_each(|key| assert!(passes(&mut dedup, 0, 0, key)));
        assert_eq!((dedup.usage().entries, dedup.usage().evicted), (100, 900));
        assert!(!passes(&mut dedup, 0, 1, 999), "the newest key was given up");
        assert!(passes(&mut dedup, 0, 1, 0), "the oldest key was kept");
    }

    #[test]
    fn no_time_and_no_streams() {
        let mut none = across(&[("within", "0")]);
        assert!(passes(&mut none, 5, 0, 1) && passes(&mut none, 5, 1, 1));
        let mut far = across(&[("within", "10")]);
        assert!(passes(&mut far, u64::MAX, 0, 1) && !passes(&mut far, u64::MAX, 1, 1));
        let mut two = across(&[("max_streams", "2")]);
        assert!(passes(&mut two, 0, 0, 1) && !passes(&mut two, 0, 1, 1));
        assert!(two.send(0, &event(2, 1))[0].contains("more than 2 streams"));
        assert!(two.send(0, r#"{"k":1}"#)[0].starts_with("err "));
        assert!(two.refuses(r#"{"counts":""}"#).contains("ends too early"));
    }

    #[test]
    fn a_key_takes_at_most_64_bytes() {
        let mut state = super::State::default();
        let columns = [7u128, 8].map(|stream| state.column(stream, 2).expect("there is room"));
        for number in 0..1_000_000u128 {
            let hash = number.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
            let stride = state.stride();
            assert!(super::count(state.young.add(hash, stride), columns[0]));
        }
        let bytes = state.young.bytes() / state.young.rows.len();
        assert!(bytes <= 64, "{bytes} bytes a key");
    }
}
