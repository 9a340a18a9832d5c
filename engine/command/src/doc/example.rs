//! Examples in doc comments: blocks between lines of three backticks. Each is a script that sees its
//! module by name, and gives `true`.

use super::page::{described, module};
use std::path::Path;
use temblor_catalog::registry;
use temblor_codec::InputCodec;
use temblor_lang::syntax::tree::Docs;
use temblor_lang::value::JsonStyle;
use temblor_pipeline::load::{Directories, Language, LoadOptions};
use temblor_pipeline::rehearsal::{Happening, Rehearsal};

/// The line that begins and ends an example; a word behind it names another language.
const FENCE: &str = "```";

/// An example and what it is of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Example {
    /// What its comment documents.
    pub of: String,
    /// The script.
    pub text: String,
}

/// All examples of a module.
pub(crate) fn examples(text: &str) -> Vec<Example> {
    let module = module(text);
    let mut found = Vec::new();
    gather("the module", &module.docs, &mut found);
    for (title, docs) in module.items.iter().filter_map(described) {
        gather(&format!("`{title}`"), docs, &mut found);
    }
    found
}

fn gather(of: &str, docs: &Docs, found: &mut Vec<Example>) {
    let mut open: Option<(bool, String)> = None;
    for line in docs {
        // A block in a quotation is one, too.
        let line = line.trim_start().strip_prefix('>').unwrap_or(line);
        let fence = line.trim().strip_prefix(FENCE);
        match (&mut open, fence) {
            (None, Some(language)) => {
                let is_ours = ["", "temblor", "tremor"].contains(&language.trim());
                open = Some((is_ours, String::new()));
            }
            (Some((is_ours, text)), Some(_)) => {
                if *is_ours {
                    found.push(Example { of: of.to_string(), text: std::mem::take(text) });
                }
                open = None;
            }
            (Some((_, text)), None) => {
                text.push_str(&format!("{}\n", line.trim_start_matches(' ')))
            }
            (None, None) => {}
        }
    }
}

/// Runs an example of the module `path` below a directory. The error says what is wrong with it.
pub(super) fn run(directory: &Path, path: &str, example: &str) -> Result<(), String> {
    let directories = Directories::new(&[directory.to_path_buf()], None);
    let text = format!("use {path};\n{}", example.trim_end().trim_end_matches(';'));
    let options = LoadOptions::new(registry());
    let loaded = options.compile("example", text, Language::Script, &directories);
    if loaded.has_errors() {
        return Err(format!("it does not compile\n{}", loaded.report(false)));
    }
    let mut rehearsal = Rehearsal::new(loaded.graph, loaded.sources, JsonStyle::Sorted);
    let happened = rehearsal.send(temblor_pipeline::operator::IN, InputCodec::Json, b"null");
    match happened.unwrap_or_default().as_slice() {
        [Happening::Output { data, .. }] if data == "true" => Ok(()),
        [Happening::Output { data, .. }] => Err(format!("expected true, got {data}")),
        [Happening::Failed { error, .. }] => Err(error.message().to_string()),
        _ => Err("it gives no value".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_other_languages_are_left_alone() {
        let text = "### ```\n### a::B == 1\n### ```\n## ```json\n## {}\n## ```\n## ```temblor\n## a::f(1) == 2\n\
                    ## ```\nfn f(x) with x + 1 end;\n## > ```tremor\n## > a::B == 2\n## > ```\nconst B = 1;\n";
        let found = examples(text);
        let shown: Vec<_> = found.iter().map(|one| (one.of.as_str(), one.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("the module", "a::B == 1\n"),
                ("`f(x)`", "a::f(1) == 2\n"),
                ("`const B`", "a::B == 2\n"),
            ]
        );
    }
}
