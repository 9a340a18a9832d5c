//! What programs say of themselves in the header `User-Agent`, read with the expressions of uap-core
//! (`regexes.yaml`). The first expression of a list that matches counts; all are compiled once, when
//! the first agent is read, and searched only if the text holds the words that they need.

use saphyr_parser::{Event, Parser};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;
use ua_parser::{Extractor, Regexes, device, os, user_agent};

/// Only so much of a text is read, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 4096;
/// Agents that a thread remembers, since few different ones make up most of any log.
pub(crate) const REMEMBERED_MAX: usize = 4096;

static EXPRESSIONS: &str = include_str!("regexes.yaml");
static EXTRACTOR: LazyLock<Extractor<'static>> = LazyLock::new(|| {
    Extractor::try_from(expressions(EXPRESSIONS)).expect("a test compiles all expressions")
});

/// A family of browsers or systems, and its version as far as it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// `Chrome`, `Windows`
    pub name: Box<str>,
    /// Up to four parts: major, minor, patch and what comes behind; they end at the first that is
    /// not told.
    pub version: Vec<Box<str>>,
}

/// A kind of device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// `iPhone`; `Spider` for robots.
    pub name: Box<str>,
    /// `Apple`
    pub(crate) brand: Option<Box<str>>,
    /// `iPhone`
    pub model: Option<Box<str>>,
}

/// What a text tells; what no expression knows is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// The browser, or another program.
    pub browser: Option<Family>,
    /// The operating system.
    pub os: Option<Family>,
    /// The device.
    pub device: Option<Device>,
}

impl Family {
    fn new(name: &str, parts: [Option<&str>; 4]) -> Self {
        let version = parts.iter().map_while(|part| part.filter(|part| !part.is_empty()));
        Self { name: name.into(), version: version.map(Box::from).collect() }
    }

    /// `120.0.6099`; `None` when no part of the version is told.
    #[must_use]
    pub fn dotted(&self) -> Option<String> {
        (!self.version.is_empty()).then(|| self.version.join("."))
    }
}

thread_local! {
    static REMEMBERED: RefCell<HashMap<Box<str>, Rc<Agent>>> = RefCell::default();
}

/// Reads the text of a `User-Agent` header.
#[must_use]
pub fn parse(text: &str) -> Rc<Agent> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    REMEMBERED.with_borrow_mut(|remembered| {
        if let Some(agent) = remembered.get(text) {
            return Rc::clone(agent);
        }
        let agent = Rc::new(read(text));
        if remembered.len() >= REMEMBERED_MAX {
            remembered.clear();
        }
        remembered.insert(text.into(), Rc::clone(&agent));
        agent
    })
}

fn read(text: &str) -> Agent {
    let (browser, os, device) = EXTRACTOR.extract(text);
    Agent {
        browser: browser.map(|found| {
            Family::new(&found.family, [found.major, found.minor, found.patch, found.patch_minor])
        }),
        os: os.map(|found| {
            let parts = [&found.major, &found.minor, &found.patch, &found.patch_minor];
            Family::new(&found.os, parts.map(|part| part.as_deref()))
        }),
        device: device.map(|found| Device {
            name: (*found.device).into(),
            brand: found.brand.as_deref().map(Box::from),
            model: found.model.as_deref().map(Box::from),
        }),
    }
}

