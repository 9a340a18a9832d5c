//! Idioms of configurations that Temblor says in another way: a test for a failure tag, chains of
//! comparisons of one field, branches that only drop. Each is recognised only where the meaning stays.

use super::condition::{equality, no_tag_test, tag_test};
use super::notation::field_or_null;
use crate::options::Setting;
use crate::settings::Settings;
use crate::syntax::tree::{Branch, Plugin, Statement};
use temblor_logstash_event::reference::FieldRef;

/// The tag of grok.
const GROK_TAG: &str = "_grokparsefailure";
/// From so many arms on, comparisons of one field are a `match`.
const MATCH_ARMS_MIN: usize = 2;

/// A branch that asks whether the filter in front of it failed.
pub(super) struct Failure<'t> {
    /// What happens when it did not.
    pub matched: &'t [Statement],
    /// What happens when it did.
    pub failed: &'t [Statement],
}

/// The branch behind a grok that asks only whether it failed. `tagged` says that an earlier filter may
/// have added the same tag, so that the test would ask for more.
pub(super) fn failure_branch<'t>(
    grok: &Plugin,
    branch: &'t Branch,
    tagged: bool,
) -> Option<Failure<'t>> {
    let has = |name: &str| grok.options.iter().any(|(word, _)| word.text == name);
    let usual = !has("tag_on_failure") && !has("timeout_millis") && !has("tag_on_timeout");
    let [(condition, body)] = branch.arms.as_slice() else { return None };
    if grok.name.text != "grok" || tagged || !usual || touches_tags(grok) {
        return None;
    }
    let otherwise = branch.otherwise.as_deref().unwrap_or(&[]);
    if tag_test(condition) == Some(GROK_TAG) {
        return Some(Failure { matched: otherwise, failed: body });
    }
    if no_tag_test(condition) == Some(GROK_TAG) {
        return Some(Failure { matched: body, failed: otherwise });
    }
    None
}

/// Whether the plugin may change the tags that tests ask for, besides its failure tag.
fn touches_tags(plugin: &Plugin) -> bool {
    plugin.options.iter().any(|(word, _)| matches!(&*word.text, "remove_tag" | "overwrite"))
}

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

/// The last name in a field's text, for the name of a script.
pub(super) fn word_of(field: &str) -> String {
    let field = field.strip_suffix(" ?? null").unwrap_or(field);
    let last =
        field.rsplit(['.', '[', '$', '`']).find(|part| part.chars().any(char::is_alphabetic));
    let word: String =
        last.unwrap_or("field").chars().filter(char::is_ascii_alphanumeric).collect();
    if word.is_empty() { "field".to_string() } else { word.to_ascii_lowercase() }
}

/// A port for the events with this value.
pub(super) fn port_of(value: &str, taken: &[String]) -> String {
    let fits = |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '_' };
    let mut port: String = value.chars().map(fits).collect();
    if !super::notation::is_plain(&port) || matches!(&*port, "out" | "err" | "in") {
        port = format!("is_{port}");
    }
    let wanted = port.clone();
    let mut number = 2;
    while taken.contains(&port) {
        port = format!("{wanted}_{number}");
        number += 1;
    }
    port
}

/// What a step does not do as the filter does.
pub(super) fn remark(name: &str, settings: &[(String, Setting)]) -> Option<String> {
    let text = |wanted: &str| {
        settings.iter().find(|(name, _)| name == wanted).and_then(|(_, setting)| setting.text())
    };
    match name {
        "date" if text("target").is_some_and(|target| target != "@timestamp") => {
            Some("between steps the time in the target is a text".to_string())
        }
        _ => None,
    }
}
