//! Proposes patterns for lines of text: a dissect and a grok pattern from what the lines have in
//! common, and whole patterns of the library. Every proposal is tried on all lines by the engine
//! that would run it, and says how many it matches.

use super::formats::{formats, joined};
use super::proposal::{Numbered, Proposal};
use super::setup::Setup;
use super::shape::{Piece, Shape};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use temblor_lang::value::{Value, to_json};
use temblor_stdlib::formats::dissect::Dissect;
use temblor_stdlib::grok::{Captures, Grok, Library, Options};

/// Lines that are looked at.
pub(crate) const LINES_MAX: usize = 1_000;
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

/// Proposals that are made at once.
const PROPOSALS_MAX: usize = 8;
/// Patterns of one step, for lines of several kinds.
const KINDS_MAX: usize = 4;

fn quoted(pattern: &str) -> String {
    to_json(Value::Str(pattern)).replace("#{", "\\#{")
}

/// The best steps for numbered lines. Lines that belong together are joined first.
pub(crate) fn propose(lines: &[Numbered], setup: &Setup) -> Vec<Proposal> {
    let (join, events) = match joined(lines, setup) {
        Some((step, events)) => (Some(step), events),
        None => (None, lines.to_vec()),
    };
    let mut proposals = patterns(&events);
    if join.is_none() {
        proposals.extend(formats(&events, setup));
    }
    proposals.extend(of_kinds(&proposals, &events));
    if proposals.iter().any(|one| one.fields > 1) {
        // A pattern of one field says nothing about a line.
        proposals.retain(|one| one.fields > 1);
    }
    proposals.sort_by_key(|one| std::cmp::Reverse(rank(one)));
    proposals.dedup();
    proposals.truncate(PROPOSALS_MAX);
    for proposal in proposals.iter_mut() {
        let Some(join) = &join else { continue };
        proposal.step = format!("{join} |> {}", proposal.step);
        proposal.events = Some(events.len());
    }
    proposals
}

/// A step with several patterns, where no single one matches all lines.
fn of_kinds(proposals: &[Proposal], lines: &[Numbered]) -> Option<Proposal> {
    let groks = |proposals: &[Proposal]| -> Vec<Proposal> {
        proposals.iter().filter(|one| one.pattern.is_some()).cloned().collect()
    };
    // What says most about some lines; a pattern that fits all says little.
    let partial = groks(proposals).into_iter().filter(|one| !one.missed.is_empty());
    let mut whole = partial.max_by_key(|one| (one.fields, rank(one)))?;
    let mut kinds = vec![whole.pattern.clone()?];
    while kinds.len() < KINDS_MAX && !whole.missed.is_empty() {
        let left = lines.iter().filter(|(number, _)| whole.missed.contains(number));
        let found = groks(&patterns(&left.cloned().collect::<Vec<_>>()));
        let Some(next) = found.into_iter().max_by_key(rank) else { break };
        kinds.push(next.pattern.clone()?);
        whole.missed = next.missed;
    }
    let list: Vec<_> = kinds.iter().map(|one| quoted(one)).collect();
    whole.step = format!("parse grok [{}]", list.join(", "));
    whole.pattern = None;
    (kinds.len() > 1).then_some(whole)
}

/// Patterns for numbered lines.
fn patterns(lines: &[Numbered]) -> Vec<Proposal> {
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
    proposals
}

/// Matching more lines is better than giving more fields.
fn rank(one: &Proposal) -> (std::cmp::Reverse<usize>, usize) {
    (std::cmp::Reverse(one.missed.len()), one.fields)
}

fn dissect(pattern: String, lines: &[Numbered]) -> Option<Proposal> {
    let compiled = Dissect::compile(&pattern).ok()?;
    let missed = lines.iter().filter(|(_, line)| !compiled.matches(line)).map(|(n, _)| *n);
    let (missed, fields) = (missed.collect(), pattern.matches("%{").count());
    let step = format!("parse dissect {}", quoted(&pattern));
    Some(Proposal { step, pattern: None, missed, fields, events: None })
}

