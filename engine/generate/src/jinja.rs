//! Events from templates of Jinja, with the variables and the time tags that Eventgen hands to templates.
//!
//! Invariant: a template reads no clock and no file outside of its directories; its random choices are the
//! generator's.

use super::envelope::EventFields;
use super::stamp::Stamp;
use super::zone::Zone;
use super::{Generator, Moment, Random};
use minijinja::value::{Kwargs, Value};
use minijinja::{AutoEscape, Environment, ErrorKind, State};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use temblor_runtime::clock::Timestamp;

/// Bytes that one rendering may give.
const RENDERED_BYTES_MAX: usize = 256 << 20;
/// Steps that one rendering may take.
const STEPS_MAX: u64 = 500_000_000;
/// Bytes of a template file.
const TEMPLATE_BYTES_MAX: u64 = 16 << 20;

/// How `count` is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CountType {
    /// The template is rendered until there are so many lines.
    #[default]
    Lines,
    /// The template is rendered so many times.
    Cycles,
}

/// A template, as a user describes it.
#[derive(Clone, Debug)]
pub struct JinjaParts {
    /// Where templates are looked for, in order.
    pub directories: Vec<PathBuf>,
    /// The name of the template.
    pub template: String,
    /// What it is given.
    pub variables: BTreeMap<String, serde_json::Value>,
    /// How `count` is meant.
    pub(crate) count_type: CountType,
    /// Whose clocks its times are of.
    pub zone: Zone,
}

/// A line that a template made.
#[derive(Debug, Default)]
struct Line {
    raw: String,
    time: Option<Timestamp>,
    fields: [Option<String>; 4],
}

/// The generator.
pub(crate) struct Jinja {
    parts: Arc<JinjaParts>,
    environment: Environment<'static>,
    /// The time of the execution, for the tags.
    now: Arc<Mutex<Timestamp>>,
    waiting: VecDeque<Line>,
    last: Line,
}

impl Jinja {
    /// Reads the template.
    ///
    /// # Errors
    /// When there is none, or it is wrong: the template's line and what is wrong there.
    pub(crate) fn new(parts: Arc<JinjaParts>, seed: u64) -> Result<Self, String> {
        let now = Arc::new(Mutex::new(0));
        let mut environment = environment(&parts, &now, seed);
        environment.set_fuel(Some(STEPS_MAX));
        environment.get_template(&parts.template).map_err(|error| said(&error))?;
        let (waiting, last) = (VecDeque::new(), Line::default());
        Ok(Jinja { parts, environment, now, waiting, last })
    }

    /// Renders once; gives the number of lines.
    fn cycle(&mut self, moment: Moment, rendered: u64) -> Result<u64, String> {
        *self.now.lock().map_err(|_| "the clock of the template is gone".to_string())? =
            moment.time;
        let mut variables = self.parts.variables.clone();
        let civil = |time| self.parts.zone.civil(time).format("%Y-%m-%d %H:%M:%S%.f").to_string();
        let epoch = |time: Timestamp| serde_json::Value::from(time as f64 / 1e9);
        let (earliest, latest) = moment.window;
        for (name, value) in [
            ("eventgen_count", rendered.into()),
            ("eventgen_maxcount", moment.of.into()),
            ("eventgen_earliest", civil(earliest).into()),
            ("eventgen_earliest_epoch", epoch(earliest)),
            ("eventgen_latest", civil(latest).into()),
            ("eventgen_latest_epoch", epoch(latest)),
        ] {
            variables.insert(name.to_string(), value);
        }
        let mut text = Bounded { bytes: Vec::new(), bytes_max: RENDERED_BYTES_MAX };
        let template = self.environment.get_template(&self.parts.template);
        let rendered =
            template.and_then(|one| one.render_captured_to(variables, &mut text).map(drop));
        match rendered {
            Err(_) if text.bytes.len() > RENDERED_BYTES_MAX => {
                return Err(format!("the template gives more than {RENDERED_BYTES_MAX} bytes"));
            }
            other => other.map_err(|error| said(&error))?,
        }
        let text = String::from_utf8_lossy(&text.bytes);
        let before = self.waiting.len();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.waiting.push_back(self.line(line)?);
        }
        Ok((self.waiting.len() - before) as u64)
    }

    /// A line is a record with `_raw` and `_time`, and perhaps host and the like.
    fn line(&self, text: &str) -> Result<Line, String> {
        let place = |reason: String| {
            let shown: String = text.chars().take(120).collect();
            format!(
                "{}: each line that a template makes must be a JSON record with _raw and _time: \
                 {reason} in `{shown}`",
                self.parts.template
            )
        };
        let record: serde_json::Value =
            serde_json::from_str(text).map_err(|error| place(error.to_string()))?;
        let field = |name: &str| match record.get(name) {
            Some(serde_json::Value::String(text)) => Some(text.clone()),
            None | Some(serde_json::Value::Null) => None,
            Some(other) => Some(other.to_string()),
        };
        let raw = field("_raw").ok_or_else(|| place("there is no _raw".to_string()))?;
        let time = field("_time").ok_or_else(|| place("there is no _time".to_string()))?;
        let time = time.parse::<f64>().ok().filter(|time| *time >= 0.0);
        let fields = ["host", "source", "sourcetype", "index"].map(field);
        Ok(Line { raw, time: time.map(|time| (time * 1e9) as u64), fields })
    }
}

