//! Which source, sink and port of a run has which number, and how a program that takes the place of another is
//! wired to those that stay.
//!
//! Invariant: a source or sink stays exactly when name and settings are those of the old program.

use std::sync::Arc;
use temblor_pipeline::endpoint::SourceEndpoint;
use temblor_pipeline::graph::without_places;
use temblor_pipeline::metered::MetricsConfig;
use temblor_pipeline::pipeline::{Input, Output};
use temblor_runtime::outputs::SinkId;
use temblor_runtime::overseer::{NewSource, View};
use temblor_runtime::run::RunPlan;

/// The sources, sinks and ports of a run by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    sources: Vec<Slot>,
    sinks: Vec<Slot>,
    ports: Vec<String>,
}

/// A number of a run.
#[derive(Clone, Debug)]
struct Slot {
    /// The port that it serves.
    name: String,
    /// What it was made of; nothing when it was closed.
    made_of: Option<String>,
}

/// What changes.
#[derive(Default)]
pub(crate) struct Difference {
    /// Sources that begin.
    pub(crate) sources: Vec<NewSource>,
    /// Numbers of sources that end.
    pub(crate) closed_sources: Vec<usize>,
    /// Sinks of the new plan that begin, and whether each goes on with what one before it has written.
    pub(crate) sinks: Vec<(usize, bool)>,
    /// Numbers of sinks that end.
    pub(crate) closed_sinks: Vec<SinkId>,
    /// Ports that are new.
    pub(crate) ports: Vec<String>,
    /// For each source number, its place in the new plan.
    pub(crate) places: Vec<Option<usize>>,
    /// Names of what begins and ends, for people.
    pub(crate) begins: Vec<String>,
    /// The same for what ends.
    pub(crate) ends: Vec<String>,
}

/// What a source is made of, for comparison; to be asked for before it runs.
pub(crate) fn made_of(source: &SourceEndpoint) -> String {
    if let Some(metrics) = source.config_as::<MetricsConfig>() {
        // Counts belong to the graph that counts them.
        return format!("metrics at {metrics:p}");
    }
    if source.is_feedback() {
        return FEEDBACK.to_string();
    }
    without_places(&format!("{:?}", source.config))
}

impl Layout {
    /// The numbers of a run that begins with this plan; `sources` are name and makings of each source.
    pub(crate) fn of(plan: &RunPlan, sources: &[(String, String)]) -> Self {
        let slot = |(name, made_of): (String, String)| Slot { name, made_of: Some(made_of) };
        let sinks = sinks(plan, sources);
        let sources = with_their_sinks(sources, &sinks);
        Self {
            sources: sources.into_iter().map(slot).collect(),
            sinks: sinks.into_iter().map(slot).collect(),
            ports: plan.ports.clone(),
        }
    }

    /// Brings the numbers up to what the run has given meanwhile: an attempt that failed has used some up.
    pub(crate) fn catch_up(&mut self, view: &View) {
        let spare = || Slot { name: String::new(), made_of: None };
        self.sources.resize_with(view.stats.sources.count(), spare);
        self.sinks.resize_with(view.stats.sinks.count(), spare);
        let known = self.ports.len();
        let ports = view.stats.ports.iter().skip(known).map(|(_, port)| port.name.clone());
        self.ports.extend(ports.collect::<Vec<_>>());
    }

    /// Wires another plan to the numbers of this run: changes the numbers in `inputs` and `outputs`, and says
    /// what changes.
    pub(crate) fn change_to(
        &mut self,
        plan: &RunPlan,
        sources: &[(String, String)],
        inputs: &mut Vec<Input>,
        outputs: &mut [Vec<Output>],
    ) -> Difference {
        let next = Self::of(plan, sources);
        let mut difference = Difference::default();
        let source_numbers = take(&mut self.sources, &next.sources, &mut difference);
        difference.closed_sources = source_numbers.closed;
        for new in source_numbers.new {
            let follows = new.replaces.filter(|old| difference.closed_sources.contains(old));
            let config = Arc::clone(&plan.sources[new.place]);
            difference.sources.push(NewSource { config, follows });
        }
        difference.places = places(&source_numbers.numbers, self.sources.len());
        *inputs = self.wired(inputs, &source_numbers.numbers);

        let sink_numbers = take(&mut self.sinks, &next.sinks, &mut difference);
        difference.closed_sinks = sink_numbers.closed;
        difference.sinks =
            sink_numbers.new.iter().map(|new| (new.place, new.replaces.is_some())).collect();
        let mut port_numbers = Vec::with_capacity(next.ports.len());
        for port in next.ports {
            let known = self.ports.iter().position(|one| *one == port);
            port_numbers.push(known.unwrap_or_else(|| {
                self.ports.push(port.clone());
                difference.ports.push(port);
                self.ports.len() - 1
            }));
        }
        for output in outputs.iter_mut().flatten() {
            output.sink = sink_numbers.numbers[output.sink];
            output.port = port_numbers[output.port];
        }
        difference
    }

