//! The queue in front of a sink, in memory, on disk or both: the writer puts events in, a thread of its own
//! gives them to the sink.
//!
//! Invariant: the writer waits for this queue only where its policy says so, never for the sink; events on
//! disk count as delivered for their sources, and are given to the sink until it has taken them.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use temblor_runtime::ack::Token;
use temblor_runtime::batch::Origin;
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::outlet::{Desk, Feedback};
use temblor_runtime::outputs::Chunk;
use temblor_runtime::sink::{Delivered, OpenSink, Sink, WriteFailure};

use crate::bell::Bell;
use crate::feeder::Feeder;
use crate::folder::{directory, open_error};
use crate::log::{Durability, Log, Refused};
use crate::parcel;
use crate::policy::{Overflow, Place, Policy};
use crate::supply::Supply;
use crate::waiting::{Measure, Waiting, priority_of};

/// How long the writer waits between two attempts to put events on a disk that has no room.
const DISK_PAUSE: Duration = Duration::from_millis(200);
/// How long the writer waits for room once the run is to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// What a plan says of a sink with a queue of this kind.
#[derive(Debug)]
pub struct Buffered {
    /// The sink itself.
    pub inner: Arc<dyn OpenSink>,
    /// How much may wait, where, and what happens beyond that.
    pub policy: Policy,
    /// Where events go back into the program for which there is no room.
    pub full: Option<Arc<Feedback>>,
    /// Whether encoded events are JSON: so they go back as they are, else as texts.
    pub is_json: bool,
    /// How the last attribute of each event says its priority, if it does.
    pub priority: Option<Measure>,
}

impl OpenSink for Buffered {
    fn open(&self, resumed: bool) -> Result<Box<dyn Sink>, Error> {
        let way = Way {
            policy: self.policy.clone(),
            full: self.full.clone(),
            is_json: self.is_json,
            priority: self.priority,
            is_durable: false,
        };
        Ok(Box::new(BufferedSink { inner: Some(self.inner.open(resumed)?), way, running: None }))
    }

    fn ends_run(&self) -> bool {
        self.inner.ends_run()
    }

    fn needs_state(&self) -> bool {
        self.policy.place.settings().is_some() || self.inner.needs_state()
    }
}

/// How events come in.
struct Way {
    policy: Policy,
    full: Option<Arc<Feedback>>,
    is_json: bool,
    priority: Option<Measure>,
    /// What counts as delivered is to be on the disk, whatever the policy says.
    is_durable: bool,
}

struct BufferedSink {
    /// Until the run begins.
    inner: Option<Box<dyn Sink>>,
    way: Way,
    running: Option<Running>,
}

struct Running {
    desk: Desk,
    supply: Arc<Supply>,
    feeder: JoinHandle<()>,
    /// The body of the record that is being made.
    body: Vec<u8>,
    /// The disk has had no room since, and that was told.
    told_of_disk: bool,
}

impl Sink for BufferedSink {
    fn start(&mut self, desk: &Desk) -> Result<(), Error> {
        let Some(mut inner) = self.inner.take() else { return Ok(()) };
        let bell = Arc::new(Bell::default());
        let log = match self.way.policy.place.settings() {
            Some(settings) => {
                let directory = directory(desk.state.as_deref(), &desk.name)?;
                let mut settings = settings.clone();
                if self.way.is_durable {
                    settings.durability = Durability::Disk;
                }
                let opened = Log::open(&directory, settings, Arc::clone(&bell));
                Some(opened.map_err(|error| open_error(&directory, error))?)
            }
            None => None,
        };
        let supply = Supply::new(log, bell, desk, self.way.policy.share());
        inner.start(&supply.desk)?;
        let feeder = Feeder::new(Arc::clone(&supply), inner, desk.clone(), self.way.is_durable);
        let thread = std::thread::Builder::new().name("buffer".to_string());
        let feeder = thread.spawn(move || feeder.run());
        let feeder = feeder.map_err(|error| Error::bug("buffer", error.to_string()))?;
        let (desk, body) = (desk.clone(), Vec::new());
        self.running = Some(Running { desk, supply, feeder, body, told_of_disk: false });
        Ok(())
    }

