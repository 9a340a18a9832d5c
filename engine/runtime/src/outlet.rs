//! The way out to a sink that confirms later: the writer hands parcels over, tasks send them, and the
//! tokens of a parcel are let go when the other side has confirmed it.
//!
//! Invariant: a parcel that is dropped without having been confirmed has failed; nothing counts as delivered
//! by accident.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;

use crate::ack::{Delivery, Ledger, SourceId, Token};
use crate::batch::Origin;
use crate::console::Console;
use crate::drain::Drain;
use crate::error::Error;
use crate::intake::Messages;
use crate::limits::{ERRORS_PRINTED_MAX, OUTLET_BYTES_MAX, OUTLET_PARCELS_MAX};
use crate::network::Network;
use crate::outputs::{Chunk, Count, ErrorRecord, SinkId};
use crate::queue::{Closed, Queue};
use crate::source::feed::Feed;
use crate::stats::{PortStats, Stats};
use crate::stop::Stop;
use crate::troubles::Troubles;

/// What a sink needs of the run.
#[derive(Clone)]
pub struct Desk {
    /// The sink's index in the plan.
    pub sink: SinkId,
    /// What the user calls it.
    pub name: Arc<str>,
    /// How much may wait for it.
    pub policy: QueuePolicy,
    /// Sockets, timers and tasks.
    pub network: Arc<Network>,
    /// The run's counters.
    pub stats: Arc<Stats>,
    /// Where notes to the user go.
    pub console: Arc<Console>,
    /// Where errors go that do not end the run.
    pub troubles: Arc<Troubles>,
    /// The wish to stop. A sink still sends what was handed over.
    pub stop: Arc<Stop>,
    /// What is under way.
    pub ledger: Arc<Ledger>,
    /// How long it may still take when the run stops.
    pub drain: Arc<Drain>,
    /// What sources send into: a sink that gathers events learns from it that no more will come.
    pub queue: Arc<Queue>,
    /// Where the run keeps what outlives it, if it has such a place.
    pub state: Option<PathBuf>,
    /// Whether what is not delivered when the run ends is kept in front of the sink, so that the end need not
    /// wait for it.
    pub keeps_rest: bool,
}

impl Desk {
    /// The counters of this sink.
    #[must_use]
    pub fn counters(&self) -> &PortStats {
        &self.stats.sinks[self.sink]
    }

    /// An attempt to deliver failed, and is made again. Says whether it is the first that failed in a row.
    pub fn fail_attempt(&self, reason: &str) -> bool {
        self.counters().fail_attempt(reason)
    }

    /// The same, with a warning for the first of a row. It is no error of the run: nothing is lost by it.
    pub fn warn_attempt(&self, error: &Error) {
        let text = error.to_string();
        if self.fail_attempt(&text) && self.counters().reconnects() < ERRORS_PRINTED_MAX {
            self.counters().tell(true);
            let name = &self.name;
            self.console.message(&format!("warning: {name}: {text}\n  note: it is tried again"));
        }
    }

    /// The peer has taken something: says so, when attempts had failed before.
    fn succeed(&self) {
        let counters = self.counters();
        if counters.succeed() && counters.tell(false) {
            let retries = counters.retries();
            let text =
                format!("note: {}: works again; {retries} attempts failed so far", self.name);
            self.console.message(&text);
        }
    }

    /// Reports an error that does not end the run.
    pub fn trouble(&self, error: Error) {
        self.stats.add_error("sink");
        self.counters().fail_attempt(&error.to_string());
        self.troubles.report(&self.console, error);
    }
}

/// Where what a sink refuses, or what its peer answers, goes back into the program: the source of a port of
/// the sink. It takes events as long as the run has others under way.
#[derive(Debug, Default)]
pub struct Feedback {
    feed: OnceLock<FeedSlot>,
}

/// A feed without a face.
struct FeedSlot(Feed);

impl std::fmt::Debug for FeedSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Feed")
    }
}