    /// The inputs by the numbers of the run. What a closed source has still under way goes where a source of
    /// the same name leads now, if there is one.
    fn wired(&self, inputs: &[Input], numbers: &[usize]) -> Vec<Input> {
        let of_number = |number: usize| {
            let place = numbers.iter().position(|one| *one == number);
            let same_name = || {
                let name = &self.sources[number].name;
                numbers.iter().position(|one| self.sources[*one].name == *name)
            };
            inputs[place.or_else(same_name).unwrap_or(0)].clone()
        };
        (0..self.sources.len()).map(of_number).collect()
    }
}

/// What has which number after a change.
struct Numbers {
    /// By the place in the new plan.
    numbers: Vec<usize>,
    closed: Vec<usize>,
    new: Vec<New>,
}

/// Something that begins.
struct New {
    /// Its place in the new plan.
    place: usize,
    /// The number of the one with the same name before it.
    replaces: Option<usize>,
}

/// Gives numbers to what `wanted` names: those of what is the same already, else new ones.
fn take(slots: &mut Vec<Slot>, wanted: &[Slot], difference: &mut Difference) -> Numbers {
    let mut taken = vec![false; slots.len()];
    let mut found = Vec::with_capacity(wanted.len());
    for one in wanted {
        let is_same = |(number, slot): (usize, &Slot)| {
            !taken[number]
                && slot.made_of.is_some()
                && slot.name == one.name
                && slot.made_of == one.made_of
        };
        let same = slots.iter().enumerate().position(is_same);
        if let Some(number) = same {
            taken[number] = true;
        }
        found.push(same);
    }
    let was_open = |(number, slot): (usize, &Slot)| {
        (!taken[number] && slot.made_of.is_some()).then_some(number)
    };
    let closed: Vec<usize> = slots.iter().enumerate().filter_map(was_open).collect();
    for number in &closed {
        slots[*number].made_of = None;
        difference.ends.push(slots[*number].name.clone());
    }
    let (mut numbers, mut new) = (Vec::with_capacity(wanted.len()), Vec::new());
    for (place, (one, same)) in wanted.iter().zip(found).enumerate() {
        numbers.push(same.unwrap_or_else(|| {
            let replaces = closed.iter().copied().find(|number| slots[*number].name == one.name);
            difference.begins.push(one.name.clone());
            new.push(New { place, replaces });
            slots.push(one.clone());
            slots.len() - 1
        }));
    }
    Numbers { numbers, closed, new }
}

/// For each number, its place.
fn places(numbers: &[usize], count: usize) -> Vec<Option<usize>> {
    (0..count).map(|number| numbers.iter().position(|one| *one == number)).collect()
}

/// What feeds a source that gives back what a sink has refused or answered.
const FEEDBACK: &str = "feedback";

/// Name and makings of the sinks. What a sink gives back belongs to it: when the program takes more or less of
/// it than before, it is another sink. Where names do not tell whose it is, it belongs to all.
fn sinks(plan: &RunPlan, sources: &[(String, String)]) -> Vec<(String, String)> {
    let is_sink = |name: &str| plan.sinks.iter().any(|sink| sink.name == name);
    let back: Vec<&str> = sources
        .iter()
        .filter(|(_, made_of)| made_of == FEEDBACK)
        .map(|(name, _)| name.as_str())
        .collect();
    let sinks = plan.sinks.iter().map(|sink| {
        let own = back.iter().filter(|one| sink_of(one) == sink.name || !is_sink(sink_of(one)));
        let own = own.copied().collect::<Vec<_>>().join(" ");
        let config = without_places(&format!("{:?} {:?}", sink.config, sink.queue));
        (sink.name.clone(), format!("{config} {own}"))
    });
    sinks.collect()
}

/// The sink whose port a source of feedback reads: `search/err` is of `search`.
fn sink_of(source: &str) -> &str {
    source.rsplit_once('/').map_or(source, |(sink, _)| sink)
}

/// What comes back from a sink begins and ends with it.
fn with_their_sinks(
    sources: &[(String, String)],
    sinks: &[(String, String)],
) -> Vec<(String, String)> {
    let with_sink = |(name, made_of): &(String, String)| {
        if made_of != FEEDBACK {
            return (name.clone(), made_of.clone());
        }
        let is_known = sinks.iter().any(|(sink, _)| sink == sink_of(name));
        let own = sinks.iter().filter(|(sink, _)| sink == sink_of(name) || !is_known);
        let own = own.map(|(_, made_of)| made_of.as_str()).collect::<Vec<_>>().join(" ");
        (name.clone(), format!("{FEEDBACK} of {own}"))
    };
    sources.iter().map(with_sink).collect()
}
