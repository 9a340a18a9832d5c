//! The store itself: keys and values in one file, changed by transactions.
//!
//! Invariant: commands are dealt with in their order, each seeing what those before it did, and what they
//! changed is on disk when [`Values::deal`] returns well.

use std::path::Path;

use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, Table, TableDefinition, TableError,
};
use temblor_codec::{Decoder, InputCodec};
use temblor_lang::value::{Arena, to_json};
use temblor_runtime::error::Error;

use super::command::Command;

/// The name of the file.
const FILE: &str = "values.redb";
/// The one table of the file.
const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("values");
/// Bytes of keys and values that one `scan` gives, at the most.
pub(crate) const SCAN_BYTES_MAX: usize = 64 << 20;

/// What one command came to: events with the key that each is about, or why it failed.
pub(super) type Outcome = Result<Vec<Found>, String>;

/// An event of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The key.
    pub key: String,
    /// The value as JSON.
    pub json: Vec<u8>,
}

/// Keys and values.
#[derive(Debug)]
pub(super) struct Values {
    database: Database,
    codec: InputCodec,
}

impl Values {
    /// Opens the store of a directory, making it where there is none.
    pub(super) fn open(directory: &Path, codec: InputCodec) -> Result<Self, Error> {
        let path = directory.join(FILE);
        let database = Database::create(&path).map_err(|error| {
            let help = match error {
                DatabaseError::DatabaseAlreadyOpen => {
                    "give each connector and each process a directory of its own"
                }
                _ => "the process must be able to read and write it; move a damaged file away to begin anew",
            };
            Error::state(path.display().to_string(), format!("cannot be opened: {error}"), help)
        })?;
        Ok(Self { database, codec })
    }

    /// Deals with commands, each with its payload as the codec wrote it.
    ///
    /// # Errors
    /// Nothing was changed, because the file cannot be read or written.
    pub(super) fn deal(&self, commands: &[(&Command, &[u8])]) -> Result<Vec<Outcome>, String> {
        let dealt = match commands.iter().any(|(command, _)| command.writes()) {
            true => self.change(commands),
            false => self.look(commands),
        };
        dealt.map_err(|error| format!("the store cannot be used: {error}"))
    }

    fn change(&self, commands: &[(&Command, &[u8])]) -> Result<Vec<Outcome>, redb::Error> {
        let transaction = self.database.begin_write()?;
        let outcomes = {
            let mut table = transaction.open_table(TABLE)?;
            let one = |(command, value): &(&Command, &[u8])| self.one(command, value, &mut table);
            commands.iter().map(one).collect::<Result<Vec<_>, _>>()?
        };
        transaction.commit()?;
        Ok(outcomes)
    }

    /// Without a transaction that waits for the disk.
    fn look(&self, commands: &[(&Command, &[u8])]) -> Result<Vec<Outcome>, redb::Error> {
        let table = match self.database.begin_read()?.open_table(TABLE) {
            Ok(table) => Some(table),
            Err(TableError::TableDoesNotExist(_)) => None,
            Err(error) => return Err(error.into()),
        };
        let one = |(command, _): &(&Command, &[u8])| match (command, &table) {
            (Command::Scan { first, end }, Some(table)) => self.scan(table, first, end),
            (Command::Scan { .. }, None) => Ok(Ok(Vec::new())),
            (Command::Get(key), Some(table)) => {
                let value = table.get(key.as_bytes())?;
                Ok(self.found(key, value.as_ref().map(|value| value.value())))
            }
            (Command::Get(key), None) => Ok(self.found(key, None)),
            _ => unreachable!("commands that write get a transaction"),
        };
        commands.iter().map(one).collect()
    }

    fn one(
        &self,
        command: &Command,
        value: &[u8],
        table: &mut Table<'_, &[u8], &[u8]>,
    ) -> Result<Outcome, redb::Error> {
        match command {
            Command::Get(key) => {
                let found = table.get(key.as_bytes())?;
                Ok(self.found(key, found.as_ref().map(|found| found.value())))
            }
            Command::Put(key) => {
                table.insert(key.as_bytes(), value)?;
                Ok(self.found(key, Some(value)))
            }
            Command::Swap(key) => {
                let before = table.insert(key.as_bytes(), value)?;
                Ok(self.found(key, before.as_ref().map(|before| before.value())))
            }
            Command::Delete(key) => {
                let before = table.remove(key.as_bytes())?;
                Ok(self.found(key, before.as_ref().map(|before| before.value())))
            }
            Command::Cas { key, old } => {
                let before = table.get(key.as_bytes())?.map(|before| before.value().to_vec());
                if let Err(reason) = self.stands(key, before.as_deref(), old.as_ref()) {
                    return Ok(Err(reason));
                }
                table.insert(key.as_bytes(), value)?;
                Ok(self.found(key, None))
            }
            Command::Scan { first, end } => self.scan(table, first, end),
        }
    }

