//! Patterns: search, replacement, scanning and splitting, with `$~` and `$1`.

use super::{Answer, Found1, Given, Machine, Stop, limited};
use crate::datum::Datum;
use crate::filter::{replace_all, split_text as split_by_text};
use crate::pattern::{Groups, Pattern};
use crate::ruby::parse;
use crate::ruby::value::{Found, Value};
use std::sync::Arc;

/// The methods of patterns and of what they find.
pub(super) const NAMES: &[&str] = &[
    "match",
    "match?",
    "=~",
    "source",
    "captures",
    "named_captures",
    "names",
    "pre_match",
    "post_match",
    "begin",
    "end",
    "to_a",
    "values_at",
    "escape",
    "union",
    "last_match",
    "offset",
    "byteoffset",
    "casefold?",
    "options",
    "deconstruct_keys",
];

/// Compiles a pattern that was put together while the code ran.
pub(super) fn compile(text: &str, flags: &str) -> Answer {
    parse::pattern(text, flags)
        .map(|pattern| Value::Regex(Arc::new(pattern), parse::written(text, flags).into()))
        .map_err(|reason| Stop::raise("RegexpError", reason))
}

/// A pattern, or a text as one.
pub(super) fn of(value: &Value) -> Result<Arc<Pattern>, Stop> {
    match value {
        Value::Regex(pattern, _) => Ok(pattern.clone()),
        Value::Text(text) => match compile(&text.str(), "")? {
            Value::Regex(pattern, _) => Ok(pattern),
            _ => Err(Stop::raise("TypeError", "this is no pattern")),
        },
        other => {
            let message = format!("wrong argument type {} (expected Regexp)", other.class());
            Err(Stop::raise("TypeError", message))
        }
    }
}

/// The text as a pattern that matches only itself.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            ' ' => out.push_str("\\ "),
            c if ".*?+^$|\\()[]{}-".contains(c) => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A group by number or name.
pub(super) fn group(found: &Found, which: &Value) -> Value {
    let at = match which {
        Value::Int(at) if *at < 0 => usize::try_from(found.groups.len() as i64 + at).ok(),
        Value::Int(at) => usize::try_from(*at).ok(),
        other => {
            let name = other.print();
            found.names.iter().find(|(known, _)| *known == name).map(|(_, at)| *at)
        }
    };
    let text = at.and_then(|at| found.groups.get(at).cloned().flatten());
    text.map_or(Value::Nil, |text| Value::text(&text))
}

/// Where a group begins and ends, in characters.
fn place(found: &Found, which: &Value) -> Option<(i64, i64)> {
    let at = match which {
        Value::Int(at) => usize::try_from(*at).ok()?,
        name => found.names.iter().find(|(known, _)| *known == name.print())?.1,
    };
    *found.places.get(at)?
}

pub(super) fn match_method(found: &Found, name: &str, arguments: &[Value]) -> Option<Value> {
    let text = |text: &Option<Arc<str>>| text.as_deref().map_or(Value::Nil, Value::text);
    Some(match (name, arguments) {
        ("[]", [which]) => group(found, which),
        ("captures", []) => Value::list(found.groups[1..].iter().map(text).collect()),
        ("to_a", []) => Value::list(found.groups.iter().map(text).collect()),
        ("values_at", which) => {
            Value::list(which.iter().map(|which| group(found, which)).collect())
        }
        ("named_captures", []) => {
            Value::hash(found.names.iter().map(|(name, at)| {
                (Value::text(name), found.groups.get(*at).map_or(Value::Nil, text))
            }))
        }
        ("names", []) => {
            Value::list(found.names.iter().map(|(name, _)| Value::text(name)).collect())
        }
        ("pre_match", []) => Value::text(&found.before),
        ("post_match", []) => Value::text(&found.after),
        ("begin" | "end" | "offset", [which]) => match place(found, which) {
            Some((from, _)) if name == "begin" => Value::Int(from),
            Some((_, to)) if name == "end" => Value::Int(to),
            Some((from, to)) => Value::list(vec![Value::Int(from), Value::Int(to)]),
            None if name == "offset" => Value::list(vec![Value::Nil, Value::Nil]),
            None => Value::Nil,
        },
        ("to_s", []) => group(found, &Value::Int(0)),
        ("length" | "size", []) => Value::Int(found.groups.len() as i64),
        _ => return None,
    })
}

