//! Proposes patterns for lines of text: a dissect and a grok pattern from what the lines have in
//! common, and whole patterns of the library. Every proposal is tried on all lines by the engine
//! that would run it, and says how many it matches.

use super::shape::{Piece, Shape};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use temblor_lang::value::{Value, to_json};
use temblor_stdlib::formats::dissect::Dissect;
use temblor_stdlib::grok::{Captures, Grok, Library, Options};

/// Lines that are looked at.
pub const LINES_MAX: usize = 1_000;
/// Patterns of the library that stand for a whole line, the richest first.
const WHOLE_LINES: [&str; 9] = [
    "COMBINEDAPACHELOG",
    "COMMONAPACHELOG",
    "HTTPD_ERRORLOG",
    "HAPROXYHTTP",
    "HAPROXYTCP",
    "SYSLOG5424LINE",
    "SYSLOGLINE",
    "CISCOFW106001",
    "POSTGRESQL",
];
/// Patterns of the library that a field may be, the narrowest first, with a name for the field.
const FIELDS: [(&str, &str, &str); 13] = [
    ("IP", "", "ip"),
    ("UUID", "", "id"),
    ("TIMESTAMP_ISO8601", "", "timestamp"),
    ("HTTPDATE", "", "timestamp"),
    ("SYSLOGTIMESTAMP", "", "timestamp"),
    ("LOGLEVEL", "", "level"),
    ("INT", ":int", "number"),
    ("NUMBER", ":float", "number"),
    ("EMAILADDRESS", "", "email"),
    ("URI", "", "url"),
    ("UNIXPATH", "", "path"),
    ("WORD", "", "word"),
    ("NOTSPACE", "", "field"),
];
/// The request line of HTTP.
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[A-Z]{3,10} \S+ HTTP/[0-9.]+$").expect("the expression is tested")
});

/// A pattern and how it fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// `dissect` or `grok`
    pub notation: &'static str,
    pub pattern: String,
    /// Numbers of the lines that it does not match.
    pub missed: Vec<usize>,
    /// Fields that it gives.
    pub fields: usize,
}

impl Proposal {
    /// The step of a chain that reads by it.
    pub fn step(&self) -> String {
        let quoted = to_json(Value::Str(&self.pattern)).replace("#{", "\\#{");
        format!("parse {} {quoted}", self.notation)
    }
}

/// The best patterns for numbered lines.
pub fn propose(lines: &[(usize, String)]) -> Vec<Proposal> {
    let library = Library::legacy();
    let mut proposals: Vec<Proposal> = Vec::new();
    let whole = WHOLE_LINES.iter().filter(|name| library.get(name).is_some());
    let whole = whole.filter_map(|name| grok(format!("%{{{name}}}"), lines));
    proposals.extend(whole.filter(|one| one.missed.len() * 2 < lines.len()).max_by_key(rank));
    for columns in Shape::common(lines).into_iter().map(Columns::new) {
        proposals.extend(columns.dissect().and_then(|pattern| dissect(pattern, lines)));
        proposals.extend(grok(columns.grok(), lines));
    }
    proposals.retain(|one| one.missed.len() < lines.len() && one.fields > 0);
    proposals.sort_by_key(|one| std::cmp::Reverse(rank(one)));
    proposals.dedup();
    proposals
}

/// Matching more lines is better than giving more fields.
fn rank(one: &Proposal) -> (std::cmp::Reverse<usize>, usize) {
    (std::cmp::Reverse(one.missed.len()), one.fields)
}

fn dissect(pattern: String, lines: &[(usize, String)]) -> Option<Proposal> {
    let compiled = Dissect::compile(&pattern).ok()?;
    let missed = lines.iter().filter(|(_, line)| !compiled.matches(line)).map(|(n, _)| *n);
    let (missed, fields) = (missed.collect(), pattern.matches("%{").count());
    Some(Proposal { notation: "dissect", pattern, missed, fields })
}

