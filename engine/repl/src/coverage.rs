//! What the samples reach of a pipeline: branches, steps, the patterns of `parse`, and ports.

use super::pipeline::{Pipeline, SAMPLES_MAX};
use super::samples::Samples;
use super::view::{branch_line, one_line};
use std::collections::BTreeSet;
use temblor_lang::coverage::Coverage;
use temblor_lang::span::Sources;
use temblor_pipeline::rehearsal::Happening;

impl Pipeline {
    /// Sends all samples through, from a fresh start, and tells what none of them reached.
    pub(crate) fn coverage(&self, samples: &mut Samples) -> Result<String, String> {
        if let Some(text) = self.idle_filters(samples)? {
            return Ok(text);
        }
        let mut part = self.fresh()?;
        let (mut nodes, mut ports) = (BTreeSet::new(), BTreeSet::new());
        let mut patterns = part.patterns();
        for index in 0..SAMPLES_MAX {
            self.setup.check()?;
            let Some(sample) = samples.read(index)? else { break };
            let (happenings, visits) = part.follow(&sample);
            note_ports(&happenings, &mut ports);
            for visit in &visits {
                nodes.insert(visit.node);
                let (number, _) = part.step_of(visit);
                patterns.iter_mut().filter(|one| one.step == number).for_each(|one| {
                    one.try_on(&part, &visit.before);
                });
            }
        }
        note_ports(&part.flush(), &mut ports);
        let mut text = branches(&part.coverage, part.rehearsal.sources());
        for number in part.idle_steps(&nodes) {
            text.push_str(&format!("not reached: step {}\n", self.steps.title(number)));
        }
        for list in &patterns {
            for pattern in list.idle() {
                text.push_str(&format!("not reached: pattern {pattern}\n"));
            }
        }
        let graph = part.rehearsal.graph();
        for port in graph.connected_outputs().filter(|port| !ports.contains(*port)) {
            text.push_str(&format!("not reached: port {port}\n"));
        }
        if !text.contains("not reached") {
            text.push_str("the samples reach all of it\n");
        }
        let colour = self.setup.colour;
        Ok(text.lines().map(|one| format!("{}\n", branch_line(one, colour))).collect())
    }

    /// Steps that are on and have no node that an event came to.
    fn idle_steps(&self, nodes: &BTreeSet<usize>) -> Vec<usize> {
        let graph = self.rehearsal.graph();
        let reached: BTreeSet<usize> = nodes
            .iter()
            .filter_map(|node| self.steps.number_of(graph.nodes()[*node].span?))
            .collect();
        let works = graph.nodes().iter().filter_map(|node| self.steps.number_of(node.span?));
        let works: BTreeSet<usize> = works.collect();
        works.difference(&reached).copied().collect()
    }
}

fn note_ports(happenings: &[Happening], ports: &mut BTreeSet<String>) {
    ports.extend(happenings.iter().filter_map(|one| match one {
        Happening::Output { port, .. } => Some(port.clone()),
        _ => None,
    }));
}

/// How many of the branches of the user's texts were taken, and which were not.
pub(crate) fn branches(coverage: &Coverage, sources: &Sources) -> String {
    let mut shown = String::new();
    let (mut all, mut missed) = (0, 0);
    for branch in coverage.branches() {
        let name = sources.get(branch.span.source).map_or("", |source| source.name.as_str());
        if name.starts_with("<std") {
            continue;
        }
        all += 1;
        if branch.taken() == 0 {
            missed += 1;
            let at = sources.position(branch.span);
            let text = one_line(sources.text(branch.span));
            let noun = branch.kind.noun();
            shown.push_str(&format!("not reached: {}:{}: {noun} {text}\n", at.line, at.column));
        }
    }
    if all == 0 {
        return String::new();
    }
    format!("{} of {all} branches reached\n{shown}", all - missed)
}
