//! `glob|*.log|`: a shell glob over the whole text. The result is `true`.

use crate::formats::glob::Glob as Pattern;
use temblor_lang::builtin::{Call, Extractor, ExtractorKind};
use temblor_lang::value::Value;

/// `glob`
pub(crate) const KIND: ExtractorKind = ExtractorKind {
    name: "glob",
    doc: "Tests the whole text against a shell glob: '*', '?', '[abc]', '[!a-z]'. A glob whose \
          only star is its first or last character is a plain suffix or prefix.",
    examples: &[
        (r#"match "app.log" of case ~ glob|*.log| => true case _ => false end"#, "true"),
        (r#"match "app7" of case ~ glob|a?p[0-9]| => true case _ => false end"#, "true"),
    ],
    compile: |pattern| Ok(Box::new(Glob(Pattern::compile(pattern)?))),
};

#[derive(Debug)]
struct Glob(Pattern);

impl Extractor for Glob {
    fn matches(&self, text: &str) -> bool {
        self.0.matches(text)
    }

    fn extract<'a>(&'a self, text: &'a str, _: &Call<'a>) -> Option<Value<'a>> {
        self.0.matches(text).then_some(Value::Bool(true))
    }

    fn literal(&self) -> Option<&str> {
        match &self.0 {
            Pattern::Literal(text) => Some(text),
            _ => None,
        }
    }
}
