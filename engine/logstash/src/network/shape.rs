//! What no single option of a plugin says: addresses, whether connections are secured, and which settings
//! come about from several options.

mod collectors;

pub(super) use collectors::{
    graphite_output, http_poller, loki, lumberjack_input, relp_input, s3_input, s3_output,
    statsd_output, syslog_output, unix, websocket_input, websocket_output,
};

use super::draft::{Draft, Node, PerEvent};
use base64::Engine as _;
use temblor_logstash_event::reference::FieldRef;
use temblor_logstash_event::template::Template;

/// The address of Logstash's listeners.
const EVERYWHERE: &str = "0.0.0.0";

fn text(text: impl Into<String>) -> Node {
    Node::Text(text.into())
}

/// `HOST:PORT`, of the options of that name.
fn host_and_port(draft: &mut Draft<'_, '_>, host: &str, port: &str) -> String {
    let (host, port) = (draft.fixed("host", host), draft.fixed("port", port));
    joined(&host, &port)
}

fn joined(host: &str, port: &str) -> String {
    let bare = host.contains(':') && !host.starts_with('[');
    if bare { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Secures connections where `on`, and keeps nothing of it otherwise.
fn secure(draft: &mut Draft<'_, '_>, on: bool) {
    match on {
        false => draft.remove("tls"),
        true if !draft.has("tls") => draft.set("tls", Node::Record(Vec::new())),
        true => {}
    }
}

/// The same for who listens: clients are only asked for certificates where it says so.
fn secure_listener(draft: &mut Draft<'_, '_>) {
    let on = draft.arguments.flag("ssl_enabled", false);
    if on && draft.text("ssl_client_authentication", "none") == "none" {
        draft.remove("tls.ca");
    }
    draft.remove("tls.verify");
    secure(draft, on);
}

fn listener(draft: &mut Draft<'_, '_>, host: &str, port: &str) {
    let address = host_and_port(draft, host, port);
    draft.set("address", text(address));
}

pub(super) fn beats(draft: &mut Draft<'_, '_>) {
    listener(draft, EVERYWHERE, "5044");
    secure_listener(draft);
}

pub(crate) fn tcp_input(draft: &mut Draft<'_, '_>) {
    listener(draft, EVERYWHERE, "");
    match draft.text("mode", "server") == "client" {
        true => secure(draft, draft.arguments.flag("ssl_enabled", false)),
        false => secure_listener(draft),
    }
}

pub(super) fn fluent_input(draft: &mut Draft<'_, '_>) {
    if draft.text("mode", "server") != "server" {
        draft.wrong("mode", "`server` beside the codec `fluent`");
    }
    tcp_input(draft);
}

pub(crate) fn udp_input(draft: &mut Draft<'_, '_>) {
    listener(draft, EVERYWHERE, "");
}

pub(super) fn syslog(draft: &mut Draft<'_, '_>) {
    listener(draft, EVERYWHERE, "514");
}

pub(crate) fn http_input(draft: &mut Draft<'_, '_>) {
    listener(draft, EVERYWHERE, "8080");
    secure_listener(draft);
    draft.set("response_body", text("ok"));
}

pub(crate) fn tcp_output(draft: &mut Draft<'_, '_>) {
    listener(draft, "", "");
    match draft.text("mode", "client") == "server" {
        true => secure_listener(draft),
        false => secure(draft, draft.arguments.flag("ssl_enabled", false)),
    }
}

pub(crate) fn peer(draft: &mut Draft<'_, '_>) {
    listener(draft, "", "");
}

pub(crate) fn lumberjack(draft: &mut Draft<'_, '_>) {
    let port = draft.fixed("port", "");
    let hosts = draft.arguments.words("hosts").unwrap_or_default();
    let mut hosts = hosts.iter().map(|host| joined(host, &port));
    draft.set("address", text(hosts.next().unwrap_or_default()));
    draft.set("hosts", Node::Texts(hosts.collect()));
}

pub(crate) fn kafka(draft: &mut Draft<'_, '_>) {
    let given = draft.arguments.words("bootstrap_servers").unwrap_or_default();
    let servers = if given.is_empty() { "localhost:9092".to_string() } else { given.join(",") };
    draft.set("address", text(servers));
    if let Some(client) = draft.arguments.text("client_id") {
        draft.set("options", Node::Record(vec![("client.id".to_string(), text(client))]));
    }
    let protocol = draft.text("security_protocol", "PLAINTEXT").to_uppercase();
    if protocol.ends_with("SSL") {
        draft.set("tls", Node::Record(Vec::new()));
        let store = draft.arguments.text("ssl_truststore_location");
        match (store, draft.text("ssl_truststore_type", "").eq_ignore_ascii_case("PEM")) {
            (Some(file), true) => draft.set("tls.ca", text(file)),
            (Some(_), false) => {
                draft.wrong("ssl_truststore_location", "a PEM file, with `ssl_truststore_type`");
            }
            (None, _) => {}
        }
    }
    if protocol.starts_with("SASL") {
        draft.set("sasl.mechanism", text(draft.text("sasl_mechanism", "PLAIN")));
        let login = draft.text("sasl_jaas_config", "");
        match (quoted(&login, "username"), quoted(&login, "password")) {
            (Some(user), Some(password)) => {
                draft.set("sasl.username", text(user));
                draft.set("sasl.password", text(password));
            }
            _ => draft.wrong("sasl_jaas_config", "a login with `username='…'` and `password='…'`"),
        }
    }
}

/// `username="…"` of a login of Java.
fn quoted<'t>(login: &'t str, name: &str) -> Option<&'t str> {
    let (_, behind) = login.split_once(&format!("{name}="))?;
    let quote = behind.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    behind[1..].split_once(quote).map(|(inside, _)| inside)
}

