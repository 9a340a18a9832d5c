//! The steps of a chain: their texts, and which of them are off.
//!
//! Invariant: steps are numbered from 1 as they stand in the text, also while some are off.

use super::program::{Notation, Program};
use super::view::one_line;
use std::collections::BTreeSet;
use std::ops::Range;
use temblor_lang::span::{Sources, Span};
use temblor_lang::syntax::parse_program;
use temblor_lang::syntax::tree::Statement;
use temblor_pipeline::load::Language;

/// The steps of a program of one chain; none for other programs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    /// Places in the text as entered.
    places: Vec<Range<usize>>,
    titles: Vec<String>,
    /// Whether the chain begins with a name in front of its first step.
    has_start: bool,
    /// Numbers, from 1.
    off: BTreeSet<usize>,
    /// Bytes of definitions in front of the text.
    shift: usize,
}

impl Steps {
    pub(crate) fn of(program: &Program) -> Self {
        if !matches!(program.notation, Notation::Of(Language::Temblor)) {
            return Self::default();
        }
        let mut sources = Sources::default();
        let source = sources.add("<entry>", program.text.as_str());
        let tree = parse_program(&sources, source).tree;
        let mut chains = tree.query.statements.iter().filter_map(|statement| match statement {
            Statement::Chain(chain) => Some(chain),
            _ => None,
        });
        let (Some(chain), None) = (chains.next(), chains.next()) else { return Self::default() };
        let places = chain.steps.iter().map(|step| {
            let text = sources.text(step.span);
            let start = step.span.start as usize;
            start..start + text.trim_end().len()
        });
        let titles = chain.steps.iter().map(|step| one_line(sources.text(step.span)));
        Self {
            places: places.collect(),
            titles: titles.collect(),
            has_start: chain.from.is_some(),
            off: BTreeSet::new(),
            shift: program.prelude.len(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.titles.len()
    }

    /// Puts a step on or off.
    pub(crate) fn switch(&mut self, number: usize, on: bool) -> Result<(), String> {
        if number == 0 || number > self.count() {
            return Err(match self.count() {
                0 => "error: only the steps of a single chain can be switched".to_string(),
                count => format!("error: there is no step {number}; the steps are 1 to {count}"),
            });
        }
        if on {
            self.off.remove(&number);
        } else if self.off.len() + 1 == self.count() && !self.off.contains(&number) {
            return Err("error: one step has to stay on".to_string());
        } else {
            self.off.insert(number);
        }
        Ok(())
    }

    /// The text with blanks in the place of the steps that are off: all else stays where it was.
    pub(crate) fn text_without_off(&self, text: &str) -> String {
        let mut text = text.to_string();
        let mut stands = self.has_start;
        for (at, place) in self.places.iter().enumerate() {
            if !self.off.contains(&(at + 1)) {
                stands = true;
                continue;
            }
            let next = self.places.get(at + 1).map(|next| next.start);
            let blank = match (stands, at) {
                (true, 1..) => self.places[at - 1].end..place.end,
                (true, _) => self.arrow_before(&text, place.start)..place.end,
                (false, _) => place.start..next.unwrap_or(place.end),
            };
            let spaces: String = text[blank.clone()]
                .chars()
                .flat_map(|one| match one {
                    '\n' => vec!['\n'],
                    one => vec![' '; one.len_utf8()],
                })
                .collect();
            text.replace_range(blank, &spaces);
        }
        text
    }

    fn arrow_before(&self, text: &str, end: usize) -> usize {
        text[..end].rfind("|>").unwrap_or(end)
    }

    pub(crate) fn number_of(&self, span: Span) -> Option<usize> {
        let at = (span.start as usize).checked_sub(self.shift)?;
        self.places.iter().position(|place| place.contains(&at)).map(|at| at + 1)
    }

    pub(crate) fn title(&self, number: usize) -> String {
        let off = if self.off.contains(&number) { " (off)" } else { "" };
        format!("{number}. {}{off}", self.titles[number - 1])
    }

    /// The numbers of the steps that are off, in order.
    pub(crate) fn off(&self) -> impl Iterator<Item = usize> {
        self.off.iter().copied()
    }

    /// Number and text of the step that a place in the program belongs to.
    pub(crate) fn title_of(&self, span: Span) -> Option<String> {
        self.number_of(span).map(|number| self.title(number))
    }
}
