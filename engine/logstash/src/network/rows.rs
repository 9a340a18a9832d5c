//! The plugins that run over the network: which connector each of them is, and what becomes of its options.
//!
//! Invariant: one row is one plugin. An option that no row names is kept out with a warning; one that would
//! change what is written or who can read it is refused.

use super::arrival::{Arrival, Arrives, Note};
use super::draft::Draft;
use super::written::{self, Writes};
use super::{collectors, shape};
use temblor_declare::Ends;

/// A plugin.
#[derive(Debug)]
pub(crate) struct NetworkPlugin {
    /// Its name.
    pub name: &'static str,
    /// `Source` for an input, `Sink` for an output.
    pub end: Ends,
    /// The connectors that it is; a syslog input listens to TCP and UDP.
    pub kinds: &'static [&'static str],
    /// The codec without `codec`; none when the plugin writes documents by itself.
    pub codec: Option<&'static str>,
    /// What becomes of options.
    pub options: &'static [&'static [Row]],
    /// What no single option says: the address, and whether connections are secured.
    pub shape: fn(&mut Draft<'_, '_>),
    /// How an input makes events; nothing for an output.
    pub arrival: Option<&'static Arrival>,
    /// How an output writes an event, where neither its codec nor JSON does.
    pub writes: Option<Writes>,
}

impl NetworkPlugin {
    /// The same plugin, whose events are written like this.
    pub(super) const fn writing(self, writes: Writes) -> Self {
        Self { writes: Some(writes), ..self }
    }
}