    fn deliver(
        &mut self,
        place: &str,
        chunk: &mut Chunk,
        tokens: &[Token],
    ) -> Result<Delivered, WriteFailure> {
        let Some(running) = &mut self.running else { return Ok(Delivered::Later) };
        if running.supply.nobody_reads() {
            return Err(WriteFailure::NobodyReads);
        }
        let mut chunk = std::mem::take(chunk);
        let priorities: Vec<_> = match self.way.priority {
            Some(measure) => {
                let said = parcel::take_last_attribute(&mut chunk);
                said.iter().map(|one| priority_of(one.as_deref(), measure)).collect()
            }
            None => Vec::new(),
        };
        let on_disk = match &self.way.policy.place {
            Place::Disk(_) => true,
            Place::Memory => false,
            Place::Both(_) => !running.fits_in_memory(&self.way.policy, &chunk),
        };
        if on_disk {
            return running.keep(&self.way, place, chunk);
        }
        let delivery = running.desk.ledger.begin_delivery();
        let (place, tokens) = (place.to_string(), tokens.to_vec());
        running.hold(&self.way, Waiting { place, chunk, priorities, tokens, delivery })
    }

    fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), WriteFailure> {
        let mut chunk = Chunk { bytes: bytes.to_vec(), events: 1, ..Chunk::default() };
        self.deliver(place, &mut chunk, &[]).map(|_| ())
    }

    fn be_durable(&mut self) {
        self.way.is_durable = true;
        self.inner.iter_mut().for_each(|inner| inner.be_durable());
    }

    fn finish(&mut self) {
        let Some(Running { supply, feeder, .. }) = self.running.take() else { return };
        supply.close();
        // A panic there has been told.
        let _ = feeder.join();
    }
}

impl Running {
    /// Whether events may wait in memory: behind those on disk they must not.
    fn fits_in_memory(&self, policy: &Policy, chunk: &Chunk) -> bool {
        let queue = self.supply.queue();
        self.supply.is_read()
            && queue.has_room(chunk, policy.waiting_bytes(), policy.waiting_events())
    }

    /// Puts events into the queue in memory, as soon as the policy finds room for them.
    fn hold(&mut self, way: &Way, mut waiting: Waiting) -> Result<Delivered, WriteFailure> {
        let overflow = way.policy.overflow;
        let (bytes_max, events_max) = (way.policy.waiting_bytes(), way.policy.waiting_events());
        let patience = Patience::default();
        loop {
            let rings = self.supply.bell.rings();
            let mut queue = self.supply.queue();
            if queue.has_room(&waiting.chunk, bytes_max, events_max) {
                queue.push(waiting);
                break;
            }
            match overflow {
                Overflow::Block => {
                    drop(queue);
                    if patience.is_over(&self.desk) {
                        return Err(self.no_room());
                    }
                    self.supply.bell.wait(rings, DISK_PAUSE);
                }
                Overflow::DropNewest => {
                    self.count_shed("queue full", waiting.chunk.events);
                    waiting.shed();
                    return Ok(Delivered::Later);
                }
                Overflow::DropOldest => {
                    if let Some(oldest) = queue.pop() {
                        self.count_shed("queue full", oldest.chunk.events);
                        oldest.shed();
                    }
                }
                Overflow::Shed => {
                    let shed = queue.shed(&mut waiting, bytes_max, events_max);
                    self.count_shed("priority", shed);
                    match waiting.chunk.events {
                        0 => waiting.shed(),
                        _ => queue.push(waiting),
                    }
                    break;
                }
                Overflow::Divert => {
                    drop(queue);
                    self.divert(way, &waiting.chunk, std::mem::take(&mut waiting.tokens));
                    waiting.shed();
                    return Ok(Delivered::Later);
                }
            }
        }
        self.supply.bell.ring();
        Ok(Delivered::Later)
    }

