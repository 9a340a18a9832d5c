//! The lines of the outputs `graphite` and `statsd`. An event without a metric makes no line.

use crate::codec::{Encoder, OwnText};
use crate::complain;
use crate::options::Arguments;
use crate::pattern::Pattern;
use chrono::{DateTime, Utc};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map, float_text};
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// Names with a field in them that the event has not.
const UNRESOLVED: &str = "%\\{[^}]+\\}";

#[derive(Debug)]
struct Graphite {
    /// Names and values; of no matter when the fields are the metrics.
    metrics: Vec<(Template, Template)>,
    fields_are_metrics: bool,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    /// `*` stands for the name.
    format: String,
    separator: String,
    time: FieldRef,
}

/// The encoder of the output `graphite`.
pub(crate) fn graphite(arguments: &mut Arguments<'_>) -> Option<Option<Encoder>> {
    lines(arguments).map(Some)
}

/// The encoder of the codec `graphite`, which has most options of the output.
pub(crate) fn lines(arguments: &mut Arguments<'_>) -> Option<Encoder> {
    let time = arguments.field("timestamp_field", "@timestamp")?;
    let exclude = match arguments.get("exclude_metrics").is_some() {
        true => patterns(arguments, "exclude_metrics")?,
        false => vec![Pattern::compile(UNRESOLVED).expect("this expression is right")],
    };
    let metrics = arguments
        .pairs("metrics")
        .into_iter()
        .filter_map(|(name, value)| Some((Template::parse(&name), Template::parse(value.text()?))));
    let lines = Graphite {
        metrics: metrics.collect(),
        fields_are_metrics: arguments.flag("fields_are_metrics", false),
        include: patterns(arguments, "include_metrics")?,
        exclude,
        format: arguments.text("metrics_format").unwrap_or_else(|| "*".to_string()),
        separator: arguments.text("nested_object_separator").unwrap_or_else(|| ".".to_string()),
        time,
    };
    Some(Encoder::Own(Box::new(lines)))
}

/// The expressions of a list; nothing when one is wrong, which has been said.
fn patterns(arguments: &mut Arguments<'_>, name: &str) -> Option<Vec<Pattern>> {
    let mut made = Vec::new();
    for (text, span) in arguments.texts(name).unwrap_or_default() {
        match Pattern::compile(&text) {
            Ok(pattern) => made.push(pattern),
            Err(reason) => {
                arguments.complain(complain::bad_pattern(name, span, &reason.to_string()));
                return None;
            }
        }
    }
    Some(made)
}

impl Graphite {
    fn push_line(&self, name: &str, value: &str, time: i64, out: &mut String) {
        let is_included = self.include.is_empty() || self.include.iter().any(|one| one.is_in(name));
        if !is_included || self.exclude.iter().any(|one| one.is_in(name)) {
            return;
        }
        let name = self.format.replace('*', name);
        out.push_str(&format!("{name} {value} {time}\n"));
    }

    /// The numbers of a map and of those in it.
    fn push_fields(&self, prefix: &str, map: &Map<'_>, time: i64, out: &mut String) {
        for (name, value) in map.iter() {
            let name = match prefix.is_empty() {
                true => name.to_string(),
                false => format!("{prefix}{}{name}", self.separator),
            };
            match value {
                Datum::Map(inner) => self.push_fields(&name, inner, time, out),
                value => {
                    if let Some(number) = number(&value.text()) {
                        self.push_line(&name, &number, time, out);
                    }
                }
            }
        }
    }
}

/// A number as Graphite gets it.
fn number(text: &str) -> Option<String> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(float_text)
}

impl OwnText for Graphite {
    fn push<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
        out: &mut String,
    ) {
        let time = match event.value_of(&self.time) {
            Some(Datum::Time(time)) => time.timestamp(),
            Some(Datum::Int(seconds)) => seconds,
            _ => event.timestamp().unwrap_or(now).timestamp(),
        };
        if self.fields_are_metrics {
            return self.push_fields("", &event.data, time, out);
        }
        for (name, value) in &self.metrics {
            let value = value.render(event, arena, now);
            // What is no number is 0, as in Ruby.
            let value = number(value).unwrap_or_else(|| "0.0".to_string());
            self.push_line(name.render(event, arena, now), &value, time, out);
        }
    }
}

#[derive(Debug)]
struct Statsd {
    namespace: Template,
    sender: Template,
    /// Names, values and kinds.
    metrics: Vec<(Template, Template, &'static str)>,
    /// Written behind a value, when not all events are counted.
    rate: String,
}

/// The encoder of the output `statsd`.
pub(crate) fn statsd(arguments: &mut Arguments<'_>) -> Option<Option<Encoder>> {
    let mut metrics = Vec::new();
    for (option, value) in [("increment", "1"), ("decrement", "-1")] {
        for name in arguments.words(option).unwrap_or_default() {
            metrics.push((Template::parse(&name), Template::literal(value), "c"));
        }
    }
    for (option, kind) in [("count", "c"), ("gauge", "g"), ("set", "s"), ("timing", "ms")] {
        for (name, value) in arguments.pairs(option) {
            let value = Template::parse(value.text().unwrap_or_default());
            metrics.push((Template::parse(&name), value, kind));
        }
    }
    let rate = arguments.number("sample_rate").filter(|rate| *rate > 0.0 && *rate < 1.0);
    let text =
        |name: &str, usual: &str| Template::parse(arguments.text(name).as_deref().unwrap_or(usual));
    let lines = Statsd {
        namespace: text("namespace", "logstash"),
        sender: text("sender", "%{host}"),
        metrics,
        rate: rate.map(|rate| format!("|@{rate}")).unwrap_or_default(),
    };
    Some(Some(Encoder::Own(Box::new(lines))))
}

/// A part of a name without what would end it.
fn plain(text: &str) -> String {
    text.replace("::", ".").replace([':', '|', '@'], "_")
}

impl OwnText for Statsd {
    fn push<'a>(
        &'a self,
        event: &LogEvent<'a>,
        arena: &'a Arena,
        now: DateTime<Utc>,
        out: &mut String,
    ) {
        let namespace = self.namespace.render(event, arena, now);
        let sender = plain(self.sender.render(event, arena, now)).replace('.', "_");
        for (name, value, kind) in &self.metrics {
            for part in [namespace, sender.as_str()] {
                if !part.is_empty() {
                    out.push_str(part);
                    out.push('.');
                }
            }
            out.push_str(&plain(name.render(event, arena, now)));
            let value = value.render(event, arena, now);
            out.push_str(&format!(":{value}|{kind}{}\n", self.rate));
        }
    }
}
