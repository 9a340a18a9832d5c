//! Idioms of configurations that Temblor says in another way: comparisons of one field, branches that only
//! drop. Each is recognised only where the meaning stays.

use super::condition::equality;
use super::notation::{field, field_or_null, text};
use super::ruby::takes_anything;
use crate::options::{Setting, SettingKind};
use crate::settings::Settings;
use crate::syntax::tree::{Branch, Plugin, Statement};
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

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

/// The step that does the same as a filter with these settings, in the words of the language itself.
pub(super) fn step(name: &str, settings: &[(String, Setting)]) -> Option<String> {
    let ("mutate", [(option, Setting { kind: SettingKind::Hash(entries), .. })]) = (name, settings)
    else {
        return None;
    };
    if option != "replace" {
        return None;
    }
    let set = |(key, value): &(String, Setting)| {
        let reference = FieldRef::parse(key).ok().filter(takes_anything)?;
        let SettingKind::Text(content) = &value.kind else { return None };
        let is_plain = Template::parse(content).is_constant() && !content.contains("${");
        let place = field(&reference);
        (is_plain && !place.starts_with("logstash::"))
            .then(|| format!("{place} = {}", text(content)))
    };
    let all: Option<Vec<_>> = entries.iter().map(set).collect();
    all.filter(|all| !all.is_empty()).map(|all| format!("set {}", all.join(", ")))
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