/// What a template gives, up to a bound.
struct Bounded {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        match self.bytes.len() <= self.bytes_max {
            true => Ok(bytes.len()),
            false => Err(std::io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Generator for Jinja {
    fn begin(&mut self, moment: Moment) -> Result<Option<u64>, String> {
        self.waiting.clear();
        let wanted = moment.of.max(1);
        let (mut cycles, mut lines) = (0, 0);
        loop {
            let made = self.cycle(moment, lines)?;
            (cycles, lines) = (cycles + 1, lines + made);
            let is_enough = match self.parts.count_type {
                CountType::Cycles => cycles >= wanted,
                CountType::Lines => lines >= wanted,
            };
            if is_enough || made == 0 {
                return Ok(Some(lines));
            }
        }
    }

    fn write(&mut self, moment: Moment, out: &mut Vec<u8>) -> Result<bool, String> {
        if self.waiting.is_empty() {
            self.cycle(moment, moment.index)?;
        }
        let Some(line) = self.waiting.pop_front() else { return Ok(false) };
        out.extend_from_slice(line.raw.trim_end_matches(['\n', '\r']).as_bytes());
        self.last = line;
        Ok(true)
    }

    fn fields(&self) -> EventFields<'_> {
        let [host, source, sourcetype, index] = &self.last.fields;
        EventFields {
            time: self.last.time,
            host: host.as_deref(),
            source: source.as_deref(),
            sourcetype: sourcetype.as_deref(),
            index: index.as_deref(),
        }
    }
}

fn environment(
    parts: &Arc<JinjaParts>,
    now: &Arc<Mutex<Timestamp>>,
    seed: u64,
) -> Environment<'static> {
    let mut environment = Environment::new();
    // As in Python: nothing is escaped by the name of the template, and texts and lists have methods.
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("range", range);
    let directories = parts.directories.clone();
    environment.set_loader(move |name| template(&directories, name));
    let zone = parts.zone;
    let clock = Arc::clone(now);
    environment.add_function("__time_now", move |options: Kwargs| {
        let now = clock.lock().map_or(0, |now| *now);
        pair(now, &zone, &options)
    });
    environment.add_function("__time_slice", move |options: Kwargs| {
        let number = |name: &str, other: f64| {
            let value: Option<Value> = options.get(name).ok();
            value.and_then(|value| value.to_string().trim().parse().ok()).unwrap_or(other)
        };
        let (earliest, latest) = (number("earliest", 0.0), number("latest", 0.0));
        let part = number("slices", 1.0) / number("count", 1.0).max(1.0);
        let target = earliest + (latest - earliest) * part;
        pair((target.max(0.0) * 1e9) as u64, &zone, &options)
    });
    let random = Arc::new(Mutex::new(Random::seeded(seed)));
    let draws = Arc::clone(&random);
    environment.add_filter("random", move |state: &State<'_, '_>, list: Value| {
        let _ = state;
        let count = list.len().unwrap_or(0);
        let index = draws.lock().map_or(0, |mut random| random.index(count));
        list.get_item(&Value::from(index))
    });
    environment.add_function("randint", move |low: i64, high: i64| {
        let span = high.abs_diff(low).saturating_add(1);
        let draw = random.lock().map_or(0, |mut random| random.below(span));
        low.wrapping_add_unsigned(draw)
    });
    environment
}

/// Numbers without a bound of their own: the bound on steps ends what does not end.
fn range(first: i64, end: Option<i64>, step: Option<i64>) -> Result<Value, minijinja::Error> {
    let (low, high) = end.map_or((0, first), |end| (first, end));
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(minijinja::Error::new(ErrorKind::InvalidOperation, "range: a step of 0"));
    }
    let span = if step > 0 { high.saturating_sub(low) } else { low.saturating_sub(high) };
    let count = span.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(Value::make_iterable(move || {
        (0..count).map(move |index| low.wrapping_add(step.wrapping_mul(index as i64)))
    }))
}

