//! The formats of `parse`, compiled from its settings. A setting that the format does not know is
//! refused, so none is ever without effect.

use super::first::FirstOf;
use super::grok::{GrokPattern, Groks};
use crate::operator::Surroundings;
use temblor_declare::Settings;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::value::Value;
use temblor_stdlib::formats::csv::{ColumnType, Csv, CsvOptions};
use temblor_stdlib::formats::dissect::Dissect;
use temblor_stdlib::formats::kv::KeyValue;
use temblor_stdlib::formats::pairs::{Pairs, PairsOptions};
use temblor_stdlib::formats::regex::NamedGroups;
use temblor_stdlib::formats::syslog::{self, SyslogDialect};
use temblor_stdlib::formats::{FormatError, cef, influx, json, leef, logfmt};
use temblor_stdlib::grok::{Captures, Hits};

/// The words for the formats.
pub(super) const FORMATS: &[&str] =
    &["json", "grok", "dissect", "regex", "kv", "csv", "syslog", "cef", "leef", "logfmt", "influx"];

/// The settings that only some formats take.
const OWN_SETTINGS: &[(&str, &[&str])] = &[
    ("pattern", &["grok", "dissect", "regex", "kv"]),
    ("field_split", &["kv"]),
    ("value_split", &["kv"]),
    ("trim_key", &["kv"]),
    ("trim_value", &["kv"]),
    ("prefix", &["kv"]),
    ("columns", &["csv"]),
    ("types", &["csv"]),
    ("separator", &["csv"]),
    ("quote", &["csv"]),
    ("strict", &["csv", "syslog"]),
    ("patterns", &["grok"]),
    ("library", &["grok"]),
    ("anchor", &["grok"]),
    ("keep_empty", &["grok"]),
];

/// Memory that parsing uses again and again.
#[derive(Debug)]
pub(super) struct Scratch {
    pub captures: Captures,
    pub hits: Hits,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self { captures: Captures::new(), hits: Hits::default() }
    }
}

/// Why a text could not be parsed.
#[derive(Debug)]
pub(super) struct Problem {
    pub reason: String,
    /// Where in the text, in bytes.
    pub at: Option<usize>,
}

impl Problem {
    #[cold]
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), at: None }
    }

    pub(super) fn at(self, at: usize) -> Self {
        Self { at: Some(at), ..self }
    }
}

/// Whether a format has a setting.
pub(super) fn takes(format: &str, setting: &str) -> bool {
    OWN_SETTINGS.iter().any(|(name, formats)| *name == setting && formats.contains(&format))
}

impl From<FormatError> for Problem {
    #[cold]
    fn from(error: FormatError) -> Self {
        Problem::new(error.to_string()).at(error.at)
    }
}

/// A format, ready to read.
#[derive(Debug)]
pub(super) enum Format {
    Json,
    Grok(Groks),
    First(FirstOf),
    Dissect(Vec<Dissect>),
    Regex(Vec<NamedGroups>),
    KeyValue(Vec<KeyValue>),
    Pairs(Pairs),
    Csv(Csv),
    Syslog(SyslogDialect),
    Cef,
    Leef,
    Logfmt,
    Influx,
}

impl Format {
    pub(super) fn compile(settings: &Settings) -> Result<Self, Diagnostic> {
        if settings.has("first") {
            return Ok(Format::First(FirstOf::compile(settings)?));
        }
        let Some(word) = settings.optional_text("format") else {
            let error =
                Diagnostic::error("E0507", settings.span, "the setting `format` is missing");
            return Err(error.with_help(format!("the formats are {}", FORMATS.join(", "))));
        };
        for (name, formats) in OWN_SETTINGS {
            if settings.has(name) && !formats.contains(&word) {
                let message = format!("`{name}` means nothing to `parse {word}`");
                return Err(settings.error(name, message));
            }
        }
        Ok(match word {
            "json" => Format::Json,
            "grok" => Format::Grok(Groks::new(patterns(settings, |text| {
                GrokPattern::compile(text, settings)
            })?)),
            "dissect" => Format::Dissect(patterns(settings, Dissect::compile)?),
            "regex" => Format::Regex(patterns(settings, NamedGroups::compile)?),
            "kv" if !settings.has("pattern") => Format::Pairs(pairs(settings)?),
            "kv" => Format::KeyValue(patterns(settings, KeyValue::compile)?),
            "csv" => Format::Csv(csv(settings)?),
            "syslog" => Format::Syslog(match strict(settings).unwrap_or(true) {
                true => SyslogDialect::Strict,
                false => SyslogDialect::Lenient,
            }),
            "cef" => Format::Cef,
            "leef" => Format::Leef,
            "logfmt" => Format::Logfmt,
            "influx" => Format::Influx,
            _ => {
                let error = settings.error("format", format!("there is no format `{word}`"));
                return Err(error.with_nearest(word, FORMATS.iter().copied()));
            }
        })
    }

    /// Literals that every text has which it can read; none when that is not known.
    pub(super) fn required_literals(&self) -> Vec<String> {
        match self {
            Format::Grok(groks) => groks.required_literals(),
            _ => Vec::new(),
        }
    }

