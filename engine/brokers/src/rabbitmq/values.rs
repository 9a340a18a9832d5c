//! Headers and properties of messages: from AMQP to JSON and back.
//!
//! Invariant: what AMQP cannot hold is refused by name, never left out in silence.

use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable, ShortString};
use serde_json::{Map, Number, Value};

/// Nested headers that are followed; deeper ones are `null`.
const DEPTH_MAX: usize = 32;

/// A name of AMQP, when it is short enough (255 bytes).
#[must_use]
pub fn short(text: &str) -> Option<ShortString> {
    ShortString::try_new(text).ok()
}

/// The arguments of a queue: numbers and flags are such, not texts.
#[must_use]
pub fn arguments(entries: &[(String, String)]) -> FieldTable {
    let mut table = FieldTable::default();
    for (name, text) in entries {
        let value = match (text.parse(), text.parse()) {
            (Ok(number), _) => AMQPValue::LongLongInt(number),
            (_, Ok(flag)) => AMQPValue::Boolean(flag),
            _ => AMQPValue::LongString(text.as_str().into()),
        };
        if let Some(name) = short(name) {
            table.insert(name, value);
        }
    }
    table
}

/// A table as JSON.
#[must_use]
pub fn table(table: &FieldTable, depth: usize) -> Value {
    let entry =
        |(name, value): (&ShortString, &AMQPValue)| (name.to_string(), json(value, depth + 1));
    Value::Object(table.into_iter().map(entry).collect())
}

fn json(value: &AMQPValue, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return Value::Null;
    }
    let text = |bytes: &[u8]| Value::String(String::from_utf8_lossy(bytes).into_owned());
    let float = |number| Number::from_f64(number).map_or(Value::Null, Value::Number);
    match value {
        AMQPValue::Boolean(flag) => Value::Bool(*flag),
        AMQPValue::ShortShortInt(number) => Value::from(*number),
        AMQPValue::ShortShortUInt(number) => Value::from(*number),
        AMQPValue::ShortInt(number) => Value::from(*number),
        AMQPValue::ShortUInt(number) => Value::from(*number),
        AMQPValue::LongInt(number) => Value::from(*number),
        AMQPValue::LongUInt(number) => Value::from(*number),
        AMQPValue::LongLongInt(number) => Value::from(*number),
        AMQPValue::Timestamp(seconds) => Value::from(*seconds),
        AMQPValue::Float(number) => float(f64::from(*number)),
        AMQPValue::Double(number) => float(*number),
        AMQPValue::DecimalValue(decimal) => {
            float(f64::from(decimal.value) / 10_f64.powi(i32::from(decimal.scale)))
        }
        AMQPValue::ShortString(short) => Value::String(short.to_string()),
        AMQPValue::LongString(long) => text(long.as_bytes()),
        AMQPValue::ByteArray(bytes) => text(bytes.as_slice()),
        AMQPValue::FieldArray(items) => {
            items.as_slice().iter().map(|item| json(item, depth + 1)).collect()
        }
        AMQPValue::FieldTable(inner) => table(inner, depth),
        AMQPValue::Void => Value::Null,
    }
}

/// A record of headers, as a table.
///
/// # Errors
/// What AMQP cannot hold.
pub fn headers(text: &str) -> Result<FieldTable, String> {
    match serde_json::from_str(text) {
        Ok(Value::Null) => Ok(FieldTable::default()),
        Ok(Value::Object(record)) => to_table(&record),
        _ => Err(format!("`headers` must be a record, got {text}")),
    }
}

fn to_table(record: &Map<String, Value>) -> Result<FieldTable, String> {
    let mut table = FieldTable::default();
    for (name, value) in record {
        let key = short(name).ok_or_else(|| format!("the header name `{name}` is too long"))?;
        table.insert(key, to_amqp(value)?);
    }
    Ok(table)
}

fn to_amqp(value: &Value) -> Result<AMQPValue, String> {
    Ok(match value {
        Value::Null => AMQPValue::Void,
        Value::Bool(flag) => AMQPValue::Boolean(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => AMQPValue::LongLongInt(whole),
            (None, Some(float)) => AMQPValue::Double(float),
            _ => return Err(format!("{number} does not fit into a header")),
        },
        Value::String(text) => AMQPValue::LongString(text.as_str().into()),
        Value::Array(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(to_amqp).collect();
            AMQPValue::FieldArray(items?.into())
        }
        Value::Object(record) => AMQPValue::FieldTable(to_table(record)?),
    })
}

