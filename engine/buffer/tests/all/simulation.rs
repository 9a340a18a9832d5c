//! A simulation on one thread: sources, ledger, buffer on disk, a peer with moods, checkpoints, crashes and reloads, in
//! the order that a seed gives. A model knows what was acknowledged: acknowledged and lost must be 0.
//!
//! Invariant: a seed gives the same history each time, but for the pauses after failures, which are real time.
//! `TEMBLOR_SIMULATION_STEPS` makes it longer, `TEMBLOR_SIMULATION_SEED` runs one history alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use temblor_buffer::log::{Durability, Log, Settings};
use temblor_buffer::reader::{Item, Reader};
use temblor_buffer::segment;
use temblor_runtime::ack::{Ledger, Position, SourceId, Token, Witness};
use temblor_testing::Folder;

/// Steps of all histories together.
const STEPS: u64 = 1_000_000;
/// Histories.
const SEEDS: u64 = 40;
/// Events between the sources and the buffer.
const QUEUE_MAX: usize = 16;
/// Events that the sink has under way.
const UNDER_WAY_MAX: usize = 32;
/// Numbers of events that came over the network begin here; those of the file are their places.
const NETWORK: u64 = 1 << 40;

/// Numbers that a seed gives, one after another (a linear congruential generator).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Learns which events of the network were acknowledged.
struct Answer {
    number: u64,
    acknowledged: Arc<Mutex<BTreeSet<u64>>>,
}

impl Witness for Answer {
    fn settled(&self, good: bool) {
        if good {
            self.acknowledged.lock().expect("nobody panics").insert(self.number);
        }
    }
}

/// What lasts over crashes: the disk, the peer, and the model.
#[derive(Default)]
struct World {
    /// How far the file was dealt with, by the last checkpoint.
    checkpoint: u64,
    /// The next event of the network.
    next_network: u64,
    acknowledged: Arc<Mutex<BTreeSet<u64>>>,
    /// How often the peer took each event.
    taken: BTreeMap<u64, u64>,
    /// How often it may have got one again.
    repeats_max: u64,
    /// The buffer may end in a record that is torn.
    is_torn: bool,
    crashes: u64,
    reloads: u64,
}

/// A run, from its start to its crash.
struct Run {
    ledger: Arc<Ledger>,
    /// The number of the source that reads the file now.
    file: SourceId,
    /// The next event of the file.
    next: u64,
    queue: VecDeque<(u64, Token)>,
    log: Arc<Log>,
    reader: Reader,
    /// Records that the sink has: their numbers and events.
    under_way: Vec<(u64, u64)>,
    last_given: u64,
}

impl Run {
    fn begin(folder: &Path, world: &World) -> Self {
        let settings = Settings {
            bytes_max: 64 << 10,
            reserve_bytes: 0,
            compresses: false,
            durability: Durability::System,
            key: None,
        };
        let log = Log::open(folder, settings, Arc::default()).expect("it can be opened");
        Self {
            ledger: Ledger::new(2),
            file: 0,
            next: world.checkpoint,
            queue: VecDeque::new(),
            reader: Reader::new(Arc::clone(&log)),
            log,
            under_way: Vec::new(),
            last_given: 0,
        }
    }

    /// The file gives its next event.
    fn read_file(&mut self) -> bool {
        if self.queue.len() >= QUEUE_MAX {
            return false;
        }
        let position = Position { file: 0, offset: self.next + 1, line: self.next + 2 };
        self.queue.push_back((self.next, self.ledger.open(self.file, position)));
        self.next += 1;
        true
    }

    /// A peer sends an event, and waits for its answer.
    fn receive(&mut self, world: &mut World) -> bool {
        if self.queue.len() >= QUEUE_MAX {
            return false;
        }
        let number = NETWORK + world.next_network;
        world.next_network += 1;
        let answer = Answer { number, acknowledged: Arc::clone(&world.acknowledged) };
        let position = Position { file: 0, offset: 0, line: 1 };
        let token = self.ledger.open_watched(1, position, Some(Box::new(answer)));
        self.queue.push_back((number, token));
        true
    }

    /// The oldest event goes to disk, if there is room.
    fn keep(&mut self) -> bool {
        let Some((number, token)) = self.queue.front() else { return false };
        let body = format!("{number:020}{}", "x".repeat((*number % 97) as usize));
        if self.log.append(body.as_bytes(), 1).is_err() {
            return false;
        }
        self.ledger.written(token.identity().0, token.position());
        self.queue.pop_front();
        true
    }

    /// The sink gets the next record.
    fn give(&mut self, world: &mut World) -> bool {
        if self.under_way.len() >= UNDER_WAY_MAX {
            return false;
        }
        match self.reader.next_now() {
            Item::Record(record) => {
                let text = std::str::from_utf8(&record.body[..20]).expect("digits");
                self.under_way.push((record.sequence, text.parse().expect("a number")));
                self.last_given = self.last_given.max(record.sequence);
                true
            }
            Item::Lost(loss) => {
                assert!(world.is_torn && loss.records == 0, "{loss:?}");
                true
            }
            Item::Nothing | Item::End => false,
        }
    }

    /// The peer answers one of the requests, in any order; what it fails it may have taken.
    fn answer(&mut self, world: &mut World, chance: &mut Chance) -> bool {
        if self.under_way.is_empty() {
            return false;
        }
        let at = chance.below(self.under_way.len() as u64) as usize;
        let (sequence, number) = self.under_way.swap_remove(at);
        let fate = chance.below(4_000);
        if fate > 0 {
            *world.taken.entry(number).or_default() += 1;
        }
        let good = fate > 1;
        if fate == 1 {
            world.repeats_max += 1;
        }
        self.log.settle(sequence, good);
        true
    }