fn grok(pattern: String, lines: &[(usize, String)]) -> Option<Proposal> {
    let compiled = Grok::compile(&pattern, &Library::legacy(), &Options::default()).ok()?;
    let mut captures = Captures::new();
    let mut matches = |line: &str| compiled.matches(line, &mut captures);
    let missed = lines.iter().filter(|(_, line)| !matches(line)).map(|(n, _)| *n).collect();
    Some(Proposal { notation: "grok", pattern, missed, fields: compiled.fields().len() })
}

/// A shape whose fields have names and patterns.
struct Columns {
    shape: Shape,
    /// For each field: its name, its grok pattern, and what is converted.
    fields: Vec<(String, &'static str, &'static str)>,
}

impl Columns {
    fn new(shape: Shape) -> Self {
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let last = shape.values.len().saturating_sub(1);
        let mut fields = Vec::new();
        for (at, values) in shape.values.iter().enumerate() {
            let (pattern, conversion, name) = match kind_of(values) {
                _ if shape.is_open && at == last => ("GREEDYDATA", "", "message"),
                Some(kind) => kind,
                None if at == last => ("GREEDYDATA", "", "message"),
                None => ("DATA", "", "text"),
            };
            let name = shape.key(at).unwrap_or(name).to_string();
            let times = taken.entry(name.clone()).or_default();
            *times += 1;
            let name = if *times > 1 { format!("{name}{times}") } else { name };
            fields.push((name, pattern, conversion));
        }
        Self { shape, fields }
    }

    /// Whether all values of a field are request lines of HTTP.
    fn is_request(&self, at: usize) -> bool {
        let values = &self.shape.values[at];
        !values.is_empty() && values.iter().all(|value| REQUEST.is_match(value))
    }

    /// `None` when a field holds the delimiter behind it, and not always as often.
    fn dissect(&self) -> Option<String> {
        let ends = self.ends();
        let mut times = Vec::new();
        for (values, end) in self.shape.values.iter().zip(&ends) {
            let count = |value: &String| match end {
                Some(end) => value.matches(end.as_str()).count(),
                None => 0,
            };
            let first = values.first().map_or(0, count);
            if values.iter().any(|value| count(value) != first) {
                return None;
            }
            times.push(first);
        }
        let literal =
            |text: &str, padded: bool| text.replace(' ', if padded { "%{_}" } else { " " });
        Some(self.write(literal, |at| {
            let (name, _, conversion) = &self.fields[at];
            if self.is_request(at) {
                return "%{verb} %{request} HTTP/%{httpversion}".to_string();
            }
            let end = ends[at].as_deref().unwrap_or_default();
            let more = format!("{end}%{{+{name}}}").repeat(times[at]);
            format!("%{{{name}{conversion}}}{more}")
        }))
    }

    /// For each field, the delimiter behind it.
    fn ends(&self) -> Vec<Option<String>> {
        let pairs =
            self.shape.pieces.iter().zip(self.shape.pieces.iter().skip(1).map(Some).chain([None]));
        let fields = pairs.filter(|(piece, _)| **piece == Piece::Field);
        fields
            .map(|(_, next)| match next {
                Some(Piece::Literal(text)) => Some(text.clone()),
                _ => None,
            })
            .collect()
    }

    fn grok(&self) -> String {
        self.write(
            |literal, padded| escaped(literal).replace(' ', if padded { " +" } else { " " }),
            |at| {
                let (name, pattern, conversion) = &self.fields[at];
                if self.is_request(at) {
                    return "%{WORD:verb} %{NOTSPACE:request} HTTP/%{NUMBER:httpversion}"
                        .to_string();
                }
                format!("%{{{pattern}:{name}{conversion}}}")
            },
        )
    }

