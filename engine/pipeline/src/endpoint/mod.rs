//! `source … from …` and `sink … into …` of Temblor files: where the events of an input port come
//! from and where those of an output port go.
//!
//! Invariant: nothing here knows a single connector; all are rows of the registry.

mod ends;
mod reading;
mod writing;
mod declared;
mod plan;

pub use ends::{SinkEndpoint, SourceEndpoint};
pub use plan::wire_sinks;

use crate::lookup::NamedTables;
use crate::registry::Registry;
use temblor_codec::OutputCodec;
use temblor_lang::lower::Compiler;
use temblor_lang::syntax::tree::{EndpointDef, EndpointRole};

/// All that a file declares.
#[derive(Debug, Default)]
pub struct Endpoints {
    /// In order of writing.
    pub sources: Vec<SourceEndpoint>,
    /// In order of writing.
    pub sinks: Vec<SinkEndpoint>,
    /// What scripts and `enrich` may look things up in.
    pub tables: NamedTables,
}

impl Endpoints {
    /// Checks the declarations; what is wrong is reported to the compiler. `given`: the tables of the
    /// command line, if it is known which there are.
    pub fn lower(
        definitions: &[EndpointDef],
        given: Option<&NamedTables>,
        registry: &Registry,
        compiler: &mut Compiler<'_>,
    ) -> Self {
        let tables = NamedTables::lower(definitions, given, compiler);
        let mut endpoints = Self { tables, ..Self::default() };
        for def in definitions {
            match def.role {
                EndpointRole::Source => {
                    endpoints.sources.extend(declared::source(def, registry, compiler));
                }
                EndpointRole::Sink => {
                    let sink = declared::sink(def, registry, &mut endpoints.sources, compiler);
                    endpoints.sinks.extend(sink);
                }
                EndpointRole::Table => {}
            }
        }
        endpoints
    }

    /// Whether a sink takes dead letters.
    #[must_use]
    pub fn take_letters(&self) -> bool {
        self.sinks.iter().any(|sink| sink.encoding.codec == OutputCodec::Letter)
    }

    /// Whether the file declares no source and no sink.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.sinks.is_empty()
    }
}
