//! Inputs and outputs over the network: the connectors of the engine under the names and options that
//! Logstash gives them.
//!
//! Invariant: nothing here knows how a connector talks. A plugin is one row in `rows.rs`; its connector reads
//! the settings that the row makes of the options, and says what is wrong with them.

mod arrival;
mod draft;
mod shape;
mod syslog;
mod written;
mod collectors;
mod rows;

pub(crate) use arrival::{Arrival, Arrives, forwarded, found, is_json, note};
pub(crate) use draft::{Node, PerEvent};
pub(crate) use rows::{NetworkPlugin, find, names};
pub(crate) use syslog::reader as syslog;
pub(crate) use written::graphite_lines as graphite;

use crate::catalog;
use crate::codec::Encoder;
use crate::complain;
use crate::input::{self, Input};
use crate::options::{Arguments, OptionSpec};
use crate::output::{self, Outlet};
use crate::settings::Settings;
use crate::syntax::tree::{Plugin, ValueKind};
use draft::Draft;
pub(crate) use rows::Becomes;
use rows::Row;
use std::sync::Arc;
use temblor_codec::{Encoding, Format, InputCodec, OutputCodec};
use temblor_declare::{
    Built, BuiltSink, Connector, Ends, Given, Notation, PerEvent as Evaluated,
    Settings as Connected, read,
};
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::lower::{Compiler, NoModules, Rules, Scope};
use temblor_lang::program::Formula;
use temblor_lang::syntax::tree::Item;
use temblor_lang::value::Arena;
use temblor_logstash_event::template::Template;
use temblor_pipeline::connected::{self, Reading};
use temblor_pipeline::pipeline::Attribute;
use temblor_runtime::framing::Framing;
use temblor_runtime::source::OpenSource;

/// The codec of the Forward protocol.
const FORWARD: &str = "fluent";
/// What stands in front of a setting's name in the metadata of an event on its way to a sink.
pub(crate) const TO: &str = "to_";

/// Sources of an input, and how their frames are read.
#[derive(Debug)]
pub struct Sources {
    /// One for each connector that the input is.
    pub open: Vec<Arc<dyn OpenSource>>,
    /// How frames are read.
    pub codec: InputCodec,
}

/// An output that was built.
#[derive(Debug)]
pub struct Sink {
    /// The sink.
    pub built: BuiltSink,
    /// What it wants to know of each event.
    pub attributes: Box<[Attribute]>,
    /// How events are written where no codec of Logstash does it.
    pub encoding: Encoding,
}

/// The row of a plugin, if the program has its connectors.
#[must_use]
pub(crate) fn here(
    plugin: &Plugin,
    end: Ends,
    settings: &Settings,
) -> Option<&'static NetworkPlugin> {
    let row = find(&plugin.name.text, end)?;
    let row = if end == Ends::Source && forwards(plugin) { rows::of_fluent(row) } else { row };
    row.kinds.iter().all(|kind| connector(kind, settings).is_some()).then_some(row)
}

/// Whether a plugin names the codec of the Forward protocol, which is a connector here: what it says to its peer
/// depends on what becomes of the events.
fn forwards(plugin: &Plugin) -> bool {
    let codec = plugin.options.iter().find(|(name, _)| name.text == "codec");
    codec.is_some_and(|(_, value)| match &value.kind {
        ValueKind::Plugin(codec) => codec.name.text == FORWARD,
        ValueKind::Bare(name) | ValueKind::Text(name) => name == FORWARD,
        _ => false,
    })
}

fn connector(kind: &str, settings: &Settings) -> Option<&'static Connector> {
    settings.connectors?.connector(kind, Notation::Temblor)
}

/// The options that Logstash's manual gives a plugin.
pub(crate) fn declared(row: &NetworkPlugin) -> &'static [OptionSpec] {
    let kind = if row.end == Ends::Source { "input" } else { "output" };
    catalog::find(kind, row.name).map_or(&[], |known| &known.options)
}

