//! The cases recorded from a real Logstash: where they are, and a case's filter as a configuration.

use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::PathBuf;

/// The folder of the cases: beside the checkout, or beside the folder of all checkouts.
pub(crate) fn folder() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut places = here.ancestors().map(|place| place.join("shared/data/logstash-cases"));
    places.find(|place| place.is_dir()).unwrap_or_else(|| here.join("../../shared/data"))
}

/// The value as the text of a configuration, with escapes.
fn setting(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            let _ = write!(out, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                setting(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) if fields.contains_key("password") => setting(&fields["value"], out),
        Value::Object(fields) => {
            out.push('{');
            for (key, value) in fields {
                setting(&Value::String(key.clone()), out);
                out.push_str(" => ");
                setting(value, out);
                out.push(' ');
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// The filter of a case, with its parameters, as the text of a configuration.
pub(crate) fn configuration(case: &Map<String, Value>) -> String {
    let mut config = format!("filter {{ {} {{\n", case["plugin"].as_str().unwrap_or_default());
    for (name, value) in case["params"].as_object().expect("parameters") {
        let _ = write!(config, "{name} => ");
        setting(value, &mut config);
        config.push('\n');
    }
    config.push_str("} }");
    config
}
