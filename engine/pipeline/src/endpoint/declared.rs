//! A declaration of a Temblor file, read by the rows of its connector.

use super::reading::reading;
use super::writing::{Writing, fit, writing};
use super::{SinkEndpoint, SourceEndpoint};
use crate::connected::{self, Reading};
use crate::queueing;
use crate::registry::Registry;
use temblor_declare::queue::SEVERITY;
use temblor_declare::read::Reader;
use temblor_declare::shared::{BUFFER, QUEUE, READING, STREAM, WRITING};
use temblor_declare::{Connector, Ends, Given, Notation, Setting, Settings, Takes};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, Scope};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{EndpointDef, StringLit};

/// The setting that the text behind the kind stands for.
const ADDRESS: &str = "address";

/// `source NAME from KIND "ADDRESS" with … end`
pub(super) fn source(
    def: &EndpointDef,
    registry: &Registry,
    compiler: &mut Compiler<'_>,
) -> Option<SourceEndpoint> {
    let connector = connector(def, Ends::Source, registry, compiler)?;
    let before = compiler.diagnostics.len();
    let settings = settings(connector, def, &[connector.source, READING, BUFFER], compiler);
    let reading = reading(connector, &settings, compiler);
    if connected::has_errors(&compiler.diagnostics[before..]) {
        return None;
    }
    let name = &def.name.text;
    let built = connected::build(connector, name, Ends::Source, &settings, &reading, compiler)?;
    let source = queueing::source(connector, name, built.source?, &settings, compiler);
    Some(SourceEndpoint::new(name, source, reading.codec))
}

/// `sink NAME into KIND "ADDRESS" with … end`
pub(super) fn sink(
    def: &EndpointDef,
    registry: &Registry,
    sources: &mut Vec<SourceEndpoint>,
    compiler: &mut Compiler<'_>,
) -> Option<SinkEndpoint> {
    let connector = connector(def, Ends::Sink, registry, compiler)?;
    let before = compiler.diagnostics.len();
    let rows = [connector.sink, WRITING, STREAM, QUEUE, &SEVERITY];
    let settings = settings(connector, def, &rows, compiler);
    let mut writing: Writing = writing(connector, &settings, compiler);
    if connected::has_errors(&compiler.diagnostics[before..]) {
        return None;
    }
    let reading = Reading { stream: writing.stream, ..Reading::default() };
    let name = def.name.text.as_str();
    let built = connected::build(connector, name, Ends::Sink, &settings, &reading, compiler)?;
    let sink = built.sink?;
    fit(connector, &sink, &settings, &mut writing, compiler);
    let attributes = connected::attributes(connector.sink, &settings);
    let (is_local, has_queue) = (sink.is_stream, sink.has_queue);
    let endpoint =
        connected::sink_endpoint((name, name), sink, attributes, writing.encoding, sources);
    let endpoint = SinkEndpoint { each_member: !is_local, ..endpoint };
    Some(queueing::sink(endpoint, &settings, (has_queue, connector.sink), sources, compiler))
}

/// The row of a kind, if it can be such an end.
fn connector(
    def: &EndpointDef,
    ends: Ends,
    registry: &Registry,
    compiler: &mut Compiler<'_>,
) -> Option<&'static Connector> {
    let kind = def.kind.text.as_str();
    let (is, can) = match ends {
        Ends::Source => ("source", "sink … into"),
        _ => ("sink", "source … from"),
    };
    let Some(connector) = registry.connector(kind, Notation::Temblor) else {
        let complaint =
            Diagnostic::error("E0519", def.kind.span, format!("unknown kind of {is} `{kind}`"));
        let known = registry.kinds(Notation::Temblor, ends);
        compiler.diagnostics.push(complaint.with_known(kind, &known));
        return None;
    };
    if connector.ends != Ends::Both && connector.ends != ends {
        let complaint =
            Diagnostic::error("E0519", def.kind.span, format!("`{kind}` cannot be a {is}"))
                .with_help(format!("it can only be declared with `{can} {kind}`"));
        compiler.diagnostics.push(complaint);
        return None;
    }
    Some(connector)
}

/// The settings of a declaration, and the text behind its kind.
fn settings(
    connector: &Connector,
    def: &EndpointDef,
    rows: &[&'static [Setting]],
    compiler: &mut Compiler<'_>,
) -> Settings {
    let scope = Scope::with_prelude();
    let args = compiler.program_args.clone();
    let reader = Reader { rows, span: def.kind.span, scope: &scope, args, wants_units: true };
    let mut settings = Settings::new(def.kind.span);
    match address(connector, def, &reader, compiler) {
        Ok(None) => {}
        Ok(Some((span, given))) => settings.insert(ADDRESS, span, given),
        Err(complaint) => {
            settings.note(ADDRESS);
            compiler.diagnostics.push(complaint);
        }
    }
    reader.bindings(&def.with, settings, compiler)
}

/// The text behind the kind: one that is known, unless a row of the connector says otherwise.
fn address(
    connector: &Connector,
    def: &EndpointDef,
    reader: &Reader<'_>,
    compiler: &mut Compiler<'_>,
) -> Result<Option<(Span, Given)>, Diagnostic> {
    let (row, kind) = (reader.rows[0].iter().find(|row| row.name == ADDRESS), connector.kind);
    let Some(what) = connector.address else {
        let refused = |text: &StringLit| {
            Diagnostic::error("E0520", text.span, format!("`{kind}` has no address"))
        };
        return def.argument.as_ref().map_or(Ok(None), |text| Err(refused(text)));
    };
    let Some(text) = def.argument.as_ref().filter(|text| text.constant() != Some("")) else {
        let is_needed = row.is_none_or(|row| row.required)
            && !def.with.iter().any(|one| one.name.text == ADDRESS && row.is_some());
        let message = format!("`{kind}` needs an address");
        let missing = Diagnostic::error("E0520", def.kind.span, message).with_help(what);
        return if is_needed { Err(missing) } else { Ok(None) };
    };
    let given = match (row.map(|row| row.takes), text.constant()) {
        (Some(takes @ (Takes::Template | Takes::PathTemplate)), _) => {
            reader.template(takes, text, compiler)
        }
        (_, Some(known)) => Given::Text(known.to_string()),
        (_, None) => {
            let message = format!("the address of `{kind}` must be known at load");
            return Err(Diagnostic::error("E0520", text.span, message).with_help(what));
        }
    };
    Ok(Some((text.span, given)))
}
