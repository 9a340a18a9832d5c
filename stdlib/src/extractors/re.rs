//! `re|(?P<name>…)|`: the named groups of a regular expression's first match. Groups that took no
//! part in it are absent from the result.

use crate::formats::regex::NamedGroups;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::Value;

/// `re`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "re",
    doc: "Searches a regular expression (linear time; no look-around, no back-references) and \
          gives the named groups of the first match.",
    examples: &[
        (
            r#"match "ab12" of case got = ~ re|(?P<digits>[0-9]+)| => got case _ => null end"#,
            r#"{"digits": "12"}"#,
        ),
        (r#"match "ab" of case ~ re|^[0-9]| => true case _ => false end"#, "false"),
    ],
    compile: |pattern| Ok(Box::new(Re(NamedGroups::compile(pattern)?))),
};

#[derive(Debug)]
struct Re(NamedGroups);

impl Extractor for Re {
    fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        self.0.parse(text, call.arena).ok()
    }
}
