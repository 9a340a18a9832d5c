//! Inputs and outputs over the network as sources and sinks of the Temblor file.
//!
//! Invariant: `${NAME}` of the configuration stays a variable; no secret of the environment is written down.

use super::filters::{Filters, step_text};
use super::notation::{self, is_plain, text};
use crate::input::{self, Input};
use crate::load::Pipeline;
use crate::network::{self, Arrives, Drawn, NetworkPlugin, Node, PerEvent, TO};
use crate::options::{Setting, SettingKind};
use crate::output;
use crate::settings::Settings;
use crate::syntax::tree::Plugin;
use std::fmt::Write;
use temblor_declare::{CodecUse, Connector, Ends};
use temblor_lang::span::Span;
use temblor_logstash_event::template::Template;
use temblor_runtime::framing::Framing;

/// Options of an input that are settings of its step, by name; all others of its own are `options`.
const OF_THE_STEP: [&str; 5] = ["codec", "type", "tags", "add_field", "ecs_compatibility"];

/// A plugin as connectors.
#[derive(Debug)]
pub(super) struct Declared {
    row: &'static NetworkPlugin,
    /// With variables as they are now.
    now: Drawn,
    /// With variables as they are written.
    open: Drawn,
}

impl Declared {
    /// The connectors of a plugin.
    pub(super) fn of(
        row: &'static NetworkPlugin,
        plugin: &Plugin,
        settings: &Settings,
    ) -> Option<Self> {
        let open = Settings { keeps_variables: true, ..settings.clone() };
        let now = network::drawn(row, plugin, settings)?;
        Some(Self { row, now, open: network::drawn(row, plugin, &open)? })
    }

    /// The connectors.
    pub(super) fn kinds(&self) -> &[&'static Connector] {
        &self.now.kinds
    }

    /// `source NAME from KIND "ADDRESS" with … end;`
    pub(super) fn source(&self, name: &str, connector: &Connector, framing: &Framing) -> String {
        let mut settings = self.settings();
        let arrives = self.row.arrival.map(|arrival| arrival.arrives);
        let is_structured = matches!(connector.codec, CodecUse::Structured | CodecUse::Letters);
        let codec = if arrives == Some(Arrives::Events) { "json" } else { "binary" };
        if !is_structured && !uses(connector, codec) {
            settings.push(format!("codec = {}", text(codec)));
        }
        match (arrives, framing) {
            (Some(Arrives::Messages | Arrives::Events), _) => {}
            (_, Framing::Whole) => settings.push("framing = \"whole\"".to_string()),
            (_, Framing::Separated(byte)) => settings.push(format!("separator = {byte}")),
            _ => {}
        }
        self.statement(&format!("source {name} from"), connector, &settings)
    }

    /// `sink NAME into KIND "ADDRESS" with … end;`
    pub(super) fn sink(&self, name: &str, connector: &Connector, is_encoded: bool) -> String {
        let mut settings = self.settings();
        let is_structured = matches!(connector.codec, CodecUse::Structured | CodecUse::Letters);
        match is_encoded {
            true => settings.push("codec = \"raw\"".to_string()),
            false if !is_structured && !uses(connector, "json") => {
                settings.push("codec = \"json\"".to_string());
            }
            false => {}
        }
        for (setting, _) in &self.open.per_event {
            let expression = match self.told().any(|(told, _)| told == *setting) {
                true => format!("${TO}{setting}"),
                false => self.expression(setting),
            };
            settings.push(format!("{setting} = {expression}"));
        }
        self.statement(&format!("sink {name} into"), connector, &settings)
    }

    /// What the step in front of the sink says of each event.
    pub(super) fn tell(&self) -> Option<Setting> {
        let entries: Vec<_> =
            self.told().map(|(name, value)| (name.to_string(), told(value))).collect();
        (!entries.is_empty()).then(|| hash(entries))
    }

    /// The options of an output that writes in its own way.
    pub(super) fn options(&self, given: Vec<(String, Setting)>) -> Option<Setting> {
        let is_said = |name: &str| {
            let rows = self.row.options.iter().flat_map(|rows| rows.iter());
            let known = rows.filter(|(option, _)| *option == name);
            known.into_iter().all(|(_, becomes)| matches!(becomes, network::Becomes::Known))
        };
        let own = |name: &str| network::declared(self.row).iter().any(|one| one.name == name);
        let is_place = |name: &str| matches!(name, "host" | "hosts" | "port" | "url" | "protocol");
        let kept = given.into_iter().filter(|(name, _)| {
            own(name) && is_said(name) && !is_place(name) && !name.starts_with("ssl_")
        });
        let kept: Vec<_> = kept.filter(|(name, _)| !OF_THE_STEP.contains(&&**name)).collect();
        (!kept.is_empty()).then(|| hash(kept))
    }

    /// What is told by metadata: all but what an expression says as well.
    fn told(&self) -> impl Iterator<Item = (&'static str, &PerEvent)> {
        let is_told = |one: &&(&str, PerEvent)| !matches!(one.1, PerEvent::DataStream(_));
        self.open.per_event.iter().filter(is_told).map(|(name, value)| (*name, value))
    }

