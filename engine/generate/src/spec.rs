//! What a user says of a generator, checked.
//!
//! Invariant: a spec that was made can be opened, unless a file changes in between.

use super::builtin::{JsonApp, Syslog, Weblog, Windbag};
use super::disorder::Disorder;
use super::lines::Lines;
use super::rate::{Rate, Tables};
use super::replacement::{Replacement, Rows};
use super::replay::{Clockwork, Replay, Rounds, TimeFormat};
use super::sample::{Sample, SampleParts, Token, cut};
use super::stamp::Stamp;
use super::template::{Draw, Table, Template, TemplateParts, sums};
use super::{Generator, Random};
use regex::bytes::Regex;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temblor_lang::program::Formula;
use temblor_lang::units::parse_duration;
use temblor_lang::value::{Arena, Value};
use temblor_runtime::clock::Timestamp;
use temblor_runtime::error::Error;
use temblor_runtime::limits::LOOKUP_BYTES_MAX;
use temblor_stdlib::formats::datetime::DateFormat;

/// A generator with everything around it.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// What the events look like.
    pub kind: Kind,
    /// How many, before anything is lost or doubled.
    pub count: Option<u64>,
    /// How much.
    pub rate: Rate,
    /// When more, when less.
    pub tables: Tables,
    /// Part by which the volume of each minute may differ.
    pub jitter: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// The time of the first event; events keep their distance from it. Else the time of the run.
    pub start: Option<Timestamp>,
    /// How far in the past the events begin; those of the past come at once.
    pub backfill_ns: u64,
    /// How much later than otherwise the first event comes.
    pub wait_ns: u64,
    /// What a bad network does.
    pub disorder: Disorder,
}

/// What the events look like.
#[derive(Clone, Debug, Default)]
pub enum Kind {
    /// `weblog`
    Weblog,
    /// `syslog`
    Syslog,
    /// `json-app`
    JsonApp,
    /// `windbag`
    #[default]
    Windbag,
    /// `lines`: a list, in turn or shuffled, a number of times or for ever
    Lines(Arc<[u8]>, bool, Option<u64>),
    /// `template`
    Template(Arc<TemplateParts>),
    /// `sample`
    Sample(Arc<SampleParts>),
    /// `replay`
    Replay(Arc<ReplayParts>),
}

/// A file and how it is replayed.
#[derive(Clone, Debug)]
pub struct ReplayParts {
    /// The file.
    pub file: PathBuf,
    /// How times are read.
    pub clockwork: Clockwork,
    /// How often.
    pub rounds: Rounds,
}

/// The kinds, for messages.
pub const KINDS: [&str; 8] =
    ["json-app", "lines", "replay", "sample", "syslog", "template", "weblog", "windbag"];

/// All settings, for messages.
pub const SETTINGS: [&str; 34] = [
    "backfill",
    "breaker",
    "count",
    "days",
    "delay",
    "draws",
    "duplicate",
    "earliest",
    "file",
    "files",
    "format",
    "hours",
    "jitter",
    "latest",
    "lines",
    "loss",
    "minutes",
    "months",
    "pause",
    "rate",
    "reorder",
    "restamp",
    "rounds",
    "seed",
    "shuffle",
    "speed",
    "start",
    "stream",
    "template",
    "time",
    "tokens",
    "wait",
    "weekdays",
    "codec",
];

