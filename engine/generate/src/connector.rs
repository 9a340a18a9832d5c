//! `generator`: the row by which programs name generators.

use std::sync::Arc;

use temblor_codec::InputCodec;
use temblor_declare::read::complain::sentence;
use temblor_declare::{Build, Built, CodecUse, Connector, Ends, Notation, Wrong};

use crate::settings::SETTINGS;
use crate::source::Generated;
use crate::spec::Spec;

/// The connectors of this crate.
pub static CONNECTORS: &[&Connector] = &[&GENERATOR];

/// Generators in Temblor programs.
static GENERATOR: Connector = Connector {
    kind: "generator",
    notation: Notation::Temblor,
    doc: "Events that are made. The same seed gives the same events on every machine. The kinds, and which settings each \
          takes, are in `spec/programs/generators.md`.",
    ends: Ends::Source,
    address: Some("\"KIND\": such as weblog, syslog, template, sample or replay"),
    source: SETTINGS,
    sink: &[],
    codec: CodecUse::Default("json"),
    writes_lines: true,
    gives: &[],
    meta: &[],
    examples: &[
        "source hits from generator \"weblog\" with codec = \"lines\", rate = \"200/s\", loss = 0.01 end;\nhits |> out;",
    ],
    build,
};

/// The kinds that make text which is no JSON.
const TEXT_KINDS: [&str; 8] = [
    "access",
    "counter",
    "firewall",
    "syslog",
    "syslog-5424",
    "weblog",
    "windbag",
    "windows-event",
];

fn build(what: &Build<'_>) -> Result<Built, Wrong> {
    let cutting = ["framing", "preprocessors", "separator"];
    what.refuse(&cutting, "generator", "its events are made line by line; leave it out")?;
    let kind = what.settings.text("address");
    match Spec::of(kind, what.settings) {
        Ok(spec) => {
            let source = Generated { name: what.name.to_string(), spec };
            let is_wrapped = what.settings.optional_text("output") == Some("hec");
            let fails = TEXT_KINDS.contains(&kind) && what.codec == InputCodec::Json && !is_wrapped;
            let warnings = fails.then(|| {
                format!("`{kind}` makes text, which is no JSON: each event would fail; set `codec = \"string\"`")
            });
            let warnings = warnings.into_iter().collect();
            Ok(Built { source: Some(Arc::new(source)), warnings, ..Built::default() })
        }
        Err(error) if error.name == "kind" => Err(Wrong::at("address", error.reason, "")),
        Err(error) => {
            let message = sentence(error.name, &error.reason);
            Err(Wrong::at(error.name, format!("generator `{kind}`: {message}"), ""))
        }
    }
}
