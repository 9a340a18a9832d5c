//! Application events: a sentence, a few identifiers, tags and the fields that routing rules look at. Every line is a JSON object.

use super::{Random, words};
use std::fmt::Write;

const INDEX_TYPES: [&str; 14] = [
    "syslog_app1",
    "syslog_app2",
    "syslog_app3",
    "syslog_app4",
    "sqlserverlog",
    "edilog",
    "applog",
    "nginx_access",
    "nginx_error",
    "audit",
    "billing",
    "search",
    "mail",
    "metrics",
];
const LEVELS: [&str; 6] = ["info", "INFO", "WARN", "ERROR", "DEBUG", "FATAL"];
const KINDS: [&str; 4] = ["applog", "syslog", "audit", "trace"];
const TAGS: [&str; 6] = ["tag1", "tag2", "tag3", "tag4", "tag5", "tag6"];

/// Generates `count` application events of about 630 bytes.
pub fn app_event_lines(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random::seeded(seed);
    (0..count).map(|_| app_event(&mut random)).collect()
}

fn app_event(random: &mut Random) -> String {
    let mut line = String::with_capacity(768);
    line.push_str("{\"about\":\"");
    let bytes = random.between(200, 435) as usize;
    words::push_sentence(random, bytes, &mut line);
    let tags: Vec<String> = (0..5).map(|_| format!("\"{}\"", random.pick(&TAGS))).collect();
    write!(
        line,
        "\",\"guid\":\"{}\",\"abool\":{},\"aint\":{},\"short_message\":\"{}\",\"tags\":[{}],\
         \"array\":[0,1,2,3,4,5,6,7,8,9],\"index_type\":\"{}\",\"logger_name\":\"logger{}\",\
         \"syslog_hostname\":\"host{}\",\"application\":\"app{}\",\"type\":\"{}\",\"doc-type\":\"{}\"}}",
        words::uuid(random),
        random.chance(500),
        random.between(20, 41),
        random.skewed(&LEVELS),
        tags.join(","),
        random.skewed(&INDEX_TYPES),
        random.between(1, 7),
        random.between(1, 9),
        random.between(1, 9),
        random.pick(&KINDS),
        random.pick(&["doc", "log", "event"]),
    )
    .expect("writing to a string cannot fail");
    line
}
