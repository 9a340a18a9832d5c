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
use super::{Draft, KINDS, Read, wrong};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use temblor_lang::value::{Arena, Value};
use temblor_stdlib::formats::json;

/// Times as most logs write them.
const ISO_TIME: &str = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d";

/// Sessions that are open at a time.
const SESSIONS_MAX: u64 = 1 << 20;

/// A token, and the clock that its times are read by.
pub(super) struct Described {
    pub(super) token: Token,
    clock: Option<Clock>,
}

impl Draft<'_> {
    pub(super) fn kind(&self, kind: &str) -> Read<Kind> {
        if let Some((_, preset)) = PRESETS.iter().find(|(name, _)| *name == kind) {
            return Ok(Kind::Preset(*preset));
        }
        Ok(match kind {
            "weblog" | "access" => Kind::Weblog,
            "syslog" => Kind::Syslog,
            "json-app" => Kind::JsonApp,
            "windbag" => Kind::Windbag,
            "lines" => Kind::Lines(
                self.lines()?,
                self.settings.flag("shuffle"),
                self.settings.optional_whole("rounds"),
            ),
            "template" => Kind::Template(Arc::new(self.template()?)),
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
        let text = if self.settings.says("lines") {
            self.settings.texts("lines").join("\n").into_bytes()
        } else {
            read_file(Path::new(self.file()?)).or_else(|reason| wrong("file", reason))?
        };
        match text.iter().any(|byte| *byte != b'\n') {
            true => Ok(text.into()),
            false => wrong("lines", "there is no line"),
        }
    }

    fn template(&self) -> Read<TemplateParts> {
        let Some(text) = self.settings.formula("template") else {
            return wrong("template", "the text of an event is missing");
        };
        let mut tables = Vec::new();
        for (name, path) in self.settings.map("files") {
            let text = read_file(Path::new(path)).and_then(|bytes| {
                String::from_utf8(bytes).map_err(|_| format!("{path}: not UTF-8"))
            });
            let table = text.and_then(|text| Table::of(&text));
            tables.push((name.clone(), table.or_else(|reason| wrong("files", reason))?));
        }
        let arena = Arena::new();
        let drawn = json::parse(self.settings.json("draws").unwrap_or("{}"), &arena);
        let drawn = drawn.ok().and_then(|drawn| drawn.as_record(&arena));
        let Some(drawn) = drawn else { return wrong("draws", "must be a record") };
        let mut draws = Vec::new();
        for (name, value) in drawn.iter() {
            match draw(value, &arena) {
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

    fn jinja(&self) -> Read<JinjaParts> {
        let directories = self.settings.texts("directories").iter().map(PathBuf::from).collect();
        let variables = serde_json::from_str(self.settings.json("variables").unwrap_or("{}"))
            .or_else(|_| wrong("variables", "must be a record of variables"))?;
        let count_type = match self.text("count_type") {
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
            shuffle: self.settings.flag("shuffle"),
            is_bundle: self.settings.flag("bundle"),
            is_sequential: self.settings.flag("sequential"),
            zone: self.zone,
        })
    }

    fn replay(&self) -> Read<ReplayParts> {
        let described = self.described("tokens")?;
        let mut clocks: Vec<_> = described.iter().filter_map(|token| token.clock.clone()).collect();
        let mut tokens: Vec<_> = described.into_iter().map(|token| token.token).collect();
        if clocks.is_empty() || self.settings.says("time") {
            let format = self.settings.text("format");
            let Some(reader) = TimeReader::compile(format) else {
                return wrong("format", format!("`{format}` is no format of times"));
            };
            let iso = || Finder::new(ISO_TIME).expect("the pattern is tried by a test");
            let finder = self.finder("time")?.unwrap_or_else(iso);
            if self.settings.flag("restamp") {
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
        let is_cut = self.is_csv()? || self.settings.says("breaker");
        let events = is_cut.then(|| self.events()).transpose()?.map(Arc::new);
        let slowness = 1.0 / self.settings.optional_number("speed").unwrap_or(1.0);
        let clockwork = Clockwork { clocks, tokens, slowness, zone: self.zone };
        // 0 is for ever.
        let count =
            Some(self.settings.optional_whole("rounds").unwrap_or(1)).filter(|count| *count > 0);
        let pause_ns = self.duration("pause").unwrap_or(0);
        Ok(ReplayParts { file, events, clockwork, rounds: Rounds { count, pause_ns } })
    }

    pub(super) fn envelope(&self) -> Read<EnvelopeParts> {
        let word = self.settings.text("output");
        let Some((_, form)) = FORMS.iter().find(|(name, _)| *name == word) else {
            let known = FORMS.map(|(name, _)| name).join(", ");
            return wrong("output", format!("`{word}` is none of {known}"));
        };
        if *form == Form::Raw {
            return Ok(EnvelopeParts::default());
        }
        let text = |name| self.text(name).unwrap_or_default().to_string();
        let indexes = self.settings.texts("index").to_vec();
        Ok(EnvelopeParts {
            form: *form,
            host: text("host"),
            host_token: self.tokens_of("host_token")?.into_iter().next(),
            host_regex: self.finder("host_regex")?,
            source: text("source"),
            sourcetype: text("sourcetype"),
            indexes: if indexes.is_empty() { vec!["main".to_string()] } else { indexes },
        })
    }

    /// Tokens: a list of records with `token`, `type` and `replacement`.
    pub(super) fn described(&self, name: &'static str) -> Read<Vec<Described>> {
        let list = self.settings.records(name);
        let mut shelf = Shelf::default();
        let mut tokens = Vec::with_capacity(list.len());
        for (number, token) in list.iter().enumerate() {
            let words = ["token", "type", "replacement"].map(|field| token.optional_text(field));
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

/// `{"uniform": [1, 6]}`
fn draw<'a>(value: Value<'a>, arena: &'a Arena) -> Option<Draw> {
    let (kind, value) = value.as_record(arena)?.iter().next()?;
    if kind == "choice" {
        let choices: Vec<_> = value.as_record(arena)?.iter().collect();
        let sums = sums(choices.iter().map(|(_, weight)| weight.as_f64())).ok()?;
        let words = choices.iter().map(|(word, _)| (*word).to_string()).collect();
        return Some(Draw::Choice(words, sums));
    }
    let &[first, second] = value.as_array(arena)? else { return None };
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

/// `path:2` is the second column of a file.
fn column(text: &str) -> Result<(&str, Option<usize>), String> {
    let Some((path, digits)) = text.rsplit_once(':') else { return Ok((text, None)) };
    match digits.trim().parse::<usize>() {
        Ok(0) => Err("columns are counted from 1".to_string()),
        Ok(column) => Ok((path, Some(column - 1))),
        Err(_) => Ok((text, None)),
    }
}
