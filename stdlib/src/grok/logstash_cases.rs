//! The shipped patterns give the fields that Logstash gave for its own published samples.
//!
//! Invariant: expected values are Logstash's output, recorded, never this engine's.

use std::collections::{BTreeSet, HashMap};

use simd_json::OwnedValue;
use simd_json::prelude::{ValueAsArray, ValueAsObject, ValueAsScalar, ValueObjectAccess};

use super::equality::shared;
use super::{Captures, Conversion, Grok, Library, Options};

/// Leaves of an event as `path=value`, without what does not come from grok.
fn leaves(value: &OwnedValue, path: &str, found: &mut BTreeSet<String>) {
    if let Some(object) = value.as_object() {
        for (key, inner) in object.iter() {
            let foreign = match path {
                "" => matches!(&**key, "@timestamp" | "@version" | "tags"),
                "/event" => key == "original",
                _ => false,
            };
            if !foreign {
                leaves(inner, &format!("{path}/{key}"), found);
            }
        }
    } else if let Some(array) = value.as_array() {
        array.iter().for_each(|inner| leaves(inner, path, found));
    } else if let Some(text) = value.as_str() {
        found.insert(format!("{path}={}", normal(text)));
    } else {
        found.insert(format!("{path}={}", normal(&value.to_string())));
    }
}

/// Numbers compare by value, as grok's types change their spelling.
fn normal(text: &str) -> String {
    text.parse::<f64>().map_or_else(|_| text.to_string(), |number| number.to_string())
}

/// The part of a text that Ruby's `to_f` and `to_i` read.
fn leading_number(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c));
    &text[..end.unwrap_or(text.len())]
}

/// Compiled patterns by text and set.
type Known = HashMap<(String, bool), Grok>;

/// What is wrong with one case, if anything.
fn failure(case: &OwnedValue, known: &mut Known, captures: &mut Captures) -> Option<String> {
    let pattern = case.get("params")?.get("match")?.as_array()?.get(1)?.as_str()?;
    let legacy = case.get("ecs")?.as_str()? == "disabled";
    let text = case.get("input")?.get("message")?.as_str()?;
    let grok = known.entry((pattern.to_string(), legacy)).or_insert_with(|| {
        let library = if legacy { Library::legacy() } else { Library::ecs() };
        let mut options = Options::default();
        options.syntax.dot_matches_newline = true;
        Grok::compile(pattern, &library, &options).unwrap()
    });
    let mut expected = BTreeSet::new();
    leaves(case.get("output")?, "", &mut expected);
    let mut given = BTreeSet::new();
    leaves(case.get("input")?, "", &mut given);
    if grok.matches(text, captures) {
        for field in grok.fields() {
            let value = captures.get(field.group, text).filter(|value| !value.is_empty());
            // What is under `@metadata` is not in Logstash's output.
            if let Some(value) = value.filter(|_| !field.name.starts_with("[@metadata]")) {
                let value = match field.conversion {
                    Conversion::Float | Conversion::Integer => leading_number(value),
                    _ => value,
                };
                given.insert(format!("/{}={}", field.path().join("/"), normal(value)));
            }
        }
    }
    (given != expected).then(|| {
        let extra: Vec<_> = given.difference(&expected).collect();
        let missing: Vec<_> = expected.difference(&given).collect();
        format!("{pattern} on {text:?}: extra {extra:?}, missing {missing:?}")
    })
}

#[test]
fn shipped_patterns_give_the_fields_of_logstash() {
    let Some(cases) = shared("logstash-cases/patterns-core.jsonl") else { return };
    let mut captures = Captures::new();
    let mut known = Known::new();
    let mut failures = Vec::new();
    let mut count = 0;
    for line in cases.lines() {
        let mut bytes = line.as_bytes().to_vec();
        let case = simd_json::to_owned_value(&mut bytes).unwrap();
        failures.extend(failure(&case, &mut known, &mut captures));
        count += 1;
    }
    assert!(failures.is_empty(), "{} of {count} differ:\n{}", failures.len(), failures.join("\n"));
}