pub(crate) fn kafka_input(draft: &mut Draft<'_, '_>) {
    kafka(draft);
    if let Some(pattern) = draft.arguments.text("topics_pattern") {
        draft.set("topics", Node::Texts(vec![format!("^{}", pattern.trim_start_matches('^'))]));
    } else if !draft.has("topics") {
        draft.set("topics", Node::Texts(vec!["logstash".to_string()]));
    }
    if !draft.has("group") {
        draft.set("group", text("logstash"));
    }
}

fn redis(draft: &mut Draft<'_, '_>) {
    let safe = draft.arguments.flag("ssl_enabled", draft.arguments.flag("ssl", false));
    if let Some(path) = draft.arguments.text("path") {
        draft.set("address", text(format!("unix://{path}")));
        return;
    }
    let hosts = draft.arguments.words("host").unwrap_or_default();
    let port = draft.fixed("port", "6379");
    let host = hosts.first().map_or("127.0.0.1", String::as_str);
    if hosts.len() > 1 {
        draft.wrong("host", "one host here");
    }
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let place = if has_port { host.to_string() } else { joined(host, &port) };
    let scheme = if safe { "rediss" } else { "redis" };
    let db = draft.fixed("db", "0");
    draft.set("address", text(format!("{scheme}://{place}/{db}")));
    secure(draft, safe);
}

pub(crate) fn redis_input(draft: &mut Draft<'_, '_>) {
    redis(draft);
    let key = draft.fixed("key", "");
    match &*draft.text("data_type", "list") {
        "channel" => draft.set("channel", Node::Texts(vec![key])),
        "pattern_channel" => draft.set("pattern", Node::Texts(vec![key])),
        _ => draft.set("list", text(key)),
    }
}

pub(crate) fn redis_output(draft: &mut Draft<'_, '_>) {
    redis(draft);
    let Some(key) = draft.arguments.text("key") else {
        return draft.wrong("key", "there: the list or channel");
    };
    match &*draft.text("data_type", "") {
        "channel" => draft.set_template("channel", &key),
        "list" => draft.set_template("list", &key),
        _ => draft.wrong("data_type", "list or channel"),
    }
}

fn rabbitmq(draft: &mut Draft<'_, '_>) {
    let safe = draft.arguments.flag("ssl", false);
    let scheme = if safe { "amqps" } else { "amqp" };
    let port = draft.fixed("port", if safe { "5671" } else { "5672" });
    let vhost = draft.fixed("vhost", "/");
    let vhost: String = vhost.bytes().map(percent).collect();
    let hosts = draft.arguments.words("host").unwrap_or_default();
    let mut brokers = hosts.iter().map(|host| match host.rsplit_once(':') {
        Some((_, own)) if own.parse::<u16>().is_ok() => format!("{scheme}://{host}/{vhost}"),
        _ => format!("{scheme}://{}/{vhost}", joined(host, &port)),
    });
    draft.set("address", text(brokers.next().unwrap_or_default()));
    let others: Vec<_> = brokers.collect();
    if !others.is_empty() {
        draft.set("others", Node::Texts(others));
    }
}

/// A byte as part of a URI (RFC 3986).
fn percent(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    }
}

pub(crate) fn rabbitmq_input(draft: &mut Draft<'_, '_>) {
    rabbitmq(draft);
    if !draft.has("routing_key") {
        draft.set("routing_key", Node::Texts(vec!["logstash".to_string()]));
    }
}

pub(crate) fn rabbitmq_output(draft: &mut Draft<'_, '_>) {
    rabbitmq(draft);
    if !draft.has("routing_key") {
        draft.set("routing_key", text("logstash"));
    }
}

