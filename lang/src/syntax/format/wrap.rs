//! Lines that are too long are broken, from the outside to the inside: first between the steps of a
//! chain, then behind commas, in front of clauses, inside of forms, behind arrows, and in front of
//! `or` and `and`; of a condition first there, then inside of its brackets. What cannot be broken, such as a long string, stays long.

use super::super::scan::{Kind, Scan};
use super::Formatter;
use super::indent::SECTIONS;

/// Characters of a line, at the most, where it can be broken.
pub const LINE_CHARS_MAX: usize = 100;

/// Rounds of breaking: each goes one level deeper into every long line, or breaks the same level at
/// another kind of place. Levels end where the indentation has reached the end of the line.
const ROUNDS_MAX: usize = 4 * LINE_CHARS_MAX;

/// Words that begin a clause of a statement.
const CLAUSES: [&str; 5] = ["from", "where", "group", "into", "having"];
/// Forms whose arms begin with `case`.
const WITH_ARMS: [&str; 4] = ["match", "for", "fn", "route"];
/// Forms that are definitions with sections.
const DEFINITIONS: [&str; 4] = ["script", "window", "pipeline", "flow"];

/// The text of a scan in the one style, with lines of more than `width` characters broken.
pub(super) fn wrapped(scan: &Scan<'_>, width: usize) -> String {
    let mut breaks = vec![false; scan.tokens.len()];
    let in_binary = commas_of_binaries(scan);
    let mut written = Formatter::new(scan, &breaks).run();
    for _ in 0..ROUNDS_MAX {
        let mut wrapper =
            Wrapper { scan, breaks: &mut breaks, in_binary: &in_binary, changed: false };
        for line in written.places.chunk_by(|left, right| left.line == right.line) {
            let has_room = line[0].start < width;
            if has_room && line.iter().any(|place| place.end > width) {
                wrapper.line(line, width);
            }
        }
        if !wrapper.changed {
            break;
        }
        written = Formatter::new(scan, &breaks).run();
    }
    written.text
}

/// Where a token was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenPosition {
    /// Its number.
    pub token: usize,
    /// Its line.
    pub line: usize,
    /// Characters of the line in front of the token.
    pub start: usize,
    /// Characters of the line up to the token's end.
    pub end: usize,
}

struct Wrapper<'w, 's, 't> {
    scan: &'s Scan<'t>,
    breaks: &'w mut [bool],
    /// For each token, whether it is a comma of a binary.
    in_binary: &'w [bool],
    changed: bool,
}

/// For each token, whether it is a comma with `<<` in front and `>>` behind it, no list around it.
fn commas_of_binaries(scan: &Scan<'_>) -> Vec<bool> {
    let mut found = vec![false; scan.tokens.len()];
    // For each form, the commas since its last `<<`.
    let mut open: Vec<Option<Vec<usize>>> = vec![None; scan.frames.len()];
    for (index, token) in scan.tokens.iter().enumerate().filter(|(_, one)| one.kind == Kind::Sign) {
        let since = &mut open[token.frame];
        match (scan.text(token), since.as_mut()) {
            ("<<", _) => *since = Some(Vec::new()),
            (",", Some(commas)) => commas.push(index),
            (">>", _) => {
                since.take().into_iter().flatten().for_each(|comma| found[comma] = true);
            }
            _ => {}
        }
    }
    found
}