/// A setting that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// Which one.
    pub name: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl Spec {
    /// When the first event is.
    pub fn start_at(&self, now: Timestamp) -> Timestamp {
        let start = self.start.unwrap_or(now).saturating_sub(self.backfill_ns);
        start.saturating_add(self.wait_ns)
    }

    /// Whether events bring the gaps between them.
    pub fn has_rhythm(&self) -> bool {
        matches!(self.kind, Kind::Replay(_)) && self.rate == Rate::Unlimited
    }

    /// The generator itself.
    ///
    /// # Errors
    /// When a file that it needs cannot be read.
    pub fn generator(&self) -> Result<Box<dyn Generator>, Error> {
        let random = Random::seeded(self.seed);
        let refused = |reason| Error::config("generator", reason);
        Ok(match &self.kind {
            Kind::Weblog => Box::new(Weblog::new(self.seed)),
            Kind::Syslog => Box::new(Syslog::new(self.seed)),
            Kind::JsonApp => Box::new(JsonApp::new(self.seed)),
            Kind::Windbag => Box::new(Windbag::default()),
            Kind::Lines(text, shuffle, rounds) => {
                Box::new(Lines::new(text, shuffle.then_some(random), *rounds).map_err(refused)?)
            }
            Kind::Template(parts) => Box::new(Template::new(Arc::clone(parts), self.seed)),
            Kind::Sample(parts) => Box::new(Sample::new(parts, random).map_err(refused)?),
            Kind::Replay(parts) => {
                let ReplayParts { file, clockwork, rounds } = (**parts).clone();
                std::fs::metadata(&file).map_err(|error| unreadable(&file, &error))?;
                let open = move || match std::fs::File::open(&file) {
                    Ok(input) => Ok(Box::new(BufReader::new(input)) as Box<dyn BufRead + Send>),
                    Err(error) => Err(format!("{}: cannot be read: {error}", file.display())),
                };
                Box::new(Replay::new(Box::new(open), clockwork, rounds))
            }
        })
    }

    /// Checks the settings of a kind; `template` is its text, where it has one.
    ///
    /// # Errors
    /// Says which setting is wrong, and what is expected.
    pub fn from_settings(
        kind: &str,
        settings: Value<'_>,
        template: Option<Formula>,
    ) -> Result<Self, SettingError> {
        let arena = Arena::new();
        let settings = Settings { record: settings, arena: &arena };
        let part = |name| settings.number(name, 0.0, 1.0);
        Ok(Spec {
            kind: settings.kind(kind, template)?,
            count: settings.whole("count")?,
            rate: settings.rate()?,
            tables: settings.tables()?,
            jitter: part("jitter")?.unwrap_or(0.0),
            seed: settings.whole("seed")?.unwrap_or(0),
            start: settings.start()?,
            backfill_ns: settings.duration("backfill")?.unwrap_or(0),
            wait_ns: settings.duration("wait")?.unwrap_or(0),
            disorder: Disorder {
                loss: part("loss")?.unwrap_or(0.0),
                duplicate: part("duplicate")?.unwrap_or(0.0),
                reorder: part("reorder")?.unwrap_or(0.0),
                delay: settings.whole("delay")?.unwrap_or(10).min(DELAY_MAX),
                stream: settings.whole("stream")?.unwrap_or(0),
            },
        })
    }
}

/// Events can be this many places late.
const DELAY_MAX: u64 = 1_000_000;

/// Times as most logs write them.
const ISO_TIME: &str = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d";

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    let name = file.display().to_string();
    Error::input(name, format!("cannot be read: {error}"), "give the path of a file")
}

/// Reads a file that is kept in memory.
pub fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > LOOKUP_BYTES_MAX {
        return Err(format!("{}: larger than {LOOKUP_BYTES_MAX} bytes", path.display()));
    }
    std::fs::read(path).map_err(failed)
}

fn read_text(path: &str) -> Result<String, String> {
    String::from_utf8(read_file(Path::new(path))?).map_err(|_| format!("{path}: not UTF-8"))
}

/// Settings, and where what is read of them lives.
struct Settings<'a> {
    record: Value<'a>,
    arena: &'a Arena,
}

fn wrong<T>(name: &'static str, reason: impl Into<String>) -> Result<T, SettingError> {
    Err(SettingError { name, reason: reason.into() })
}

