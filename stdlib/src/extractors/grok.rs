//! `grok|%{IP:client} %{NUMBER:n}|`: named patterns of the classic set. Only captures with a name are
//! in the result, and all are text: a type behind the name is part of the name.

use crate::grok::{Captures, Grok as Pattern, Library, Options};
use crate::onigmo;
use std::cell::RefCell;
use std::sync::OnceLock;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::{Names, OwnedKey, Value};

/// `grok`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "grok",
    doc: "Matches text with named patterns ('%{PATTERN:name}') of the classic set and gives the \
          named captures as text.",
    examples: &[(
        r#"match "10.0.0.1 ok" of case got = ~ grok|%{IP:ip} %{WORD:state}| => got case _ => null end"#,
        r#"{"ip": "10.0.0.1", "state": "ok"}"#,
    )],
    compile: |pattern| Ok(Box::new(Grok::compile(pattern)?)),
};

thread_local! {
    /// The memory of the last match on this thread, so that matching does not allocate.
    static CAPTURES: RefCell<Captures> = RefCell::new(Captures::new());
}

#[derive(Debug)]
struct Grok {
    source: String,
    /// For ASCII texts, where the classes of Unicode and those of ASCII are the same.
    ascii: Pattern,
    /// For all other texts: slower, so compiled when first needed. `None` if it is too large.
    unicode: OnceLock<Option<Pattern>>,
    /// Number of the capture and key of each field.
    fields: Vec<(usize, OwnedKey)>,
    /// The keys, unless one occurs twice, so that its last capture counts.
    names: Option<Names>,
}

impl Grok {
    fn compile(pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() {
            return Err("an empty pattern matches everything and gives nothing".to_string());
        }
        check_references(pattern)?;
        let ascii = compile(pattern, false)?;
        let fields = ascii.fields().iter().map(|field| {
            let name = match &field.type_word {
                Some(word) => &format!("{}:{word}", field.name),
                None => &field.name,
            };
            (field.group, OwnedKey::new(name))
        });
        let fields: Vec<_> = fields.collect();
        let names = Names::new(fields.iter().map(|(_, key)| key.key().text()));
        let source = pattern.to_owned();
        Ok(Self { source, ascii, unicode: OnceLock::new(), fields, names })
    }

    fn search(&self, text: &str, captures: &mut Captures) -> bool {
        if is_ascii(text.as_bytes()) {
            return self.ascii.matches(text, captures);
        }
        let unicode = self.unicode.get_or_init(|| compile(&self.source, true).ok());
        unicode.as_ref().unwrap_or(&self.ascii).matches(text, captures)
    }
}

fn compile(pattern: &str, unicode_classes: bool) -> Result<Pattern, String> {
    let syntax = onigmo::Options { unicode_classes, ..onigmo::Options::default() };
    let options = Options { syntax, ..Options::default() };
    Pattern::compile(pattern, &Library::legacy(), &options)
        .map_err(|error| error.to_string().trim_end_matches('.').to_owned())
}

/// As `is_ascii` of the standard library, but without a walk over the remainder, and without a
/// branch for each block: texts are short, and nearly all of them are ASCII. Words are put together by hand, since
/// the compiler makes vector instructions of a loop over bytes in some builds only.
fn is_ascii(bytes: &[u8]) -> bool {
    const BLOCK_BYTES: usize = 32;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let Some(last) = bytes.last_chunk::<BLOCK_BYTES>() else { return bytes.is_ascii() };
    let word = |block: &[u8; BLOCK_BYTES]| {
        let (words, _) = block.as_chunks();
        words.iter().fold(0, |all, word| all | u64::from_le_bytes(*word))
    };
    let (blocks, _) = bytes.as_chunks();
    let all = blocks.iter().fold(word(last), |all, block| all | word(block));
    all & HIGH_BITS == 0
}

/// Every `%{` must begin a reference; nothing else could be meant by it.
fn check_references(pattern: &str) -> Result<(), String> {
    for (at, _) in pattern.match_indices("%{") {
        let inside = &pattern[at + 2..];
        let name = inside.trim_start_matches(|next: char| next.is_alphanumeric() || next == '_');
        let named = name.len() < inside.len() && name.starts_with(['}', ':', '=']);
        if !named || !name.contains('}') {
            return Err(format!("the '%{{' at byte {at} begins no '%{{PATTERN:name}}'"));
        }
    }
    Ok(())
}

impl Extractor for Grok {
    fn gave_up(&self) -> bool {
        CAPTURES.with_borrow(Captures::exhausted)
    }

    fn matches(&self, text: &str) -> bool {
        CAPTURES.with_borrow_mut(|captures| self.search(text, captures))
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        CAPTURES.with_borrow_mut(|captures| {
            if !self.search(text, captures) {
                return None;
            }
            let value = |group| captures.get(group, text).map(Value::Str);
            if let Some(names) = &self.names {
                let values = self.fields.iter().map(|(group, _)| value(*group));
                return Some(names.record(call.arena, values));
            }
            let mut record = call.arena.record_builder(self.fields.len());
            for (group, key) in &self.fields {
                if let Some(value) = value(*group) {
                    record.insert_key(&key.key(), value);
                }
            }
            Some(record.finish())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::is_ascii;

    #[test]
    fn one_letter_beyond_ascii_is_seen_at_every_place() {
        for length in 0..140 {
            let mut text = vec![b'a'; length];
            assert!(is_ascii(&text));
            for place in 0..length {
                text[place] = 0x80;
                assert!(!is_ascii(&text), "{place} of {length}");
                text[place] = 0x7f;
            }
        }
    }
}
