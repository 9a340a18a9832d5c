//! Rewrite rules as steps that change one field of the record.

use super::filter::{compiles, condition};
use super::names::{Value, field_of, place_of, steps_of, value_of};
use super::reader::{FACILITIES, LEVELS};
use super::template::{Scene, argument, expression};
use super::tree::{Call, canonical};
use crate::notation::text;

/// Kinds of rules.
pub(crate) const KINDS: &[&str] = &[
    "set",
    "subst",
    "unset",
    "rename",
    "groupset",
    "groupunset",
    "set_tag",
    "clear_tag",
    "set_facility",
    "set_severity",
    "set_pri",
    "set_matches",
    "unset_matches",
    "fix_time_zone",
    "set_time_zone",
    "guess_time_zone",
    "credit_card_mask",
    "credit_card_hash",
];

/// The step of a rule, with the modules it needs.
pub(crate) fn step(call: &Call, scene: Scene<'_>) -> Result<Value, String> {
    let changed = change(call, scene)?;
    let Some(only) = call.option("condition") else { return Ok(changed) };
    let only = condition(&only.arguments, scene)?;
    let mut uses = changed.uses;
    uses.extend(only.uses);
    Ok(Value { code: format!("when {} do\n{}\nend", only.code, changed.code), uses })
}

fn change(call: &Call, scene: Scene<'_>) -> Result<Value, String> {
    let root = scene.root;
    let name = || -> Result<String, String> {
        let name = call.option_text("value").ok_or("`value()` is missing")?;
        Ok(name.trim_start_matches('$').trim_matches(['{', '}']).to_string())
    };
    match canonical(&call.name).as_str() {
        "set" => {
            let template = call.first_text().ok_or("the new value is missing")?;
            let value = expression(template, scene, 0)?;
            set(&name()?, value, scene)
        }
        "subst" => {
            let name = name()?;
            let (pattern, put) = match call.texts().as_slice() {
                [pattern, put, ..] => ((*pattern).to_string(), *put),
                _ => return Err("`subst()` needs a pattern and what to put there".to_string()),
            };
            let value = value_of(root, &name, "")?;
            let replaced = replaced(call, &pattern, put, &value, scene)?;
            set(&name, replaced, scene)
        }
        "unset" => set(&name()?, Value::new("\"\""), scene).map(|mut value| {
            if !super::names::ALWAYS.contains(&field_of(&name().unwrap_or_default())) {
                value.code = without(&name().unwrap_or_default());
            }
            value
        }),
        "rename" => {
            let (from, to) = match call.texts().as_slice() {
                [from, to] => ((*from).to_string(), (*to).to_string()),
                _ => return Err("`rename()` needs two names".to_string()),
            };
            let value = Value::new(place_of(root, &from));
            let set = set(&to, value, scene)?;
            let code = format!(
                "when present {} do\n{}\n|> {}\nend",
                place_of(root, &from),
                set.code,
                without(&from)
            );
            Ok(Value { code, uses: [set.uses, vec!["record"]].concat() })
        }
        "groupunset" => {
            let patterns = call.option("values").map(Call::texts).unwrap_or_default();
            let mut steps = Vec::new();
            for pattern in patterns {
                let whole = pattern.strip_suffix(".*").or_else(|| pattern.strip_suffix('*'));
                match whole {
                    Some(prefix)
                        if !prefix.is_empty()
                            && !prefix.contains(['*', '?'])
                            && pattern.ends_with(".*") =>
                    {
                        steps.push(without(prefix));
                    }
                    None if !pattern.contains('?') => steps.push(without(pattern)),
                    _ => {
                        return Err(format!(
                            "the pattern `{pattern}` is compared with the names of each message"
                        ));
                    }
                }
            }
            Ok(Value::using(steps.join("\n|> "), "record"))
        }
        "set_tag" => {
            let tag = call.first_text().ok_or("`set-tag()` needs a tag")?;
            let tag = expression(tag, scene, 0)?;
            let code = format!("set event.TAGS = array::unique(event.TAGS + [{}])", tag.code);
            Ok(Value { code, uses: [tag.uses, vec!["array"]].concat() })
        }
        "clear_tag" => {
            let tag = call.first_text().ok_or("`clear-tag()` needs a tag")?;
            let tag = expression(tag, scene, 0)?;
            let code = format!("set event.TAGS = array::difference(event.TAGS, [{}])", tag.code);
            Ok(Value { code, uses: [tag.uses, vec!["array"]].concat() })
        }
        "set_facility" => named(call, "FACILITY", &FACILITIES),
        "set_severity" => named(call, "LEVEL", &LEVELS),
        "groupset" => {
            let names = call.option("values").map(Call::texts).unwrap_or_default();
            let template = call.first_text().ok_or("the new value is missing")?;
            if names.iter().any(|name| name.contains(['*', '?'])) || template.contains("$_") {
                return Err("its patterns are compared with the names of each message".to_string());
            }
            let value = expression(template, scene, 0)?;
            let mut uses = value.uses.clone();
            let mut steps = Vec::new();
            for name in names {
                let one = set(name, value.clone(), scene)?;
                uses.extend(one.uses);
                steps.push(one.code);
            }
            Ok(Value { code: steps.join("\n|> "), uses })
        }
        "unset_matches" => Ok(Value::new("set $match = {}")),
        "fix_time_zone" | "set_time_zone" | "guess_time_zone" => {
            let zone = call.first_text().unwrap_or("");
            if canonical(&call.name) != "set_time_zone" || zone.is_empty() {
                return Err(
                    "a time is read once, in the zone of its source: set `time-zone()` there"
                        .to_string(),
                );
            }
            let code =
                format!("set event.STAMP = datetime::with_timezone(event.STAMP, {})", text(zone));
            Ok(Value::using(code, "datetime"))
        }
        other => Err(format!("there is no equivalent of the rule `{other}()`")),
    }
}