/// Adds the properties of a record.
///
/// # Errors
/// A property that there is not, or a value that it does not take.
pub fn with_properties(
    mut properties: BasicProperties,
    text: &str,
) -> Result<BasicProperties, String> {
    let record = match serde_json::from_str(text) {
        Ok(Value::Null) => return Ok(properties),
        Ok(Value::Object(record)) => record,
        _ => return Err(format!("`properties` must be a record, got {text}")),
    };
    for (name, value) in record.iter().filter(|(_, value)| !value.is_null()) {
        let wrong = || format!("the property `{name}` cannot be {value}");
        let words = match value {
            Value::String(text) => short(text),
            Value::Number(number) => short(&number.to_string()),
            _ => None,
        };
        let words = words.ok_or_else(wrong);
        properties = match name.as_str() {
            "content_type" => properties.with_content_type(words?),
            "content_encoding" => properties.with_content_encoding(words?),
            "correlation_id" => properties.with_correlation_id(words?),
            "reply_to" => properties.with_reply_to(words?),
            "expiration" => properties.with_expiration(words?),
            "message_id" => properties.with_message_id(words?),
            "type" => properties.with_type(words?),
            "user_id" => properties.with_user_id(words?),
            "app_id" => properties.with_app_id(words?),
            "timestamp" => properties.with_timestamp(value.as_u64().ok_or_else(wrong)?),
            "priority" => {
                let priority = value.as_u64().and_then(|number| u8::try_from(number).ok());
                properties.with_priority(priority.ok_or_else(wrong)?)
            }
            _ => return Err(format!("there is no property `{name}`")),
        };
    }
    Ok(properties)
}

/// The properties of a message that are set, but for its headers, as entries of a JSON record.
#[must_use]
pub fn properties(from: &BasicProperties) -> Map<String, Value> {
    let texts = [
        ("content_type", from.content_type()),
        ("content_encoding", from.content_encoding()),
        ("correlation_id", from.correlation_id()),
        ("reply_to", from.reply_to()),
        ("expiration", from.expiration()),
        ("message_id", from.message_id()),
        ("type", from.kind()),
        ("user_id", from.user_id()),
        ("app_id", from.app_id()),
    ];
    let mut record = Map::new();
    for (name, value) in texts {
        if let Some(value) = value {
            record.insert(name.to_string(), Value::String(value.to_string()));
        }
    }
    let numbers = [
        ("timestamp", *from.timestamp()),
        ("priority", from.priority().map(u64::from)),
        ("delivery_mode", from.delivery_mode().map(u64::from)),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            record.insert(name.to_string(), Value::from(value));
        }
    }
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_go_there_and_back() {
        let text = r#"{"a":1,"b":"x","c":[true,null,2.5],"d":{"e":-7}}"#;
        let back = table(&headers(text).unwrap(), 0);
        assert_eq!(back.to_string(), text);
        assert!(headers("[1]").unwrap_err().contains("must be a record"));
        let long = format!("{{\"{}\":1}}", "n".repeat(256));
        assert!(headers(&long).unwrap_err().contains("too long"));
    }

    #[test]
    fn properties_go_there_and_back() {
        let text = r#"{"content_type":"text/plain","message_id":"7","timestamp":5,"priority":9}"#;
        let there = with_properties(BasicProperties::default(), text).unwrap();
        let back = Value::Object(properties(&there));
        assert_eq!(back, serde_json::from_str::<Value>(text).unwrap());
        let wrong = |text| with_properties(BasicProperties::default(), text).unwrap_err();
        assert_eq!(wrong(r#"{"priority":256}"#), "the property `priority` cannot be 256");
        assert_eq!(wrong(r#"{"colour":"red"}"#), "there is no property `colour`");
        assert!(wrong("7").contains("must be a record"));
    }

    #[test]
    fn arguments_of_queues_have_kinds() {
        let given = [("x-max-length", "10"), ("x-single-active-consumer", "true"), ("x", "y")];
        let table = arguments(&given.map(|(name, text)| (name.to_string(), text.to_string())));
        let kinds: Vec<_> = table.into_iter().map(|(_, value)| value.clone()).collect();
        let wanted = [
            AMQPValue::LongString("y".into()),
            AMQPValue::LongLongInt(10),
            AMQPValue::Boolean(true),
        ];
        assert_eq!(kinds, wanted);
    }
}
