//! `dedup`: lets one of several equal events through. It remembers 128-bit hashes of keys, never
//! the keys, and no more of them than it is told; what it gives up for lack of room is counted.

mod across;
mod adjacent;
mod first;
mod held;
mod shared;

use super::key::Key;
use super::{MAX_KEYS, OperatorKind, Supplies};
use crate::operator::{AnyOperator, ELSE};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use temblor_declare::{InChain, Setting, Settings, Takes};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::program::Formula;
use temblor_lang::value::{Key as Field, Value};
use temblor_runtime::limits::{KEYS_MAX, STREAMS_MAX};
use temblor_runtime::shared::StoreAt;

const MODES: &[&str] = &["first", "last", "adjacent", "count"];
/// Nanoseconds of a millisecond, in which stores keep time.
const MILLISECOND: u64 = 1_000_000;
const WHEN_DOWN: &[&str] = &["block", "pass"];
/// What keys in a store begin with.
const STORE_PREFIX: &str = "temblor:dedup:";

/// The declaration.
pub static KINDS: &[OperatorKind] = &[OperatorKind {
    path: "stream::dedup",
    word: Some("dedup"),
    doc: "Removes repeats: of events with the same key, one goes to `out` and the others to `else`. \
          The key is an expression (`by`), or else all of the event's data, whatever the order of \
          its fields. A key is forgotten when it is `within` old, when there are `last` newer keys, \
          or when `max_keys` are kept; without any of the first two, only for lack of room. \
          Mode `first` lets the first event of a key through at once. Mode `last` keeps the newest \
          event of a key until the key is forgotten or the input ends, and then lets that one \
          through. Mode `count` then emits `{\"event\", \"count\", \"first_seen\", \"last_seen\"}` \
          with the first event, the number of events and the times in nanoseconds. Mode `adjacent` \
          removes only events that follow an event with the same key. With `refresh` a repeat \
          renews its key. `across` names the stream that an event came on: then repeats within a \
          stream are kept and only copies of what another stream brought already are removed, so \
          that for each key as many events go through as the stream that has most of them brought; \
          a copy that comes `within` that time is always recognised, one that comes after twice \
          the time never. With `store` the counts are kept in Redis, where several programs share them; \
          each batch is one request. Only hashes of keys are kept, of 128 bits, under a random key that is \
          drawn when the memory begins and saved with it: of a billion keys, any two are taken for one \
          another with a probability below 2 in 10^21. Who sends events does not know that key, which makes \
          it hard to bring about a collision; the hash (XXH3) is fast, but no cryptographic one.",
    examples: &[
        "in |> dedup |> out",
        "in |> dedup by [event.host, event.message] within 10s else repeats |> out",
        "in |> dedup by event.id last 10000 refresh |> out",
        "in |> dedup by event.message within 1min mode count |> out",
        "in |> dedup by event.message across event.server within 30s |> out",
        "in |> dedup by event.message across event.server within 1h store \"redis://127.0.0.1:6379\" |> out",
    ],
    settings: &[
        Setting::new("by", Takes::Formula, "The key; by default all of the event's data.").in_chain(InChain::Clause("by")),
        Setting::new("within", Takes::Duration, "How long a key is remembered, from its first event on, or with `refresh` from its \
             last.").in_chain(InChain::Clause("within")),
        Setting::new("last", Takes::Whole { least: 1, most: KEYS_MAX as u64 }, "How many keys are remembered; the oldest goes first, with `refresh` the one that was \
             not seen for longest.").in_chain(InChain::Clause("last")),
        Setting::new("mode", Takes::Word(MODES), "Which event of several stays.").or("first").in_chain(InChain::Clause("mode")),
        Setting::new("refresh", Takes::Flag, "Whether a repeat renews its key.").in_chain(InChain::Flag("refresh")),
        Setting::new("across", Takes::Formula, "The stream of the event: only copies from other streams are removed.").in_chain(InChain::Clause("across")),
        Setting::new("store", Takes::Text, "The address of a Redis that keeps the counts of `across`: `redis://HOST:PORT`.").in_chain(InChain::Clause("store")),
        Setting::new("delivery", Takes::Formula, "What tells the deliveries of a broker apart, such as `$rabbitmq.message_id`: with `store`, a \
             delivery that comes again is not counted again, and is judged as before."),
        Setting::new("when_down", Takes::Word(WHEN_DOWN), "What becomes of events while the store is down: `block` holds them back, and has their \
             source deliver them again; `pass` lets them through, copies too.").or("block"),
        Setting::new("store_prefix", Takes::Text, "What the keys in the store begin with; programs with the same share counts.").or(STORE_PREFIX),
        MAX_KEYS,
        Setting::new("max_streams", Takes::Whole { least: 1, most: STREAMS_MAX as u64 }, "How many streams `across` tells apart; events of further ones fail.").or("64"),
    ],
    ports: &[ELSE],
    fallbacks: &[],
    build,
}];