    fn scan(
        &self,
        table: &impl ReadableTable<&'static [u8], &'static [u8]>,
        first: &Option<String>,
        end: &Option<String>,
    ) -> Result<Outcome, redb::Error> {
        let (mut all, mut bytes) = (Vec::new(), 0);
        let from = first.as_deref().unwrap_or_default().as_bytes();
        for entry in table.range(from..)? {
            let (key, value) = entry?;
            if end.as_deref().is_some_and(|end| key.value() >= end.as_bytes()) {
                break;
            }
            bytes += key.value().len() + value.value().len();
            if bytes > SCAN_BYTES_MAX {
                let reason = format!(
                    "`scan` finds more than {SCAN_BYTES_MAX} bytes; narrow it by a first key and an `end`"
                );
                return Ok(Err(reason));
            }
            let key = String::from_utf8_lossy(key.value()).into_owned();
            match self.found(&key, Some(value.value())) {
                Ok(found) => all.extend(found),
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(Ok(all))
    }

    /// Whether the value of a key is the one that a `cas` wants there.
    fn stands(
        &self,
        key: &str,
        before: Option<&[u8]>,
        wanted: Option<&serde_json::Value>,
    ) -> Result<(), String> {
        let before = match before {
            None => None,
            Some(bytes) => {
                let json = self.json(key, bytes)?;
                Some(serde_json::from_slice::<serde_json::Value>(&json).unwrap_or_default())
            }
        };
        if before.as_ref() == wanted {
            return Ok(());
        }
        let say = |value: Option<&serde_json::Value>| {
            value.map_or_else(|| "nothing".to_string(), ToString::to_string)
        };
        let (wanted, before) = (say(wanted), say(before.as_ref()));
        Err(format!("`cas` expected {wanted} at the key `{key}` and found {before}"))
    }

    fn found(&self, key: &str, value: Option<&[u8]>) -> Outcome {
        let json = match value {
            None => b"null".to_vec(),
            Some(bytes) => self.json(key, bytes)?,
        };
        Ok(vec![Found { key: key.to_string(), json }])
    }

    /// A value that was kept, as JSON.
    fn json(&self, key: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let arena = Arena::new();
        let decoded = Decoder::default().decode(self.codec, bytes, 0, &arena);
        match decoded {
            Ok(Some((_, Some(text)))) => Ok(text.to_vec()),
            Ok(Some((value, None))) => Ok(to_json(value).into_bytes()),
            Ok(None) => Ok(b"null".to_vec()),
            Err(reason) => {
                Err(format!("the value of `{key}` cannot be read with this codec: {reason}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_testing::Folder;

    fn key() -> String {
        "k".to_string()
    }

    fn values(folder: &Folder) -> Values {
        Values::open(folder.path(), InputCodec::Json).unwrap()
    }

    /// What each command of its own transaction comes to: values joined, or the reason.
    fn deal(values: &Values, command: &Command, payload: &str) -> String {
        let mut outcomes = values.deal(&[(command, payload.as_bytes())]).unwrap();
        match outcomes.pop().unwrap() {
            Ok(found) => {
                let text =
                    |one: Found| format!("{}={}", one.key, String::from_utf8(one.json).unwrap());
                found.into_iter().map(text).collect::<Vec<_>>().join(" ")
            }
            Err(reason) => reason,
        }
    }

    #[test]
    fn each_command_says_what_is_or_was_there() {
        let folder = Folder::new();
        let values = values(&folder);
        let scan = Command::Scan { first: None, end: None };
        assert_eq!(deal(&values, &Command::Get(key()), "1"), "k=null");
        assert_eq!(deal(&values, &scan, ""), "");
        assert_eq!(deal(&values, &Command::Put(key()), "1"), "k=1");
        assert_eq!(deal(&values, &Command::Swap(key()), "2"), "k=1");
        assert_eq!(deal(&values, &Command::Get(key()), ""), "k=2");
        assert_eq!(deal(&values, &Command::Delete(key()), ""), "k=2");
        assert_eq!(deal(&values, &Command::Delete(key()), ""), "k=null");
    }

    #[test]
    fn compare_and_swap_compares_values_and_not_texts() {
        let folder = Folder::new();
        let values = values(&folder);
        let cas = |old: Option<&str>| {
            let old = old.map(|old| serde_json::from_str(old).unwrap());
            Command::Cas { key: key(), old }
        };
        assert_eq!(deal(&values, &cas(None), r#"{"a":1,"b":2}"#), "k=null");
        assert_eq!(
            deal(&values, &cas(None), "3"),
            r#"`cas` expected nothing at the key `k` and found {"a":1,"b":2}"#
        );
        assert_eq!(deal(&values, &cas(Some(r#"{"b":2, "a":1}"#)), "4"), "k=null");
        assert_eq!(deal(&values, &Command::Get(key()), ""), "k=4");
    }

    #[test]
    fn a_scan_gives_a_range_in_the_order_of_keys() {
        let folder = Folder::new();
        let values = values(&folder);
        for (name, value) in [("b", "2"), ("a", "1"), ("ba", "3"), ("c", "4")] {
            deal(&values, &Command::Put(name.to_string()), value);
        }
        let scan = |first: Option<&str>, end: Option<&str>| {
            let text = |one: Option<&str>| one.map(str::to_string);
            deal(&values, &Command::Scan { first: text(first), end: text(end) }, "")
        };
        assert_eq!(scan(None, None), "a=1 b=2 ba=3 c=4");
        assert_eq!(scan(Some("b"), Some("c")), "b=2 ba=3");
        assert_eq!(scan(Some("b"), None), "b=2 ba=3 c=4");
        assert_eq!(scan(Some("x"), Some("b")), "");
    }

    #[test]
    fn commands_of_one_transaction_see_each_other_and_last() {
        let folder = Folder::new();
        {
            let values = values(&folder);
            let (put, get) = (Command::Put(key()), Command::Get(key()));
            let outcomes = values.deal(&[(&get, b"".as_slice()), (&put, b"7"), (&get, b"")]);
            let json: Vec<_> = outcomes.unwrap().into_iter().flat_map(Result::unwrap).collect();
            let json: Vec<_> = json.iter().map(|one| one.json.as_slice()).collect();
            assert_eq!(json, [b"null".as_slice(), b"7", b"7"]);
            let again = Values::open(folder.path(), InputCodec::Json).unwrap_err();
            assert!(again.to_string().contains("directory of its own"), "{again}");
        }
        assert_eq!(deal(&values(&folder), &Command::Get(key()), ""), "k=7");
    }

    #[test]
    fn a_scan_of_too_much_is_refused_and_a_narrower_one_is_not() {
        let folder = Folder::new();
        let values = values(&folder);
        let large = format!("\"{}\"", "x".repeat(SCAN_BYTES_MAX / 4));
        for name in ["a", "b", "c", "d"] {
            deal(&values, &Command::Put(name.to_string()), &large);
        }
        let all = deal(&values, &Command::Scan { first: None, end: None }, "");
        assert!(all.contains("narrow it"), "{}", all.len());
        let some = deal(&values, &Command::Scan { first: Some("b".into()), end: None }, "");
        assert!(some.len() > 3 * large.len());
    }

    #[test]
    fn values_of_another_codec_are_told() {
        let folder = Folder::new();
        deal(&values(&folder), &Command::Put(key()), "no json");
        let said = deal(&values(&folder), &Command::Get(key()), "");
        assert!(said.contains("cannot be read with this codec"), "{said}");
        let texts = Values::open(folder.path(), InputCodec::String).unwrap();
        assert_eq!(deal(&texts, &Command::Get(key()), ""), "k=\"no json\"");
    }

    #[test]
    fn a_file_that_is_no_store_is_told() {
        let folder = Folder::new();
        folder.write(FILE, "garbage, and more of it than a head is long ".repeat(200).as_str());
        let error = Values::open(folder.path(), InputCodec::Json).unwrap_err();
        assert!(error.to_string().contains("move a damaged file away"), "{error}");
    }
}