    /// How far the file is dealt with.
    fn mark(&self, world: &World) -> u64 {
        self.ledger.position(self.file, 0).map_or(world.checkpoint, |mark| mark.offset)
    }

    /// Another program takes over: the source of the file ends, and one with another number goes on from its mark.
    fn reload(&mut self, world: &mut World) -> bool {
        if !self.ledger.is_settled(self.file) {
            return false;
        }
        world.checkpoint = self.mark(world);
        let new = self.ledger.add_source();
        self.ledger.follow(new, self.file);
        assert_eq!(world.checkpoint, self.next, "all that was read is settled, and nothing else");
        self.file = new;
        world.reloads += 1;
        true
    }

    /// The process is killed: what is not on disk is gone.
    fn crash(self, folder: &Path, world: &mut World, chance: &mut Chance) {
        world.crashes += 1;
        let oldest = self.under_way.iter().map(|(sequence, _)| *sequence).min();
        // What was answered out of order lies before the mark no less than what was not.
        world.repeats_max += oldest.map_or(0, |oldest| self.last_given + 1 - oldest);
        world.repeats_max += self.next - world.checkpoint;
        let Self { queue, .. } = self;
        for (_, token) in &queue {
            // A process that is gone answers nobody.
            token.fail();
        }
        drop(queue);
        if chance.below(3) == 0 {
            let names = std::fs::read_dir(folder).expect("it is there");
            let paths = names.map(|name| name.expect("it can be read").path());
            let last = paths.filter(|path| segment::first_of(path).is_some()).max();
            if let Some(last) = last {
                let torn = vec![0xa5; chance.below(60) as usize + 1];
                let file = OpenOptions::new().append(true).open(last);
                file.and_then(|mut file| file.write_all(&torn)).expect("it can be written");
                world.is_torn = true;
            }
        }
    }
}

/// One history of so many steps in which something happened.
fn simulate(seed: u64, steps: u64) -> World {
    let (folder, mut chance, mut world) = (Folder::new(), Chance(seed), World::default());
    let mut run = Run::begin(folder.path(), &world);
    let (mut done, mut idle) = (0, 0);
    // The weights differ from history to history: full queues here, empty ones there.
    let (reads, keeps, gives) =
        (10 + chance.below(20), 15 + chance.below(25), 15 + chance.below(25));
    while done < steps {
        let choice = chance.below(2_000);
        let happened = match choice {
            0 => {
                run.crash(folder.path(), &mut world, &mut chance);
                run = Run::begin(folder.path(), &world);
                true
            }
            1..6 => run.reload(&mut world),
            6..30 => {
                world.checkpoint = run.mark(&world);
                true
            }
            choice => match choice % 100 {
                part if part < reads => run.read_file(),
                part if part < reads + 10 => run.receive(&mut world),
                part if part < reads + 10 + keeps => run.keep(),
                part if part < reads + 10 + keeps + gives => run.give(&mut world),
                _ => run.answer(&mut world, &mut chance),
            },
        };
        done += u64::from(happened);
        idle = if happened { 0 } else { idle + 1 };
        if idle > 200 {
            // A record that failed comes again after a pause.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    drain(&mut run, &mut world);
    world.checkpoint = run.mark(&world);
    assert_eq!(
        world.checkpoint, run.next,
        "seed {seed}: the file is settled as far as it was read"
    );
    world
}

/// The peer is well again, and nothing new comes.
fn drain(run: &mut Run, world: &mut World) {
    let end = Instant::now() + Duration::from_secs(60);
    while !run.queue.is_empty() || !run.log.is_drained() {
        assert!(Instant::now() < end, "the history comes to no end");
        let moved = run.keep() | run.give(world);
        for (sequence, number) in run.under_way.drain(..) {
            *world.taken.entry(number).or_default() += 1;
            run.log.settle(sequence, true);
        }
        if !moved {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn what_was_acknowledged_arrives_in_a_million_steps_of_seeded_histories() {
    let steps = number("TEMBLOR_SIMULATION_STEPS").unwrap_or(STEPS) / SEEDS;
    let seeds = match number("TEMBLOR_SIMULATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..SEEDS,
    };
    let (mut crashes, mut reloads, mut repeats, mut events) = (0, 0, 0, 0);
    for seed in seeds {
        let world = simulate(seed, steps);
        let acknowledged = world.acknowledged.lock().expect("nobody panics");
        let lost = acknowledged.iter().filter(|number| !world.taken.contains_key(number)).count();
        assert_eq!(lost, 0, "seed {seed}: acknowledged and lost");
        let missing = (0..world.checkpoint).filter(|number| !world.taken.contains_key(number));
        assert_eq!(missing.count(), 0, "seed {seed}: the mark has passed what never arrived");
        let is_known = |number: u64| match number.checked_sub(NETWORK) {
            Some(number) => number < world.next_network,
            None => number < world.checkpoint,
        };
        assert!(world.taken.keys().all(|number| is_known(*number)), "seed {seed}: out of nothing");
        let again: u64 = world.taken.values().map(|times| times - 1).sum();
        assert!(again <= world.repeats_max, "seed {seed}: {again} of {}", world.repeats_max);
        (crashes, reloads) = (crashes + world.crashes, reloads + world.reloads);
        (repeats, events) = (repeats + again, events + world.taken.len());
    }
    println!("{events} events, {crashes} crashes, {reloads} reloads, {repeats} repeats, 0 lost");
    assert!(crashes > 0 && events > 1_000 || number("TEMBLOR_SIMULATION_SEED").is_some());
}