impl Feedback {
    /// A way back that leads nowhere until a source takes it.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The feed, when the program takes what comes back.
    #[must_use]
    pub fn feed(&self) -> Option<&Feed> {
        self.feed.get().map(|slot| &slot.0)
    }

    /// Leads what comes back into this feed.
    pub fn lead(&self, feed: Feed) {
        // A plan names each way back once.
        let _ = self.feed.set(FeedSlot(feed));
    }
}

/// Why an event was refused for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Index of the event in its parcel.
    pub event: usize,
    /// What the other side said, as a sentence.
    pub reason: String,
    /// More about it, as the text of a JSON record; empty for nothing.
    pub details: String,
}

/// What happens to events for a sink whose queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The program waits, and with it its sources.
    #[default]
    Block,
    /// The events that come are left out, and counted.
    DropNewest,
    /// The events that have waited longest are left out, and counted.
    DropOldest,
}

/// How much may wait for a sink, and what happens beyond that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePolicy {
    /// Bytes of encoded events.
    pub bytes_max: usize,
    /// What happens when there is no room.
    pub when_full: WhenFull,
}

impl Default for QueuePolicy {
    fn default() -> Self {
        Self { bytes_max: OUTLET_BYTES_MAX, when_full: WhenFull::Block }
    }
}

/// The queue between the writer and the tasks of one sink.
pub struct Outlet {
    state: Mutex<State>,
    policy: QueuePolicy,
    /// Signalled when there is room again, for the writer.
    room: Condvar,
    /// Signalled when there is a parcel or the end, for tasks.
    ready: Notify,
}

#[derive(Default)]
struct State {
    parcels: VecDeque<Parcel>,
    bytes: usize,
    /// Nothing more will be put.
    closed: bool,
    /// Nobody takes any more.
    abandoned: bool,
}

impl Outlet {
    /// An empty queue.
    #[must_use]
    pub fn new(policy: QueuePolicy) -> Arc<Self> {
        let (room, ready) = (Condvar::new(), Notify::new());
        Arc::new(Outlet { state: Mutex::default(), policy, room, ready })
    }

