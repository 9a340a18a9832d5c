//! What an event asks of a store: `$kv`, as tremor's flows write it.
//!
//! Invariant: a command is whole, or a sentence says what it should be; keys are bounded.

use serde_json::{Map, Value};

/// The longest key, in bytes.
pub(crate) const KEY_BYTES_MAX: usize = 64 << 10;

/// What an event asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command {
    /// The value of a key.
    Get(String),
    /// The payload becomes the value of a key.
    Put(String),
    /// The same; the value before comes back.
    Swap(String),
    /// The key goes; its value comes back.
    Delete(String),
    /// The payload becomes the value of a key whose value is `old`; nothing is for a key that is not there.
    Cas { key: String, old: Option<Value> },
    /// The keys from the first on, before the end.
    Scan { first: Option<String>, end: Option<String> },
}

/// The names of the commands, as users write them.
const NAMES: [&str; 6] = ["get", "put", "swap", "delete", "cas", "scan"];

impl Command {
    /// The command that the text of `$kv` is.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn of_meta(json: Option<&str>) -> Result<Self, String> {
        let meta = json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or(Value::Null);
        let wanted = || "`$kv` must be a record with one of get, put, swap, delete, cas, scan";
        let Value::Object(record) = meta else { return Err(format!("{}, got {meta}", wanted())) };
        let mut named = NAMES.iter().filter(|name| record.contains_key(**name));
        let name = named
            .next()
            .ok_or_else(|| format!("{}, got {}", wanted(), Value::Object(record.clone())))?;
        if let Some(other) = named.next() {
            return Err(format!("`$kv` asks for `{name}` and `{other}` at once; send two events"));
        }
        match *name {
            "get" => key(&record, name).map(Self::Get),
            "put" => key(&record, name).map(Self::Put),
            "swap" => key(&record, name).map(Self::Swap),
            "delete" => key(&record, name).map(Self::Delete),
            "cas" => Ok(Self::Cas { key: key(&record, name)?, old: record.get("old").cloned() }),
            _ => Ok(Self::Scan { first: bound(&record, name)?, end: bound(&record, "end")? }),
        }
    }

    /// Its name.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Get(_) => "get",
            Self::Put(_) => "put",
            Self::Swap(_) => "swap",
            Self::Delete(_) => "delete",
            Self::Cas { .. } => "cas",
            Self::Scan { .. } => "scan",
        }
    }

    /// Whether it may change something.
    pub(super) fn writes(&self) -> bool {
        !matches!(self, Self::Get(_) | Self::Scan { .. })
    }
}

fn key(record: &Map<String, Value>, name: &str) -> Result<String, String> {
    match record.get(name) {
        Some(Value::String(key)) if key.len() > KEY_BYTES_MAX => {
            let bytes = key.len();
            Err(format!("the key of `{name}` has {bytes} bytes; it may have {KEY_BYTES_MAX}"))
        }
        Some(Value::String(key)) => Ok(key.clone()),
        other => {
            let got = other.unwrap_or(&Value::Null);
            Err(format!("the key of `{name}` must be a string, got {got}"))
        }
    }
}

/// An end of a range; open without one.
fn bound(record: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match record.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => key(record, name).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_they_are_written() {
        let key = || "k".to_string();
        for (text, wanted) in [
            (r#"{"get":"k"}"#, Command::Get(key())),
            (r#"{"put":"k"}"#, Command::Put(key())),
            (r#"{"swap":"k","more":1}"#, Command::Swap(key())),
            (r#"{"delete":"k"}"#, Command::Delete(key())),
            (r#"{"cas":"k"}"#, Command::Cas { key: key(), old: None }),
            (r#"{"cas":"k","old":null}"#, Command::Cas { key: key(), old: Some(Value::Null) }),
            (r#"{"scan":null}"#, Command::Scan { first: None, end: None }),
            (r#"{"scan":"k","end":"k"}"#, Command::Scan { first: Some(key()), end: Some(key()) }),
        ] {
            assert_eq!(Command::of_meta(Some(text)), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_command_is_said() {
        let long = format!("{{\"get\":\"{}\"}}", "k".repeat(KEY_BYTES_MAX + 1));
        for (text, said) in [
            (None, "got null"),
            (Some("{}"), "got {}"),
            (Some("[]"), "got []"),
            (Some(r#"{"got":"k"}"#), "one of get, put"),
            (Some(r#"{"get":1}"#), "must be a string, got 1"),
            (Some(r#"{"get":"a","put":"b"}"#), "`get` and `put` at once"),
            (Some(r#"{"scan":"a","end":7}"#), "the key of `end`"),
            (Some(long.as_str()), "it may have 65536"),
        ] {
            let error = Command::of_meta(text).unwrap_err();
            assert!(error.contains(said), "{text:?}: {error}");
        }
        let longest = format!("{{\"get\":\"{}\"}}", "k".repeat(KEY_BYTES_MAX));
        assert!(Command::of_meta(Some(&longest)).is_ok());
    }
}
