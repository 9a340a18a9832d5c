//! `grok|%{IP:client} %{NUMBER:n}|`: named patterns of the classic set. Only captures with a name are
//! in the result, and all are text: a type behind the name is part of the name.

use crate::formats::Keys;
use crate::grok::{Captures, Grok as Pattern, Library, Options};
use crate::onigmo;
use std::cell::RefCell;
use std::sync::OnceLock;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::{OwnedKey, Value};

/// `grok`
pub const KIND: ExtractorKind = ExtractorKind {
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
    /// Whether a key occurs twice, so that its last capture counts.
    names_repeat: bool,
}

impl Grok {
    fn compile(pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() {
            return Err("an empty pattern matches everything and gives nothing".to_string());
        }
        check_references(pattern)?;
        let ascii = compile(pattern, false)?;
        let mut names = Keys::default();
        let fields = ascii.fields().iter().map(|field| {
            let name = match &field.type_word {
                Some(word) => &format!("{}:{word}", field.name),
                None => &field.name,
            };
            names.number(name);
            (field.group, OwnedKey::new(name))
        });
        let fields: Vec<_> = fields.collect();
        let names_repeat = names.len() < fields.len();
        let source = pattern.to_owned();
        Ok(Self { source, ascii, unicode: OnceLock::new(), fields, names_repeat })
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

/// As `is_ascii` of the standard library, but without a walk over the remainder.
fn is_ascii(bytes: &[u8]) -> bool {
    let is_ascii = |block: &[u8; 32]| {
        let (words, _) = block.as_chunks::<8>();
        words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word)) & (u64::MAX / 0xFF * 0x80)
            == 0
    };
    match bytes.last_chunk::<32>() {
        Some(last) => bytes.as_chunks::<32>().0.iter().all(is_ascii) && is_ascii(last),
        None => bytes.is_ascii(),
    }
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
    fn matches(&self, text: &str) -> bool {
        CAPTURES.with_borrow_mut(|captures| self.search(text, captures))
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        CAPTURES.with_borrow_mut(|captures| {
            if !self.search(text, captures) {
                return None;
            }
            let mut record = call.arena.record_builder(self.fields.len());
            for (group, key) in &self.fields {
                let Some(found) = captures.get(*group, text) else { continue };
                match self.names_repeat {
                    true => record.insert_key(&key.key(), Value::Str(found)),
                    false => record.append_key(&key.key(), Value::Str(found)),
                }
            }
            Some(record.finish())
        })
    }
}
