//! The same for plugins of collectors, metrics and stores.

use super::{EVERYWHERE, joined, listener, secure, text};
use crate::network::draft::{Draft, Node, PerEvent};
use crate::options::{Setting, SettingKind};
use temblor_logstash_event::template::Template;

/// Minutes after which Logstash finishes an object.
const OBJECT_MINUTES: f64 = 15.0;
/// Bytes after which Logstash finishes an object.
const OBJECT_BYTES: u64 = 5 << 20;
/// Seconds between two looks at a bucket.
const LOOK_SECONDS: f64 = 60.0;
/// The port of Logstash's WebSocket output.
const WEBSOCKET_PORT: &str = "3232";

fn milliseconds(seconds: f64) -> Node {
    text(format!("{}ms", (seconds * 1e3).round().max(1.0) as u64))
}

pub(crate) fn lumberjack_input(draft: &mut Draft<'_, '_>) {
    listener(draft, EVERYWHERE, "");
}

pub(crate) fn relp_input(draft: &mut Draft<'_, '_>) {
    listener(draft, EVERYWHERE, "2514");
    let on = draft.arguments.flag("ssl_enable", false);
    if !draft.arguments.flag("ssl_verify", true) {
        draft.remove("tls.ca");
    }
    secure(draft, on);
}

pub(crate) fn unix(draft: &mut Draft<'_, '_>) {
    let path = draft.fixed("path", "");
    draft.set("address", text(path));
}

pub(crate) fn websocket_input(draft: &mut Draft<'_, '_>) {
    let url = draft.fixed("url", "");
    if draft.text("mode", "server") == "client" {
        return draft.set("address", text(url));
    }
    // A listener has no scheme and takes any path.
    let bare = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let bare = bare.split('/').next().unwrap_or_default();
    draft.set("address", text(bare));
}

pub(crate) fn websocket_output(draft: &mut Draft<'_, '_>) {
    listener(draft, EVERYWHERE, WEBSOCKET_PORT);
}

pub(crate) fn syslog_output(draft: &mut Draft<'_, '_>) {
    let (host, port) = (draft.fixed("host", ""), draft.fixed("port", ""));
    let scheme = match &*draft.text("protocol", "udp") {
        "ssl-tcp" => "tls",
        "tcp" => "tcp",
        _ => "udp",
    };
    draft.set("address", text(format!("{scheme}://{}", joined(&host, &port))));
    if scheme != "tls" {
        return draft.remove("tls");
    }
    // As in Logstash, the peer is believed unless it is to be checked.
    if !draft.arguments.flag("ssl_verify", false) {
        draft.set("tls.verify", Node::Flag(false));
    }
    // Logstash ends each message with a newline over TLS, too.
    draft.set("framing", text("lines"));
}

pub(crate) fn graphite_output(draft: &mut Draft<'_, '_>) {
    let (host, port) = (draft.fixed("host", "localhost"), draft.fixed("port", "2003"));
    draft.set("address", text(format!("tcp://{}", joined(&host, &port))));
}

pub(crate) fn statsd_output(draft: &mut Draft<'_, '_>) {
    let (host, port) = (draft.fixed("host", "localhost"), draft.fixed("port", "8125"));
    let scheme = draft.text("protocol", "udp");
    draft.set("address", text(format!("{scheme}://{}", joined(&host, &port))));
}

pub(crate) fn loki(draft: &mut Draft<'_, '_>) {
    let url = draft.fixed("url", "");
    draft.set("address", text(url.as_str()));
    if !url.starts_with("https://") {
        draft.remove("tls");
    }
    let field = draft.text("message_field", "message");
    let field = if field.starts_with('[') { field } else { format!("[{field}]") };
    draft.set_template("line", &format!("%{{{field}}}"));
    draft.set("timestamp", text(""));
    draft.per_event.push(("timestamp", PerEvent::Time));
    let names = draft.arguments.words("include_fields").unwrap_or_default();
    draft.set("labels", Node::Record(Vec::new()));
    draft.per_event.push(("labels", PerEvent::Labels(names)));
    // A number of attempts behind which a batch is given up; 0 is none.
    if let Some(times) = draft.arguments.number("retries").filter(|times| *times >= 1.0) {
        draft.set("retry.attempts", Node::Whole(times as u64));
    }
}

fn bucket(draft: &mut Draft<'_, '_>) {
    let bucket = draft.fixed("bucket", "");
    draft.set("address", text(bucket));
    let settings = draft.arguments.pairs("additional_settings");
    let style = settings.iter().find(|(name, _)| name == "force_path_style");
    // Storages at an endpoint of their own seldom have a host name for each bucket.
    let is_path = style.map_or(draft.has("endpoint"), |(_, flag)| flag.text() == Some("true"));
    draft.set("path_style", Node::Flag(is_path));
}

