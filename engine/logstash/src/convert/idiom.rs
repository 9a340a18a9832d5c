//! Idioms of configurations that Temblor says in another way: comparisons of one field, branches that only
//! drop. Each is recognised only where the meaning stays.

use super::condition::equality;
use super::notation::field_or_null;
use crate::settings::Settings;
use crate::syntax::tree::{Branch, Plugin, Statement};
use temblor_logstash_event::reference::FieldRef;

/// From so many arms on, comparisons of one field are a `match`.
const MATCH_ARMS_MIN: usize = 2;

/// `if c { drop {} }`, and nothing else.
pub(super) fn drops(branch: &Branch) -> bool {
    let is_drop = |plugin: &Plugin| {
        let idle = |name: &str| matches!(name, "id" | "enable_metric");
        plugin.name.text == "drop" && plugin.options.iter().all(|(word, _)| idle(&word.text))
    };
    match branch.arms.as_slice() {
        [(_, body)] if branch.otherwise.as_ref().is_none_or(Vec::is_empty) => {
            matches!(body.as_slice(), [Statement::Plugin(plugin)] if is_drop(plugin))
        }
        _ => false,
    }
}

/// The field that all arms of a branch compare with texts, each with another.
pub(super) fn common_field(branch: &Branch, settings: &Settings) -> Option<String> {
    if branch.arms.len() < MATCH_ARMS_MIN {
        return None;
    }
    let mut common = None;
    let mut values = Vec::new();
    for (condition, _) in &branch.arms {
        let (field, value) = equality(condition, settings)?;
        if *common.get_or_insert(field) != field || values.contains(&value) {
            return None;
        }
        values.push(value);
    }
    FieldRef::parse(common?).ok().map(|field| field_or_null(&field))
}

/// The last name in a field's text, for the name of a table.
pub(super) fn word_of(field: &str) -> String {
    let field = field.strip_suffix(" ?? null").unwrap_or(field);
    let last =
        field.rsplit(['.', '[', '$', '`']).find(|part| part.chars().any(char::is_alphabetic));
    let word: String =
        last.unwrap_or("field").chars().filter(char::is_ascii_alphanumeric).collect();
    if word.is_empty() { "field".to_string() } else { word.to_ascii_lowercase() }
}
