//! Flows: what the connectors of a deploy file are made into. The pipelines are in the graph
//! (`graph::flow`); a connector becomes a source, a sink, or both.

mod chains;
mod connector;
mod settings;

pub use connector::KINDS as CONNECTOR_KINDS;

use crate::endpoint::Endpoints;
use crate::graph::{Builder, Graph, Notation};
use temblor_lang::lower::Compiler;
use temblor_lang::syntax::tree::Deploy;
use temblor_lang::value::Frozen;

/// The graph of all deployed flows and what is at its ends. `args` overrides the arguments of the
/// flows. What is wrong is reported to the compiler.
pub fn lower(
    deploy: &Deploy,
    args: Option<&Frozen>,
    compiler: &mut Compiler<'_>,
) -> (Graph, Endpoints) {
    let flows = Builder::new(compiler, Notation::Long).deploy(deploy, args);
    let mut endpoints = Endpoints::default();
    for connector in &flows.connectors {
        connector::lower(connector, &mut endpoints, compiler);
    }
    (flows.graph, endpoints)
}