    /// The value of a text, and the number of the pattern that it matched.
    pub(super) fn read<'a>(
        &'a self,
        text: &'a str,
        scratch: &mut Scratch,
        around: &Surroundings<'a>,
    ) -> Result<(Value<'a>, usize), Problem> {
        let arena = around.arena();
        match self {
            Format::Grok(groks) => groks.read(text, scratch, arena),
            Format::First(formats) => formats.read(text, scratch, around),
            Format::Dissect(list) => Ok(first(list, |pattern| pattern.parse(text, arena))?),
            Format::Regex(list) => Ok(first(list, |pattern| pattern.parse(text, arena))?),
            Format::KeyValue(list) => Ok(first(list, |pattern| pattern.parse(text, arena))?),
            _ => self.read_plain(text, around).map(|value| (value, 0)),
        }
    }

    /// The value of a text of a format without patterns.
    fn read_plain<'a>(
        &'a self,
        text: &'a str,
        around: &Surroundings<'a>,
    ) -> Result<Value<'a>, Problem> {
        let arena = around.arena();
        match self {
            Format::Json => Ok(json::parse(text, arena)?),
            Format::Pairs(pairs) => Ok(pairs.parse(text, arena)?),
            Format::Csv(csv) => Ok(csv.parse(text, arena)?),
            Format::Syslog(dialect) => Ok(syslog::parse(text, *dialect, around.now_ns, arena)?),
            Format::Cef => Ok(cef::parse(text, arena)?),
            Format::Leef => Ok(leef::parse(text, arena)?),
            Format::Logfmt => Ok(logfmt::parse(text, arena)?),
            Format::Influx => influx::parse(text, around.now_ns, arena)?
                .ok_or_else(|| Problem::new("an empty line or a comment is no point").at(0)),
            Format::Grok(_)
            | Format::First(_)
            | Format::Dissect(_)
            | Format::Regex(_)
            | Format::KeyValue(_) => unreachable!("formats with patterns are read elsewhere"),
        }
    }
}

/// The first result that is good with the number of its pattern, or the error of the pattern that got furthest.
fn first<'a, P>(
    patterns: &'a [P],
    read: impl Fn(&'a P) -> Result<Value<'a>, FormatError>,
) -> Result<(Value<'a>, usize), FormatError> {
    let mut furthest: Option<FormatError> = None;
    for (number, pattern) in patterns.iter().enumerate() {
        match read(pattern) {
            Ok(value) => return Ok((value, number)),
            Err(error) if furthest.is_none_or(|other| error.at > other.at) => {
                furthest = Some(error);
            }
            Err(_) => {}
        }
    }
    Err(furthest.expect("there is at least one pattern"))
}

/// Compiles the setting `pattern`: a text or an array of texts.
fn patterns<P>(
    settings: &Settings,
    compile: impl Fn(&str) -> Result<P, String>,
) -> Result<Vec<P>, Diagnostic> {
    let missing = || {
        settings
            .error("pattern", "this format needs a pattern")
            .with_help("write it as text behind the format: `parse dissect \"%{a} %{b}\"`")
    };
    let given = settings.value("pattern").ok_or_else(missing)?;
    let texts = texts(given.get()).filter(|texts| !texts.is_empty()).ok_or_else(missing)?;
    let compiled = texts.into_iter().map(|text| {
        compile(text)
            .map_err(|reason| settings.error("pattern", reason).with_label("in this pattern"))
    });
    compiled.collect()
}

/// The elements of an array of texts, or the one text.
fn texts(value: Value<'_>) -> Option<Vec<&str>> {
    match value {
        Value::Str(text) => Some(vec![text]),
        _ => (0..value.size()?).map(|at| value.at(at).and_then(Value::as_str)).collect(),
    }
}

fn strict(settings: &Settings) -> Option<bool> {
    settings.optional_flag("strict")
}

fn pairs(settings: &Settings) -> Result<Pairs, Diagnostic> {
    let mut options = PairsOptions::default();
    let set = |name: &str, option: &mut String| {
        if let Some(text) = settings.optional_text(name) {
            *option = text.to_string();
        }
    };
    set("field_split", &mut options.field_split);
    set("value_split", &mut options.value_split);
    set("trim_key", &mut options.trim_key);
    set("trim_value", &mut options.trim_value);
    set("prefix", &mut options.prefix);
    Pairs::compile(options).map_err(|reason| settings.error("field_split", reason))
}

fn csv(settings: &Settings) -> Result<Csv, Diagnostic> {
    let mut options = CsvOptions::default();
    for name in settings.texts("columns") {
        options.columns.push((name.clone(), column_type(settings, name)?));
    }
    options.separator = character(settings, "separator", options.separator)?;
    options.quote = character(settings, "quote", options.quote)?;
    options.strict = strict(settings).unwrap_or(false);
    Csv::compile(&options).map_err(|reason| settings.error("separator", reason))
}

fn column_type(settings: &Settings, name: &str) -> Result<ColumnType, Diagnostic> {
    let word = settings.map("types").iter().find(|(column, _)| column == name);
    match word.map(|(_, word)| word.as_str()) {
        None | Some("string") => Ok(ColumnType::Text),
        Some("int" | "integer") => Ok(ColumnType::Integer),
        Some("float") => Ok(ColumnType::Float),
        Some("bool") => Ok(ColumnType::Bool),
        Some(_) => Err(settings
            .error("types", format!("column `{name}` has an unknown type"))
            .with_help("use `int`, `float`, `bool` or `string`")),
    }
}

fn character(settings: &Settings, name: &str, otherwise: u8) -> Result<u8, Diagnostic> {
    match settings.optional_text(name).map(str::as_bytes) {
        None => Ok(otherwise),
        Some([byte]) => Ok(*byte),
        Some(_) => Err(settings.error(name, format!("`{name}` must be one ASCII character"))),
    }
}
