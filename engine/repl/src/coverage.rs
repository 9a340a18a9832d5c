//! What the samples reach of a pipeline: branches, steps, the patterns of `parse`, and ports.

use super::commands::{branch_line, branches};
use super::pipeline::{Pipeline, SAMPLES_MAX};
use super::samples::Samples;
use std::collections::BTreeSet;
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