pub(crate) fn s3_input(draft: &mut Draft<'_, '_>) {
    bucket(draft);
    if draft.arguments.flag("watch_for_new_files", true) {
        let seconds = draft.arguments.number("interval").unwrap_or(LOOK_SECONDS);
        draft.set("poll", milliseconds(seconds));
    }
}

pub(crate) fn s3_output(draft: &mut Draft<'_, '_>) {
    bucket(draft);
    let prefix = draft.text("prefix", "");
    let folder = match prefix.is_empty() || prefix.ends_with('/') {
        true => prefix,
        false => format!("{prefix}/"),
    };
    draft.set_template("key", &format!("{folder}ls.s3."));
    draft.set("suffix", text(".txt"));
    let minutes = draft.arguments.number("time_file").unwrap_or(OBJECT_MINUTES);
    let rotation = draft.text("rotation_strategy", "size_and_time");
    if rotation != "size" && minutes > 0.0 {
        draft.set("max_age", milliseconds(minutes * 60.0));
    } else {
        draft.set("max_age", text("24h"));
    }
    if rotation == "time" {
        draft.set("max_size", text("5GiB"));
    } else if !draft.has("max_size") {
        draft.set("max_size", Node::Whole(OBJECT_BYTES));
    }
}

pub(crate) fn http_poller(draft: &mut Draft<'_, '_>) {
    let pairs = draft.arguments.pairs("urls");
    let mut urls = Vec::new();
    for (name, value) in &pairs {
        match url(value) {
            Some(node) => urls.push((name.clone(), node)),
            None => draft.wrong("urls", "names with URLs, or with `url`, `method` and `headers`"),
        }
    }
    draft.set("urls", Node::Record(urls));
    draft.set("failures", Node::Flag(true));
    if let Some(seconds) = draft.arguments.number("interval") {
        return draft.set("every", milliseconds(seconds));
    }
    let schedule = draft.arguments.pairs("schedule");
    let [(kind, value)] = &schedule[..] else {
        return draft.wrong("schedule", "one of every, cron, at or in");
    };
    let value = value.text().unwrap_or_default();
    match (kind.as_str(), seconds(value)) {
        ("cron", _) => draft.set("schedule", text(value)),
        ("every", Some(seconds)) => draft.set("every", milliseconds(seconds)),
        ("in", Some(seconds)) => {
            draft.set("every", milliseconds(seconds));
            draft.set("times", Node::Whole(1));
        }
        ("every" | "in", None) => {
            draft.wrong("schedule", "a time such as `30s`, `5m` or `1h30m`");
        }
        _ => draft.wrong("schedule", "every, in or cron here"),
    }
}

/// What is asked for: a URL, or a record with `url` and how it is asked for.
fn url(value: &Setting) -> Option<Node> {
    let SettingKind::Hash(entries) = &value.kind else {
        return value.text().map(text);
    };
    let mut known = Vec::new();
    for (name, value) in entries {
        match (name.as_str(), &value.kind) {
            ("headers" | "query" | "params", SettingKind::Hash(inner)) => {
                let pairs = inner.iter();
                let pairs = pairs.filter_map(|(name, one)| Some((name.clone(), text(one.text()?))));
                let name = if name == "params" { "query" } else { name };
                known.push((name.to_string(), Node::Record(pairs.collect())));
            }
            ("url" | "method" | "body" | "user" | "password", _) => {
                known.push((name.clone(), text(value.text()?)));
            }
            ("auth", SettingKind::Hash(inner)) => {
                for (name, one) in inner {
                    let name = if name == "pass" { "password" } else { name };
                    known.push((name.to_string(), text(one.text()?)));
                }
            }
            _ => {}
        }
    }
    known.iter().any(|(name, _)| name == "url").then_some(Node::Record(known))
}

/// `1h30m`, `45s`, `90` as Logstash's scheduler reads them, in seconds.
fn seconds(text: &str) -> Option<f64> {
    let (mut sum, mut number) = (0.0, String::new());
    for letter in text.trim().chars() {
        let unit = match letter {
            '0'..='9' | '.' => {
                number.push(letter);
                continue;
            }
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            'd' => 86400.0,
            'w' => 604_800.0,
            _ => return None,
        };
        sum += std::mem::take(&mut number).parse::<f64>().ok()? * unit;
    }
    if !number.is_empty() {
        sum += number.parse::<f64>().ok()?;
    }
    (sum > 0.0 && Template::parse(text).is_constant()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_have_units() {
        for (text, wanted) in [
            ("30s", Some(30.0)),
            ("1h30m", Some(5400.0)),
            ("90", Some(90.0)),
            ("0s", None),
            ("x", None),
        ] {
            assert_eq!(seconds(text), wanted, "{text}");
        }
    }
}
