//! The sinks of a program in the plan of a run.

use super::SinkEndpoint;
use crate::graph::Graph;
use crate::operator::ERR;
use crate::pipeline::{Output, Place};
use temblor_codec::Encoding;
use temblor_runtime::run::{NamedSink, RunPlan};

/// Puts the sinks into the plan; the events of ports that have none go to `rest`.
pub fn wire_sinks(
    graph: &Graph,
    sinks: Vec<SinkEndpoint>,
    (rest, encoding): (NamedSink, Encoding),
    plan: &mut RunPlan,
) -> Vec<Vec<Output>> {
    plan.ports = graph.outputs().to_vec();
    let mut outputs: Vec<Vec<Output>> = plan.ports.iter().map(|_| Vec::new()).collect();
    for sink in sinks {
        let Some(port) = plan.ports.iter().position(|port| *port == sink.port) else { continue };
        let place = sink.path.map_or(Place::Only, Place::Path);
        let number = plan.sinks.len();
        let errors = graph.input(&format!("{}/{ERR}", sink.port));
        plan.sinks.push(NamedSink { name: sink.port, config: sink.config, queue: sink.queue });
        let SinkEndpoint { encoding, each_member, attributes, .. } = sink;
        outputs[port].push(Output {
            sink: number,
            place,
            encoding,
            port,
            each_member,
            attributes,
            errors,
        });
    }
    if outputs.iter().any(Vec::is_empty) {
        let sink = plan.sinks.len();
        plan.sinks.push(rest);
        for (port, places) in outputs.iter_mut().enumerate().filter(|(_, one)| one.is_empty()) {
            let (place, encoding) = (Place::Only, encoding.clone());
            let (attributes, errors, each_member) = (None, None, false);
            places.push(Output { sink, place, encoding, port, each_member, attributes, errors });
        }
    }
    outputs
}
