//! Filters that share what they remember: steps do not, so that these, and all between them, stay one step
//! that holds the text of the configuration.

use super::filters::Filters;
use super::notation::block;
use super::report::Coverage;
use crate::load::gather;
use crate::syntax::tree::{Plugin, Statement, ValueKind};
use std::ops::Range;
use temblor_lang::span::Span;

/// What a report says about it.
const REMARK: &str = "kept as it is written, since these filters share what they remember";

/// The statements of a body from the first to the last filter that shares its memory with another, and how
/// many filters share.
pub(super) fn sharing(body: &[Statement]) -> Option<Range<usize>> {
    let mut tasks: Vec<(usize, String)> = Vec::new();
    for (at, statement) in body.iter().enumerate() {
        gather(std::slice::from_ref(statement), &mut |plugin| {
            tasks.extend(task_of(plugin).map(|task| (at, task)));
        });
    }
    let is_shared = |task: &str| tasks.iter().filter(|(_, one)| one == task).count() > 1;
    let mut places = tasks.iter().filter(|(_, task)| is_shared(task)).map(|(at, _)| *at);
    let first = places.next()?;
    let last = places.next_back()?;
    Some(first..last + 1)
}

/// The text that an aggregate tells tasks by.
fn task_of(plugin: &Plugin) -> Option<String> {
    let (_, value) = plugin.options.iter().find(|(word, _)| word.text == "task_id")?;
    match &value.kind {
        ValueKind::Text(text) | ValueKind::Bare(text) if plugin.name.text == "aggregate" => {
            Some(text.clone())
        }
        _ => None,
    }
}

fn span_of(statement: &Statement) -> Span {
    match statement {
        Statement::Plugin(plugin) => plugin.span,
        Statement::Branch(branch) => branch.whole,
    }
}

impl Filters<'_, '_> {
    /// Writes statements as one step that holds their text, comments included.
    pub(super) fn as_written(&mut self, body: &[Statement]) {
        let Some(first) = body.first() else { return };
        let of_one_file =
            |one: &Statement, other: &Statement| span_of(one).source == span_of(other).source;
        let mut texts = Vec::new();
        self.page.comments_until(span_of(first), span_of(first).start);
        for part in body.chunk_by(of_one_file) {
            let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
            let whole = span_of(first).to(span_of(last));
            self.page.skip_comments(whole);
            texts.push(self.page.original(whole));
        }
        let place = self.page.place(span_of(first));
        gather(body, &mut |plugin| {
            let what = format!("filter {}", plugin.name.text);
            self.page.note(plugin.span, &what, Coverage::Remarks, REMARK);
        });
        self.page.remark(&format!("{place}: {REMARK}"));
        let text = texts.join("\n");
        let mut settings = Vec::new();
        let mode = super::filters::mode_word(self.settings.ecs);
        settings.extend(mode.map(|word| format!("ecs_compatibility = \"{word}\"")));
        settings.extend(self.settings.escapes.then(|| "support_escapes = true".to_string()));
        let settings = match settings.as_slice() {
            [] => String::new(),
            settings => format!(" with {} end", settings.join(", ")),
        };
        self.page.step(&format!("logstash::filters {}{settings}", block(&text)));
    }
}