fn named(call: &Call, field: &str, names: &[&str]) -> Result<Value, String> {
    let word = call.first_text().ok_or("a name is missing")?;
    if word.contains('$') {
        return Err("its name is built of each message".to_string());
    }
    let word = match word {
        "warn" => "warning",
        "error" => "err",
        other => other,
    };
    let at = word.parse::<usize>().ok().or_else(|| names.iter().position(|name| *name == word));
    let name =
        at.and_then(|at| names.get(at)).ok_or_else(|| format!("`{word}` is no name of it"))?;
    Ok(Value::new(format!("set event.{field} = {}", text(name))))
}

/// Sets a name; what follows from the program and its process follows.
pub(crate) fn set(name: &str, value: Value, scene: Scene<'_>) -> Result<Value, String> {
    let place = place_of(scene.root, name);
    let mut code = format!("set {place} = {}", value.code);
    let mut uses = value.uses;
    if name == "FACILITY" || name == "PRI" || name == "TAGS" || name == "SDATA" {
        return Err(format!("`{name}` cannot be set by a rule in syslog-ng"));
    }
    if matches!(field_of(name), "PROGRAM" | "PID") {
        code.push_str("\n|> set event.MSGHDR = header_of(event.PROGRAM, event.PID), event.LEGACY_MSGHDR = \"\"");
        uses.push("header_of");
    }
    Ok(Value { code, uses })
}

/// The step that takes a name away.
fn without(name: &str) -> String {
    let steps = steps_of(name);
    let (last, before) = steps.split_last().expect("a name has a step");
    let place = crate::notation::path("event", before);
    let inner = format!("set {place} = record::without({place}, [{}])", text(last));
    if before.is_empty() { inner } else { format!("when present {place} do\n{inner}\nend") }
}

fn replaced(
    call: &Call,
    pattern: &str,
    put: &str,
    value: &Value,
    scene: Scene<'_>,
) -> Result<Value, String> {
    let flags = call.flags();
    let has = |flag: &str| flags.iter().any(|one| one == flag);
    let is_literal = call.option_text("type").is_some_and(|kind| kind == "string");
    let pattern = if is_literal { regex::escape(pattern) } else { pattern.to_string() };
    compiles(&pattern)?;
    // `$1` and `${1}` in what is put there are groups of the expression.
    let groups = regex::Regex::new(r"\$\{?\d").expect("it is one").is_match(put);
    let put = if groups {
        if regex::Regex::new(r"\$\{?[^\d{]").expect("it is one").is_match(put) {
            return Err("its replacement holds both groups and other values".to_string());
        }
        let put = regex::Regex::new(r"\$(\d)").expect("it is one").replace_all(put, "$${$1}");
        Value::new(text(&put))
    } else {
        let mut put = argument(put, scene, 0)?;
        if put.code.contains('#') || !put.code.starts_with('"') {
            put.code = format!("string::replace({}, \"$\", \"$$\")", put.code);
            put.uses.push("string");
        } else {
            put.code = put.code.replace('$', "$$");
        }
        put
    };
    let ignore_case = if has("ignore_case") { "(?i)" } else { "" };
    let function = if has("global") { "replace_all" } else { "replace" };
    let place =
        if value.code.contains("??") { format!("({})", value.code) } else { value.code.clone() };
    let code = format!(
        "re::{function}({}, {place}, {})",
        text(&format!("{ignore_case}{pattern}")),
        put.code
    );
    Ok(Value { code, uses: [value.uses.clone(), put.uses, vec!["re"]].concat() })
}
