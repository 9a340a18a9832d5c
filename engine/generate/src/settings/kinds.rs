//! The settings of each kind of generator.

use super::super::envelope::{EnvelopeParts, FORMS, Form};
use super::super::finder::Finder;
use super::super::jinja::{CountType, JinjaParts};
use super::super::presets::PRESETS;
use super::super::reading::TimeReader;
use super::super::replacement::Replacement;
use super::super::replay::{Clock, Clockwork, Rounds};
use super::super::sample::SampleParts;
use super::super::spec::{Kind, ReplayParts};
use super::super::stamp::Stamp;
use super::super::template::{Draw, Table, TemplateParts, sums};
use super::super::tokens::Token;
use super::files::{Shelf, read_file};
use super::{KINDS, Read, Settings, wrong};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temblor_lang::program::Formula;
use temblor_lang::value::Value;

/// Times as most logs write them.
const ISO_TIME: &str = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d";

/// Sessions that are open at a time.
const SESSIONS_MAX: u64 = 1 << 20;

/// A token, and the clock that its times are read by.
pub(super) struct Described {
    pub(super) token: Token,
    clock: Option<Clock>,
}

impl<'a> Settings<'a> {
    pub(super) fn kind(&self, kind: &str, template: Option<Formula>) -> Read<Kind> {
        if let Some((_, preset)) = PRESETS.iter().find(|(name, _)| *name == kind) {
            return Ok(Kind::Preset(*preset));
        }
        Ok(match kind {
            "weblog" | "access" => Kind::Weblog,
            "syslog" => Kind::Syslog,
            "json-app" => Kind::JsonApp,
            "windbag" => Kind::Windbag,
            "lines" => Kind::Lines(self.lines()?, self.flag("shuffle")?, self.whole("rounds")?),
            "template" => Kind::Template(Arc::new(self.template(template)?)),
            "jinja" => Kind::Jinja(Arc::new(self.jinja()?)),
            "sample" => Kind::Sample(Arc::new(self.sample()?)),
            "replay" => Kind::Replay(Arc::new(self.replay()?)),
            other => {
                let known = KINDS.join(", ");
                let reason = format!("there is no generator `{other}`; known are {known}");
                return wrong("kind", reason);
            }
        })
    }

    fn lines(&self) -> Read<Arc<[u8]>> {
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

    fn template(&self, text: Option<Formula>) -> Read<TemplateParts> {
        let Some(text) = text else { return wrong("template", "the text of an event is missing") };
        let mut tables = Vec::new();
        for (name, path) in self.get("files").map_or(Vec::new(), |files| self.fields(files)) {
            let path = path.as_str().unwrap_or_default();
            let text = read_file(Path::new(path)).and_then(|bytes| {
                String::from_utf8(bytes).map_err(|_| format!("{path}: not UTF-8"))
            });
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
            let words = choices.iter().map(|(word, _)| (*word).to_string()).collect();
            return Some(Draw::Choice(words, sums));
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
            "session" => Some(Draw::Session(first.as_u64()?, second.as_u64()?.min(SESSIONS_MAX))),
            _ => None,
        }
    }

    fn jinja(&self) -> Read<JinjaParts> {
        let directories = self.texts("directories")?.into_iter().map(PathBuf::from).collect();
        let variables = self.get("variables").map_or(Ok(Default::default()), |value| {
            let mut text = Vec::new();
            temblor_lang::value::push_text(&mut text, value);
            serde_json::from_slice(&text)
                .or_else(|_| wrong("variables", "must be a record of variables"))
        })?;
        let count_type = match self.text("count_type")? {
            None | Some("line_count" | "lines") => CountType::Lines,
            Some("cycles") => CountType::Cycles,
            Some(other) => {
                return wrong("count_type", format!("`{other}` is neither line_count nor cycles"));
            }
        };
        let template = self.file()?.to_string();
        let zone = self.zone;
        let parts = JinjaParts { directories, template, variables, count_type, zone };
        // Tried here, so that what is wrong is said before anything runs.
        super::super::jinja::Jinja::new(Arc::new(parts.clone()), 0)
            .or_else(|reason| wrong("file", reason))?;
        Ok(parts)
    }

    fn sample(&self) -> Read<SampleParts> {
        Ok(SampleParts {
            events: self.events()?,
            tokens: self.tokens_of("tokens")?,
            shuffle: self.flag("shuffle")?,
            is_bundle: self.flag("bundle")?,
            is_sequential: self.flag("sequential")?,
            zone: self.zone,
        })
    }

    fn replay(&self) -> Read<ReplayParts> {
        let described = self.described("tokens")?;
        let mut clocks: Vec<_> = described.iter().filter_map(|token| token.clock.clone()).collect();
        let mut tokens: Vec<_> = described.into_iter().map(|token| token.token).collect();
        if clocks.is_empty() || self.get("time").is_some() {
            let format = self.text("format")?.unwrap_or("%Y-%m-%dT%H:%M:%S");
            let Some(reader) = TimeReader::compile(format) else {
                return wrong("format", format!("`{format}` is no format of times"));
            };
            let iso = || Finder::new(ISO_TIME).expect("the pattern is tried by a test");
            let finder = self.finder("time")?.unwrap_or_else(iso);
            if self.flag("restamp")? {
                let stamp = Stamp::new(format).or_else(|reason| wrong("restamp", reason))?;
                let moved = vec![(reader.clone(), stamp.zone(self.zone))];
                let replacement = Replacement::Moved(moved, self.zone);
                tokens.insert(0, Token { finder: finder.clone(), replacement });
            }
            clocks.insert(0, Clock { finder, readers: vec![reader] });
        }
        let file = PathBuf::from(self.file()?);
        let metadata = std::fs::metadata(&file);
        metadata.or_else(|error| wrong("file", format!("{}: {error}", file.display())))?;
        let is_cut = self.is_csv()? || self.get("breaker").is_some();
        let events = is_cut.then(|| self.events()).transpose()?.map(Arc::new);
        let slowness = 1.0 / self.number("speed", 1e-6, 1e9)?.unwrap_or(1.0);
        let clockwork = Clockwork { clocks, tokens, slowness, zone: self.zone };
        // 0 is for ever.
        let count = Some(self.whole("rounds")?.unwrap_or(1)).filter(|count| *count > 0);
        let pause_ns = self.duration("pause")?.unwrap_or(0);
        Ok(ReplayParts { file, events, clockwork, rounds: Rounds { count, pause_ns } })
    }

    pub(super) fn envelope(&self) -> Read<EnvelopeParts> {
        let word = self.text("output")?.unwrap_or("raw");
        let Some((_, form)) = FORMS.iter().find(|(name, _)| *name == word) else {
            let known = FORMS.map(|(name, _)| name).join(", ");
            return wrong("output", format!("`{word}` is none of {known}"));
        };
        if *form == Form::Raw {
            return Ok(EnvelopeParts::default());
        }
        let text = |name, other: &str| Ok(self.text(name)?.unwrap_or(other).to_string());
        let indexes = self.texts("index")?;
        Ok(EnvelopeParts {
            form: *form,
            host: text("host", "127.0.0.1")?,
            host_token: self.tokens_of("host_token")?.into_iter().next(),
            host_regex: self.finder("host_regex")?,
            source: text("source", "")?,
            sourcetype: text("sourcetype", "")?,
            indexes: if indexes.is_empty() { vec!["main".to_string()] } else { indexes },
        })
    }

    /// Tokens: a list of records with `token`, `type` and `replacement`.
    pub(super) fn described(&self, name: &'static str) -> Read<Vec<Described>> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let Some(list) = value.as_array(self.arena) else {
            return wrong(name, "must be a list of records with token, type and replacement");
        };
        let mut shelf = Shelf::default();
        let mut tokens = Vec::with_capacity(list.len());
        for (number, token) in list.iter().enumerate() {
            let field = |name: &str| {
                let record = token.as_record(self.arena)?;
                record.get(name)?.as_str()
            };
            let words = ["token", "type", "replacement"].map(field);
            let token = self.token(words, &mut shelf);
            let failed = |reason| wrong(name, format!("number {number}: {reason}"));
            tokens.push(token.or_else(failed)?);
        }
        Ok(tokens)
    }

