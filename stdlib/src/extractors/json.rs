//! `json||`: the value that JSON text stands for. A scalar is fine, trailing text is not.

use crate::formats::json;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::{Arena, Value};

/// `json`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "json",
    doc: "Parses JSON. The pattern is ignored.",
    examples: &[
        (r#"match "[1, 2]" of case list = ~ json|| => list case _ => null end"#, "[1, 2]"),
        (r#"match "[1," of case ~ json|| => true case _ => false end"#, "false"),
    ],
    compile: |_| Ok(Box::new(Json)),
};

#[derive(Debug)]
struct Json;

impl Extractor for Json {
    fn matches(&self, text: &str) -> bool {
        json::parse(text, &Arena::new()).is_ok()
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        json::parse(text, call.arena).ok()
    }
}