    /// Puts events on disk, as soon as the policy finds room for them.
    fn keep(&mut self, way: &Way, place: &str, chunk: Chunk) -> Result<Delivered, WriteFailure> {
        let Some(log) = self.supply.log.clone() else { return Ok(Delivered::Later) };
        self.body.clear();
        let events = u32::try_from(chunk.events).unwrap_or(u32::MAX);
        let is_short = parcel::write(place, &chunk, &mut self.body);
        let patience = Patience::default();
        loop {
            let rings = self.supply.bell.rings();
            let appended =
                if is_short { log.append(&self.body, events) } else { Err(Refused::TooLong) };
            match appended {
                Ok(_) => {
                    self.told_of_disk = false;
                    return Ok(Delivered::Later);
                }
                Err(Refused::TooLong) => {
                    let reason = "an event is longer than a record of a buffer may be";
                    return Err(WriteFailure::Impossible(Error::output(
                        &*self.desk.name,
                        reason,
                        "",
                    )));
                }
                Err(Refused::NoSpace(error)) => {
                    self.tell_of_disk(&error);
                    if patience.is_over(&self.desk) {
                        return Err(self.no_room());
                    }
                    std::thread::sleep(DISK_PAUSE);
                }
                Err(Refused::Full) => match way.policy.overflow {
                    Overflow::DropNewest | Overflow::Shed => {
                        self.count_shed("buffer full", chunk.events);
                        return Ok(Delivered::Later);
                    }
                    Overflow::DropOldest => self.count_shed("buffer full", log.drop_oldest()),
                    Overflow::Divert => {
                        self.divert(way, &chunk, Vec::new());
                        return Ok(Delivered::Later);
                    }
                    Overflow::Block => {
                        if patience.is_over(&self.desk) {
                            return Err(self.no_room());
                        }
                        self.supply.bell.wait(rings, DISK_PAUSE);
                    }
                },
            }
        }
    }

    /// Gives events back into the program, by the port `NAME/full`.
    fn divert(&self, way: &Way, chunk: &Chunk, tokens: Vec<Token>) {
        self.count_shed("diverted", chunk.events);
        let Some(feed) = way.full.as_ref().and_then(|full| full.feed()) else { return };
        let mut messages = Messages::default();
        let mut start = 0;
        for end in &chunk.ends {
            let event = &chunk.bytes[start..*end];
            let event = event.strip_suffix(b"\n").unwrap_or(event);
            match way.is_json {
                true => messages.push("", event),
                false => messages.push("", &json_text(event)),
            }
            start = *end;
        }
        let origin = Origin::named(&*self.desk.name);
        // The run is over: the tokens have failed, and so the events come again.
        let _ = feed.give_back(messages.take(), &origin, tokens);
    }

    fn count_shed(&self, reason: &str, events: u64) {
        if events > 0 {
            self.desk.stats.add_shed(&self.desk.name, reason, events);
        }
    }

    fn tell_of_disk(&mut self, error: &std::io::Error) {
        if !std::mem::replace(&mut self.told_of_disk, true) {
            let name = &self.desk.name;
            let text =
                format!("warning: the buffer of `{name}` waits for room on the disk: {error}");
            self.desk.console.message(&text);
        }
    }

    fn no_room(&self) -> WriteFailure {
        let reason = "its queue had no room when the run was stopped";
        let help = "what was not taken stays unacknowledged; run again with --state to send it";
        WriteFailure::Refused(Error::output(&*self.desk.name, reason, help))
    }
}

/// How long somebody who waits for room goes on with it.
#[derive(Default)]
struct Patience(std::cell::Cell<Option<Instant>>);

impl Patience {
    /// Whether the run is over, or has been asked to stop for too long.
    fn is_over(&self, desk: &Desk) -> bool {
        if desk.queue.is_aborted() {
            return true;
        }
        if !desk.stop.is_asked() {
            return false;
        }
        let since = self.0.get().unwrap_or_else(Instant::now);
        self.0.set(Some(since));
        since.elapsed() > STOP_PATIENCE
    }
}

/// A text as JSON (RFC 8259, section 7); what is no text has marks where it is none.
fn json_text(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in String::from_utf8_lossy(bytes).bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out
}