/// Reads the three lists, each of records of text.
fn expressions(yaml: &'static str) -> Regexes<'static> {
    let mut regexes =
        Regexes { user_agent_parsers: vec![], os_parsers: vec![], device_parsers: vec![] };
    let (mut list, mut depth) = (String::new(), 0_usize);
    let mut entry: HashMap<Cow<'static, str>, Cow<'static, str>> = HashMap::new();
    let mut key = None;
    for event in Parser::new_from_str(yaml) {
        match event.expect("a test reads all expressions").0 {
            Event::MappingStart(..) => depth += 1,
            Event::MappingEnd => {
                depth -= 1;
                if depth == 1 {
                    push(&mut regexes, &list, std::mem::take(&mut entry));
                }
            }
            Event::Scalar(text, ..) if depth == 1 => list = text.into_owned(),
            Event::Scalar(text, ..) => match key.take() {
                None => key = Some(text),
                Some(key) => drop(entry.insert(key, text)),
            },
            _ => {}
        }
    }
    regexes
}

fn push(
    regexes: &mut Regexes<'static>,
    list: &str,
    mut entry: HashMap<Cow<'static, str>, Cow<'static, str>>,
) {
    let mut take = |key: &str| entry.remove(key);
    let regex = take("regex").unwrap_or_default();
    match list {
        "user_agent_parsers" => regexes.user_agent_parsers.push(user_agent::Parser {
            regex,
            family_replacement: take("family_replacement"),
            v1_replacement: take("v1_replacement"),
            v2_replacement: take("v2_replacement"),
            v3_replacement: take("v3_replacement"),
            v4_replacement: take("v4_replacement"),
        }),
        "os_parsers" => regexes.os_parsers.push(os::Parser {
            regex,
            os_replacement: take("os_replacement"),
            os_v1_replacement: take("os_v1_replacement"),
            os_v2_replacement: take("os_v2_replacement"),
            os_v3_replacement: take("os_v3_replacement"),
            os_v4_replacement: take("os_v4_replacement"),
        }),
        _ => regexes.device_parsers.push(device::Parser {
            regex,
            regex_flag: take("regex_flag").map(|_| device::Flag::IgnoreCase),
            device_replacement: take("device_replacement"),
            brand_replacement: take("brand_replacement"),
            model_replacement: take("model_replacement"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let agent = parse(text);
        let family = |family: &Option<Family>| match family {
            Some(family) => format!("{} {}", family.name, family.dotted().unwrap_or_default()),
            None => "-".to_string(),
        };
        let device = agent.device.as_ref().map_or("-".to_string(), |device| {
            let or_dash = |text: &Option<Box<str>>| text.as_deref().unwrap_or("-").to_string();
            format!("{}/{}/{}", device.name, or_dash(&device.brand), or_dash(&device.model))
        });
        format!("{} | {} | {device}", family(&agent.browser), family(&agent.os))
    }

    #[test]
    fn tells_browsers_systems_and_devices() {
        for (text, expected) in [
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/120.0.6099.71 Safari/537.36",
                "Chrome 120.0.6099.71 | Windows 10 | -",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X) AppleWebKit/605.1.15 \
                 (KHTML, like Gecko) Version/17.2 Mobile/15E148 Safari/604.1",
                "Mobile Safari 17.2 | iOS 17.2 | iPhone/Apple/iPhone",
            ),
            (
                "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
                "Googlebot 2.1 | - | Spider/Spider/Desktop",
            ),
            ("curl/8.0.1", "curl 8.0.1 | - | -"),
            ("", "- | - | -"),
            ("\u{0}é", "- | - | -"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
            assert_eq!(shown(text), expected, "{text}, remembered");
        }
    }

    #[test]
    fn every_expression_is_in_a_list() {
        let regexes = expressions(EXPRESSIONS);
        let count = regexes.user_agent_parsers.len()
            + regexes.os_parsers.len()
            + regexes.device_parsers.len();
        let written = EXPRESSIONS.lines().filter(|line| line.trim().starts_with("- regex:"));
        assert_eq!(count, written.count());
        assert!(regexes.device_parsers.iter().any(|one| one.regex_flag.is_some()));
    }

    #[test]
    fn long_texts_and_many_agents_are_bounded() {
        let long = format!("Mozilla/5.0 {}", "é(Android; ".repeat(100_000));
        drop(parse(&long));
        for number in 0..REMEMBERED_MAX + 10 {
            drop(parse(&format!("x{number}")));
        }
        assert!(REMEMBERED.with_borrow(|remembered| remembered.len()) <= REMEMBERED_MAX);
    }
}
