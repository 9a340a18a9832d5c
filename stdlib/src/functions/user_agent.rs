//! `std::user_agent`: what a browser says of itself, as `formats::user_agent` reads it. Whether a
//! person may sit behind it is told by words of our own, since libraries say nothing of devices.

use crate::declare::{Outcome, Params, pure, text};
use crate::formats::user_agent::{self, Device, Family};
use temblor_lang::builtin::{Call, Function};
use temblor_lang::value::Kind::{Bool, Record};
use temblor_lang::value::{Kind, Value};

/// The family of what no expression knows.
const OTHER: &str = "Other";

const TEXT: Params = &[("text", Kind::String)];

/// Words in lower case that tell programs from people.
const ROBOTS: &[&str] = &[
    "bot",
    "crawl",
    "spider",
    "slurp",
    "facebookexternalhit",
    "monitor",
    "curl/",
    "wget/",
    "python-",
    "go-http-client",
    "java/",
    "okhttp",
    "headless",
    "scrapy",
    "httpclient",
];

/// The functions of this module.
pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "std::user_agent::parse",
        TEXT,
        Record,
        "A record of `browser` (`family` and `version`), `os` (`family` and `version`), `device` \
         (`desktop`, `mobile`, `tablet`, `robot` or `other`), its `brand` and `model`, and \
         `is_robot`. Families that are not known are `Other`; what is not said is `null`.",
        &[
            r#"user_agent::parse("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36") == {"browser": {"family": "Chrome", "version": "120.0.0.0"}, "os": {"family": "Windows", "version": "10"}, "device": "desktop", "brand": null, "model": null, "is_robot": false}"#,
        ],
        parse,
    ),
    pure(
        "std::user_agent::is_robot",
        TEXT,
        Bool,
        "Whether the text looks like that of a program: a crawler, a monitor or a library.",
        &[
            r#"user_agent::is_robot("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")"#,
            r#"user_agent::is_robot("curl/8.0.1")"#,
        ],
        |_, arguments| {
            let text = text(arguments, 0)?;
            let agent = user_agent::parse(text);
            Ok(Value::Bool(is_robot(text, agent.device.as_ref())))
        },
    ),
];

fn parse<'a>(call: &Call<'a>, arguments: &[Value<'a>]) -> Outcome<'a> {
    let text = text(arguments, 0)?;
    let agent = user_agent::parse(text);
    let copied =
        |text: Option<&str>| text.map_or(Value::Null, |text| Value::Str(call.arena.str(text)));
    let family = |family: Option<&Family>| {
        let mut record = call.arena.record_builder(2);
        record.append("family", copied(Some(family.map_or(OTHER, |family| &family.name))));
        record.append("version", copied(family.and_then(Family::dotted).as_deref()));
        record.finish()
    };
    let about = |part: fn(&Device) -> Option<&str>| copied(agent.device.as_ref().and_then(part));
    let system = agent.os.as_ref().map_or(OTHER, |os| &os.name);
    let mut record = call.arena.record_builder(6);
    record.append("browser", family(agent.browser.as_ref()));
    record.append("os", family(agent.os.as_ref()));
    record.append("device", Value::Str(device(text, system, agent.device.as_ref())));
    record.append("brand", about(|device| device.brand.as_deref()));
    record.append("model", about(|device| device.model.as_deref()));
    record.append("is_robot", Value::Bool(is_robot(text, agent.device.as_ref())));
    Ok(record.finish())
}

fn device(text: &str, system: &str, device: Option<&Device>) -> &'static str {
    if is_robot(text, device) {
        return "robot";
    }
    let is_small = text.contains("Mobile");
    match system {
        _ if text.contains("iPad") || text.contains("Tablet") => "tablet",
        "Android" if !is_small => "tablet",
        "Android" | "iOS" | "Windows Phone" => "mobile",
        OTHER if is_small => "mobile",
        OTHER => "other",
        _ => "desktop",
    }
}

fn is_robot(text: &str, device: Option<&Device>) -> bool {
    if device.is_some_and(|device| &*device.name == "Spider") {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    ROBOTS.iter().any(|word| lower.contains(word))
}