/// The key of the hashes of one memory. It is drawn when the memory begins, and saved with it: whoever sends
/// events cannot know which keys would be taken for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Seed(RandomState::new().hash_one(0_u64))
    }
}

impl Seed {
    /// The field of a saved memory that holds it.
    const FIELD: &str = "seed";
    /// Of hashes without a key: those of a rehearsal, where a person looks keys up.
    const NONE: Seed = Seed(0);

    /// That of a saved memory. Those of an older temblor have none: their hashes have no key.
    fn restore(saved: Value<'_>) -> Self {
        saved.get(&Field::new(Self::FIELD)).and_then(Value::as_u64).map_or(Self::NONE, Seed)
    }

    fn value<'a>(self) -> Value<'a> {
        Value::UInt(self.0)
    }
}

/// For how long, and for how many others, a key is remembered.
#[derive(Clone, Copy, Debug)]
struct Memory {
    within_ns: Option<u64>,
    /// At most so many keys.
    keys_max: usize,
    /// Whether a key that gives way to a newer one does so for lack of room, not by `last`.
    is_limit: bool,
    refresh: bool,
}

impl Memory {
    fn new(settings: &Settings) -> Self {
        let limit = settings.size("max_keys");
        let last = if settings.has("last") { settings.size("last") } else { KEYS_MAX };
        Self {
            within_ns: settings.optional_nanoseconds("within"),
            keys_max: limit.min(last),
            is_limit: limit < last,
            refresh: settings.flag("refresh"),
        }
    }

    /// Keys seen at this time or before are forgotten.
    fn horizon(&self, now_ns: u64) -> Option<u64> {
        now_ns.checked_sub(self.within_ns?)
    }
}

fn build(settings: &Settings, supplies: &Supplies) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let key = Key(settings.formula("by"));
    let memory = Memory::new(settings);
    let mode = settings.text("mode");
    if let Some(stream) = settings.formula("across") {
        check_across(settings, mode, memory)?;
        if settings.has("store") {
            return shared((settings, supplies), key, stream, memory);
        }
        let streams_max = settings.size("max_streams");
        return Ok(Box::new(across::Across { key, stream, memory, streams_max }));
    }
    Ok(match mode {
        "last" => Box::new(held::Held { key, memory, keep: held::Keep::Last }),
        "count" => Box::new(held::Held { key, memory, keep: held::Keep::Count }),
        "adjacent" => Box::new(adjacent::Adjacent { key, memory }),
        _ => Box::new(first::First { key, memory }),
    })
}

fn shared(
    (settings, supplies): (&Settings, &Supplies),
    key: Key,
    stream: Arc<Formula>,
    memory: Memory,
) -> Result<Box<dyn AnyOperator>, Diagnostic> {
    let Some(within_ns) = memory.within_ns.filter(|within_ns| *within_ns >= MILLISECOND) else {
        return Err(settings
            .error("store", "`store` needs `within`, of a millisecond at least")
            .with_help("such as: within 1h; what is older is forgotten"));
    };
    let open = supplies
        .shared_counts
        .ok_or_else(|| settings.error("store", "this build has no stores that programs share"))?;
    let (address, prefix) = (settings.text("store"), settings.text("store_prefix"));
    let at = StoreAt { address, prefix, within_ns };
    let store = open(at).map_err(|reason| settings.error("store", reason))?;
    let when_down = match settings.text("when_down") {
        "pass" => shared::WhenDown::Pass,
        _ => shared::WhenDown::Block,
    };
    let (delivery, ahead) = (settings.formula("delivery"), shared::Ahead::default());
    Ok(Box::new(shared::Shared { key, stream, delivery, store, when_down, ahead }))
}

fn check_across(settings: &Settings, mode: &str, memory: Memory) -> Result<(), Diagnostic> {
    if mode != "first" {
        return Err(settings
            .error("mode", format!("mode `{mode}` is not possible with `across`"))
            .with_help("leave out `mode`: across streams, the first copy goes through"));
    }
    if memory.refresh {
        return Err(settings
            .error("refresh", "`refresh` is not possible with `across`")
            .with_help("leave out `refresh`: each copy counts by itself"));
    }
    Ok(())
}