/// Reads an input; `None` when it is wrong, which has been said.
pub(crate) fn input(
    row: &'static NetworkPlugin,
    (name, plugin): (&str, &Plugin),
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Input> {
    let arrival = row.arrival?;
    let declared = (declared(row), input::COMMON);
    let before = diagnostics.len();
    let mut plugin = plugin.clone();
    if arrival.arrives == Arrives::Forwarded {
        // The connector reads it.
        plugin.options.retain(|(name, _)| name.text != "codec");
    }
    Arguments::build(&plugin, declared, settings, diagnostics, |arguments| {
        let codec = row.codec.unwrap_or("plain");
        let intake = input::Intake::of_network(arrival, codec, arguments)?;
        let (framing, codec) = match arrival.arrives {
            Arrives::Frames | Arrives::Syslog => {
                (intake.framing(), InputCodec::Format(Format::Binary))
            }
            Arrives::Messages | Arrives::Bodies | Arrives::Polled => {
                (Framing::Whole, InputCodec::Format(Format::Binary))
            }
            Arrives::Events | Arrives::Forwarded => (Framing::Lines, InputCodec::Json),
        };
        let framing_is_chosen =
            !matches!(arrival.arrives, Arrives::Messages | Arrives::Events | Arrives::Forwarded);
        let reading = Reading { codec, framing, framing_is_chosen, ..Reading::default() };
        let built = build(row, name, &reading, (arguments, before))?;
        let open = built.into_iter().filter_map(|(built, ..)| built.source).collect();
        Some(Input { intake, origin: input::Origin::Network(Sources { open, codec }) })
    })
}

/// Reads an output; `None` when it is wrong, which has been said.
pub(crate) fn output(
    row: &'static NetworkPlugin,
    (name, plugin): (&str, &Plugin),
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Outlet, output::Destination)> {
    let declared = (declared(row), output::COMMON);
    let before = diagnostics.len();
    Arguments::build(plugin, declared, settings, diagnostics, |arguments| {
        let encoder = match (row.writes, row.codec) {
            (Some(writes), _) => writes(arguments)?,
            (None, Some(codec)) => Some(Encoder::of(arguments, codec)?),
            (None, None) => None,
        };
        let encoder = encoder.filter(|encoder| !encoder.is_plain_json());
        let (codec, framing) = (InputCodec::Json, Framing::Lines);
        let reading = Reading { codec, framing, ..Reading::default() };
        let built = build(row, name, &reading, (arguments, before))?.pop()?;
        let (built, settings, per_event, connector) = built;
        let bare = encoder.is_some() || !connector.writes_lines;
        let encoding = Encoding {
            codec: match encoder {
                Some(_) => OutputCodec::Format(Format::Binary),
                None => OutputCodec::Json,
            },
            post: bare.then(|| Box::from([])),
        };
        let told = per_event.into_iter().map(|(name, value)| (format!("{TO}{name}"), value));
        let outlet = Outlet { encoder, told: told.collect(), ..Outlet::default() };
        let attributes = connected::attributes(connector.sink, &settings);
        let sink = Sink { built: built.sink?, attributes, encoding };
        Some((outlet, output::Destination::Network(Box::new(sink))))
    })
}

/// The settings of a plugin's connectors, with what is wrong with them left out.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// The connectors; all of them have the same settings.
    pub kinds: Vec<&'static Connector>,
    /// The address.
    pub address: Option<Node>,
    /// Settings by name.
    pub settings: Vec<(String, Node)>,
    /// Settings that depend on the event.
    pub per_event: Vec<(&'static str, PerEvent)>,
}

/// What a plugin over the network becomes, for those who write it down: [`input`] and [`output`] say what is wrong
/// with it.
pub(crate) fn drawn(
    row: &'static NetworkPlugin,
    plugin: &Plugin,
    settings: &Settings,
) -> Option<Drawn> {
    let common = if row.end == Ends::Source { input::COMMON } else { output::COMMON };
    let mut unheard = Vec::new();
    let mut arguments = Arguments::new(plugin, declared(row), common, settings, &mut unheard);
    let mut draft = sketch(row, &mut arguments);
    let address = draft.take("address");
    let kinds: Option<_> = row.kinds.iter().map(|kind| connector(kind, settings)).collect();
    let (settings, per_event) = draft.into_parts();
    Some(Drawn { kinds: kinds?, address, settings, per_event })
}

/// The options of a plugin as settings.
fn sketch<'d, 'c>(row: &NetworkPlugin, arguments: &'d mut Arguments<'c>) -> Draft<'d, 'c> {
    let mut draft = Draft::new(arguments);
    for (option, becomes) in row.options.iter().flat_map(|rows| rows.iter()) {
        apply(option, *becomes, &mut draft);
    }
    (row.shape)(&mut draft);
    draft
}

/// What becomes of one connector of a plugin.
type Made = (Built, Connected, Vec<(&'static str, PerEvent)>, &'static Connector);

/// Whether there is an error among these.
fn fails(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|one| one.severity == Severity::Error)
}

/// Builds the connectors of a plugin from its options, unless there are errors behind the first `before`
/// diagnostics.
fn build(
    row: &'static NetworkPlugin,
    name: &str,
    reading: &Reading,
    (arguments, before): (&mut Arguments<'_>, usize),
) -> Option<Vec<Made>> {
    let span = arguments.span;
    let mut draft = sketch(row, arguments);
    let known: Vec<Row> = row.options.iter().flat_map(|rows| rows.iter().copied()).collect();
    complain_of_others(&known, row, draft.arguments);
    if draft.arguments.with_diagnostics(|all| fails(&all[before..])) {
        // A connector would only find the same mistakes again.
        return None;
    }
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
    let mut made = Vec::new();
    // The address is no row of its own; a connector reads it all the same.
    let address = draft.take("address");
    for kind in row.kinds {
        let connector = connector(kind, draft.arguments.settings)?;
        let rows = if row.end == Ends::Source { connector.source } else { connector.sink };
        let arena = Arena::new();
        let mut settings = read::record(rows, draft.value(&arena), span, &arena, &mut compiler);
        if let Some(Node::Text(address)) = &address {
            settings.insert("address", span, Given::Text(address.clone()));
        }
        for (option, becomes) in &known {
            point(option, *becomes, draft.arguments, &mut settings);
        }
        for (setting, value) in &draft.per_event {
            let formula = Arc::new(metadata_formula(&format!("{TO}{setting}")));
            let as_json = matches!(value, PerEvent::Texts(_) | PerEvent::Labels(_));
            let evaluated = Given::PerEvent(Evaluated { formula, as_json });
            settings.insert(setting, span, evaluated);
        }
        let built = match fails(&compiler.diagnostics) {
            true => None,
            false => connected::build(connector, name, row.end, &settings, reading, &mut compiler),
        };
        made.extend(built.map(|built| (built, settings, draft.per_event.clone(), connector)));
    }
    for diagnostic in std::mem::take(&mut compiler.diagnostics) {
        draft.arguments.complain(diagnostic);
    }
    (made.len() == row.kinds.len()).then_some(made)
}

/// Warns of options that no row names.
fn complain_of_others(known: &[Row], row: &NetworkPlugin, arguments: &mut Arguments<'_>) {
    let common = if row.end == Ends::Source { input::COMMON } else { output::COMMON };
    let is_known = |option: &str| {
        known.iter().any(|(name, _)| *name == option)
            || common.iter().any(|spec| spec.name == option)
    };
    let others = arguments.entries().filter(|(option, _)| !is_known(option));
    let others: Vec<_> =
        others.map(|(option, setting)| (option.to_string(), setting.span)).collect();
    for (option, span) in others {
        arguments.complain(complain::without_effect(&option, span, "here"));
    }
}

/// Makes a setting of an option, if it is there.
fn apply(option: &'static str, becomes: Becomes, draft: &mut Draft<'_, '_>) {
    let Some(setting) = draft.arguments.get(option).cloned() else { return };
    let text = setting.text().map(str::to_string);
    let number = draft.arguments.number(option).filter(|number| *number >= 0.0);
    let millis = |number: f64| Node::Text(format!("{}ms", number.round() as u64));
    let (path, node) = match becomes {
        Becomes::Known => return,
        Becomes::Refused(_) if text.as_deref() == Some("false") => return,
        Becomes::Refused(wanted) => return draft.wrong(option, wanted),
        Becomes::Template(path) => {
            text.iter().for_each(|text| draft.set_template(path, text));
            return;
        }
        Becomes::Templates(path) => return templates(option, path, draft),
        Becomes::Text(path) => (path, text.map(|_| Node::Text(draft.fixed(option, "")))),
        Becomes::Texts(path) => (path, draft.arguments.words(option).map(Node::Texts)),
        Becomes::Only(path) => (path, text.map(Node::Text)),
        Becomes::Whole(path) => (path, number.map(|number| Node::Whole(number as u64))),
        Becomes::Flag(path) => (path, Some(Node::Flag(text.as_deref() == Some("true")))),
        Becomes::Seconds(path) => (path, number.map(|number| millis(number * 1e3))),
        Becomes::Milliseconds(path) => (path, number.map(millis)),
        Becomes::Map(path) => {
            let pairs = draft.arguments.pairs(option).into_iter();
            let entry = |(name, value): (String, crate::options::Setting)| {
                Some((name, Node::Text(value.text()?.to_string())))
            };
            (path, Some(Node::Record(pairs.filter_map(entry).collect())))
        }
        Becomes::Word(path, words) => {
            let found = words.iter().find(|(name, _)| Some(*name) == text.as_deref());
            (path, found.map(|(_, word)| Node::Text((*word).to_string())))
        }
        Becomes::Switch(path, words) => {
            let found = words.iter().find(|(name, _)| Some(*name) == text.as_deref());
            (path, found.map(|(_, flag)| Node::Flag(*flag)))
        }
    };
    match (node, becomes) {
        (Some(node), _) => draft.set(path, node),
        (None, Becomes::Only(_)) => draft.wrong(option, "one text here; put all into one file"),
        (None, _) => draft.wrong(option, "a value that can be kept here"),
    }
}

/// Names and texts that may depend on the event.
fn templates(option: &str, path: &'static str, draft: &mut Draft<'_, '_>) {
    let pairs = draft.arguments.pairs(option);
    let texts: Vec<(String, Template)> = pairs
        .into_iter()
        .filter_map(|(name, value)| Some((name, Template::parse(value.text()?))))
        .collect();
    let constants =
        texts.iter().map(|(name, one)| (name.clone(), Node::Text(one.source().to_string())));
    draft.set(path, Node::Record(constants.collect()));
    if !texts.iter().all(|(_, one)| one.is_constant()) {
        draft.per_event.push((path, PerEvent::Texts(texts)));
    }
}

/// Lets complaints about a setting point at the option that it comes from.
fn point(option: &str, becomes: Becomes, arguments: &Arguments<'_>, settings: &mut Connected) {
    let path = match becomes {
        Becomes::Text(path)
        | Becomes::Texts(path)
        | Becomes::Only(path)
        | Becomes::Whole(path)
        | Becomes::Flag(path)
        | Becomes::Seconds(path)
        | Becomes::Milliseconds(path)
        | Becomes::Map(path)
        | Becomes::Template(path)
        | Becomes::Templates(path)
        | Becomes::Word(path, _)
        | Becomes::Switch(path, _) => path,
        Becomes::Known | Becomes::Refused(_) => return,
    };
    let name = path.split('.').next().unwrap_or(path);
    if let (Some(_), Some(given)) = (arguments.get(option), settings.get(name).cloned()) {
        settings.insert(name, arguments.place(option), given);
    }
}

/// `$NAME`
#[must_use]
pub(crate) fn metadata_formula(name: &str) -> Formula {
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
    let source = compiler.sources.add(name, format!("${name}"));
    let parsed = temblor_lang::syntax::parse_script(&compiler.sources, source);
    let Some(Item::Expr(expr)) = parsed.tree.items.last() else {
        unreachable!("the text is an expression")
    };
    compiler.lower_formula(expr, &Scope::default(), Rules::FORMULA, None)
}