fn found(pattern: &Pattern, text: &str, groups: &Groups) -> Found {
    let (from, to) = groups[0].expect("a match has a place");
    let characters = |end: usize| text[..end].chars().count() as i64;
    let count = |(from, to): (usize, usize)| (characters(from), characters(to));
    let piece = |group: &Option<(usize, usize)>| group.map(|(from, to)| text[from..to].into());
    Found {
        groups: groups.iter().map(piece).collect(),
        places: groups.iter().map(|group| group.map(count)).collect(),
        names: pattern.names(),
        before: text[..from].into(),
        after: text[to..].into(),
    }
}

fn gave_up() -> Stop {
    Stop::raise("RegexpError", "the search takes too long")
}

impl Machine<'_, '_> {
    /// Searches, and sets `$~`. The place is in characters.
    pub(super) fn search(&mut self, pattern: &Pattern, text: &str) -> Result<Option<i64>, Stop> {
        let groups = pattern.find_at(text, 0).map_err(|_| gave_up())?;
        self.found = groups.as_ref().map(|groups| Arc::new(found(pattern, text, groups)));
        Ok(self.found.as_ref().map(|found| found.before.chars().count() as i64))
    }

    pub(super) fn regex_method(
        &mut self,
        pattern: &Arc<Pattern>,
        source: &Arc<str>,
        name: &str,
        arguments: &[Value],
    ) -> Found1 {
        Ok(Some(match (name, arguments) {
            ("source", []) => Value::text(parse::source(source).0),
            ("to_s", []) => Value::text(source),
            ("names", []) => {
                Value::list(pattern.names().iter().map(|(name, _)| Value::text(name)).collect())
            }
            ("casefold?", []) => Value::Bool(parse::source(source).1.contains('i')),
            ("options", []) => {
                let on = parse::source(source).1;
                let bits = [('i', 1), ('x', 2), ('m', 4)];
                let set = bits.iter().filter(|(flag, _)| on.contains(*flag));
                Value::Int(set.map(|(_, bit)| bit).sum())
            }
            ("=~" | "match" | "match?", [Value::Nil]) => {
                self.found = None;
                if name == "match?" { Value::Bool(false) } else { Value::Nil }
            }
            ("=~" | "match" | "match?" | "===", [text, ..]) => {
                let place = self.search(pattern, &text.print())?;
                match (name, place, &self.found) {
                    ("match?" | "===", place, _) => Value::Bool(place.is_some()),
                    ("=~", Some(place), _) => Value::Int(place),
                    ("match", _, Some(found)) => Value::Match(found.clone()),
                    _ => Value::Nil,
                }
            }
            _ => return Ok(None),
        }))
    }

    /// `gsub` and `sub`, with a text, a hash or code as the replacement.
    pub(super) fn substitute(
        &mut self,
        text: &str,
        needle: &Value,
        replacement: &[Value],
        given: Option<&Given>,
        all: bool,
    ) -> Result<String, Stop> {
        let pattern = match needle {
            Value::Regex(pattern, _) => pattern.clone(),
            other => of(&Value::text(&escape(&other.print())))?,
        };
        let mut matches = pattern.find_all(text).map_err(|_| gave_up())?;
        if !all {
            matches.truncate(1);
        }
        if let Some(last) = matches.last() {
            self.found = Some(Arc::new(found(&pattern, text, last)));
        }
        match (replacement.first(), given) {
            (Some(Value::Hash(hash)), _) => {
                let hash = hash.clone();
                self.replace_each(text, &pattern, &matches, |_, whole| {
                    Ok(hash.lock().get(&whole).unwrap_or_default())
                })
            }
            (Some(text_value @ (Value::Text(_) | Value::Symbol(_))), _) => {
                let replaced = replace_all(&pattern, text, &matches, &text_value.print());
                limited(replaced.len())?;
                Ok(replaced)
            }
            (None, Some(given)) => {
                let given = given.clone();
                self.replace_each(text, &pattern, &matches, |machine, whole| {
                    machine.give_to(&given, vec![whole])
                })
            }
            (Some(other), _) => {
                let message = format!(
                    "no implicit conversion of {} into String",
                    super::object::word_of(other)
                );
                Err(Stop::raise("TypeError", message))
            }
            (None, None) => Err(Stop::raise("ArgumentError", "wrong number of arguments")),
        }
    }