fn grok(pattern: String, lines: &[Numbered]) -> Option<Proposal> {
    let compiled = Grok::compile(&pattern, &Library::legacy(), &Options::default()).ok()?;
    let mut captures = Captures::new();
    let mut matches = |line: &str| compiled.matches(line, &mut captures);
    let missed = lines.iter().filter(|(_, line)| !matches(line)).map(|(n, _)| *n).collect();
    let (step, fields) = (format!("parse grok {}", quoted(&pattern)), compiled.fields().len());
    Some(Proposal { step, pattern: Some(pattern), missed, fields, events: None })
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
        // In texts of several lines, any character may be a line end.
        let mode = if self.shape.has_lines { "(?m)" } else { "" };
        let pattern = self.write(
            |literal, padded| escaped(literal).replace(' ', if padded { " +" } else { " " }),
            |at| {
                let (name, pattern, conversion) = &self.fields[at];
                if self.is_request(at) {
                    return "%{WORD:verb} %{NOTSPACE:request} HTTP/%{NUMBER:httpversion}"
                        .to_string();
                }
                format!("%{{{pattern}:{name}{conversion}}}")
            },
        );
        format!("{mode}{pattern}")
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
    use temblor_lang::diagnostic::Colour;

    fn patterns(lines: &[&str]) -> Vec<(String, usize)> {
        let lines: Vec<_> =
            lines.iter().enumerate().map(|(n, line)| (n + 1, line.to_string())).collect();
        let proposals = propose(&lines, &Setup::new(Vec::new(), Colour::Off));
        let matched = |one: &Proposal| one.events.unwrap_or(lines.len()) - one.missed.len();
        proposals.iter().map(|one| (one.step.clone(), matched(one))).collect()
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
    fn formats_are_known() {
        let first = |lines: &[&str]| patterns(lines)[0].clone();
        let pairs = first(&["level=info ms=12 a=1", "ms=7 level=warn user=\"a b\" b=2"]);
        assert_eq!(pairs, ("parse logfmt".to_string(), 2));
        let firewall = first(&["SRC=1.2.3.4;DST=5.6.7.8;LEN=40", "SRC=::1;PROTO=tcp;DST=::2;X=1"]);
        assert_eq!(firewall, ("parse kv with field_split = \";\" end".to_string(), 2));
        let table = patterns(&["name,age,city", "ann,33,\"York, UK\"", "bob,4,"]);
        let step = "parse csv columns [\"name\", \"age\", \"city\"]".to_string();
        assert!(table.contains(&(step, 3)), "{table:?}");
        let table = patterns(&["1;2;x y", "3;4;z"]);
        let step =
            "parse csv columns [\"column1\", \"column2\", \"column3\"] with separator = \";\" end";
        assert!(table.contains(&(step.to_string(), 2)), "{table:?}");
        let syslog = patterns(&[
            "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - 'su root' failed",
            "<35>1 2003-10-11T22:14:16.003Z other.example.com cron 12 - - done",
        ]);
        assert!(syslog.contains(&("parse syslog".to_string(), 2)), "{syslog:?}");
    }

    #[test]
    fn lines_that_belong_together_are_joined() {
        let found = patterns(&[
            "2024-01-01 10:00:00 ERROR failed: x",
            "java.lang.IllegalStateException: x",
            "\tat a.B.c(B.java:1)",
            "2024-01-01 10:00:01 INFO fine: y",
            "2024-01-01 10:00:02 WARN slow: z",
        ]);
        let join = "join \"^%{TIMESTAMP_ISO8601}\" mode start |> ";
        assert!(found.iter().all(|(step, _)| step.starts_with(join)), "{found:?}");
        let dissect = "parse dissect \"%{timestamp} %{+timestamp} %{level} %{word}: %{message}\"";
        assert!(found.contains(&(format!("{join}{dissect}"), 3)), "{found:?}");
        let grok = found.iter().find(|(step, _)| step.contains("parse grok \"(?m)"));
        assert!(grok.is_some_and(|(_, matched)| *matched == 3), "{found:?}");
        let found = patterns(&["start a", "  more", "start b", "Caused by: c"]);
        assert!(found[0].0.starts_with("join \"^(\\\\s|Caused by:"), "{found:?}");
    }

    #[test]
    fn lines_of_several_kinds_have_several_patterns() {
        let found = patterns(&[
            "10.0.0.1 GET /a 200",
            "10.0.0.2 PUT /b 404",
            "10.0.0.1 GET /c 200",
            "worker 7: started",
            "worker 12: stopped",
        ]);
        let several = found.iter().find(|(step, _)| step.starts_with("parse grok [\""));
        assert!(several.is_some_and(|(_, matched)| *matched == 5), "{found:?}");
    }

    #[test]
    fn nothing_in_common_is_no_proposal_of_fields() {
        assert!(patterns(&[]).is_empty());
        for (step, matched) in patterns(&["abc", "1 2 3"]) {
            assert!(matched <= 2, "{step}");
        }
    }
}
