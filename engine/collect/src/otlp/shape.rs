//! Between messages of OTLP as JSON and the events that programs see: attributes are records, values are plain,
//! identities are hexadecimal digits, and the data of a metric stand under `data`.
//!
//! Invariant: an event that came over the wire goes back over it unchanged, but for binary values and for
//! attributes that are named twice.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::signal::Signal;

/// Fields that hold pairs of keys and values.
const PAIRS: [&str; 3] = ["attributes", "filtered_attributes", "metadata"];
/// Fields that hold identities, in either style of names.
const IDENTITIES: [&str; 5] = ["trace_id", "span_id", "parent_span_id", "traceId", "spanId"];
const PARENT: &str = "parentSpanId";
/// What a metric may have under `data`.
const KINDS: [&str; 5] = ["gauge", "sum", "histogram", "exponential_histogram", "summary"];

/// The event of a request: `{"logs": […]}`.
pub(crate) fn event(signal: &Signal, mut request: Value) -> Value {
    let mut items = request[signal.field].take();
    open(&mut items);
    json!({ signal.key: items })
}

/// The request of an event's value.
pub(crate) fn request(signal: &Signal, mut items: Value) -> Value {
    close(&mut items);
    json!({ signal.field: items })
}

/// From a message to an event.
fn open(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(open),
        Value::Object(fields) => open_fields(fields),
        _ => {}
    }
}

fn open_fields(fields: &mut Map<String, Value>) {
    let data = KINDS.iter().find(|kind| fields.get(**kind).is_some_and(Value::is_object));
    if let Some(kind) = data
        && let Some(mut data) = fields.shift_remove(*kind)
    {
        open(&mut data);
        fields.insert("data".to_string(), json!({ *kind: data }));
    }
    for number in ["as_int", "as_double"] {
        if let Some(number) = fields.shift_remove(number) {
            fields.insert("value".to_string(), number);
        }
    }
    for (name, value) in fields.iter_mut() {
        match name.as_str() {
            "data" => {}
            "body" => *value = plain(value.take()),
            name if PAIRS.contains(&name) => *value = record(value.take()),
            name if IDENTITIES.contains(&name) => to_hexadecimal(value),
            _ => open(value),
        }
    }
}

/// `[{"key", "value"}]` as a record.
fn record(pairs: Value) -> Value {
    let Value::Array(pairs) = pairs else { return pairs };
    let entry = |mut pair: Value| {
        let key = pair["key"].as_str().unwrap_or_default().to_string();
        (key, plain(pair["value"].take()))
    };
    Value::Object(pairs.into_iter().map(entry).collect())
}

/// The value of `{"string_value": …}` and its like.
fn plain(any: Value) -> Value {
    let Value::Object(fields) = any else { return any };
    let set = fields.into_iter().find(|(_, value)| !value.is_null());
    let Some((kind, mut value)) = set else { return Value::Null };
    match kind.as_str() {
        "array_value" => match value["values"].take() {
            Value::Array(items) => items.into_iter().map(plain).collect(),
            _ => json!([]),
        },
        "kvlist_value" => match value["values"].take() {
            Value::Null => json!({}),
            pairs => record(pairs),
        },
        _ => value,
    }
}

/// From an event to a message.
fn close(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Object(fields) => close_fields(fields),
        _ => {}
    }
}

fn close_fields(fields: &mut Map<String, Value>) {
    for (name, value) in fields.iter_mut() {
        match name.as_str() {
            "body" => *value = any(value.take()),
            name if PAIRS.contains(&name) => {
                if let Value::Object(entries) = value {
                    *value = pairs(std::mem::take(entries));
                }
            }
            name if IDENTITIES.contains(&name) => from_hexadecimal(value),
            _ => close(value),
        }
    }
    if let Some(Value::Object(data)) = fields.get_mut("data") {
        let data = std::mem::take(data);
        fields.shift_remove("data");
        fields.extend(data);
    }
    if !fields.contains_key("quantile")
        && let Some(value) = fields.shift_remove("value")
    {
        let name = if value.is_i64() { "as_int" } else { "as_double" };
        fields.insert(name.to_string(), value);
    }
}

fn pairs(entries: Map<String, Value>) -> Value {
    let pair = |(key, value)| json!({ "key": Value::String(key), "value": any(value) });
    entries.into_iter().map(pair).collect()
}

fn any(value: Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(_) => json!({ "bool_value": value }),
        Value::Number(ref number) if number.is_i64() => json!({ "int_value": value }),
        Value::Number(_) => json!({ "double_value": value }),
        Value::String(_) => json!({ "string_value": value }),
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().map(any).collect();
            json!({ "array_value": { "values": items } })
        }
        Value::Object(entries) => json!({ "kvlist_value": { "values": pairs(entries) } }),
    }
}

fn to_hexadecimal(value: &mut Value) {
    if let Some(bytes) = value.as_str().and_then(|text| STANDARD.decode(text).ok()) {
        *value = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    }
}