/// An option, and what becomes of it.
pub(crate) type Row = (&'static str, Becomes);

/// What becomes of an option. A dot leads into a record of settings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Becomes {
    /// A text, the same for all events.
    Text(&'static str),
    /// Texts.
    Texts(&'static str),
    /// The one text of a list.
    Only(&'static str),
    /// A whole number.
    Whole(&'static str),
    /// A flag.
    Flag(&'static str),
    /// A time in seconds.
    Seconds(&'static str),
    /// A time in milliseconds.
    Milliseconds(&'static str),
    /// Names and texts.
    Map(&'static str),
    /// A text that may hold `%{field}`.
    Template(&'static str),
    /// Names and texts that may hold `%{field}`.
    Templates(&'static str),
    /// One of these words, as a text.
    Word(&'static str, &'static [(&'static str, &'static str)]),
    /// One of these words, as a flag.
    Switch(&'static str, &'static [(&'static str, bool)]),
    /// Read by [`NetworkPlugin::shape`], or of no matter here.
    Known,
    /// Cannot be kept: what to do instead.
    Refused(&'static str),
}
use Becomes::{
    Flag, Known, Map, Milliseconds, Only, Refused, Seconds, Switch, Template, Templates, Text,
    Texts, Whole, Word,
};

const PEM: &str = "left out here: name PEM files by `ssl_certificate`, `ssl_key` and \
                   `ssl_certificate_authorities`";
pub(super) const PLAIN_KEY: &str = "left out here: write the key without a passphrase";
pub(super) const NO_PROXY: &str = "left out here: there is no way through a proxy";
const OTHER_DOCUMENTS: &str = "left out here: documents are written as they are";

pub(super) const TLS: &[Row] = &[
    ("ssl_enabled", Known),
    ("ssl_certificate", Text("tls.cert")),
    ("ssl_key", Text("tls.key")),
    ("ssl_certificate_authorities", Only("tls.ca")),
    ("ssl_client_authentication", Known),
    (
        "ssl_verification_mode",
        Switch("tls.verify", &[("full", true), ("certificate", true), ("none", false)]),
    ),
    ("ssl_key_passphrase", Refused(PLAIN_KEY)),
    ("ssl_keystore_path", Refused(PEM)),
    ("ssl_truststore_path", Refused(PEM)),
];
pub(super) const LISTENER: &[Row] = &[("host", Known), ("port", Known)];
pub(super) const BASIC: &[Row] =
    &[("user", Text("auth.basic.user")), ("password", Text("auth.basic.password"))];
const REDIS: &[Row] = &[
    ("host", Known),
    ("port", Known),
    ("db", Known),
    ("path", Known),
    ("password", Text("password")),
    ("user", Text("username")),
    ("key", Known),
    ("data_type", Known),
];
const RABBITMQ: &[Row] = &[
    ("host", Known),
    ("port", Known),
    ("vhost", Known),
    ("ssl", Known),
    ("user", Text("username")),
    ("password", Text("password")),
    ("exchange_type", Text("exchange_type")),
    ("durable", Known),
    ("automatic_recovery", Known),
    ("ssl_certificate_path", Refused("left out here: PKCS12 files are not read")),
];
const KAFKA: &[Row] = &[
    ("bootstrap_servers", Known),
    ("security_protocol", Known),
    ("sasl_mechanism", Known),
    ("sasl_jaas_config", Known),
    ("client_id", Known),
    ("ssl_truststore_type", Known),
    ("ssl_truststore_location", Known),
    ("ssl_keystore_location", Refused("left out here: Java key stores are not read")),
    ("jaas_path", Refused("left out here: write `sasl_jaas_config`")),
    ("kerberos_config", Refused("left out here: there is no Kerberos")),
];
const BULK: &[Row] = &[
    ("hosts", Known),
    ("path", Known),
    ("index", Known),
    ("document_id", Template("id")),
    ("action", Known),
    ("routing", Template("routing")),
    ("pipeline", Template("pipeline")),
    ("doc_as_upsert", Flag("doc_as_upsert")),
    ("http_compression", Known),
    ("compression_level", Known),
    ("timeout", Seconds("timeout")),
    ("retry_initial_interval", Seconds("retry.first")),
    ("retry_max_interval", Seconds("retry.longest")),
    ("custom_headers", Map("headers")),
    ("document_type", Known),
    ("manage_template", Known),
    ("ilm_enabled", Known),
    ("upsert", Refused(OTHER_DOCUMENTS)),
    ("script", Refused(OTHER_DOCUMENTS)),
    ("version", Refused(OTHER_DOCUMENTS)),
    ("version_type", Refused(OTHER_DOCUMENTS)),
    ("parent", Refused(OTHER_DOCUMENTS)),
    ("join_field", Refused(OTHER_DOCUMENTS)),
    ("proxy", Refused(NO_PROXY)),
];
const ELASTICSEARCH: &[Row] = &[
    ("api_key", Known),
    ("cloud_id", Refused("left out here: write the URL of the cluster into `hosts`")),
    ("cloud_auth", Refused("left out here: write `user` and `password`")),
    ("ca_trusted_fingerprint", Refused("left out here: name the authority's file")),
    ("data_stream", Known),
    ("data_stream_type", Known),
    ("data_stream_dataset", Known),
    ("data_stream_namespace", Known),
    ("data_stream_auto_routing", Known),
    ("custom_headers_field", Refused("left out here: write `custom_headers`")),
];
const OPENSEARCH: &[Row] = &[
    ("ssl", Known),
    ("cacert", Text("tls.ca")),
    ("tls_certificate", Text("tls.cert")),
    ("tls_key", Text("tls.key")),
    ("ssl_certificate_verification", Flag("tls.verify")),
    ("auth_type", Refused("left out here: write `user` and `password`")),
    ("keystore", Refused("left out here: name PEM files by `tls_certificate` and `tls_key`")),
    ("truststore", Refused("left out here: name a PEM file by `cacert`")),
];

pub(super) const fn seen(
    from: &'static str,
    schema: &'static str,
    old: &'static str,
    option: &'static str,
) -> Note {
    Note { from, schema, old, option }
}

pub(super) const TCP: Arrival = Arrival {
    arrives: Arrives::Frames,
    notes: &[
        seen("tcp.peer.host", "[@metadata][input][tcp][source][name]", "host", ""),
        seen("tcp.peer.host", "[@metadata][input][tcp][source][ip]", "[@metadata][ip_address]", ""),
        seen("tcp.peer.port", "[@metadata][input][tcp][source][port]", "port", ""),
    ],
};
const UDP: Arrival = Arrival {
    arrives: Arrives::Messages,
    notes: &[seen("udp.peer.host", "[host][ip]", "host", "source_ip_fieldname")],
};
pub(super) const BEATS: Arrival = Arrival {
    arrives: Arrives::Events,
    notes: &[seen(
        "beats.peer.host",
        "[@metadata][input][beats][host][ip]",
        "[@metadata][ip_address]",
        "",
    )],
};
const HTTP: Arrival = Arrival {
    arrives: Arrives::Bodies,
    notes: &[
        seen("http.peer.host", "[host][ip]", "host", "remote_host_target_field"),
        seen("http.request.method", "[http][method]", "[headers][request_method]", ""),
        seen("http.request.version", "[http][version]", "[headers][http_version]", ""),
        seen("http.request.path", "[url][path]", "[headers][request_path]", ""),
        seen("http.request.headers.user-agent", "[user_agent][original]", "", ""),
        seen(
            "http.request.headers",
            "[@metadata][input][http][request][headers]",
            "headers",
            "request_headers_target_field",
        ),
    ],
};
const SYSLOG: Arrival = Arrival {
    arrives: Arrives::Syslog,
    notes: &[
        seen("tcp.peer.host", "[host][ip]", "host", ""),
        seen("udp.peer.host", "[host][ip]", "host", ""),
    ],
};
const MESSAGES: Arrival = Arrival { arrives: Arrives::Messages, notes: &[] };

pub(super) const fn input(
    name: &'static str,
    kinds: &'static [&'static str],
    codec: &'static str,
    (options, shape): (&'static [&'static [Row]], fn(&mut Draft<'_, '_>)),
    arrival: &'static Arrival,
) -> NetworkPlugin {
    let (codec, arrival) = (Some(codec), Some(arrival));
    NetworkPlugin { name, end: Ends::Source, kinds, codec, options, shape, arrival, writes: None }
}

pub(super) const fn output(
    name: &'static str,
    kinds: &'static [&'static str],
    codec: Option<&'static str>,
    options: &'static [&'static [Row]],
    shape: fn(&mut Draft<'_, '_>),
) -> NetworkPlugin {
    let end = Ends::Sink;
    NetworkPlugin { name, end, kinds, codec, options, shape, arrival: None, writes: None }
}

pub(super) const TCP_OPTIONS: &[Row] = &[
    ("mode", Word("mode", &[("server", "listen"), ("client", "connect")])),
    ("tcp_keep_alive", Known),
    ("dns_reverse_lookup_enabled", Known),
    ("proxy_protocol", Refused("false here")),
];

pub(super) const BEATS_OPTIONS: &[Row] = &[
    ("client_inactivity_timeout", Seconds("idle")),
    ("include_codec_tag", Known),
    ("executor_threads", Known),
    ("event_loop_threads", Known),
    ("add_hostname", Known),
];

const FORWARDED: Arrival = Arrival {
    arrives: Arrives::Forwarded,
    notes: &[
        seen("fluent.peer.host", "[@metadata][input][tcp][source][ip]", "host", ""),
        seen("fluent.peer.port", "[@metadata][input][tcp][source][port]", "port", ""),
    ],
};
/// `tcp` with the codec `fluent`.
static TCP_OF_FLUENT: NetworkPlugin = input(
    "tcp",
    &["fluent"],
    "plain",
    (
        &[
            LISTENER,
            TLS,
            &[
                ("mode", Known),
                ("tcp_keep_alive", Known),
                ("dns_reverse_lookup_enabled", Known),
                ("proxy_protocol", Refused("false here")),
            ],
        ],
        shape::fluent_input,
    ),
    &FORWARDED,
);

/// Plugins that speak the protocols of Logstash's own family, of brokers and of indexes.
static PLUGINS: &[NetworkPlugin] = &[
    input("beats", &["beats"], "plain", (&[LISTENER, TLS, BEATS_OPTIONS], shape::beats), &BEATS),
    input(
        "elastic_agent",
        &["beats"],
        "plain",
        (&[LISTENER, TLS, BEATS_OPTIONS], shape::beats),
        &BEATS,
    ),
    input("tcp", &["tcp"], "line", (&[LISTENER, TLS, TCP_OPTIONS], shape::tcp_input), &TCP),
    input(
        "udp",
        &["udp"],
        "plain",
        (
            &[
                LISTENER,
                &[
                    ("buffer_size", Whole("max_message_bytes")),
                    ("receive_buffer_bytes", Whole("receive_buffer")),
                    ("source_ip_fieldname", Known),
                    ("queue_size", Known),
                    ("workers", Known),
                ],
            ],
            shape::udp_input,
        ),
        &UDP,
    ),
    input(
        "syslog",
        &["tcp", "udp"],
        "plain",
        (
            &[
                LISTENER,
                &[
                    ("grok_pattern", Known),
                    ("syslog_field", Known),
                    ("locale", Known),
                    ("timezone", Known),
                    ("use_labels", Known),
                    ("facility_labels", Known),
                    ("severity_labels", Known),
                    ("proxy_protocol", Refused("false here")),
                ],
            ],
            shape::syslog,
        ),
        &SYSLOG,
    ),
    input(
        "http",
        &["http"],
        "plain",
        (
            &[
                LISTENER,
                TLS,
                BASIC,
                &[
                    ("response_headers", Map("response_headers")),
                    ("response_code", Whole("status")),
                    ("max_content_length", Whole("max_body")),
                    ("max_pending_requests", Whole("max_requests")),
                    ("threads", Known),
                    ("remote_host_target_field", Known),
                    ("request_headers_target_field", Known),
                    ("additional_codecs", Refused("left out here: write `codec`")),
                ],
            ],
            shape::http_input,
        ),
        &HTTP,
    ),
    input(
        "kafka",
        &["kafka"],
        "plain",
        (
            &[
                KAFKA,
                &[
                    ("topics", Texts("topics")),
                    ("topics_pattern", Known),
                    ("group_id", Text("group")),
                    ("group_instance_id", Text("instance")),
                    ("auto_offset_reset", Text("from")),
                    ("auto_commit_interval_ms", Milliseconds("commit_interval")),
                    ("session_timeout_ms", Milliseconds("session_timeout")),
                    ("consumer_threads", Known),
                    ("enable_auto_commit", Known),
                    ("schema_registry_url", Refused("left out here: there is no Avro")),
                ],
            ],
            shape::kafka_input,
        ),
        &MESSAGES,
    ),
    input(
        "redis",
        &["redis"],
        "json",
        (&[REDIS, TLS, &[("batch_count", Known), ("threads", Known)]], shape::redis_input),
        &MESSAGES,
    ),
    input(
        "rabbitmq",
        &["rabbitmq"],
        "json",
        (
            &[
                RABBITMQ,
                &[
                    ("queue", Text("queue")),
                    ("exchange", Text("exchange")),
                    ("key", Texts("routing_key")),
                    ("prefetch_count", Whole("prefetch")),
                    ("arguments", Map("arguments")),
                    ("ack", Known),
                    ("threads", Known),
                ],
            ],
            shape::rabbitmq_input,
        ),
        &MESSAGES,
    ),
    output(
        "elasticsearch",
        &["elasticsearch"],
        None,
        &[BULK, BASIC, TLS, ELASTICSEARCH],
        shape::elasticsearch,
    ),
    output("opensearch", &["opensearch"], None, &[BULK, BASIC, OPENSEARCH], shape::opensearch),
    output(
        "tcp",
        &["tcp"],
        Some("json"),
        &[
            LISTENER,
            TLS,
            &[
                ("mode", Word("mode", &[("server", "listen"), ("client", "connect")])),
                ("reconnect_interval", Seconds("retry.first")),
            ],
        ],
        shape::tcp_output,
    ),
    output("udp", &["udp"], Some("json"), &[LISTENER], shape::peer),
    output(
        "http",
        &["http"],
        None,
        &[
            BASIC,
            TLS,
            &[
                ("url", Known),
                ("http_method", Known),
                ("format", Known),
                ("message", Known),
                ("headers", Templates("headers")),
                ("content_type", Text("content_type")),
                ("http_compression", Known),
                ("request_timeout", Seconds("timeout")),
                ("pool_max", Known),
                ("pool_max_per_route", Known),
                ("keepalive", Known),
                ("automatic_retries", Known),
                ("retry_failed", Known),
                ("mapping", Known),
                ("proxy", Refused(NO_PROXY)),
            ],
        ],
        shape::http_output,
    )
    .writing(written::http),
    output(
        "kafka",
        &["kafka"],
        Some("plain"),
        &[
            KAFKA,
            &[
                ("topic_id", Template("topic")),
                ("message_key", Template("key")),
                ("message_headers", Templates("headers")),
                ("acks", Text("acks")),
                ("compression_type", Text("compression")),
                ("linger_ms", Milliseconds("linger")),
                ("batch_size", Whole("batch_bytes")),
                ("max_request_size", Whole("message_bytes")),
                ("retries", Whole("retry.attempts")),
            ],
        ],
        shape::kafka,
    ),
    output(
        "redis",
        &["redis"],
        Some("json"),
        &[REDIS, TLS, &[("batch", Known), ("batch_events", Known), ("batch_timeout", Known)]],
        shape::redis_output,
    ),
    output(
        "rabbitmq",
        &["rabbitmq"],
        Some("json"),
        &[
            RABBITMQ,
            &[
                ("exchange", Template("exchange")),
                ("key", Template("routing_key")),
                ("persistent", Flag("persistent")),
                ("message_properties", Templates("properties")),
            ],
        ],
        shape::rabbitmq_output,
    ),
    output(
        "lumberjack",
        &["beats"],
        Some("json"),
        &[&[("hosts", Known), ("port", Known), ("ssl_certificate", Text("tls.ca"))]],
        shape::lumberjack,
    ),
];

/// All plugins that run over the network.
fn plugins() -> impl Iterator<Item = &'static NetworkPlugin> {
    PLUGINS.iter().chain(collectors::PLUGINS)
}

/// The row of an input whose codec is that of the Forward protocol: a stream of TCP is another connector then.
pub(super) fn of_fluent(row: &'static NetworkPlugin) -> &'static NetworkPlugin {
    if row.name == TCP_OF_FLUENT.name { &TCP_OF_FLUENT } else { row }
}

/// The plugin of this name.
#[must_use]
pub(crate) fn find(name: &str, end: Ends) -> Option<&'static NetworkPlugin> {
    plugins().find(|one| one.name == name && one.end == end)
}

/// The names of all plugins of an end.
pub(crate) fn names(end: Ends) -> impl Iterator<Item = &'static str> {
    plugins().filter(move |one| one.end == end).map(|one| one.name)
}

#[cfg(test)]
mod tests {
    use super::plugins;
    use crate::catalog;
    use temblor_declare::Ends;

    #[test]
    fn rows_are_options_that_logstash_has() {
        let declared = |name: &str, end: Ends| {
            let kind = if end == Ends::Source { "input" } else { "output" };
            catalog::find(kind, name).unwrap_or_else(|| panic!("{kind} {name} is in no table"))
        };
        for plugin in plugins() {
            declared(plugin.name, plugin.end);
            assert_eq!(plugin.end == Ends::Source, plugin.arrival.is_some(), "{}", plugin.name);
            for (option, _) in plugin.options.iter().flat_map(|rows| rows.iter()) {
                // Groups of rows are shared by plugins of which not each has all options.
                let known = plugins().any(|one| {
                    let options = &declared(one.name, one.end).options;
                    options.iter().any(|spec| spec.name == *option && spec.gone.is_none())
                });
                assert!(known, "{}: no plugin has an option `{option}`", plugin.name);
            }
        }
    }
}