    fn replace_each(
        &mut self,
        text: &str,
        pattern: &Pattern,
        matches: &[Groups],
        mut replace: impl FnMut(&mut Self, Value) -> Answer,
    ) -> Result<String, Stop> {
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for groups in matches {
            let (from, to) = groups[0].expect("a match has a place");
            self.found = Some(Arc::new(found(pattern, text, groups)));
            out.push_str(&text[end..from]);
            let new = replace(self, Value::text(&text[from..to]))?;
            out.push_str(&new.print());
            limited(out.len())?;
            end = to;
        }
        out.push_str(&text[end..]);
        Ok(out)
    }

    /// All matches: texts, or lists of their groups.
    pub(super) fn scan(&mut self, text: &str, needle: &Value, given: Option<&Given>) -> Answer {
        let pattern = match needle {
            Value::Regex(pattern, _) => pattern.clone(),
            other => of(&Value::text(&escape(&other.print())))?,
        };
        let mut all = Vec::new();
        for groups in pattern.find_all(text).map_err(|_| gave_up())? {
            let found = Arc::new(found(&pattern, text, &groups));
            let item = match found.groups.len() {
                1 => group(&found, &Value::Int(0)),
                _ => match_method(&found, "captures", &[]).unwrap_or_default(),
            };
            self.found = Some(found);
            match given {
                Some(given) => drop(self.give_to(given, vec![item])?),
                None => all.push(item),
            }
        }
        Ok(if given.is_some() { Value::text(text) } else { Value::list(all) })
    }
}

/// Ruby's `split`: by blanks, by a text or by a pattern, with a limit.
pub(super) fn split(text: &str, arguments: &[Value]) -> Result<Vec<Value>, Stop> {
    let limit = match arguments.get(1) {
        Some(Value::Int(limit)) => *limit,
        _ => 0,
    };
    let piece = |piece: Datum<'_>| Value::of_datum(&piece);
    match arguments.first() {
        None | Some(Value::Nil) => Ok(split_by_text(text, " ").into_iter().map(piece).collect()),
        Some(Value::Text(separator)) if limit == 0 => {
            Ok(split_by_text(text, &separator.str()).into_iter().map(piece).collect())
        }
        Some(Value::Text(separator)) => {
            let most = usize::try_from(limit).unwrap_or(usize::MAX);
            let separator = separator.str();
            let pieces: Vec<&str> = match &*separator {
                " " => split_blanks(text, most),
                separator => text.splitn(most, separator).collect(),
            };
            Ok(pieces.into_iter().map(Value::text).collect())
        }
        Some(Value::Regex(pattern, _)) => {
            let matches = pattern.find_all(text).map_err(|_| gave_up())?;
            Ok(split_at(text, &matches, limit))
        }
        Some(other) => {
            let message = format!("wrong argument type {} (expected Regexp)", other.class());
            Err(Stop::raise("TypeError", message))
        }
    }
}

fn split_blanks(text: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        match rest.split_once(|c: char| c.is_ascii_whitespace()) {
            Some((piece, after)) if pieces.len() + 1 < most => {
                pieces.push(piece);
                rest = after.trim_start();
            }
            _ => {
                pieces.push(rest);
                break;
            }
        }
    }
    pieces
}

/// Between the matches; their groups are pieces too.
fn split_at(text: &str, matches: &[Groups], limit: i64) -> Vec<Value> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for groups in matches {
        let (from, to) = groups[0].expect("a match has a place");
        if limit > 0 && pieces.len() as i64 + 1 >= limit {
            break;
        }
        if from == to && (from == 0 || from >= text.len()) {
            continue;
        }
        pieces.push(Value::text(&text[start..from]));
        for (from, to) in groups[1..].iter().flatten() {
            pieces.push(Value::text(&text[*from..*to]));
        }
        start = to;
    }
    pieces.push(Value::text(&text[start..]));
    if limit == 0 {
        while matches!(pieces.last(), Some(Value::Text(last)) if last.str().is_empty()) {
            pieces.pop();
        }
    }
    pieces
}