    fn write(
        &self,
        literal: impl Fn(&str, bool) -> String,
        field: impl Fn(usize) -> String,
    ) -> String {
        let mut at = 0;
        let mut pattern = String::new();
        for piece in &self.shape.pieces {
            match piece {
                Piece::Literal(text) => {
                    let padded = self.shape.padded.contains(text);
                    pattern.push_str(&literal(text, padded));
                }
                Piece::Key(key) => pattern.push_str(&literal(key, false)),
                Piece::Field => {
                    pattern.push_str(&field(at));
                    at += 1;
                }
            }
        }
        pattern
    }
}

/// The narrowest pattern that all values match as a whole.
fn kind_of(values: &[String]) -> Option<(&'static str, &'static str, &'static str)> {
    static COMPILED: LazyLock<Vec<Option<Grok>>> = LazyLock::new(|| {
        let whole = |(name, ..): &(&str, &str, &str)| {
            let pattern = format!("\\A%{{{name}}}\\z");
            Grok::compile(&pattern, &Library::legacy(), &Options::default()).ok()
        };
        FIELDS.iter().map(whole).collect()
    });
    let mut captures = Captures::new();
    let fits = |grok: &Grok, captures: &mut Captures| {
        !values.is_empty() && values.iter().all(|value| grok.matches(value, captures))
    };
    let found = COMPILED
        .iter()
        .position(|grok| grok.as_ref().is_some_and(|grok| fits(grok, &mut captures)));
    found.map(|at| FIELDS[at])
}

/// A literal in a regular expression.
fn escaped(literal: &str) -> String {
    let mut text = String::new();
    for one in literal.chars() {
        if r"\.+*?()|[]{}^$".contains(one) {
            text.push('\\');
        }
        text.push(one);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(lines: &[&str]) -> Vec<(String, usize)> {
        let lines: Vec<_> =
            lines.iter().enumerate().map(|(n, line)| (n + 1, line.to_string())).collect();
        let proposals = propose(&lines);
        proposals.iter().map(|one| (one.step(), lines.len() - one.missed.len())).collect()
    }

    #[test]
    fn access_logs_are_known() {
        let found = patterns(&[
            "10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 2326 \"-\" \"curl\"",
            "10.0.0.2 - bob [10/Oct/2000:13:55:37 -0700] \"POST /b HTTP/1.1\" 404 12 \"-\" \"x y\"",
        ]);
        assert_eq!(found[0], ("parse grok \"%{COMBINEDAPACHELOG}\"".to_string(), 2));
        assert_eq!(
            found[1],
            (
                "parse dissect \"%{ip} %{field} %{field2} [%{timestamp}] \\\"%{verb} %{request} \
                 HTTP/%{httpversion}\\\" %{number:int} %{number2:int} \\\"%{field3}\\\" \\\"%{text}\\\"\""
                    .replace("%{text}", "%{message}"),
                2
            )
        );
    }

    #[test]
    fn keys_name_their_values() {
        let found = patterns(&["level=info ms=12 path=/a", "level=warn ms=7 path=/b"]);
        assert_eq!(found[0].0, "parse dissect \"level=%{level} ms=%{ms:int} path=%{path}\"");
        assert_eq!(
            found[1].0,
            "parse grok \"level=%{LOGLEVEL:level} ms=%{INT:ms:int} path=%{UNIXPATH:path}\""
        );
    }

    #[test]
    fn what_differs_is_the_rest() {
        let found = patterns(&[
            "2024-01-01 10:00:00 INFO started: all well",
            "2024-01-01 10:00:01 WARN slow (12 ms)",
            "2024-01-01 10:00:02 INFO bye",
        ]);
        let dissect =
            "parse dissect \"%{timestamp} %{+timestamp} %{level} %{message}\"".to_string();
        assert!(
            found.iter().any(|(step, matched)| step.contains("grok") && *matched == 3),
            "{found:?}"
        );
        assert!(found.contains(&(dissect, 3)), "the time is one field: {found:?}");
    }

    #[test]
    fn nothing_in_common_is_no_proposal_of_fields() {
        assert!(patterns(&[]).is_empty());
        for (step, matched) in patterns(&["abc", "1 2 3"]) {
            assert!(matched <= 2, "{step}");
        }
    }
}