impl Wrapper<'_, '_, '_> {
    fn text(&self, index: usize) -> &str {
        self.scan.text(&self.scan.tokens[index])
    }

    fn is_sign(&self, index: usize, text: &str) -> bool {
        self.scan.tokens[index].kind == Kind::Sign && self.text(index) == text
    }

    /// Whether a token is a comma that is not between the parts of `<< a, b >>`.
    fn is_list_comma(&self, index: usize) -> bool {
        self.is_sign(index, ",") && !self.in_binary[index]
    }

    fn is_word(&self, index: usize, words: &[&str]) -> bool {
        self.scan.tokens[index].kind == Kind::Word && words.contains(&self.text(index))
    }

    fn depth(&self, mut frame: usize) -> usize {
        let mut depth = 0;
        while frame != 0 {
            frame = self.scan.frames[frame].parent;
            depth += 1;
        }
        depth
    }

    /// Breaks a line at the first kind of place that it has.
    fn line(&mut self, line: &[TokenPosition], width: usize) {
        let (first, last) = (line[0].token, line[line.len() - 1].token);
        let inside = (first + 1)..=last;
        let Some(outermost) = inside
            .clone()
            .map(|at| self.scan.tokens[at].frame)
            .min_by_key(|frame| self.depth(*frame))
        else {
            return;
        };
        let here = |wrapper: &Self, at: usize| wrapper.scan.tokens[at].frame == outermost;
        let chain = inside.clone().filter(|at| self.is_sign(*at, "|>") && here(self, *at));
        if self.take(chain.collect()) {
            return;
        }
        let opener = self.scan.frames[outermost].opener;
        let commas = inside.clone().filter(|at| self.is_list_comma(*at - 1) && here(self, *at - 1));
        // A form that begins the line is broken behind its bracket, too.
        let places = match opener == Some(first) && self.scan.frames[outermost].bracket {
            true => self.places_in(outermost, last),
            false => commas.collect(),
        };
        if self.take(places) {
            return;
        }
        let clauses = inside.clone().filter(|at| {
            let is_step = *at == first + 1 && self.is_sign(first, "|>");
            !is_step
                && self.is_word(*at, &CLAUSES)
                && here(self, *at)
                && self.begins_with(first, "select")
        });
        if self.take(clauses.collect()) {
            return;
        }
        let is_condition = self.is_condition(line, outermost, width);
        if is_condition && self.logic(first, last, outermost) {
            return;
        }
        if self.forms(first, last) {
            return;
        }
        let arrows = inside.clone().filter(|at| self.is_sign(*at - 1, "=>"));
        if self.take(arrows.take(1).collect()) {
            return;
        }
        self.logic(first, last, outermost);
    }

    /// Breaks in front of the loosest `or`, `xor` or `and` of a form in a line; whether there is one.
    fn logic(&mut self, first: usize, last: usize, form: usize) -> bool {
        [&["or", "xor"][..], &["and"]].iter().any(|operators| {
            let own = (first + 1..=last).filter(|at| self.scan.tokens[*at].frame == form);
            let found = own.filter(|at| self.is_word(*at, operators)).collect();
            self.take(found)
        })
    }

    /// Whether it is a condition that makes a line too long: no form but brackets begins in it, and of
    /// an arm what stands in front of the arrow is too long, or nothing behind it could be broken.
    fn is_condition(&self, line: &[TokenPosition], form: usize, width: usize) -> bool {
        let (first, last) = (line[0].token, line[line.len() - 1].token);
        let arrow = line.iter().skip(1).find(|place| {
            self.is_sign(place.token, "=>") && self.scan.tokens[place.token].frame == form
        });
        let opens = |from: usize, brackets: bool| {
            let mut opened = self
                .scan
                .frames
                .iter()
                .filter(|frame| frame.opener.is_some_and(|at| (from..=last).contains(&at)));
            opened.any(|frame| frame.bracket == brackets)
        };
        !opens(first, false)
            && arrow.is_none_or(|arrow| arrow.end > width || !opens(arrow.token, true))
    }

    fn begins_with(&self, first: usize, word: &str) -> bool {
        self.is_word(first, &[word]) || (first > 0 && self.is_sign(first, "|>"))
    }

    /// Breaks in front of these tokens; whether any of them was not broken yet.
    fn take(&mut self, places: Vec<usize>) -> bool {
        let mut any = false;
        for at in places {
            // Behind these signs nothing else can stand in a line of its own.
            if !self.breaks[at] && self.scan.tokens[at].kind != Kind::Test {
                self.breaks[at] = true;
                any = true;
            }
        }
        self.changed |= any;
        any
    }

    /// Breaks inside of the outermost forms that begin in a line and are not broken yet.
    fn forms(&mut self, first: usize, last: usize) -> bool {
        let opened: Vec<usize> = (1..self.scan.frames.len())
            .filter(|form| {
                self.scan.frames[*form].opener.is_some_and(|at| (first..=last).contains(&at))
            })
            .collect();
        let Some(least) = opened.iter().map(|form| self.depth(*form)).min() else { return false };
        let deepest = opened.iter().map(|form| self.depth(*form)).max().unwrap_or(least);
        for depth in least..=deepest {
            let forms = opened.iter().filter(|form| self.depth(**form) == depth);
            let places = forms.flat_map(|form| self.places_in(*form, last)).collect();
            if self.take(places) {
                return true;
            }
        }
        false
    }

    /// Where a form is broken that ends at token `last` at the latest.
    fn places_in(&self, form: usize, last: usize) -> Vec<usize> {
        let Some(opener) = self.scan.frames[form].opener else { return Vec::new() };
        let own: Vec<usize> =
            (opener + 1..=last).filter(|at| self.scan.tokens[*at].frame == form).collect();
        let Some(end) = own.last().copied() else { return Vec::new() };
        if self.scan.frames[form].bracket {
            return self.places_in_bracket(opener, end, &own);
        }
        if self.is_word(opener, &DEFINITIONS) {
            return self.places_in_definition(opener, end, &own);
        }
        let arms = self.is_word(opener, &WITH_ARMS);
        let begins = ["of", "with", "then", "do", "else"];
        let places = own.iter().copied().filter(|at| {
            let behind = *at > opener + 1
                && self.is_word(*at - 1, &begins)
                && own.contains(&(*at - 1))
                && !self.is_else_of_step(*at - 1);
            (self.is_word(*at, &["end", "else", "elif"]) && !self.is_else_of_step(*at))
                || (arms && self.is_word(*at, &["case", "default"]))
                || (behind && !(arms && self.is_word(*at, &["case"])))
        });
        let behind = own.iter().copied().filter(|at| {
            !arms
                && self.is_word(*at, &begins)
                && *at < last
                && *at != end
                && !self.is_else_of_step(*at)
        });
        let mut places: Vec<_> = places.chain(behind.map(|at| at + 1)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Whether an `else` names a stream for what a step sorts out: a lone name follows.
    fn is_else_of_step(&self, at: usize) -> bool {
        let form = self.scan.tokens[at].frame;
        let opener = self.scan.frames[form].opener;
        let follows = |at: usize| self.scan.tokens.get(at).is_some();
        opener.is_some_and(|opener| self.is_word(opener, &["when"]))
            && self.is_word(at, &["else"])
            && follows(at + 2)
            && self.scan.tokens[at + 1].kind == Kind::Word
            && (self.is_word(at + 2, &["else", "elif", "end"]) || self.is_sign(at + 2, "|>"))
            && !self.is_word(at.saturating_sub(1), &["end"])
    }

    /// In front of its sections, and of its arguments and its body.
    fn places_in_definition(&self, opener: usize, end: usize, own: &[usize]) -> Vec<usize> {
        let body_word = match self.text(opener) {
            word @ ("pipeline" | "flow") => word,
            _ => "script",
        };
        let body = own.iter().copied().find(|at| self.is_word(*at, &[body_word]));
        let head = body.map_or(end, |at| at + 1);
        let mut places = Vec::new();
        for at in own.iter().copied().filter(|at| *at < head && self.is_word(*at, &SECTIONS)) {
            places.push(at);
            if Some(at) == body || self.is_word(at, &["args"]) {
                places.push(at + 1);
            }
        }
        places.extend(self.is_word(end, &["end"]).then_some(end));
        places.dedup();
        places
    }

    fn places_in_bracket(&self, opener: usize, end: usize, own: &[usize]) -> Vec<usize> {
        let is_closer = matches!(self.text(end), ")" | "]" | "}");
        // Empty, or nothing but one form that is better broken itself.
        let inner = self.scan.tokens.get(opener + 1).map(|token| token.frame);
        let only_one =
            is_closer && own.len() == 1 && inner.is_some_and(|_| self.is_one_form(opener + 1, end));
        if end == opener + 1 || only_one {
            return Vec::new();
        }
        let commas = own.iter().copied().filter(|at| self.is_list_comma(*at)).map(|at| at + 1);
        let closer = is_closer.then_some(end);
        std::iter::once(opener + 1).chain(commas).chain(closer).filter(|at| *at <= end).collect()
    }

    /// Whether the tokens from `start` up to `end` are one form in brackets.
    fn is_one_form(&self, start: usize, end: usize) -> bool {
        let form = self.scan.frames.iter().position(|frame| frame.opener == Some(start));
        form.is_some_and(|form| {
            (start + 1..end).rev().find(|at| self.scan.tokens[*at].frame == form) == Some(end - 1)
        })
    }
}