    /// A setting that depends on the event, in the words of the language.
    fn expression(&self, setting: &str) -> String {
        let found = self.open.per_event.iter().find(|(name, _)| *name == setting);
        let Some((_, PerEvent::DataStream(parts))) = found else { return "null".to_string() };
        let part = |(field, default): &(_, String)| {
            format!("#{{{} ?? {}}}", notation::field(field), text(default))
        };
        format!("\"{}\"", parts.iter().map(part).collect::<Vec<_>>().join("-"))
    }

    /// The settings that hold for all events.
    fn settings(&self) -> Vec<String> {
        let depends = |name: &str| self.now.per_event.iter().any(|(one, _)| *one == name);
        let fixed = self.now.settings.iter().filter(|(name, _)| !depends(name));
        let setting = |(name, node): &(String, Node)| {
            let open = self.open.settings.iter().find(|(one, _)| one == name);
            format!("{name} = {}", written(node, open.map(|(_, node)| node)))
        };
        fixed.map(setting).collect()
    }

    fn statement(&self, head: &str, connector: &Connector, settings: &[String]) -> String {
        let address = self.now.address.as_ref();
        let address = address.map(|node| format!(" {}", written(node, self.open.address.as_ref())));
        let mut out = format!("{head} {}{}", connector.kind, address.unwrap_or_default());
        if !settings.is_empty() {
            let _ = write!(out, " with {} end", settings.join(", "));
        }
        format!("# {{place}}\n{out};\n")
    }
}

impl Filters<'_, '_> {
    /// The sources of an input over the network; gives the name that its chain begins with.
    pub(super) fn network_sources(
        &mut self,
        plugin: &Plugin,
        made: &Input,
        pipeline: &Pipeline,
    ) -> String {
        let name = &*plugin.name.text;
        let own = format!("{name}_{}", self.page.line(plugin.span));
        let place = self.page.place(plugin.span);
        let row = network::here(plugin, Ends::Source, &pipeline.settings);
        let declared = row.and_then(|row| Declared::of(row, plugin, &pipeline.settings));
        let declared = declared.expect("it was read as a plugin over the network");
        let framing = made.intake.framing();
        let several = declared.kinds().len() > 1;
        let mut sources = Vec::new();
        for connector in declared.kinds() {
            let kind = connector.kind;
            let wanted = if several { format!("{own}_{kind}") } else { own.clone() };
            let source = self.page.name(&wanted);
            let statement = declared.source(&source, connector, &framing);
            self.page.note_head(&statement.replace("{place}", &place));
            sources.push(source);
        }
        if let ([only], false) = (sources.as_slice(), several) {
            return only.clone();
        }
        let stream = self.page.stream(&own);
        for source in &sources {
            self.page.begin(source);
            self.page.end_into(&stream);
        }
        stream
    }

    /// An output over the network.
    pub(super) fn network_sink(
        &mut self,
        plugin: &Plugin,
        outlet: &output::Outlet,
        (from, pipeline): (Option<&str>, &Pipeline),
    ) {
        let name = &*plugin.name.text;
        let place = self.page.place(plugin.span);
        let row = network::here(plugin, Ends::Sink, &pipeline.settings);
        let row = row.expect("it was read as a plugin over the network");
        let declared = Declared::of(row, plugin, &pipeline.settings);
        let declared = declared.expect("it was read as a plugin over the network");
        let sink = self.page.name(&format!("{name}_{}", self.page.line(plugin.span)));
        for connector in declared.kinds() {
            let statement = declared.sink(&sink, connector, outlet.encoder.is_some());
            self.page.note_head(&statement.replace("{place}", &place));
        }
        let lists = (network::declared(row), output::COMMON);
        let mut head = "logstash::output".to_string();
        let mut given = self.kept(plugin, lists, &["codec"], pipeline);
        let usual = row.codec.filter(|_| given.is_empty() && outlet.encoder.is_some());
        if row.writes.is_some() && outlet.encoder.is_some() {
            head = format!("{head} {}", text(name));
            let all = self.options(plugin, lists, |_| true, pipeline);
            given.extend(declared.options(all).map(|options| ("options".to_string(), options)));
        } else if let Some(usual) = usual {
            let kind = SettingKind::Text(usual.to_string());
            given.push(("codec".to_string(), Setting { span: plugin.span, kind }));
        } else if outlet.encoder.is_none() {
            given.clear();
        }
        given.extend(declared.tell().map(|tell| ("tell".to_string(), tell)));
        self.begin_at(from);
        self.page.place_remark(&format!("{place}: {name}"));
        if !given.is_empty() || row.writes.is_some() && outlet.encoder.is_some() {
            self.page.step(&step_text(&head, &given));
        }
        self.page.end_into(&sink);
    }
}