/// What is not hexadecimal stays, and is refused by the reader.
fn from_hexadecimal(value: &mut Value) {
    let Some(text) = value.as_str().filter(|text| text.len() % 2 == 0 && text.is_ascii()) else {
        return;
    };
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).ok();
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    if let Some(bytes) = bytes {
        *value = STANDARD.encode(bytes).into();
    }
}

/// The identities of OTLP's JSON, which are hexadecimal, as base64; or the other way round.
pub(crate) fn turn_identities(value: &mut Value, to_base64: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| turn_identities(item, to_base64)),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                let is_identity = name == PARENT || IDENTITIES.contains(&name.as_str());
                match (is_identity && value.is_string(), to_base64) {
                    (true, true) => from_hexadecimal(value),
                    (true, false) => to_hexadecimal(value),
                    (false, _) => turn_identities(value, to_base64),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::{schema, signal::SIGNALS};
    use super::*;

    fn there_and_back(signal: &Signal, items: Value) {
        let bytes = schema::protobuf(signal.request, &request(signal, items.clone())).unwrap();
        let back = event(signal, schema::read_protobuf(signal.request, &bytes).unwrap());
        let again = request(signal, back[signal.key].clone());
        assert_eq!(schema::protobuf(signal.request, &again).unwrap(), bytes);
        assert!(contains(&back[signal.key], &items), "{back:#}\n{items:#}");
    }

    /// Whether all of `part` is in `whole`, which may have more fields.
    fn contains(whole: &Value, part: &Value) -> bool {
        match (whole, part) {
            (Value::Object(whole), Value::Object(part)) => {
                part.iter().all(|(key, part)| whole.get(key).is_some_and(|one| contains(one, part)))
            }
            (Value::Array(whole), Value::Array(part)) => {
                whole.len() == part.len()
                    && whole.iter().zip(part).all(|(one, part)| contains(one, part))
            }
            _ => whole == part,
        }
    }

    #[test]
    fn logs_traces_and_metrics_go_there_and_back() {
        let attributes = json!({"text": "a", "whole": 7, "half": 0.5, "flag": true, "list": [1, "b"],
            "deep": {"k": {"k": []}}, "none": null});
        let resource = json!({"attributes": attributes, "dropped_attributes_count": 1});
        there_and_back(
            &SIGNALS[0],
            json!([{"resource": resource, "schema_url": "u", "scope_logs": [{
            "scope": {"name": "s", "version": "1"},
            "log_records": [{"time_unix_nano": 1_700_000_000_000_000_001_u64, "severity_number": 9,
                "body": {"message": "hi"}, "trace_id": "0102030405060708090a0b0c0d0e0f10",
                "span_id": "0102030405060708", "attributes": attributes}]}]}]),
        );
        there_and_back(
            &SIGNALS[1],
            json!([{"scope_metrics": [{"metrics": [
            {"name": "a", "data": {"sum": {"is_monotonic": true, "aggregation_temporality": 2,
                "data_points": [{"value": 5, "attributes": attributes}, {"value": 0.5}]}}},
            {"name": "b", "data": {"histogram": {"data_points": [{"count": 3, "sum": 1.5,
                "bucket_counts": [1, 2], "explicit_bounds": [0.5]}]}}},
            {"name": "c", "data": {"summary": {"data_points": [
                {"quantile_values": [{"quantile": 0.5, "value": 7.0}]}]}}}]}]}]),
        );
        there_and_back(
            &SIGNALS[2],
            json!([{"scope_spans": [{"spans": [{"name": "GET",
            "trace_id": "0102030405060708090a0b0c0d0e0f10", "parent_span_id": "",
            "events": [{"name": "e", "attributes": attributes}], "status": {"code": 2}}]}]}]),
        );
    }

    #[test]
    fn the_json_of_otlp_may_leave_fields_out_and_has_hexadecimal_identities() {
        let mut value = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "5",
            "body": {"stringValue": "hi"}, "spanId": "0102030405060708", "future": 1}]}]}]});
        turn_identities(&mut value, true);
        let read = schema::read_json(SIGNALS[0].request, &value).unwrap();
        let event = event(&SIGNALS[0], read);
        let record = &event["logs"][0]["scope_logs"][0]["log_records"][0];
        assert!(contains(
            record,
            &json!({"time_unix_nano": 5, "body": "hi", "span_id": "0102030405060708"})
        ));
    }

    #[test]
    fn what_is_no_request_is_told() {
        let fault =
            |items| schema::protobuf(SIGNALS[0].request, &request(&SIGNALS[0], items)).unwrap_err();
        assert!(
            fault(json!([{"scope_log": []}])).contains("scope_log"),
            "{}",
            fault(json!([{"scope_log": []}]))
        );
        assert!(fault(json!("text")).contains("ExportLogsServiceRequest"));
    }
}
