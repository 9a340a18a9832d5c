//! Plugins of collectors, metrics, stores and other programs that speak syslog: their rows.
//!
//! Invariant: as in `rows.rs`, one row is one plugin.

use super::arrival::{Arrival, Arrives};
use super::rows::Becomes::{Flag, Known, Refused, Seconds, Switch, Template, Text, Whole, Word};
use super::rows::{
    BASIC, BEATS, BEATS_OPTIONS, LISTENER, NO_PROXY, NetworkPlugin, PLAIN_KEY, Row, TCP,
    TCP_OPTIONS, TLS, input, output, seen,
};
use super::{shape, written};

const NO_ROLES: &str = "left out here: write `access_key_id` and `secret_access_key`";
const NO_COPIES: &str =
    "left out here: objects stay where they are, and `sincedb_path` says which were read";
const AWS: &[Row] = &[
    ("access_key_id", Text("access_key")),
    ("secret_access_key", Text("secret_key")),
    ("session_token", Text("session_token")),
    ("endpoint", Text("endpoint")),
    ("region", Text("region")),
    ("additional_settings", Known),
    ("use_ssl", Known),
    ("aws_credentials_file", Refused(NO_ROLES)),
    ("role_arn", Refused(NO_ROLES)),
    ("proxy_uri", Refused(NO_PROXY)),
];

/// What a poller gets. `metadata_target` stands in the place of `[@metadata]` in names without a schema.
const POLLED: Arrival = Arrival {
    arrives: Arrives::Polled,
    notes: &[
        seen(
            "http_poll.name",
            "[@metadata][input][http_poller][request][name]",
            "[@metadata][name]",
            "",
        ),
        seen(
            "http_poll.host",
            "[@metadata][input][http_poller][request][host][hostname]",
            "[@metadata][host]",
            "",
        ),
        seen(
            "http_poll.request",
            "[@metadata][input][http_poller][request][original]",
            "[@metadata][request]",
            "",
        ),
        seen(
            "http_poll.response.status",
            "[@metadata][input][http_poller][response][status_code]",
            "[@metadata][code]",
            "",
        ),
        seen(
            "http_poll.response.message",
            "[@metadata][input][http_poller][response][status_message]",
            "[@metadata][response_message]",
            "",
        ),
        seen(
            "http_poll.response.headers",
            "[@metadata][input][http_poller][response][headers]",
            "[@metadata][response_headers]",
            "",
        ),
        seen(
            "http_poll.took_ns",
            "[@metadata][input][http_poller][response][elapsed_time_ns]",
            "",
            "",
        ),
        seen("http_poll.took_s", "", "[@metadata][runtime_seconds]", ""),
        seen("http_poll.error", "[error][message]", "[http_request_error][error]", ""),
    ],
};
const WEBSOCKET: Arrival = Arrival {
    arrives: Arrives::Messages,
    notes: &[seen("websocket.peer.host", "[host][ip]", "host", "")],
};
const RELP: Arrival = Arrival {
    arrives: Arrives::Messages,
    notes: &[seen("relp.peer.host", "[host][ip]", "host", "")],
};
const OBJECTS: Arrival = Arrival {
    arrives: Arrives::Frames,
    notes: &[
        seen("s3.key", "[@metadata][s3][key]", "[@metadata][s3][key]", ""),
        seen("s3.bucket", "[@metadata][s3][bucket]", "[@metadata][s3][bucket]", ""),
    ],
};
const UNIX: Arrival = Arrival { arrives: Arrives::Frames, notes: &[] };

