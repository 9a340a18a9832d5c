//! Extractors: tests on text that also take it apart, written `name|pattern|`. Only text can match;
//! the kinds are listed in [`EXTRACTORS`] and each stands in its own file.

mod base64;
mod cidr;
mod datetime;
mod dissect;
mod glob;
mod grok;
mod influx;
mod json;
mod kv;
mod re;
mod rerg;
pub(crate) mod many;

use temblor_lang::builtin::ExtractorKind;

/// All kinds of extractors.
pub static EXTRACTORS: &[ExtractorKind] = &[
    base64::KIND,
    cidr::KIND,
    datetime::KIND,
    dissect::KIND,
    glob::KIND,
    grok::KIND,
    influx::KIND,
    json::KIND,
    kv::KIND,
    re::KIND,
    rerg::KIND,
];

/// The kind with this name, in any case.
#[must_use]
pub fn find(name: &str) -> Option<&'static ExtractorKind> {
    EXTRACTORS.iter().find(|kind| kind.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;
