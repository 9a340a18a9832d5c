//! `base64||`: the text that base64 stands for. As a mere test it accepts any bytes, as an extractor
//! only UTF-8.

use crate::formats::base64;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::Value;

/// `base64`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "base64",
    doc: "Decodes base64 (standard alphabet, padding optional) to text. The pattern is ignored.",
    examples: &[
        (r#"match "aGk=" of case text = ~ base64|| => text case _ => null end"#, r#""hi""#),
        (r#"match "a b" of case ~ base64|| => true case _ => false end"#, "false"),
    ],
    compile: |_| Ok(Box::new(Base64)),
};

#[derive(Debug)]
struct Base64;

impl Extractor for Base64 {
    fn matches(&self, text: &str) -> bool {
        base64::is_valid(text)
    }

    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>> {
        base64::parse(text, call.arena).ok()
    }
}
