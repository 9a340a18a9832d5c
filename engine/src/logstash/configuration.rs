//! A configuration as a program that can be run: its filters as one operator, its inputs and outputs
//! as endpoints. What cannot be run is named with its place, and never left out in silence.

use super::complain;
use super::load::Loaded as Texts;
use super::operator::LogstashFilters;
use super::settings::Settings;
use super::syntax::tree::{Plugin, SectionKind, Statement, Value, ValueKind};
use crate::endpoint::{Endpoints, SinkEndpoint, SourceEndpoint};
use crate::framing::Framing;
use crate::graph::Graph;
use crate::load::{Language, Loaded};
use crate::operator::{IN, OUT};
use crate::pipeline::{InputCodec, OutputCodec};
use crate::sink::{FileMode, SinkConfig};
use crate::source::SourceConfig;
use std::path::{Path, PathBuf};
use temblor_lang::coverage::Coverage;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::{Source, Sources};

/// What the command line says about a configuration.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Field names, escapes and variables.
    pub settings: Settings,
    /// Standard input stands for all inputs.
    pub stdin: bool,
    /// Standard output stands for all outputs.
    pub stdout: bool,
}

/// A configuration that was compiled.
#[derive(Debug)]
pub struct Configuration {
    /// As any other program.
    pub loaded: Loaded,
    /// Plugins that cannot be run, by place.
    pub missing: usize,
}

/// Loads the file or folder at `path`. The error is a sentence about it.
pub fn load(path: &Path, wishes: &Wishes) -> Result<Configuration, String> {
    Ok(compile(Texts::read(path)?, &path.display().to_string(), wishes))
}

/// All that is wrong with one text, and the text.
#[must_use]
pub fn diagnose(name: &str, text: String) -> (Vec<Diagnostic>, Sources) {
    let mut texts = Texts::default();
    texts.add(name, text);
    let Configuration { loaded, .. } = compile(texts, name, &Wishes::default());
    (loaded.diagnostics, loaded.sources)
}

fn compile(mut texts: Texts, name: &str, wishes: &Wishes) -> Configuration {
    let program = texts.program(&wishes.settings);
    let mut diagnostics = std::mem::take(&mut texts.diagnostics);
    let mut endpoints = Endpoints::default();
    if !wishes.stdin {
        inputs(&texts, &mut endpoints, &mut diagnostics);
    }
    if !wishes.stdout {
        outputs(&texts, &mut endpoints, &mut diagnostics);
    }
    let missing = diagnostics.iter().filter(|one| one.code == complain::MISSING).count();
    let filters = LogstashFilters::new(program, wishes.settings.ecs);
    let loaded = Loaded {
        language: Language::Temblor,
        graph: Graph::of_operator(Box::new(filters)),
        endpoints,
        program: Source { name: name.to_string(), text: String::new() },
        sources: texts.sources,
        diagnostics,
        coverage: Coverage::default(),
    };
    Configuration { loaded, missing }
}

/// The plugins of a section in the order of the text, with whether they stand in a branch.
fn plugins<'t>(body: &'t [Statement], inside: bool, found: &mut Vec<(&'t Plugin, bool)>) {
    for statement in body {
        match statement {
            Statement::Plugin(plugin) => found.push((plugin, inside)),
            Statement::Branch(branch) => {
                branch.arms.iter().for_each(|(_, body)| plugins(body, true, found));
                branch.otherwise.iter().for_each(|body| plugins(body, true, found));
            }
        }
    }
}

fn all(texts: &Texts, kind: SectionKind) -> Vec<(&Plugin, bool)> {
    let mut found = Vec::new();
    texts.sections(kind).for_each(|section| plugins(&section.body, false, &mut found));
    found
}

fn inputs(texts: &Texts, endpoints: &mut Endpoints, diagnostics: &mut Vec<Diagnostic>) {
    for (plugin, _) in all(texts, SectionKind::Input) {
        let codec = match codec(plugin).as_deref() {
            Some("json" | "json_lines") => InputCodec::Json,
            _ => InputCodec::String,
        };
        match &*plugin.name.text {
            "stdin" => endpoints.sources.push(SourceEndpoint {
                port: IN.to_string(),
                config: SourceConfig::Stdin { framing: Framing::Lines },
                codec,
                errors: None,
            }),
            name => {
                let help = "run it with --stdin, which takes events from standard input instead";
                diagnostics.push(complain::missing_plugin("input", name, plugin.name.span, help));
            }
        }
    }
}

fn outputs(texts: &Texts, endpoints: &mut Endpoints, diagnostics: &mut Vec<Diagnostic>) {
    for (plugin, inside) in all(texts, SectionKind::Output) {
        let name = &*plugin.name.text;
        let sink = if inside { None } else { sink(plugin) };
        match sink {
            Some((config, codec)) => endpoints.sinks.push(SinkEndpoint {
                port: OUT.to_string(),
                config,
                path: None,
                codec,
                post: None,
            }),
            None => {
                let help =
                    "run it with --stdout, which writes all events to standard output instead";
                let span = plugin.name.span;
                diagnostics.push(if inside {
                    complain::missing_plugin("conditional output", name, span, help)
                } else {
                    complain::missing_plugin("output", name, span, help)
                });
            }
        }
    }
}

/// Where an output writes, when it can be run.
fn sink(plugin: &Plugin) -> Option<(SinkConfig, OutputCodec)> {
    let codec = codec(plugin);
    match &*plugin.name.text {
        "stdout" => {
            let codec = match codec.as_deref() {
                None | Some("rubydebug") => OutputCodec::PrettyJson,
                Some("json" | "json_lines") => OutputCodec::Json,
                _ => return None,
            };
            Some((SinkConfig::Stdout, codec))
        }
        "file" => {
            let path = text(option(plugin, "path")?)?;
            let known = matches!(codec.as_deref(), None | Some("json" | "json_lines"));
            let fixed = !path.contains("%{") && !path.contains("${");
            let config = SinkConfig::File { path: PathBuf::from(path), mode: FileMode::Append };
            (known && fixed).then_some((config, OutputCodec::Json))
        }
        "null" | "sink" => Some((SinkConfig::Null, OutputCodec::Json)),
        _ => None,
    }
}

fn option<'p>(plugin: &'p Plugin, name: &str) -> Option<&'p Value> {
    plugin.options.iter().find(|(word, _)| word.text == name).map(|(_, value)| value)
}

fn text(value: &Value) -> Option<&str> {
    match &value.kind {
        ValueKind::Text(text) | ValueKind::Bare(text) => Some(text),
        _ => None,
    }
}

/// The name of a plugin's codec.
fn codec(plugin: &Plugin) -> Option<String> {
    let value = option(plugin, "codec")?;
    match &value.kind {
        ValueKind::Plugin(plugin) => Some(plugin.name.text.clone()),
        _ => text(value).map(str::to_string),
    }
}
