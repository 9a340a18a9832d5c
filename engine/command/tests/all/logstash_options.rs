//! The options of Logstash plugins, walked from their declarations: each stands in a block of its plugin
//! in a case that runs, and a wrong value or name of it is told where it stands.
//!
//! What counts is the tree of a case's configuration, not its words; an option that all plugins of a kind
//! have counts once for the kind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use temblor_casebook::file::CaseFile;
use temblor_lang::diagnostic::{Colour, Severity, render_all};
use temblor_lang::span::Sources;
use temblor_logstash::codec::{self, CODECS};
use temblor_logstash::configuration::{Wishes, of_text};
use temblor_logstash::filter::FILTERS;
use temblor_logstash::input::{self, INPUTS};
use temblor_logstash::load::gather;
use temblor_logstash::options::{self, OptionSpec, Takes};
use temblor_logstash::output::{self, OUTPUTS};
use temblor_logstash::syntax::parse;
use temblor_logstash::syntax::tree::{Plugin, Value, ValueKind};

/// A kind of plugin as it is declared.
struct Family {
    kind: &'static str,
    plugins: Vec<(&'static str, &'static [OptionSpec])>,
    common: &'static [OptionSpec],
    /// Where the cases are.
    folder: &'static str,
}

fn families() -> [Family; 4] {
    let edges = "tests/all/logstash_edges_cases";
    [
        Family {
            kind: "input",
            plugins: INPUTS.iter().map(|one| (one.name, one.options)).collect(),
            common: input::COMMON,
            folder: edges,
        },
        Family {
            kind: "filter",
            plugins: FILTERS.iter().map(|one| (one.name, one.options)).collect(),
            common: options::COMMON,
            folder: "../../spec/logstash",
        },
        Family {
            kind: "output",
            plugins: OUTPUTS.iter().map(|one| (one.name, one.options)).collect(),
            common: output::COMMON,
            folder: edges,
        },
        Family {
            kind: "codec",
            plugins: CODECS.iter().map(|one| (one.name, one.options)).collect(),
            common: codec::COMMON,
            folder: edges,
        },
    ]
}

/// The kind of a plugin, its name, and an option; an empty option stands for the plugin itself.
type Use = (&'static str, String, String);

/// The codecs are named by an option, as a word or with options of their own.
fn see_codec(value: &Value, seen: &mut BTreeSet<Use>) {
    match &value.kind {
        ValueKind::Plugin(plugin) => see("codec", plugin, seen),
        ValueKind::Bare(name) | ValueKind::Text(name) => {
            seen.insert(("codec", name.clone(), String::new()));
        }
        _ => {}
    }
}

fn see(kind: &'static str, plugin: &Plugin, seen: &mut BTreeSet<Use>) {
    let name = &plugin.name.text;
    seen.insert((kind, name.clone(), String::new()));
    for (option, value) in &plugin.options {
        seen.insert((kind, name.clone(), option.text.clone()));
        if option.text == "codec" {
            see_codec(value, seen);
        }
    }
}

/// What the cases of a folder use. A case that expects a complaint shows no effect.
fn uses(folder: &str) -> BTreeSet<Use> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("it is in the repository")
        .map(|entry| entry.expect("it is listed").path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    let mut seen = BTreeSet::new();
    for file in files {
        let book = CaseFile::read(&fs::read_to_string(&file).expect("it can be read"));
        for case in &book.cases {
            let complains = |text: &str| text.contains("\nerror") || text.starts_with("error");
            let is_configuration =
                case.kind.starts_with("edge") || case.kind.starts_with("logstash");
            if !is_configuration || case.section("out").is_some_and(complains) {
                continue;
            }
            let source = Sources::default().add("case", case.program.clone());
            for section in parse(&case.program, source).config.sections {
                gather(&section.body, &mut |plugin| see(section.kind.word(), plugin, &mut seen));
            }
        }
    }
    seen
}

/// What no case uses: the plugin and the option.
fn lacking(family: &Family) -> BTreeSet<String> {
    let seen = uses(family.folder);
    let is_seen = |name: &str, option: &str| {
        seen.contains(&(family.kind, name.to_string(), option.to_string()))
    };
    let own = family.plugins.iter().flat_map(|(name, options)| {
        let here = options.iter().filter(|option| option.gone.is_none());
        let uses = here.map(|option| option.name).chain([""]);
        uses.filter(|option| !is_seen(name, option)).map(move |option| format!("{name} {option}"))
    });
    let common = family.common.iter().map(|option| option.name);
    let common = common
        .filter(|option| !family.plugins.iter().any(|(name, _)| is_seen(name, option)))
        .map(|option| format!("* {option}"));
    own.chain(common).collect()
}

#[test]
fn each_option_of_each_plugin_has_a_case() {
    let lines = |family: &Family| -> String {
        let line = |option: String| format!("{} {option}\n", family.kind);
        lacking(family).into_iter().map(line).collect()
    };
    let found: String = families().iter().map(lines).collect();
    assert!(found.is_empty(), "no case has these in a block of their plugin:\n{found}");
}

/// A value that an option of this kind does not take, as it is written.
fn wrong_values(takes: Takes) -> &'static [&'static str] {
    match takes {
        Takes::Text => &["{ \"a\" => \"b\" }", "[\"a\", \"b\"]"],
        Takes::Number => &["\"many\"", "{ \"a\" => 1 }", "[1, 2]", "true"],
        Takes::Flag => &["\"perhaps\"", "1", "[true, false]", "{ \"a\" => true }"],
        Takes::List => &["{ \"a\" => \"b\" }", "[[\"a\", \"b\"]]"],
        Takes::Hash => &["\"word\"", "[\"one\"]", "7"],
        Takes::OneOf(_) => &["\"nothing of the kind\"", "{ \"a\" => 1 }", "[\"a\", \"b\"]"],
        Takes::Duration => &["\"soon\"", "{ \"a\" => 1 }", "[1, 2]", "\"5 parsecs\""],
        Takes::Codec => &["{ \"a\" => \"b\" }", "[\"plain\", \"json\"]", "7"],
        Takes::Anything => &[],
    }
}