impl<'a> Settings<'a> {
    fn get(&self, name: &str) -> Option<Value<'a>> {
        self.record.as_record(self.arena)?.get(name)
    }

    fn fields(&self, value: Value<'a>) -> Vec<(&'a str, Value<'a>)> {
        value.as_record(self.arena).map_or(Vec::new(), |record| record.iter().collect())
    }

    fn number(&self, name: &'static str, low: f64, high: f64) -> Result<Option<f64>, SettingError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_f64().filter(|number| (low..=high).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => wrong(name, format!("must be a number from {low} to {high}")),
        }
    }

    fn whole(&self, name: &'static str) -> Result<Option<u64>, SettingError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_u64().map_or_else(|| wrong(name, "must be a whole number"), |n| Ok(Some(n)))
    }

    fn text(&self, name: &'static str) -> Result<Option<&'a str>, SettingError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_str().map_or_else(|| wrong(name, "must be a string"), |text| Ok(Some(text)))
    }

    fn flag(&self, name: &'static str) -> Result<bool, SettingError> {
        let Some(value) = self.get(name) else { return Ok(false) };
        value.as_bool().map_or_else(|| wrong(name, "must be true or false"), Ok)
    }

    fn duration(&self, name: &'static str) -> Result<Option<u64>, SettingError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let ns = value.as_u64().or_else(|| parse_duration(value.as_str()?));
        ns.map_or_else(|| wrong(name, "must be a duration such as \"2h\""), |ns| Ok(Some(ns)))
    }

    fn rate(&self) -> Result<Rate, SettingError> {
        let Some(value) = self.get("rate") else { return Ok(Rate::Unlimited) };
        let text = match value.as_f64() {
            Some(number) => number.to_string(),
            None => value.as_str().unwrap_or_default().to_string(),
        };
        Rate::parse(&text).or_else(|reason| wrong("rate", reason))
    }

    fn start(&self) -> Result<Option<Timestamp>, SettingError> {
        let Some(value) = self.get("start") else { return Ok(None) };
        let format = DateFormat::compile("%Y-%m-%dT%H:%M:%SZ");
        let time =
            value.as_u64().or_else(|| u64::try_from(format.nanoseconds(value.as_str()?)?).ok());
        time.map_or_else(
            || wrong("start", "must be like \"2026-01-01T00:00:00Z\""),
            |t| Ok(Some(t)),
        )
    }

    fn tables(&self) -> Result<Tables, SettingError> {
        Ok(Tables {
            hours: self.table("hours")?,
            weekdays: self.table("weekdays")?,
            minutes: self.table("minutes")?,
            days: self.table("days")?,
            months: self.table("months")?,
        })
    }

    fn table(&self, name: &'static str) -> Result<Vec<(u64, f64)>, SettingError> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let entry = |(key, factor): (&str, Value<'_>)| {
            let factor = factor.as_f64().filter(|factor| factor.is_finite() && *factor >= 0.0)?;
            Some((key.parse().ok()?, factor))
        };
        let entries: Option<Vec<_>> = self.fields(value).into_iter().map(entry).collect();
        match entries.filter(|entries| !entries.is_empty()) {
            Some(entries) => Ok(entries),
            None => wrong(name, "must be a record of numbers and factors, such as {\"9\": 2.5}"),
        }
    }

    fn file(&self) -> Result<&'a str, SettingError> {
        self.text("file")?.map_or_else(|| wrong("file", "the path of a file is missing"), Ok)
    }

    fn kind(&self, kind: &str, template: Option<Formula>) -> Result<Kind, SettingError> {
        Ok(match kind {
            "weblog" => Kind::Weblog,
            "syslog" => Kind::Syslog,
            "json-app" => Kind::JsonApp,
            "windbag" => Kind::Windbag,
            "lines" => Kind::Lines(self.lines()?, self.flag("shuffle")?, self.whole("rounds")?),
            "template" => Kind::Template(Arc::new(self.template(template)?)),
            "sample" => Kind::Sample(Arc::new(self.sample()?)),
            "replay" => Kind::Replay(Arc::new(self.replay()?)),
            other => {
                let known = KINDS.join(", ");
                return wrong(
                    "kind",
                    format!("there is no generator `{other}`; known are {known}"),
                );
            }
        })
    }

    fn lines(&self) -> Result<Arc<[u8]>, SettingError> {
        let text = match self.get("lines") {
            None => read_file(Path::new(self.file()?)).or_else(|reason| wrong("file", reason))?,
            Some(list) => {
                let list = list.as_array(self.arena).unwrap_or_default();
                let lines: Option<Vec<&str>> = list.iter().map(|line| line.as_str()).collect();
                let Some(lines) = lines else { return wrong("lines", "must be a list of strings") };
                lines.join("\n").into_bytes()
            }
        };
        match text.iter().any(|byte| *byte != b'\n') {
            true => Ok(text.into()),
            false => wrong("lines", "there is no line"),
        }
    }

    fn template(&self, text: Option<Formula>) -> Result<TemplateParts, SettingError> {
        let Some(text) = text else { return wrong("template", "the text of an event is missing") };
        let mut tables = Vec::new();
        for (name, path) in self.get("files").map_or(Vec::new(), |files| self.fields(files)) {
            let text = read_text(path.as_str().unwrap_or_default());
            let table = text.and_then(|text| Table::of(&text));
            tables.push((name.to_string(), table.or_else(|reason| wrong("files", reason))?));
        }
        let mut draws = Vec::new();
        for (name, draw) in self.get("draws").map_or(Vec::new(), |draws| self.fields(draws)) {
            match self.draw(draw) {
                Some(draw) => draws.push((name.to_string(), draw)),
                None => {
                    let known = "uniform [a, b], normal [mean, deviation], zipf [ranks, exponent], \
                                 choice {word: weight}, sequence [start, step], session [events, at a time]";
                    return wrong("draws", format!("`{name}` is none of {known}"));
                }
            }
        }
        Ok(TemplateParts { text, tables, draws })
    }

    fn draw(&self, value: Value<'a>) -> Option<Draw> {
        let (kind, value) = self.fields(value).first().copied()?;
        if kind == "choice" {
            let choices = self.fields(value);
            let sums = sums(choices.iter().map(|(_, weight)| weight.as_f64())).ok()?;
            return Some(Draw::Choice(
                choices.iter().map(|(w, _)| (*w).to_string()).collect(),
                sums,
            ));
        }
        let &[first, second] = value.as_array(self.arena)? else { return None };
        match kind {
            "uniform" => {
                let (low, high) = (first.as_i64()?, second.as_i64()?);
                (low <= high).then_some(Draw::Uniform(low, high))
            }
            "normal" => Some(Draw::Normal(first.as_f64()?, second.as_f64()?)),
            "zipf" => {
                let exponent = second.as_f64().filter(|exponent| *exponent > 0.0)?;
                Some(Draw::Zipf(first.as_u64().filter(|ranks| *ranks > 0)?, exponent))
            }
            "sequence" => Some(Draw::Sequence(first.as_i64()?, second.as_i64()?)),
            "session" => Some(Draw::Session(first.as_u64()?, second.as_u64()?.min(1 << 20))),
            _ => None,
        }
    }

    fn regex(&self, name: &'static str) -> Result<Option<Regex>, SettingError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        Regex::new(text).map(Some).or_else(|error| wrong(name, error.to_string()))
    }

    fn sample(&self) -> Result<SampleParts, SettingError> {
        let text = read_file(Path::new(self.file()?)).or_else(|reason| wrong("file", reason))?;
        let list =
            self.get("tokens").and_then(|list| list.as_array(self.arena)).unwrap_or_default();
        let mut tokens = Vec::with_capacity(list.len());
        let rated = Arc::new(self.tables()?);
        for token in list {
            let field = |name: &str| {
                let record = token.as_record(self.arena)?;
                record.get(name)?.as_str()
            };
            let find = field("token").unwrap_or_default();
            let kind = field("type").unwrap_or("static");
            let replacement = field("replacement").unwrap_or_default();
            tokens.push(
                token_of(find, kind, replacement, &rated)
                    .or_else(|reason| wrong("tokens", reason))?,
            );
        }
        let (breaker, shuffle) = (self.regex("breaker")?, self.flag("shuffle")?);
        let around = |name| self.duration(name).map(|ns| ns.unwrap_or(0));
        let window = (around("earliest")?, around("latest")?);
        Ok(SampleParts { events: cut(&text, breaker.as_ref()), tokens, shuffle, window })
    }

    fn replay(&self) -> Result<ReplayParts, SettingError> {
        let format = self.text("format")?.unwrap_or("%Y-%m-%dT%H:%M:%S");
        let date = DateFormat::compile(format);
        if !date.is_valid() {
            return wrong("format", format!("`{format}` is no format of times"));
        }
        let restamp = self.flag("restamp")?.then(|| Stamp::new(format)).transpose();
        let restamp = restamp.or_else(|reason| wrong("restamp", reason))?;
        let speed = self.number("speed", 1e-6, 1e9)?.unwrap_or(1.0);
        let iso = Regex::new(ISO_TIME).expect("the pattern is tried by a test");
        let file = PathBuf::from(self.file()?);
        std::fs::metadata(&file).map_err(|error| SettingError {
            name: "file",
            reason: format!("{}: {error}", file.display()),
        })?;
        let clockwork = Clockwork {
            regex: self.regex("time")?.unwrap_or(iso),
            formats: vec![TimeFormat { read: date, restamp }],
            slowness: 1.0 / speed,
        };
        let count = Some(self.whole("rounds")?.unwrap_or(1));
        let pause_ns = self.duration("pause")?.unwrap_or(0);
        Ok(ReplayParts { file, clockwork, rounds: Rounds { count, pause_ns } })
    }
}

