//! How far a pattern gets in a text, drawn under the text: which characters went to which field,
//! where the pattern stopped, what was left. The engines themselves say so.

use super::setup::Setup;
use super::view::paint;
use std::ops::Range;
use temblor_lang::diagnostic::Colour;
use temblor_stdlib::formats::reach::{self, Reach};
use temblor_stdlib::grok::{Captures, Grok, Library, Options};

/// Colours of the fields in turn (green, yellow, blue, magenta, cyan).
const CODES: [&str; 5] = ["32", "33", "34", "35", "36"];
/// The mark of the first character that did not match.
const STOP: char = '^';
/// Texts are drawn up to this many characters.
const DRAWN_CHARS_MAX: usize = 2_000;

/// The notations that can be explained.
pub(crate) const NOTATIONS: [&str; 4] = ["grok", "dissect", "regex", "re"];

/// How far `pattern` gets in `text`.
pub(crate) fn explain(
    notation: &str,
    pattern: &str,
    text: &str,
    setup: &Setup,
) -> Result<String, String> {
    let reach = match notation {
        "grok" => grok(pattern, text),
        "dissect" => reach::dissect(pattern, text),
        "re" | "regex" | "rerg" => reach::regex(pattern, text),
        other => Err(format!("`{other}` patterns cannot be explained")),
    };
    let reach = reach.map_err(|reason| format!("error: {reason}"))?;
    let mut shown = match reach.stopped_at {
        None => "matches\n".to_string(),
        Some(_) => "does not match\n".to_string(),
    };
    shown.push_str(&draw(&reach, text, setup));
    for (index, (name, place)) in reach.fields.iter().enumerate() {
        let line = format!("  {} {name} = {}", letter(index), &text[place.clone()]);
        shown.push_str(&format!("{}\n", paint(setup.colour, CODES[index % CODES.len()], &line)));
    }
    if let Some(part) = &reach.stopped_at {
        let prefix = text.get(reach.matched.clone()).unwrap_or_default();
        let rest = text.get(reach.matched.end..).unwrap_or_default();
        shown.push_str(&format!("  matched: {prefix}\n"));
        shown.push_str(&format!("  stopped at: {}\n", paint(setup.colour, "31", part)));
        shown.push_str(&format!("  rest: {rest}\n"));
    }
    Ok(shown)
}

/// Whether a pattern matches a text; false for one that is wrong or cannot be tried.
pub(crate) fn matches(notation: &str, pattern: &str, text: &str) -> bool {
    let reach = match notation {
        "grok" => grok(pattern, text),
        "dissect" => reach::dissect(pattern, text),
        _ => reach::regex(pattern, text),
    };
    reach.is_ok_and(|reach| reach.stopped_at.is_none())
}

fn grok(pattern: &str, text: &str) -> Result<Reach, String> {
    let compile = |pattern: &str| {
        Grok::compile(pattern, &Library::legacy(), &Options::default())
            .map_err(|error| error.to_string())
    };
    let compiled = compile(pattern)?;
    let mut captures = Captures::new();
    if compiled.matches(text, &mut captures) {
        return Ok(found(&compiled, &captures, None));
    }
    let why = compiled.explain(text, &mut captures);
    let stopped_at = Some(why.stopped_at_token);
    let beginning = compile(&why.matched_pattern).ok().filter(|_| !why.matched_pattern.is_empty());
    if let Some(beginning) = beginning
        && beginning.matches(text, &mut captures)
        && captures.whole().1 as usize == why.matched_prefix_end
    {
        return Ok(found(&beginning, &captures, stopped_at));
    }
    Ok(Reach { matched: 0..why.matched_prefix_end, stopped_at, fields: Vec::new() })
}

fn found(grok: &Grok, captures: &Captures, stopped_at: Option<String>) -> Reach {
    let place = |(start, end): (u32, u32)| start as usize..end as usize;
    let fields = grok.fields().iter().filter_map(|field| {
        let at = captures.span(field.group)?;
        Some((field.name.clone(), place(at)))
    });
    Reach { matched: place(captures.whole()), stopped_at, fields: fields.collect() }
}

fn letter(index: usize) -> char {
    char::from(b'a' + u8::try_from(index % 26).unwrap_or_default())
}

/// The text, and under each character the letter of its field; as wide as the terminal.
fn draw(reach: &Reach, text: &str, setup: &Setup) -> String {
    let mut drawn = String::new();
    let characters: Vec<(usize, char)> = text.char_indices().take(DRAWN_CHARS_MAX).collect();
    let width = setup.width.get().saturating_sub(2).max(8);
    let ends_inside = reach.stopped_at.is_some() && reach.matched.end <= text.len();
    for line in characters.chunks(width) {
        let marks: String = line.iter().map(|(at, _)| mark(reach, *at, ends_inside).0).collect();
        let shown = match setup.colour {
            Colour::Off => line.iter().map(|(_, one)| visible(*one)).collect::<String>(),
            Colour::On => coloured(reach, line, ends_inside),
        };
        drawn.push_str(&format!("  {shown}\n"));
        if !marks.trim().is_empty() {
            drawn.push_str(&format!("  {}\n", marks.trim_end()));
        }
    }
    drawn
}

/// What is drawn under the character at a place, and its colour.
fn mark(reach: &Reach, at: usize, ends_inside: bool) -> (char, Option<&'static str>) {
    let inside = |place: &Range<usize>| place.contains(&at);
    // The narrowest field counts: fields may lie in fields.
    let fields = reach.fields.iter().enumerate().filter(|(_, (_, place))| inside(place));
    match fields.min_by_key(|(_, (_, place))| place.len()) {
        Some((index, _)) => (letter(index), Some(CODES[index % CODES.len()])),
        None if ends_inside && at == reach.matched.end => (STOP, Some("1;31")),
        None => (' ', None),
    }
}

fn coloured(reach: &Reach, line: &[(usize, char)], ends_inside: bool) -> String {
    let code = |at: usize| mark(reach, at, ends_inside).1;
    let runs = line.chunk_by(|left, right| code(left.0) == code(right.0));
    runs.map(|run| {
        let text: String = run.iter().map(|(_, one)| visible(*one)).collect();
        code(run[0].0).map_or(text.clone(), |code| paint(Colour::On, code, &text))
    })
    .collect()
}

/// Characters that would move the cursor are shown as a dot.
fn visible(one: char) -> char {
    if one.is_control() { '·' } else { one }
}