    /// Hands a parcel over. Without room the policy decides: it waits, or leaves events out.
    ///
    /// # Errors
    /// Nobody takes parcels any more.
    pub fn put(&self, parcel: Parcel) -> Result<(), Closed> {
        let bytes = parcel.bytes.len();
        let mut state = self.lock();
        while !state.abandoned && !self.has_room(&state, bytes) {
            match self.policy.when_full {
                WhenFull::Block => {
                    state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                WhenFull::DropNewest => {
                    drop(state);
                    parcel.shed();
                    return Ok(());
                }
                WhenFull::DropOldest => {
                    if let Some(oldest) = self.pop(&mut state) {
                        oldest.shed();
                    }
                }
            }
        }
        if state.abandoned {
            return Err(Closed);
        }
        state.bytes += bytes;
        state.parcels.push_back(parcel);
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    /// Takes the next parcel, waiting for it; `None` when there will be none any more.
    pub async fn take(&self) -> Option<Parcel> {
        loop {
            let ready = self.ready.notified();
            tokio::pin!(ready);
            ready.as_mut().enable();
            {
                let mut state = self.lock();
                if let Some(parcel) = self.pop(&mut state) {
                    return Some(parcel);
                }
                if state.closed {
                    drop(state);
                    // Others may wait for the end, too.
                    self.ready.notify_one();
                    return None;
                }
            }
            ready.await;
        }
    }

    /// Takes the next parcel, if there is one now: what is there may go in one request.
    #[must_use]
    pub fn take_now(&self) -> Option<Parcel> {
        self.pop(&mut self.lock())
    }

    /// No more will be put; what is there is still taken.
    pub fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_one();
    }

    /// Nobody will take any more; what is there has failed.
    pub fn abandon(&self) {
        let left = {
            let mut state = self.lock();
            (state.closed, state.abandoned) = (true, true);
            state.bytes = 0;
            std::mem::take(&mut state.parcels)
        };
        drop(left);
        self.room.notify_all();
        self.ready.notify_one();
    }

    fn pop(&self, state: &mut State) -> Option<Parcel> {
        let parcel = state.parcels.pop_front()?;
        state.bytes -= parcel.bytes.len();
        self.room.notify_all();
        Some(parcel)
    }

    fn has_room(&self, state: &State, bytes: usize) -> bool {
        let fits = state.bytes + bytes <= self.policy.bytes_max
            && state.parcels.len() < OUTLET_PARCELS_MAX;
        fits || state.parcels.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The encoded events that one batch has put out for one sink, and one place of it.
pub struct Parcel {
    place: String,
    bytes: Vec<u8>,
    events: u64,
    ends: Vec<usize>,
    attributes: Vec<Option<(u32, u32)>>,
    attribute_bytes: Vec<u8>,
    tokens: Vec<Token>,
    desk: Desk,
    /// Its place among all that sinks have under way.
    delivery: Delivery,
}

impl Parcel {
    /// Takes what a chunk holds; the chunk is empty afterwards.
    #[must_use]
    pub fn new(place: &str, chunk: &mut Chunk, tokens: &[Token], desk: &Desk) -> Self {
        let Chunk { bytes, events, ends, attributes, attribute_bytes } = std::mem::take(chunk);
        let (place, tokens, delivery) =
            (place.to_string(), tokens.to_vec(), desk.ledger.begin_delivery());
        let desk = desk.clone();
        desk.counters().hold(Count { events, bytes: bytes.len() as u64 });
        Self { place, bytes, events, ends, attributes, attribute_bytes, tokens, desk, delivery }
    }

    /// The place that the events chose; empty for a sink with one place.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// All events behind each other, with what ends each of them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many events there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.events
    }

    /// Each event with its ending. Only for sinks that ask to have events told apart
    /// ([`Chunk::end_event`]).
    pub fn events(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.ends.len()).map(|index| self.event(index))
    }

    /// One event with its ending.
    #[must_use]
    pub fn event(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    /// The value of an attribute of an event; `None` when the event has it not.
    #[must_use]
    pub fn attribute(&self, event: usize, attribute: usize) -> Option<&str> {
        let width = self.attributes.len().checked_div(self.ends.len())?;
        let (start, end) = (*self.attributes.get(event * width + attribute)?)?;
        std::str::from_utf8(&self.attribute_bytes[start as usize..end as usize]).ok()
    }

    /// Whether all of it stems from what this source has read.
    #[must_use]
    pub fn stems_from(&self, source: SourceId) -> bool {
        self.tokens.iter().all(|token| token.identity().0 == source)
    }

    /// The other side has all of it.
    pub fn confirm(mut self) {
        let (events, bytes) = (self.events, self.bytes.len() as u64);
        self.desk.counters().add(Count { events, bytes });
        self.desk.succeed();
        self.tokens.clear();
        self.delivery.succeed();
    }

    /// There was no room for it, and the program wants it left out then: it is done, and counted.
    pub fn shed(mut self) {
        self.desk.stats.add_shed(&self.desk.name, "queue full", self.events);
        self.tokens.clear();
        self.delivery.succeed();
    }

    /// It could not be delivered, and this run gives it up: its input stays unacknowledged.
    pub fn fail(self, error: Error) {
        self.desk.stats.sinks[self.desk.sink].add_failed(self.events);
        self.desk.trouble(error);
    }

    /// The same as [`fail`](Self::fail), when the error has been told with another parcel.
    pub fn fail_silently(self) {
        self.desk.stats.sinks[self.desk.sink].add_failed(self.events);
    }

    /// The other side has all of it but for what it refused for good. That goes to `errors`, with the event
    /// and the reason; where that leads nowhere, it is printed and counted.
    pub fn confirm_except(self, refused: &[Refusal], errors: &Feedback) {
        self.confirm_except_about(refused, |_| String::new(), errors);
    }

    /// The same, where what goes to `errors` has metadata: for a refusal the text of a JSON record, or nothing.
    fn confirm_except_about(
        mut self,
        refused: &[Refusal],
        mut meta: impl FnMut(&Refusal) -> String,
        errors: &Feedback,
    ) {
        if refused.is_empty() {
            return self.confirm();
        }
        let mut bytes = self.bytes.len();
        for one in refused {
            bytes -= self.event(one.event).len();
        }
        let events = self.events - refused.len() as u64;
        self.desk.succeed();
        let counters = self.desk.counters();
        counters.add(Count { events, bytes: bytes as u64 });
        counters.add_failed(refused.len() as u64);
        self.desk.stats.add_errors("refused", refused.len() as u64);
        match errors.feed() {
            Some(feed) => {
                let mut messages = Messages::default();
                refused.iter().for_each(|one| messages.push(&meta(one), &self.report(one)));
                let origin = Origin::named(&*self.desk.name);
                let tokens = std::mem::take(&mut self.tokens);
                if feed.give_back(messages.take(), &origin, tokens).is_err() {
                    return;
                }
            }
            None => {
                let records: Vec<_> = refused.iter().map(|one| self.record(one)).collect();
                self.desk.console.event_errors(&records, records.len() as u64);
                self.tokens.clear();
            }
        }
        self.delivery.succeed();
    }

    /// The other side has answered: what it said goes back into the program by `answers`, and what it refused for
    /// good by `errors`. The input of the parcel is done when both have got where they should.
    pub fn answer(
        self,
        messages: Messages,
        answers: &Feedback,
        refused: &[Refusal],
        errors: &Feedback,
    ) {
        self.answer_about(messages, answers, refused, |_| String::new(), errors);
    }

    /// The same, where what was refused has metadata: the text of a JSON record, or nothing.
    pub fn answer_about(
        self,
        mut messages: Messages,
        answers: &Feedback,
        refused: &[Refusal],
        meta: impl FnMut(&Refusal) -> String,
        errors: &Feedback,
    ) {
        if let Some(feed) = answers.feed().filter(|_| !messages.is_empty()) {
            let origin = Origin::named(&*self.desk.name);
            if feed.give_back(messages.take(), &origin, self.tokens.clone()).is_err() {
                return;
            }
        }
        self.confirm_except_about(refused, meta, errors);
    }

    /// The event of a refusal: `{"error", "sink", "event", …}`.
    fn report(&self, refusal: &Refusal) -> Vec<u8> {
        let mut text = Vec::new();
        text.extend_from_slice(b"{\"error\":");
        push_json_text(&refusal.reason, &mut text);
        text.extend_from_slice(b",\"sink\":");
        push_json_text(&self.desk.name, &mut text);
        text.extend_from_slice(b",\"event\":");
        let event = self.event(refusal.event).trim_ascii_end();
        push_json_text(&String::from_utf8_lossy(event), &mut text);
        if let Some(details) = refusal.details.strip_prefix('{')
            && details.len() > 1
        {
            text.push(b',');
            text.extend_from_slice(details.as_bytes());
        } else {
            text.push(b'}');
        }
        text
    }

    fn record(&self, refusal: &Refusal) -> ErrorRecord {
        ErrorRecord {
            kind: "refused",
            origin: self.desk.name.to_string(),
            line: 0,
            reason: refusal.reason.clone(),
            bytes: self.event(refusal.event).to_vec(),
        }
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        let (events, bytes) = (self.events, self.bytes.len() as u64);
        self.desk.counters().let_go(Count { events, bytes });
        // Confirmed parcels have none left.
        self.tokens.iter().for_each(Token::fail);
    }
}

/// Appends a text as JSON (RFC 8259, section 7).
fn push_json_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}
