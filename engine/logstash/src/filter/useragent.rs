//! `useragent`: tells browser, system and device from the text of a `User-Agent` header.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Takes, option, required};
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;
use temblor_stdlib::formats::user_agent::{self, Agent, Family};

/// `useragent`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "useragent",
    doc: "Tells browser, system and device.",
    options: &[
        required("source", Takes::Text, "The field with the header's text."),
        option("target", Takes::Text, "Where the result goes; `\"\"` is the top of the event."),
        option(
            "prefix",
            Takes::Text,
            "Stands in front of the names, unless they are the schema's.",
        ),
        option("regexes", Takes::Text, "A file of expressions; only the built-in ones are known."),
        option("lru_cache_size", Takes::Number, "Accepted; some thousand agents are remembered."),
    ],
    make,
};

/// What a text tells, under a name for each.
type Told<'n> = Vec<(&'n FieldRef, String)>;

#[derive(Debug)]
struct UserAgent {
    source: FieldRef,
    /// Nothing is the top of the event.
    target: Option<FieldRef>,
    names: Names,
}

/// Where each fact goes.
#[derive(Debug)]
struct Names {
    name: FieldRef,
    version: FieldRef,
    device: FieldRef,
    /// The system's name; once more in the old way.
    os: Vec<FieldRef>,
    os_full: FieldRef,
    os_version: FieldRef,
    /// Parts of the browser's version.
    parts: [FieldRef; 3],
    /// Parts of the system's version.
    os_parts: [FieldRef; 3],
}

/// What an unknown program, system or device is called.
const OTHER: &str = "Other";

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let source = arguments.field("source", "")?;
    let follows_schema = arguments.ecs.is_on();
    let target = match arguments.text("target") {
        Some(text) if text.is_empty() => None,
        Some(_) => Some(arguments.field("target", "")?),
        None => follows_schema.then(|| field("[user_agent]")),
    };
    if arguments.get("regexes").is_some() {
        let span = arguments.place("regexes");
        let reason = "here: the expressions of uap-core are built in";
        arguments.complain(complain::without_effect("regexes", span, reason));
    }
    let names = match (follows_schema, arguments.text("prefix")) {
        (true, prefix) => {
            if prefix.is_some() {
                let reason = "on names of the Elastic Common Schema";
                let place = arguments.place("prefix");
                arguments.complain(complain::without_effect("prefix", place, reason));
            }
            Names::of_schema()
        }
        (false, prefix) => Names::old(&prefix.unwrap_or_default()),
    };
    Some(Box::new(UserAgent { source, target, names }))
}

/// A reference that this file writes.
fn field(text: &str) -> FieldRef {
    FieldRef::parse(text).expect("it is written well, and a prefix only adds a name")
}

impl Names {
    fn old(prefix: &str) -> Self {
        let name = |name: &str| FieldRef {
            metadata: false,
            steps: vec![format!("{prefix}{name}").into()],
        };
        Names {
            name: name("name"),
            version: name("version"),
            device: name("device"),
            os: vec![name("os"), name("os_name")],
            os_full: name("os_full"),
            os_version: name("os_version"),
            parts: ["major", "minor", "patch"].map(name),
            os_parts: ["os_major", "os_minor", "os_patch"].map(name),
        }
    }

    fn of_schema() -> Self {
        let part = |of: &str, part: &str| {
            field(&format!("[@metadata][filter][user_agent]{of}[version][{part}]"))
        };
        Names {
            name: field("[name]"),
            version: field("[version]"),
            device: field("[device][name]"),
            os: vec![field("[os][name]")],
            os_full: field("[os][full]"),
            os_version: field("[os][version]"),
            parts: ["major", "minor", "patch"].map(|name| part("", name)),
            os_parts: ["major", "minor", "patch"].map(|name| part("[os]", name)),
        }
    }

    fn told(&self, agent: &Agent) -> Told<'_> {
        let name = |family: &Option<Family>| {
            family.as_ref().map_or(OTHER, |family| &family.name).to_string()
        };
        let device = agent.device.as_ref().map_or(OTHER, |device| &device.name);
        let mut told = vec![(&self.name, name(&agent.browser)), (&self.device, device.to_string())];
        told.extend(self.os.iter().map(|field| (field, name(&agent.os))));
        for (family, version, parts) in [
            (&agent.browser, &self.version, &self.parts),
            (&agent.os, &self.os_version, &self.os_parts),
        ] {
            let Some(family) = family else { continue };
            told.extend(family.dotted().map(|text| (version, text)));
            told.extend(
                parts.iter().zip(&family.version).map(|(field, part)| (field, part.to_string())),
            );
        }
        let full = agent.os.as_ref().map(|os| match os.dotted() {
            Some(version) => format!("{} {version}", os.name),
            None => os.name.to_string(),
        });
        told.push((&self.os_full, full.unwrap_or_else(|| OTHER.to_string())));
        told
    }
}

impl Filter for UserAgent {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let arena = turn.arena;
        let text = match event.get(&self.source) {
            Some(Datum::List(items)) => items.first().map(Datum::text),
            Some(Datum::Null) | None => None,
            Some(value) => Some(value.text()),
        };
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Outcome::Unmatched };
        if self.target.as_ref() == Some(&self.source) {
            event.remove(&self.source);
        }
        let agent = user_agent::parse(&text);
        for (name, value) in self.names.told(&agent) {
            let value = Datum::Str(arena.str(&value));
            let place = match &self.target {
                Some(target) if !name.metadata => target.join(&name.steps),
                _ => name.clone(),
            };
            // A target that is no record stays as it is.
            let _ = event.set(&place, value, arena);
        }
        Outcome::Matched
    }
}