    fn token(
        &self,
        [find, kind, replacement]: [Option<&str>; 3],
        shelf: &mut Shelf,
    ) -> Result<Described, String> {
        let finder = Finder::new(find.unwrap_or_default())?;
        let text = replacement.unwrap_or_default();
        let mut clock = None;
        let replacement = match kind.unwrap_or("static") {
            "static" => Replacement::Static(text.as_bytes().to_vec()),
            "timestamp" => {
                let reader = TimeReader::compile(text);
                clock =
                    reader.map(|reader| Clock { finder: finder.clone(), readers: vec![reader] });
                Replacement::Time(Stamp::new(text)?.zone(self.zone))
            }
            "replaytimestamp" => {
                let formats = self.formats(text)?;
                let readers = formats.iter().map(|(reader, _)| reader.clone()).collect();
                clock = Some(Clock { finder: finder.clone(), readers });
                Replacement::Moved(formats, self.zone)
            }
            "random" => Replacement::random(text)?,
            "rated" => {
                let tables = self.tables().map_err(|error| error.reason)?;
                Replacement::rated(text, &Arc::new(tables))?
            }
            "file" | "mvfile" => match column(text)? {
                (path, None) => Replacement::Line(shelf.rows(path)?),
                (path, Some(column)) => Replacement::Column(shelf.rows(path)?, column),
            },
            "seqfile" => {
                let (path, column) = column(text)?;
                Replacement::Turn(shelf.rows(path)?, column)
            }
            "integerid" => {
                let number = text.trim().parse();
                Replacement::Count(number.map_err(|_| format!("`{text}` is no whole number"))?)
            }
            other => return Err(format!("there is no kind of replacement `{other}`")),
        };
        Ok(Described { token: Token { finder, replacement }, clock })
    }

    /// A format, or a JSON list of formats.
    fn formats(&self, text: &str) -> Result<Vec<(TimeReader, Stamp)>, String> {
        let list =
            serde_json::from_str::<Vec<String>>(text).unwrap_or_else(|_| vec![text.to_string()]);
        let one = |format: &String| {
            let reader = TimeReader::compile(format);
            let reader = reader.ok_or_else(|| format!("`{format}` is no format of times"))?;
            Ok((reader, Stamp::new(format)?.zone(self.zone)))
        };
        let formats = list.iter().map(one).collect::<Result<Vec<_>, String>>()?;
        if formats.is_empty() { Err("there is no format".to_string()) } else { Ok(formats) }
    }
}

/// `path:2` is the second column of a file.
fn column(text: &str) -> Result<(&str, Option<usize>), String> {
    let Some((path, digits)) = text.rsplit_once(':') else { return Ok((text, None)) };
    match digits.trim().parse::<usize>() {
        Ok(0) => Err("columns are counted from 1".to_string()),
        Ok(column) => Ok((path, Some(column - 1))),
        Err(_) => Ok((text, None)),
    }
}
