//! The run that sends dead letters through a program: a source for each input port, and a sink for what fails again.
//!
//! Invariant: each letter is a batch of its own, numbered by the letter, so that what fails again is known by its
//! number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use temblor_pipeline::dead_letters::give_err;
use temblor_pipeline::endpoint::{SourceEndpoint, wire_sinks};
use temblor_pipeline::graph::Graph;
use temblor_pipeline::load::Loaded;
use temblor_pipeline::operator::ERR;
use temblor_pipeline::pipeline::{ErrorInput, Input, Pipeline};
use temblor_runtime::ack::{Token, Witness};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::{Error, ErrorKind};
use temblor_runtime::intake::Messages;
use temblor_runtime::outputs::Chunk;
use temblor_runtime::run::{NamedSink, RunPlan, Summary};
use temblor_runtime::sink::{Delivered, OpenSink, Sink, WriteFailure};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};

use crate::letter::{Letter, SharedFates, WhichArgs, letters_of, lock};

/// Runs a program over letters instead of its sources.
///
/// # Errors
/// The run could not begin.
pub(crate) fn run(
    mut loaded: Loaded,
    which: &WhichArgs,
    ports: &BTreeSet<String>,
    fates: &SharedFates,
) -> Result<Summary, Error> {
    give_err(&mut loaded, Arc::new(Again(Arc::clone(fates))));
    let Loaded { graph, endpoints, sources, .. } = loaded;
    let mut plan = RunPlan { signals: true, started: Instant::now(), ..RunPlan::default() };
    let letters = graph.output(ERR);
    let ports = &places(ports, &endpoints.sources, &graph)?;
    let mut inputs = Vec::new();
    for source in endpoints.sources {
        let is_back = source.is_feedback();
        let refused = letters.filter(|_| source.port.ends_with("/err"));
        let node = graph.input(&source.port);
        if is_back && let Some(node) = node.or(refused) {
            plan.sources.push(source.config);
            inputs.push(Input::new(node, source.codec));
        } else if let Some(node) = node
            && let Some(came_by) = ports.get(&source.port)
        {
            plan.sources.push(Arc::new(Letters {
                port: source.port.clone(),
                came_by: came_by.clone(),
                which: which.clone(),
                fates: Arc::clone(fates),
            }));
            let errors =
                letters.map(|node| ErrorInput { node, source: source.port, with_frame: true });
            inputs.push(Input { node, codec: source.codec, errors });
        }
    }
    let rest = NamedSink::new("stdout", temblor_connect::sink::SinkConfig::Stdout);
    let rest = (rest, temblor_codec::Encoding::default());
    let outputs = wire_sinks(&graph, endpoints.sinks, rest, &mut plan);
    let letters = letters_of(&outputs, &mut plan, None);
    let errors = graph.outputs().iter().position(|port| port == ERR);
    let states = Mutex::new(graph.start());
    let (sources, tables) = (Arc::new(sources), endpoints.tables.shared());
    let pipeline = Arc::new(Pipeline {
        graph,
        sources,
        inputs,
        outputs,
        errors,
        seed: 0,
        letters,
        tables,
        states,
    });
    temblor_runtime::run::run(plan, |_| Ok(pipeline.worker(true)))
}

/// The sources that stand in for those by which letters came, and which: the one of the same name, or the only one
/// that the program has.
fn places(
    ports: &BTreeSet<String>,
    sources: &[SourceEndpoint],
    graph: &Graph,
) -> Result<BTreeMap<String, BTreeSet<String>>, Error> {
    let is_real = |one: &&SourceEndpoint| !one.is_feedback() && graph.input(&one.port).is_some();
    let own: Vec<&str> = sources.iter().filter(is_real).map(|one| one.port.as_str()).collect();
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for port in ports {
        let place = match &own[..] {
            names if names.contains(&port.as_str()) => port.as_str(),
            [only] => only,
            names => {
                let reason = "the program has no source of this name, and letters came by it";
                let help = match names.is_empty() {
                    true => "name a program that has sources with --through".to_string(),
                    false => format!("it has {}; name one of them so", names.join(", ")),
                };
                return Err(Error::new(ErrorKind::Config, port.clone(), reason, help));
            }
        };
        places.entry(place.to_string()).or_default().insert(port.clone());
    }
    Ok(places)
}

/// The letters of one input port.
#[derive(Clone, Debug)]
struct Letters {
    port: String,
    /// The ports by which they came.
    came_by: BTreeSet<String>,
    which: WhichArgs,
    fates: SharedFates,
}

impl OpenSource for Letters {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Source for Letters {
    fn name(&self) -> String {
        self.port.clone()
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let read = self.which.each(|number, letter, _| {
            let is_over = || feed.stop.is_asked() || feed.queue.is_aborted();
            if letter.input.as_ref().is_some_and(|port| self.came_by.contains(port)) && !is_over() {
                self.send(number, letter, feed);
            }
            Ok(())
        });
        read.map_err(|reason| Error::input(self.which.directory.display().to_string(), reason, ""))
    }
}

impl Letters {
    fn send(&self, number: u64, letter: Letter, feed: &Feed) {
        let Some(original) = letter.original else { return };
        let mut messages = Messages::default();
        let meta = if letter.meta == "{}" { "" } else { letter.meta.as_str() };
        messages.push(meta, &original);
        let mut arrival = messages.take();
        arrival.first_line = number + 1;
        arrival.ingest = Some(letter.time_ns);
        let witness = OfLetter { number, fates: Arc::clone(&self.fates) };
        // The run is over: the letter stays.
        let _ = feed.hand_over_again(arrival, &Origin::named(letter.source), Box::new(witness));
    }
}

/// Learns what became of a letter.
struct OfLetter {
    number: u64,
    fates: SharedFates,
}

impl Witness for OfLetter {
    fn settled(&self, acknowledged: bool) {
        let mut fates = lock(&self.fates);
        match acknowledged {
            true => fates.settle(self.number),
            false => fates.fail(self.number),
        }
    }
}

/// Takes what fails again.
#[derive(Clone, Debug)]
struct Again(SharedFates);

impl OpenSink for Again {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl Sink for Again {
    fn deliver(
        &mut self,
        place: &str,
        chunk: &mut Chunk,
        _: &[Token],
    ) -> Result<Delivered, WriteFailure> {
        self.write(place, &chunk.bytes).map(|()| Delivered::Written)
    }

    fn write(&mut self, _: &str, bytes: &[u8]) -> Result<(), WriteFailure> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        for letter in lines.filter_map(Letter::read) {
            // Frames are counted from 1, letters from 0.
            if let Some(number) = letter.line.checked_sub(1) {
                lock(&self.0).fail(number);
            }
        }
        Ok(())
    }
}
