//! How far into a text a dissect pattern or a regular expression gets: the longest beginning of
//! the pattern that still matches, what it took, and the part that stopped it. For people who try
//! patterns out; the engines that parse events know nothing of it.

use super::dissect::Dissect;
use super::regex::NamedGroups;
use regex_automata::meta::Regex;
use regex_syntax::ast::{Ast, parse::Parser};
use std::ops::Range;
use temblor_lang::value::{Arena, Value};

/// Parts of a pattern that are tried, at the most: each costs a compilation.
const PARTS_MAX: usize = 200;
/// The name of the field that takes the rest of a text.
const REST: &str = "%{}";

/// What a pattern made of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The bytes that matched.
    pub matched: Range<usize>,
    /// The part of the pattern that did not match behind them; `None` when all did.
    pub stopped_at: Option<String>,
    /// The fields and their bytes, in the order of the text.
    pub fields: Vec<(String, Range<usize>)>,
}

/// How far a dissect pattern gets in `text`.
///
/// # Errors
/// A sentence that says what is wrong with the pattern.
pub fn dissect(pattern: &str, text: &str) -> Result<Reach, String> {
    Dissect::compile(pattern)?;
    let pattern = without_conversions(pattern);
    if let Some(fields) = cut(&pattern, text) {
        return Ok(Reach { matched: 0..text.len(), stopped_at: None, fields });
    }
    let parts = dissect_parts(&pattern);
    let ends = parts.iter().enumerate().rev().filter(|(_, part)| !part.starts_with("%{"));
    for (at, _) in ends {
        let beginning = parts[..=at].concat();
        let Some(mut fields) = cut(&format!("{beginning}{REST}"), text) else { continue };
        let end = fields.iter().find(|(name, _)| name.is_empty()).map(|(_, place)| place.start);
        fields.retain(|(name, _)| !name.is_empty());
        let last = fields.last().map_or(0, |(_, place)| place.end) + parts[at].len();
        let end = end.unwrap_or(last).min(text.len());
        return Ok(Reach { matched: 0..end, stopped_at: Some(next(&parts[at + 1..])), fields });
    }
    Ok(Reach { matched: 0..0, stopped_at: Some(next(&parts)), fields: Vec::new() })
}

/// What could not be found: a field together with the delimiter that ends it.
fn next(parts: &[String]) -> String {
    parts.iter().take(2).map(String::as_str).collect()
}

/// `%{n:int}` as `%{n}`: the place of a field is that of its text.
fn without_conversions(pattern: &str) -> String {
    let convert = |part: String| match part.split_once(':').filter(|_| part.starts_with("%{")) {
        Some((name, _)) => format!("{name}}}"),
        None => part,
    };
    dissect_parts(pattern).into_iter().map(convert).collect()
}

/// Fields and the literals between them.
fn dissect_parts(pattern: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some(start) = rest.find("%{") {
        if start > 0 {
            parts.push(rest[..start].to_string());
        }
        let end = rest[start..].find('}').map_or(rest.len(), |end| start + end + 1);
        parts.push(rest[start..end].to_string());
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        parts.push(rest.to_string());
    }
    parts
}

/// The fields that a pattern cuts out of a text, if it matches; the one without a name is the rest.
fn cut(pattern: &str, text: &str) -> Option<Vec<(String, Range<usize>)>> {
    let arena = Arena::new();
    // A field without a name leaves no trace: it is given one that no pattern can have.
    let named = match pattern.strip_suffix(REST) {
        Some(head) => format!("{head}%{{ }}"),
        None => pattern.to_string(),
    };
    let compiled = Dissect::compile(&named).ok()?;
    let value = compiled.parse(text, &arena).ok()?;
    let mut fields: Vec<_> = value
        .as_record(&arena)?
        .iter()
        .filter_map(|(key, value)| {
            let Value::Str(part) = value else { return None };
            Some((key.trim().to_string(), place(text, part)?))
        })
        .collect();
    fields.sort_by_key(|(_, place)| place.start);
    Some(fields)
}

