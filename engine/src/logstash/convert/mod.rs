//! From a Logstash configuration to a Temblor file that does the same: one step for each plugin, with
//! its line and its comments, in the order of the text. What cannot be converted becomes a step that
//! fails every check.

mod comments;
mod condition;
mod filters;
mod idiom;
mod notation;
mod page;
pub mod report;

use super::load::Loaded;
use super::settings::Settings;
use super::syntax::tree::SectionKind;
use filters::Filters;
use page::Page;
use report::Report;

/// A configuration in Temblor's language.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// A Temblor file.
    pub text: String,
    /// What became of each block.
    pub report: Report,
}

/// Converts what was read.
#[must_use]
pub fn convert(texts: &Loaded, settings: &Settings, title: &str) -> Conversion {
    let mut page = Page::new(texts, title);
    let mut filters = Filters::new(&mut page, settings);
    filters.chain_begins("in");
    for section in texts.sections(SectionKind::Filter) {
        filters.section(&section.body);
    }
    filters.chain_ends("out");
    page.finish()
}