/// A time as text and as seconds.
fn pair(time: Timestamp, zone: &Zone, options: &Kwargs) -> Result<Value, minijinja::Error> {
    let format: Option<String> = options.get("date_format")?;
    let format = format.unwrap_or_else(|| "%Y-%m-%dT%H:%M:%S.%f".to_string());
    let mut text = Vec::new();
    Stamp::lenient(&format).zone(*zone).push(time, &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(Value::from(vec![Value::from(text), Value::from(time as f64 / 1e9)]))
}

fn template(directories: &[PathBuf], name: &str) -> Result<Option<String>, minijinja::Error> {
    let is_inside = !Path::new(name).components().any(|part| {
        matches!(part, std::path::Component::ParentDir | std::path::Component::RootDir)
    });
    let wrong = |reason: String| minijinja::Error::new(ErrorKind::InvalidOperation, reason);
    if !is_inside {
        return Err(wrong(format!("`{name}` leads out of the directories of templates")));
    }
    let Some(path) = directories.iter().map(|one| one.join(name)).find(|path| path.is_file())
    else {
        return Ok(None);
    };
    let failed = |error: std::io::Error| wrong(format!("{}: {error}", path.display()));
    if std::fs::metadata(&path).map_err(failed)?.len() > TEMPLATE_BYTES_MAX {
        return Err(wrong(format!("{}: larger than {TEMPLATE_BYTES_MAX} bytes", path.display())));
    }
    Ok(Some(with_time_tags(&std::fs::read_to_string(&path).map_err(failed)?)))
}

/// `{% time_now %}` and `{% time_slice … %}` set variables: here they become assignments.
fn with_time_tags(text: &str) -> String {
    const TAGS: [(&str, &str); 2] = [("time_now", "time_now"), ("time_slice", "time_target")];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{%") {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let Some(end) = tag.find("%}") else { break };
        let (inside, after) = (&tag[2..end], &tag[end + 2..]);
        let word = inside.trim_start_matches(['-', '+']).trim_start();
        let known = TAGS.iter().find(|(name, _)| {
            word.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_of_name))
        });
        match known {
            None => out.push_str(&tag[..end + 2]),
            Some((name, variable)) => {
                let open = if inside.starts_with('-') { "{%-" } else { "{%" };
                let close = if inside.ends_with('-') { "-%}" } else { "%}" };
                let options = word[name.len()..].trim().trim_end_matches('-').trim();
                let options = options.trim_start_matches(',');
                out.push_str(&format!(
                    "{open} set {variable}, {variable}_epoch = __{name}({options}) {close}"
                ));
            }
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// An error with the template's name and line.
fn said(error: &minijinja::Error) -> String {
    let place = match (error.name(), error.line()) {
        (Some(name), Some(line)) => format!("{name}:{line}: "),
        (Some(name), None) => format!("{name}: "),
        _ => String::new(),
    };
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_string);
    format!("{place}{detail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jinja(name: &str, text: &str, variables: &str) -> Result<Jinja, String> {
        let directory = std::env::temp_dir().join(format!("temblor-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("t.template"), text).unwrap();
        let parts = JinjaParts {
            directories: vec![directory],
            template: "t.template".to_string(),
            variables: serde_json::from_str(variables).unwrap(),
            count_type: CountType::Lines,
            zone: Zone::UTC,
        };
        Jinja::new(Arc::new(parts), 1)
    }

    fn all(jinja: &mut Jinja, moment: Moment) -> Vec<String> {
        let count = jinja.begin(moment).unwrap().unwrap();
        let mut line = |_| {
            let mut out = Vec::new();
            assert!(jinja.write(moment, &mut out).unwrap());
            String::from_utf8(out).unwrap()
        };
        (0..count).map(&mut line).collect()
    }

    #[test]
    fn templates_have_loops_variables_and_times() {
        let text = "{%- for i in range(n) %}\n{%- time_now -%}\n\
                    {%- time_slice earliest=eventgen_earliest_epoch, latest=eventgen_latest_epoch, count=n, \
                    slices=loop.index, date_format=\"%H:%M:%S\" -%}\n\
                    {\"_time\": \"{{ time_now_epoch }}\", \"host\": \"h\", \
                    \"_raw\": \"{{ time_now }} {{ time_target }} {{ loop.index }} {{ ['x'] | random }}\"}\n{% endfor -%}";
        let mut jinja = jinja("loops", text, r#"{"n": 2}"#).unwrap();
        let moment = Moment { window: (0, 10_000_000_000), ..Moment::at(0, 5_000_000_000) };
        let expected =
            ["1970-01-01T00:00:05.000000 00:00:05 1 x", "1970-01-01T00:00:05.000000 00:00:10 2 x"];
        assert_eq!(all(&mut jinja, moment), expected);
        assert_eq!(jinja.fields().time, Some(5_000_000_000));
        assert_eq!(jinja.fields().host, Some("h"));
        let four = Moment { of: 3, ..moment };
        assert_eq!(all(&mut jinja, four).len(), 4, "whole cycles until there are enough");
    }

    #[test]
    fn what_python_can_do_templates_can() {
        let text = "{% for i in range(200000) %}{% if loop.last %}\
                    {\"_time\": 1, \"_raw\": \"{{ 'a-b'.upper().split('-')[1] }} {{ '%02d' | format(7) }} {{ loop.length }} \
                    {{ range(6, 0, -2) | list }} <\"}\n{% endif %}{% endfor %}";
        let mut jinja = jinja("python", text, "{}").unwrap();
        assert_eq!(all(&mut jinja, Moment::at(0, 0)), ["B 07 200000 [6, 4, 2] <"]);
    }

    #[test]
    fn texts_and_templates_are_bounded() {
        use std::io::Write;
        let mut bounded = Bounded { bytes: Vec::new(), bytes_max: 3 };
        assert!(bounded.write_all(b"abc").is_ok() && bounded.write_all(b"d").is_err());
        let folder = std::env::temp_dir().join(format!("temblor-large-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = std::fs::File::create(folder.join("large")).unwrap();
        file.set_len(TEMPLATE_BYTES_MAX + 1).unwrap();
        let error = template(std::slice::from_ref(&folder), "large").unwrap_err();
        assert!(error.to_string().contains("larger than"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = |text: &str| jinja("wrong", text, "{}").err().unwrap_or_default();
        assert!(error("a\n{% for %}").starts_with("t.template:2: "), "{}", error("a\n{% for %}"));
        let mut plain = jinja("plain", "no json", "{}").unwrap();
        assert!(plain.begin(Moment::at(0, 0)).unwrap_err().contains("JSON record"));
        let mut bare = jinja("bare", r#"{"_raw": "x"}"#, "{}").unwrap();
        assert!(bare.begin(Moment::at(0, 0)).unwrap_err().contains("no _time"));
        let mut outside = jinja("outside", "{% include '../x' %}", "{}").unwrap();
        assert!(outside.begin(Moment::at(0, 0)).unwrap_err().contains("leads out"));
        let mut endless = jinja(
            "endless",
            "{% for i in range(30000) %}{% for j in range(30000) %}{% endfor %}{% endfor %}",
            "{}",
        )
        .unwrap();
        endless.environment.set_fuel(Some(STEPS_MAX / 100_000));
        assert!(endless.begin(Moment::at(0, 0)).is_err());
    }
}