/// Where a piece of a text lies in it; `None` for text that was put together.
fn place(text: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (start + part.len() <= text.len()).then(|| start..start + part.len())
}

/// How far a regular expression gets in `text`.
///
/// # Errors
/// A sentence that says what is wrong with the expression.
pub fn regex(pattern: &str, text: &str) -> Result<Reach, String> {
    let whole = NamedGroups::compile(pattern)?;
    if let Some(reach) = search(whole.regex(), text, None) {
        return Ok(reach);
    }
    let cuts = cuts(pattern);
    for (end, stopped_at) in cuts.iter().rev() {
        let Ok(beginning) = NamedGroups::compile(&pattern[..*end]) else { continue };
        if let Some(reach) = search(beginning.regex(), text, Some(stopped_at.clone())) {
            return Ok(reach);
        }
    }
    let stopped_at = Some(cuts.first().map_or(pattern, |cut| &cut.1).to_string());
    Ok(Reach { stopped_at, ..Reach::default() })
}

fn search(regex: &Regex, text: &str, stopped_at: Option<String>) -> Option<Reach> {
    let mut captures = regex.create_captures();
    regex.captures(text, &mut captures);
    let matched = captures.get_match()?.range();
    let names = regex.group_info().pattern_names(captures.pattern()?).enumerate();
    let fields = names
        .filter_map(|(group, name)| Some((name?.to_string(), captures.get_group(group)?.range())));
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(_, place)| place.start);
    Some(Reach { matched, stopped_at, fields })
}

/// Where the expression can be cut, and the part that follows: between its outermost parts.
fn cuts(pattern: &str) -> Vec<(usize, String)> {
    let Ok(Ast::Concat(ref concat)) = Parser::new().parse(pattern) else { return Vec::new() };
    let parts = concat.asts.iter().take(PARTS_MAX).map(|part| {
        let span = part.span();
        (span.start.offset, pattern[span.start.offset..span.end.offset].to_string())
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(reach: Result<Reach, String>, text: &str) -> String {
        let reach = reach.expect("a good pattern");
        let fields: Vec<_> =
            reach.fields.iter().map(|(name, at)| format!("{name}={}", &text[at.clone()])).collect();
        let stop = reach.stopped_at.unwrap_or_default();
        format!("{}|{}|{stop}", &text[reach.matched], fields.join(","))
    }

    #[test]
    fn dissect_stops_at_a_delimiter() {
        for (pattern, text, expected) in [
            ("%{a} %{b}", "x y", "x y|a=x,b=y|"),
            ("%{a} [%{b}] %{c:int}", "x [y] 12", "x [y] 12|a=x,b=y,c=12|"),
            ("%{a} [%{b}] %{c}: %{d}", "x [y] z", "x [y] |a=x,b=y|%{c}: "),
            ("<%{a}> %{b}", "x y", "||<%{a}"),
            ("%{a}, %{b}", "x y", "||%{a}, "),
        ] {
            assert_eq!(shown(dissect(pattern, text), text), expected, "{pattern} on {text}");
        }
        assert!(dissect("%{a", "x").is_err());
    }

    #[test]
    fn expressions_stop_at_a_part() {
        for (pattern, text, expected) in [
            (r"(?P<n>\d+) ms", "12 ms", "12 ms|n=12|"),
            (r"(?P<n>\d+) ms", "took 12 s", "12 |n=12|m"),
            (r"^(?P<v>[A-Z]+) /(?P<p>\w+)$", "GET /a b", "GET /a|v=GET,p=a|$"),
            (r"^x", "y", "||x"),
            (r"a|b", "y", "||a|b"),
        ] {
            assert_eq!(shown(regex(pattern, text), text), expected, "{pattern} on {text}");
        }
        assert!(regex("(", "x").is_err());
    }
}
