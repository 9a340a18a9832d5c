//! From a Logstash configuration to a Temblor file that does the same: one step for each plugin, with
//! its line and its comments, in the order of the text. What cannot be converted becomes a step that
//! fails every check.

mod comments;
mod condition;
mod edges;
mod filters;
mod idiom;
mod limit;
mod kept;
mod network;
mod notation;
mod page;
pub mod report;
mod ruby;
mod statement;
mod table;

use super::link::Links;
use super::load::Pipelines;
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

/// How a configuration is converted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes<'w> {
    /// What the file calls the configuration.
    pub title: &'w str,
    /// Standard input stands for all inputs.
    pub stdin: bool,
    /// Standard output stands for all outputs.
    pub stdout: bool,
    /// Every filter stays the step that has its name, with its place in the configuration above it.
    pub exact: bool,
}

/// Converts what was read.
#[must_use]
pub fn convert(read: &Pipelines, wishes: Wishes<'_>) -> Conversion {
    let mut page = Page::new(&read.sources, wishes.title, wishes.exact);
    let several = read.pipelines.len() > 1;
    let links = Links::of(&read.pipelines);
    for pipeline in &read.pipelines {
        let name =
            |word: &str| if several { format!("{word}_{}", pipeline.id) } else { word.into() };
        let mut filters = Filters::new(&mut page, &pipeline.settings, &links);
        if several {
            filters.page.remark(&format!("Pipeline {}", pipeline.id));
        }
        filters.inputs(pipeline, wishes.stdin, &notation::plain(&name("filters")));
        // One after the other, filter sections are one.
        let sections = pipeline.sections(SectionKind::Filter);
        let body: Vec<_> = sections.flat_map(|section| section.body.iter().cloned()).collect();
        filters.section(&body);
        filters.outputs(pipeline, wishes.stdout, &notation::plain(&name("outputs")));
    }
    page.finish()
}
