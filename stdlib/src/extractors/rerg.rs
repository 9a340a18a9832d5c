//! `rerg|(?P<name>…)|`: each named group of a regular expression over all matches. When it extracts
//! it always matches, giving `{}` where nothing was found; as a mere test it needs a match.

use crate::formats::regex::NamedGroups;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::Value;

/// `rerg`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "rerg",
    doc: "Searches all matches of a regular expression and gives each named group as an array.",
    examples: &[(
        r#"match "a1 b2" of case got = ~ rerg|(?P<d>[0-9])| => got case _ => null end"#,
        r#"{"d": ["1", "2"]}"#,
    )],
    compile: |pattern| Ok(Box::new(Rerg(NamedGroups::compile(pattern)?))),
};

#[derive(Debug)]
struct Rerg(NamedGroups);

impl Extractor for Rerg {
    fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        Some(self.0.parse_all(text, call.arena))
    }
}