/// Options of an input that its step must know.
pub(super) fn intake_options(
    row: &NetworkPlugin,
    given: Vec<(String, Setting)>,
) -> Vec<(String, Setting)> {
    let is_own = |name: &str| row.arrival.is_some_and(|one| input::is_of_intake(one, name));
    let (mut step, mut own) = (Vec::new(), Vec::new());
    for (name, setting) in given {
        if OF_THE_STEP.contains(&&*name) {
            step.push((name, setting));
        } else if is_own(&name) {
            own.push((name, setting));
        }
    }
    if !own.is_empty() {
        step.push(("options".to_string(), hash(own)));
    }
    step
}

/// Whether a connector reads or writes with a codec unless told otherwise.
fn uses(connector: &Connector, codec: &str) -> bool {
    matches!(connector.codec, CodecUse::Default(usual) if usual == codec)
}

fn hash(entries: Vec<(String, Setting)>) -> Setting {
    Setting { span: Span::default(), kind: SettingKind::Hash(entries) }
}

fn word(text: &str) -> Setting {
    Setting { span: Span::default(), kind: SettingKind::Text(text.to_string()) }
}

fn told(value: &PerEvent) -> Setting {
    let source = |template: &Template| word(template.source());
    match value {
        PerEvent::Text(template) => source(template),
        PerEvent::Time | PerEvent::DataStream(_) => word("true"),
        PerEvent::Texts(texts) => {
            hash(texts.iter().map(|(name, one)| (name.clone(), source(one))).collect())
        }
        PerEvent::Labels(names) => {
            let kind = SettingKind::List(names.iter().map(|name| word(name)).collect());
            Setting { span: Span::default(), kind }
        }
    }
}

/// A value as the language writes it; a text of the configuration with variables keeps them.
fn written(now: &Node, open: Option<&Node>) -> String {
    match (now, open) {
        (Node::Text(_), Some(Node::Text(open))) if open.contains("${") => with_variables(open),
        (Node::Text(now), _) => text(now),
        (Node::Whole(number), _) => number.to_string(),
        (Node::Flag(flag), _) => flag.to_string(),
        (Node::Texts(now), open) => {
            let open = match open {
                Some(Node::Texts(open)) if open.len() == now.len() => open,
                _ => now,
            };
            let one = |text: &String| with_variables(text);
            format!("[{}]", open.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        (Node::Record(now), open) => {
            let open = match open {
                Some(Node::Record(open)) => open.as_slice(),
                _ => &[],
            };
            let entry = |(name, node): &(String, Node)| {
                let open = open.iter().find(|(one, _)| one == name).map(|(_, node)| node);
                format!("{}: {}", text(name), written(node, open))
            };
            format!("{{{}}}", now.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text with `${NAME}` and `${NAME:default}` in it as an expression over the environment.
fn with_variables(open: &str) -> String {
    let parts = variables(open);
    let variable = |name: &str, default: &Option<String>| {
        let name = if is_plain(name) { name.to_string() } else { format!("`{name}`") };
        match default {
            Some(default) => format!("env::{name} ?? {}", text(default)),
            None => format!("env::{name}"),
        }
    };
    match parts.as_slice() {
        [Part::Variable(name, default)] => variable(name, default),
        parts if parts.iter().all(|part| matches!(part, Part::Text(_))) => text(open),
        parts => {
            let mut out = String::from("\"");
            for part in parts {
                match part {
                    Part::Text(plain) => {
                        let plain = plain.replace('\\', "\\\\").replace('"', "\\\"");
                        out.push_str(&plain.replace("#{", "\\#{"));
                    }
                    Part::Variable(name, default) => {
                        let _ = write!(out, "#{{{}}}", variable(name, default));
                    }
                }
            }
            out.push('"');
            out
        }
    }
}

/// A part of a text of the configuration.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(String, Option<String>),
}

fn variables(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("${") {
        plain.push_str(before);
        let found = inside.split_once('}').map(|(name, after)| match name.split_once(':') {
            Some((name, default)) => (name, Some(default.to_string()), after),
            None => (name, None, after),
        });
        let fits = |name: &str| {
            let letter = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '.');
            !name.is_empty()
                && name.chars().all(letter)
                && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        let Some((name, default, after)) = found.filter(|(name, ..)| fits(name)) else {
            plain.push_str("${");
            rest = inside;
            continue;
        };
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Variable(name.to_string(), default));
        rest = after;
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{Node, with_variables, written};

    #[test]
    fn variables_stay_variables() {
        for (text, expected) in [
            ("plain", "\"plain\""),
            ("${A}", "env::A"),
            ("${A:x y}", "env::A ?? \"x y\""),
            ("0.0.0.0:${PORT:5044}", "\"0.0.0.0:#{env::PORT ?? \"5044\"}\""),
            ("a \"${A}\" #{b}", "\"a \\\"#{env::A}\\\" \\#{b}\""),
            ("${1}", "\"${1}\""),
            ("${", "\"${\""),
        ] {
            assert_eq!(with_variables(text), expected, "{text}");
        }
    }

    #[test]
    fn secrets_of_the_environment_are_not_written() {
        let now = Node::Record(vec![("password".into(), Node::Text("hunter2".into()))]);
        let open = Node::Record(vec![("password".into(), Node::Text("${PW}".into()))]);
        assert_eq!(written(&now, Some(&open)), "{\"password\": env::PW}");
    }
}