/// All of them.
pub(super) static PLUGINS: &[NetworkPlugin] = &[
    input(
        "lumberjack",
        &["beats"],
        "plain",
        (
            &[
                LISTENER,
                BEATS_OPTIONS,
                &[
                    ("ssl_certificate", Text("tls.cert")),
                    ("ssl_key", Text("tls.key")),
                    ("ssl_key_passphrase", Refused(PLAIN_KEY)),
                    ("congestion_threshold", Known),
                ],
            ],
            shape::lumberjack_input,
        ),
        &BEATS,
    ),
    input(
        "graphite",
        &["tcp"],
        "graphite",
        (&[LISTENER, TLS, TCP_OPTIONS], shape::tcp_input),
        &TCP,
    ),
    input(
        "http_poller",
        &["http_poll"],
        "json",
        (
            &[
                BASIC,
                TLS,
                &[
                    ("urls", Known),
                    ("schedule", Known),
                    ("interval", Known),
                    ("target", Known),
                    ("metadata_target", Known),
                    ("request_timeout", Seconds("timeout")),
                    ("automatic_retries", Known),
                    ("follow_redirects", Known),
                    ("keepalive", Known),
                    ("cookies", Known),
                    ("pool_max", Known),
                    ("pool_max_per_route", Known),
                    ("connect_timeout", Known),
                    ("socket_timeout", Known),
                    ("validate_after_inactivity", Known),
                    ("proxy", Refused(NO_PROXY)),
                ],
            ],
            shape::http_poller,
        ),
        &POLLED,
    ),
    input(
        "relp",
        &["relp"],
        "plain",
        (
            &[
                LISTENER,
                &[
                    ("ssl_enable", Known),
                    ("ssl_cert", Text("tls.cert")),
                    ("ssl_key", Text("tls.key")),
                    ("ssl_cacert", Text("tls.ca")),
                    ("ssl_verify", Known),
                    ("ssl_key_passphrase", Refused(PLAIN_KEY)),
                ],
            ],
            shape::relp_input,
        ),
        &RELP,
    ),
    input(
        "s3",
        &["s3"],
        "plain",
        (
            &[
                AWS,
                &[
                    ("bucket", Known),
                    ("prefix", Text("prefix")),
                    ("interval", Known),
                    ("watch_for_new_files", Known),
                    ("sincedb_path", Text("read_log")),
                    ("temporary_directory", Known),
                    ("include_object_properties", Known),
                    ("gzip_pattern", Known),
                    ("exclude_pattern", Refused("left out here: write a `prefix`")),
                    ("delete", Refused(NO_COPIES)),
                    ("backup_to_bucket", Refused(NO_COPIES)),
                    ("backup_to_dir", Refused(NO_COPIES)),
                ],
            ],
            shape::s3_input,
        ),
        &OBJECTS,
    ),
    input(
        "unix",
        &["unix"],
        "line",
        (
            &[&[
                ("path", Known),
                ("mode", Word("mode", &[("server", "listen"), ("client", "connect")])),
                ("force_unlink", Known),
                ("data_timeout", Known),
                ("socket_not_present_retry_interval_seconds", Seconds("retry.first")),
            ]],
            shape::unix,
        ),
        &UNIX,
    ),
    input(
        "websocket",
        &["websocket"],
        "json",
        (&[&[("url", Known), ("mode", Known)]], shape::websocket_input),
        &WEBSOCKET,
    ),
    output("graphite", &["graphite"], None, &[LISTENER, GRAPHITE], shape::graphite_output)
        .writing(written::graphite),
    output("statsd", &["statsd"], None, &[LISTENER, STATSD], shape::statsd_output)
        .writing(written::statsd),
    output(
        "loki",
        &["loki"],
        Some("plain"),
        &[&[
            ("url", Known),
            ("tenant_id", Template("tenant")),
            ("username", Text("auth.basic.user")),
            ("password", Text("auth.basic.password")),
            ("cert", Text("tls.cert")),
            ("key", Text("tls.key")),
            ("ca_cert", Text("tls.ca")),
            ("insecure_skip_verify", Switch("tls.verify", &[("true", false), ("false", true)])),
            ("message_field", Known),
            ("include_fields", Known),
            ("batch_size", Whole("batch_bytes")),
            ("batch_wait", Known),
            ("min_delay", Seconds("retry.first")),
            ("max_delay", Seconds("retry.longest")),
            ("retries", Known),
            ("metadata_fields", Refused("left out here: put them into the line")),
        ]],
        shape::loki,
    ),
    output("relp", &["relp"], Some("line"), &[LISTENER], shape::peer),
    output(
        "s3",
        &["s3"],
        Some("line"),
        &[
            AWS,
            &[
                ("bucket", Known),
                ("prefix", Known),
                ("size_file", Whole("max_size")),
                ("time_file", Known),
                ("rotation_strategy", Known),
                ("encoding", Word("compression", &[("none", "none"), ("gzip", "gzip")])),
                ("temporary_directory", Known),
                ("restore", Known),
                ("retry_count", Known),
                ("retry_delay", Seconds("retry.first")),
                ("upload_queue_size", Known),
                ("upload_workers_count", Known),
                ("upload_multipart_threshold", Known),
                ("validate_credentials_on_root_bucket", Known),
                ("signature_version", Known),
                ("storage_class", Known),
                ("canned_acl", Known),
                ("server_side_encryption", Refused("false here: set the bucket's encryption")),
            ],
        ],
        shape::s3_output,
    ),
    output(
        "syslog",
        &["syslog"],
        None,
        &[
            LISTENER,
            SYSLOG_TEXT,
            &[
                ("protocol", Known),
                ("reconnect_interval", Seconds("retry.first")),
                ("ssl_cacert", Text("tls.ca")),
                ("ssl_cert", Text("tls.cert")),
                ("ssl_key", Text("tls.key")),
                ("ssl_verify", Flag("tls.verify")),
                ("ssl_key_passphrase", Refused(PLAIN_KEY)),
                ("ssl_crl", Refused("left out here: lists of revoked certificates are not read")),
            ],
        ],
        shape::syslog_output,
    )
    .writing(written::syslog),
    output("websocket", &["websocket"], Some("plain"), &[LISTENER], shape::websocket_output),
];

const GRAPHITE: &[Row] = &[
    ("metrics", Known),
    ("fields_are_metrics", Known),
    ("include_metrics", Known),
    ("exclude_metrics", Known),
    ("metrics_format", Known),
    ("nested_object_separator", Known),
    ("timestamp_field", Known),
    ("resend_on_failure", Known),
    ("reconnect_interval", Seconds("retry.first")),
];
const STATSD: &[Row] = &[
    ("namespace", Known),
    ("sender", Known),
    ("increment", Known),
    ("decrement", Known),
    ("count", Known),
    ("gauge", Known),
    ("set", Known),
    ("timing", Known),
    ("sample_rate", Known),
    ("protocol", Known),
];
const SYSLOG_TEXT: &[Row] = &[
    ("rfc", Known),
    ("facility", Known),
    ("severity", Known),
    ("priority", Known),
    ("use_labels", Known),
    ("appname", Known),
    ("procid", Known),
    ("msgid", Known),
    ("sourcehost", Known),
    ("structured_data", Known),
    ("timestamp", Known),
    ("message", Known),
];