/// A configuration in which a plugin has one option.
fn configuration(kind: &str, plugin: &str, option: &str, value: &str) -> String {
    let block = format!("{plugin} {{ {option} => {value} }}");
    match kind {
        "codec" => format!("input {{ stdin {{ codec => {block} }} }}"),
        _ => format!("{kind} {{ {block} }}"),
    }
}

/// The errors of a configuration, each with the text of its place and as it is shown.
fn errors_of(text: &str) -> Vec<(String, String)> {
    let configuration = of_text("test.conf", text.to_string(), &Wishes::default());
    let loaded = configuration.loaded;
    let errors = loaded.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    errors
        .map(|one| {
            let span = one.span.start as usize..one.span.end as usize;
            let place = text.get(span).unwrap_or_default().to_string();
            (place, render_all(std::slice::from_ref(one), &loaded.sources, Colour::Off))
        })
        .collect()
}

#[test]
fn a_wrong_value_of_any_option_is_named_with_its_place() {
    let (mut count, mut faults) = (0, String::new());
    for_each_option(|kind, plugin, option| {
        for value in wrong_values(option.takes) {
            let errors = errors_of(&configuration(kind, plugin, option.name, value));
            let names = |(place, shown): &(String, String)| {
                shown.contains(&format!("`{}`", option.name))
                    && !place.is_empty()
                    && value.contains(place.as_str())
            };
            count += 1;
            if !errors.iter().any(names) {
                let name = option.name;
                faults.push_str(&format!("{kind} {plugin} {name} => {value}: {errors:?}\n"));
            }
        }
    });
    assert!(count > 1000, "only {count} values were tried");
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn a_misspelt_option_is_told_the_name_that_is_meant() {
    let mut faults = String::new();
    for_each_option(|kind, plugin, option| {
        let misspelt = format!("{}x", option.name);
        let errors = errors_of(&configuration(kind, plugin, &misspelt, "\"1\""));
        let names = |(place, shown): &(String, String)| {
            let means = format!("`{}`", option.name);
            *place == misspelt && shown.contains(&misspelt) && shown.contains(&means)
        };
        if !errors.iter().any(names) {
            faults.push_str(&format!("{kind} {plugin} {misspelt}: {errors:?}\n"));
        }
    });
    assert!(faults.is_empty(), "{faults}");
}

/// Shows `see` each option of each plugin, with those that all plugins of the kind have.
fn for_each_option(mut see: impl FnMut(&str, &str, &OptionSpec)) {
    for Family { kind, plugins, common, .. } in families() {
        for (plugin, options) in plugins {
            let all = options.iter().chain(common).filter(|option| option.gone.is_none());
            all.for_each(|option| see(kind, plugin, option));
        }
    }
}
