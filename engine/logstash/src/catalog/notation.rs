//! Reads the tables of plugins. A table is text, a plugin a few lines:
//!
//! ```text
//! input udp                        the kind of section, the name
//!   + tls                          all of a group, which is written as a plugin is
//!   number port! workers           a kind of value and options that take it; `!` must be there
//!   choice mode server|client      an option and its words
//!   gone ssl ssl_enabled           an option of older releases, and what to write instead
//! ```

use super::Known;
use crate::options::{OptionSpec, Takes, gone, option, required};

const TABLES: [&str; 5] = [
    include_str!("shared.txt"),
    include_str!("inputs.txt"),
    include_str!("outputs.txt"),
    include_str!("filters.txt"),
    include_str!("codecs.txt"),
];

/// All plugins of the tables. The error names the line that cannot be read.
pub(super) fn read() -> Result<Vec<Known>, String> {
    let mut blocks: Vec<Known> = Vec::new();
    for line in TABLES.iter().flat_map(|table| table.lines()) {
        let (words, _) = line.split_once('#').unwrap_or((line, ""));
        let Some((first, rest)) = words.trim().split_once(' ') else {
            if words.trim().is_empty() {
                continue;
            }
            return Err(format!("`{line}` says nothing"));
        };
        if !line.starts_with(' ') {
            blocks.push(Known { kind: first, name: rest, options: Vec::new() });
            continue;
        }
        let added = match first {
            "+" => {
                let group = blocks.iter().find(|one| one.kind == GROUP && one.name == rest);
                group.ok_or(format!("there is no group `{rest}`"))?.options.clone()
            }
            _ => options(first, rest).ok_or(format!("`{line}` is no option"))?,
        };
        let block = blocks.last_mut().ok_or(format!("`{line}` belongs to nothing"))?;
        block.options.extend(added);
    }
    blocks.retain(|one| one.kind != GROUP);
    Ok(blocks)
}

const GROUP: &str = "group";

/// The options of one line.
fn options(kind: &str, rest: &'static str) -> Option<Vec<OptionSpec>> {
    let takes = match kind {
        "text" => Takes::Text,
        "number" => Takes::Number,
        "flag" => Takes::Flag,
        "list" => Takes::List,
        "hash" => Takes::Hash,
        "any" => Takes::Anything,
        "choice" => {
            let (name, words) = rest.split_once(' ')?;
            let words: Vec<&'static str> = words.split('|').collect();
            // Read once, and kept as declarations in code are.
            return Some(vec![spec(name, Takes::OneOf(words.leak()))]);
        }
        "gone" => {
            let (name, instead) = rest.split_once(' ').unwrap_or((rest, "nothing"));
            return Some(vec![gone(name, instead)]);
        }
        _ => return None,
    };
    Some(rest.split(' ').map(|name| spec(name, takes)).collect())
}

fn spec(name: &'static str, takes: Takes) -> OptionSpec {
    match name.strip_suffix('!') {
        Some(name) => required(name, takes, ""),
        None => option(name, takes, ""),
    }
}