/// A token in the words of `eventgen.conf`; `rated` numbers follow the tables.
pub fn token_of(
    find: &str,
    kind: &str,
    replacement: &str,
    tables: &Arc<Tables>,
) -> Result<Token, String> {
    let regex = Regex::new(find).map_err(|error| error.to_string())?;
    let replacement = match kind {
        "static" => Replacement::Static(replacement.as_bytes().to_vec()),
        "timestamp" | "replaytimestamp" => Replacement::Time(Stamp::new(replacement)?),
        "random" => Replacement::random(replacement)?,
        "rated" => Replacement::rated(replacement, tables)?,
        "file" => Replacement::Column(rows(replacement)?, 0),
        "mvfile" => {
            let (path, column) = replacement.rsplit_once(':').ok_or("expected file:column")?;
            let column = column.parse::<usize>().ok().and_then(|column| column.checked_sub(1));
            Replacement::Column(rows(path)?, column.ok_or("columns are counted from 1")?)
        }
        "integerid" => Replacement::Count(replacement.parse().map_err(|_| "expected a number")?),
        other => return Err(format!("there is no kind of replacement `{other}`")),
    };
    Ok(Token { regex, replacement })
}

fn rows(path: &str) -> Result<Arc<Rows>, String> {
    Rows::of(&read_text(path)?).map(Arc::new).map_err(|reason| format!("{path}: {reason}"))
}