/// The URLs of a cluster: the first is the address, others are further nodes.
fn nodes(draft: &mut Draft<'_, '_>, safe: bool) {
    let mut hosts = draft.arguments.words("hosts").unwrap_or_default();
    if hosts.is_empty() {
        hosts.push("127.0.0.1".to_string());
    }
    let path = draft.fixed("path", "");
    let is_safe = safe || hosts.iter().any(|host| host.starts_with("https://"));
    let mut urls = hosts.iter().map(|host| {
        let host = host.trim_end_matches('/').trim_start_matches("//");
        let scheme = if is_safe { "https" } else { "http" };
        let url =
            if host.contains("://") { host.to_string() } else { format!("{scheme}://{host}") };
        match path.trim_matches('/') {
            "" => url,
            path => format!("{url}/{path}"),
        }
    });
    draft.set("address", text(urls.next().unwrap_or_default()));
    let others: Vec<_> = urls.collect();
    if !others.is_empty() {
        draft.set("nodes", Node::Texts(others));
    }
    if !is_safe {
        draft.remove("tls");
    }
}

fn compressed(draft: &mut Draft<'_, '_>) {
    let level = draft.arguments.number("compression_level").unwrap_or(0.0);
    if draft.arguments.flag("http_compression", false) || level > 0.0 {
        draft.set("compression", text("gzip"));
    }
}

fn bulk(draft: &mut Draft<'_, '_>, index: &str) {
    compressed(draft);
    let index = draft.text("index", index);
    if !draft.has("index") {
        draft.set_template("index", &index);
    }
    if let Some(action) = draft.arguments.text("action") {
        draft.set_template("action", &action);
    }
}

pub(crate) fn opensearch(draft: &mut Draft<'_, '_>) {
    nodes(draft, draft.arguments.flag("ssl", false));
    bulk(draft, "logstash-%{+yyyy.MM.dd}");
}

/// Options with which Logstash does not choose a data stream by itself.
const NO_STREAM: [&str; 10] = [
    "index",
    "document_id",
    "document_type",
    "template",
    "template_name",
    "ilm_enabled",
    "ilm_rollover_alias",
    "ilm_policy",
    "ilm_pattern",
    "doc_as_upsert",
];

pub(super) fn elasticsearch(draft: &mut Draft<'_, '_>) {
    nodes(draft, draft.arguments.flag("ssl_enabled", false));
    if let Some(key) = draft.arguments.text("api_key") {
        let is_pair = key.contains(':');
        let encoded = base64::engine::general_purpose::STANDARD.encode(&key);
        draft.set("auth.api_key", text(if is_pair { encoded } else { key }));
    }
    let ecs = draft.arguments.ecs.is_on();
    let creates = matches!(&*draft.text("action", "create"), "create");
    let templates = draft.arguments.flag("manage_template", false);
    let alone = NO_STREAM.iter().all(|name| draft.arguments.get(name).is_none());
    let streams = match &*draft.text("data_stream", "auto") {
        "true" => true,
        "false" => false,
        _ => ecs && alone && creates && !templates,
    };
    if streams {
        let part = |name: &str, default: &str| {
            let field = FieldRef::parse(&format!("[data_stream][{name}]"));
            let default = draft.text(&format!("data_stream_{name}"), default);
            (field.expect("names of this list are references"), default)
        };
        let parts =
            [part("type", "logs"), part("dataset", "generic"), part("namespace", "default")];
        let [kind, dataset, namespace] = parts.each_ref().map(|(_, default)| default.as_str());
        let name = format!("{kind}-{dataset}-{namespace}");
        draft.set("index", text(name));
        draft.set("data_stream", Node::Flag(true));
        if draft.arguments.flag("data_stream_auto_routing", true) {
            draft.per_event.push(("index", PerEvent::DataStream(parts)));
        }
    }
    bulk(draft, if ecs { "ecs-logstash-%{+yyyy.MM.dd}" } else { "logstash-%{+yyyy.MM.dd}" });
}

pub(crate) fn http_output(draft: &mut Draft<'_, '_>) {
    compressed(draft);
    let url = draft.text("url", "");
    let template = Template::parse(&url);
    if template.is_constant() {
        draft.set("address", text(url.as_str()));
    } else {
        // Who is talked to must be known; what is asked for may depend on the event.
        let path = url.find("://").and_then(|at| url[at + 3..].find('/').map(|end| at + 3 + end));
        let server = path.map_or(url.as_str(), |end| &url[..end]);
        if !Template::parse(server).is_constant() {
            draft.wrong("url", "a URL whose server is the same for all events");
        }
        draft.set("address", text(server));
        draft.set_template("url", &url);
    }
    draft.set("method", text(draft.text("http_method", "post").to_uppercase()));
    let (batch, kind) = match &*draft.text("format", "json") {
        "json_batch" => ("json_array", "application/json"),
        "message" => ("single", "text/plain"),
        "form" => ("single", "application/x-www-form-urlencoded"),
        _ => ("single", "application/json"),
    };
    draft.set("batch", text(batch));
    if !draft.has("content_type") {
        draft.set("content_type", text(kind));
    }
    if !draft.arguments.flag("retry_failed", true) {
        draft.set("retry.attempts", Node::Whole(1));
    }
    if !url.starts_with("https://") {
        draft.remove("tls");
    }
}
