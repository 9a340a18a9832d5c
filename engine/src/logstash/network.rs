//! The options of inputs and outputs whose connectors are not here yet, so that a configuration that
//! uses them is checked as far as it can be. What is not listed is taken as it is written.

use super::options::{OptionSpec, Takes, option, required};

/// A plugin that is known by its options alone.
#[derive(Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its own options.
    pub options: &'static [OptionSpec],
}

const fn known(name: &'static str, options: &'static [OptionSpec]) -> Known {
    Known { name, options }
}

const fn text(name: &'static str) -> OptionSpec {
    option(name, Takes::Text, "")
}

const fn number(name: &'static str) -> OptionSpec {
    option(name, Takes::Number, "")
}

const fn flag(name: &'static str) -> OptionSpec {
    option(name, Takes::Flag, "")
}

const fn list(name: &'static str) -> OptionSpec {
    option(name, Takes::List, "")
}

const fn hash(name: &'static str) -> OptionSpec {
    option(name, Takes::Hash, "")
}

const fn any(name: &'static str) -> OptionSpec {
    option(name, Takes::Anything, "")
}

const SSL_VERIFICATION: OptionSpec =
    option("ssl_verification_mode", Takes::OneOf(&["full", "none", "certificate"]), "");

/// Inputs.
pub static INPUTS: &[Known] = &[
    known("tcp", &[
        text("host"), required("port", Takes::Number, ""),
        option("mode", Takes::OneOf(&["server", "client"]), ""), flag("proxy_protocol"),
        flag("tcp_keep_alive"), flag("dns_reverse_lookup_enabled"), flag("ssl_enable"),
        flag("ssl_enabled"), text("ssl_cert"), text("ssl_certificate"), text("ssl_key"),
        text("ssl_key_passphrase"), list("ssl_extra_chain_certs"),
        list("ssl_certificate_authorities"), list("ssl_cipher_suites"),
        list("ssl_supported_protocols"), flag("ssl_verify"), any("ssl_verification_mode"),
        text("ssl_client_authentication"), text("ssl_keystore_path"), text("ssl_keystore_password"),
        text("ssl_keystore_type"), text("ssl_truststore_path"), text("ssl_truststore_password"),
        text("ssl_truststore_type"),
    ]),
    known("udp", &[
        text("host"), required("port", Takes::Number, ""), number("buffer_size"),
        number("queue_size"), number("workers"), number("receive_buffer_bytes"),
        text("source_ip_fieldname"),
    ]),
    known("syslog", &[
        text("host"), number("port"), flag("proxy_protocol"), flag("use_labels"),
        list("facility_labels"), list("severity_labels"), text("grok_pattern"), text("locale"),
        text("timezone"), text("syslog_field"), list("service_type"),
    ]),
    known("http", &[
        text("host"), number("port"), text("user"), text("password"), hash("additional_codecs"),
        number("max_content_length"), number("max_pending_requests"), text("remote_host_target_field"),
        text("request_headers_target_field"), number("response_code"), hash("response_headers"),
        number("threads"), flag("ssl"), flag("ssl_enabled"), text("ssl_certificate"),
        list("ssl_certificate_authorities"), list("ssl_cipher_suites"), list("cipher_suites"),
        text("ssl_client_authentication"), number("ssl_handshake_timeout"), text("ssl_key"),
        text("ssl_key_passphrase"), text("ssl_keystore_path"), text("ssl_keystore_password"),
        text("ssl_keystore_type"), list("ssl_supported_protocols"), text("ssl_truststore_path"),
        text("ssl_truststore_password"), text("ssl_truststore_type"), any("ssl_verify_mode"),
        text("keystore"), text("keystore_password"), number("tls_min_version"),
        number("tls_max_version"), text("verify_mode"),
    ]),
    known("unix", &[
        required("path", Takes::Text, ""), option("mode", Takes::OneOf(&["server", "client"]), ""),
        flag("force_unlink"), number("data_timeout"), number("socket_not_present_retry_interval_seconds"),
    ]),
    known("beats", BEATS),
    known("elastic_agent", BEATS),
    known("lumberjack", &[
        text("host"), required("port", Takes::Number, ""), text("ssl_certificate"), text("ssl_key"),
        text("ssl_key_passphrase"), number("congestion_threshold"),
    ]),
    known("redis", &[
        required("data_type", Takes::OneOf(&["list", "channel", "pattern_channel"]), ""),
        required("key", Takes::Text, ""), text("host"), number("port"), number("db"),
        text("password"), text("path"), text("user"), flag("ssl"), flag("ssl_enabled"),
        number("batch_count"), number("timeout"), number("threads"), hash("command_map"),
        list("ssl_certificate_authorities"), text("ssl_certificate"), text("ssl_key"),
        text("ssl_key_passphrase"), list("ssl_cipher_suites"), list("ssl_supported_protocols"),
        SSL_VERIFICATION,
    ]),
    known("kafka", &[
        list("topics"), text("topics_pattern"), text("bootstrap_servers"), text("group_id"),
        text("client_id"), text("client_rack"), any("auto_offset_reset"),
        number("auto_commit_interval_ms"), flag("enable_auto_commit"), any("check_crcs"),
        text("client_dns_lookup"), number("connections_max_idle_ms"), number("consumer_threads"),
        any("decorate_events"), any("exclude_internal_topics"), number("fetch_max_bytes"),
        number("fetch_max_wait_ms"), number("fetch_min_bytes"), text("group_instance_id"),
        number("heartbeat_interval_ms"), text("isolation_level"), text("jaas_path"),
        text("kerberos_config"), text("key_deserializer_class"), number("max_partition_fetch_bytes"),
        number("max_poll_interval_ms"), number("max_poll_records"), number("metadata_max_age_ms"),
        text("partition_assignment_strategy"), number("poll_timeout_ms"), number("receive_buffer_bytes"),
        number("reconnect_backoff_ms"), number("request_timeout_ms"), number("retry_backoff_ms"),
        text("sasl_jaas_config"), text("sasl_kerberos_service_name"), text("sasl_mechanism"),
        text("sasl_client_callback_handler_class"), text("sasl_login_callback_handler_class"),
        text("sasl_oauthbearer_token_endpoint_url"), text("schema_registry_url"),
        text("schema_registry_key"), text("schema_registry_secret"), text("schema_registry_proxy"),
        text("schema_registry_validation"), text("schema_registry_ssl_keystore_location"),
        text("schema_registry_ssl_keystore_password"), text("schema_registry_ssl_keystore_type"),
        text("schema_registry_ssl_truststore_location"),
        text("schema_registry_ssl_truststore_password"), text("schema_registry_ssl_truststore_type"),
        any("security_protocol"), number("send_buffer_bytes"), number("session_timeout_ms"),
        text("ssl_endpoint_identification_algorithm"), text("ssl_key_password"),
        text("ssl_keystore_location"), text("ssl_keystore_password"), text("ssl_keystore_type"),
        text("ssl_truststore_location"), text("ssl_truststore_password"), text("ssl_truststore_type"),
        text("value_deserializer_class"), number("fetch_max_wait"),
    ]),
    known("rabbitmq", &[
        required("host", Takes::List, ""), number("port"), text("user"), text("password"),
        text("vhost"), text("queue"), text("exchange"), text("exchange_type"), any("key"),
        flag("ack"), hash("arguments"), flag("auto_delete"), flag("automatic_recovery"),
        number("connect_retry_interval"), number("connection_timeout"), flag("durable"),
        flag("exclusive"), number("heartbeat"), any("metadata_enabled"), flag("passive"),
        number("prefetch_count"), flag("ssl"), text("ssl_certificate_password"),
        text("ssl_certificate_path"), text("ssl_version"), number("subscription_retry_interval_seconds"),
        number("threads"), text("subscription_retry_interval"),
    ]),
];

const BEATS: &[OptionSpec] = &[
    text("host"),
    required("port", Takes::Number, ""),
    flag("add_hostname"),
    number("client_inactivity_timeout"),
    number("congestion_threshold"),
    number("executor_threads"),
    number("event_loop_threads"),
    flag("include_codec_tag"),
    any("enrich"),
    flag("ssl"),
    flag("ssl_enabled"),
    text("ssl_certificate"),
    list("ssl_certificate_authorities"),
    list("ssl_cipher_suites"),
    list("cipher_suites"),
    text("ssl_client_authentication"),
    number("ssl_handshake_timeout"),
    text("ssl_key"),
    text("ssl_key_passphrase"),
    text("ssl_keystore_path"),
    text("ssl_keystore_password"),
    text("ssl_keystore_type"),
    list("ssl_supported_protocols"),
    text("ssl_truststore_path"),
    text("ssl_truststore_password"),
    text("ssl_truststore_type"),
    any("ssl_verify_mode"),
    flag("ssl_peer_metadata"),
    number("tls_min_version"),
    number("tls_max_version"),
    text("target_field_for_codec"),
];

/// Outputs.
pub static OUTPUTS: &[Known] = &[
    known("tcp", &[
        required("host", Takes::Text, ""), required("port", Takes::Number, ""),
        option("mode", Takes::OneOf(&["server", "client"]), ""), number("reconnect_interval"),
        flag("ssl_enable"), flag("ssl_enabled"), text("ssl_cert"), text("ssl_certificate"),
        text("ssl_cacert"), list("ssl_certificate_authorities"), text("ssl_key"),
        text("ssl_key_passphrase"), flag("ssl_verify"), any("ssl_verification_mode"),
        list("ssl_cipher_suites"), list("ssl_supported_protocols"), text("ssl_client_authentication"),
        text("ssl_keystore_path"), text("ssl_keystore_password"), text("ssl_keystore_type"),
        text("ssl_truststore_path"), text("ssl_truststore_password"), text("ssl_truststore_type"),
    ]),
    known("udp", &[
        required("host", Takes::Text, ""), required("port", Takes::Anything, ""),
        number("retry_count"), number("retry_backoff_ms"),
    ]),
    known("syslog", &[
        required("host", Takes::Text, ""), required("port", Takes::Number, ""),
        option("protocol", Takes::OneOf(&["tcp", "udp", "ssl-tcp"]), ""), text("appname"),
        text("facility"), text("severity"), text("message"), text("msgid"), text("priority"),
        text("procid"), option("rfc", Takes::OneOf(&["rfc3164", "rfc5424"]), ""), text("sourcehost"),
        text("timestamp"), flag("use_labels"), number("reconnect_interval"), text("ssl_cacert"),
        text("ssl_cert"), text("ssl_key"), text("ssl_key_passphrase"), flag("ssl_verify"),
        text("structured_data"),
    ]),
    known("http", &[
        required("url", Takes::Text, ""), required("http_method", Takes::OneOf(
            &["put", "post", "patch", "delete", "get", "head"]), ""),
        option("format", Takes::OneOf(&["json", "json_batch", "form", "message"]), ""),
        text("content_type"), hash("headers"), hash("mapping"), text("message"), any("proxy"),
        number("pool_max"), number("pool_max_per_route"), number("connect_timeout"),
        number("socket_timeout"), number("request_timeout"), number("automatic_retries"),
        flag("retry_failed"), flag("retry_non_idempotent"), list("retryable_codes"),
        list("ignorable_codes"), flag("http_compression"), flag("keepalive"), flag("cookies"),
        number("follow_redirects"), text("user"), text("password"), number("validate_after_inactivity"),
        text("cacert"), text("client_cert"), text("client_key"), text("keystore"),
        text("keystore_password"), text("keystore_type"), text("truststore"),
        text("truststore_password"), text("truststore_type"), flag("ssl_enabled"),
        text("ssl_certificate"), list("ssl_certificate_authorities"), text("ssl_key"),
        text("ssl_keystore_path"), text("ssl_keystore_password"), text("ssl_keystore_type"),
        text("ssl_truststore_path"), text("ssl_truststore_password"), text("ssl_truststore_type"),
        list("ssl_cipher_suites"), list("ssl_supported_protocols"), any("ssl_verification_mode"),
        text("verify_mode"),
    ]),
    known("lumberjack", &[
        required("hosts", Takes::List, ""), required("port", Takes::Number, ""),
        required("ssl_certificate", Takes::Text, ""), number("flush_size"), number("idle_flush_time"),
    ]),
    known("redis", &[
        list("host"), number("port"), number("db"), text("key"), text("password"),
        option("data_type", Takes::OneOf(&["list", "channel"]), ""), flag("batch"),
        number("batch_events"), number("batch_timeout"), number("congestion_interval"),
        number("congestion_threshold"), flag("shuffle_hosts"), number("reconnect_interval"),
        number("timeout"), flag("ssl_enabled"), list("ssl_certificate_authorities"),
        text("ssl_certificate"), text("ssl_key"), text("ssl_key_passphrase"),
        list("ssl_cipher_suites"), list("ssl_supported_protocols"), SSL_VERIFICATION,
        text("queue"), text("name"),
    ]),
    known("kafka", &[
        required("topic_id", Takes::Text, ""), text("bootstrap_servers"), any("acks"),
        number("batch_size"), number("buffer_memory"), text("client_dns_lookup"), text("client_id"),
        any("compression_type"), number("connections_max_idle_ms"), text("jaas_path"),
        text("kerberos_config"), text("key_serializer"), number("linger_ms"), number("max_request_size"),
        text("message_key"), hash("message_headers"), number("metadata_fetch_timeout_ms"),
        number("metadata_max_age_ms"), text("partitioner"), number("receive_buffer_bytes"),
        number("reconnect_backoff_ms"), number("request_timeout_ms"), number("retries"),
        number("retry_backoff_ms"), text("sasl_jaas_config"), text("sasl_kerberos_service_name"),
        text("sasl_mechanism"), text("sasl_client_callback_handler_class"),
        text("sasl_login_callback_handler_class"), text("sasl_oauthbearer_token_endpoint_url"),
        any("security_protocol"), number("send_buffer_bytes"),
        text("ssl_endpoint_identification_algorithm"), text("ssl_key_password"),
        text("ssl_keystore_location"), text("ssl_keystore_password"), text("ssl_keystore_type"),
        text("ssl_truststore_location"), text("ssl_truststore_password"), text("ssl_truststore_type"),
        text("value_serializer"), number("workers"),
    ]),
    known("rabbitmq", &[
        required("exchange", Takes::Text, ""), required("exchange_type", Takes::Text, ""),
        required("host", Takes::List, ""), number("port"), text("user"), text("password"),
        text("vhost"), text("key"), hash("arguments"), flag("automatic_recovery"),
        number("connect_retry_interval"), number("connection_timeout"), flag("durable"),
        number("heartbeat"), hash("message_properties"), flag("passive"), flag("persistent"),
        flag("ssl"), text("ssl_certificate_password"), text("ssl_certificate_path"),
        text("ssl_version"),
    ]),
    known("elasticsearch", ELASTICSEARCH),
    known("opensearch", ELASTICSEARCH),
];

const ELASTICSEARCH: &[OptionSpec] = &[
    list("hosts"), text("index"), text("action"), text("document_id"), text("document_type"),
    text("api_key"), text("auth_type"), hash("auth_type_options"), text("bulk_path"), text("cacert"),
    text("ca_trusted_fingerprint"), text("cloud_auth"), text("cloud_id"), flag("compression_level"),
    text("custom_headers_field"), hash("custom_headers"), any("data_stream"),
    any("data_stream_auto_routing"), text("data_stream_dataset"), text("data_stream_namespace"),
    any("data_stream_sync_fields"), text("data_stream_type"), text("default_server_major_version"),
    hash("dlq_custom_codes"), any("dlq_on_failed_indexname_interpolation"), flag("doc_as_upsert"),
    list("failure_type_logging_whitelist"), text("healthcheck_path"), flag("http_compression"),
    any("ilm_enabled"), text("ilm_pattern"), text("ilm_policy"), text("ilm_rollover_alias"),
    text("join_field"), text("keystore"), text("keystore_password"), any("legacy_template"),
    flag("manage_template"), hash("parameters"), text("parent"), text("password"), text("path"),
    text("pipeline"), number("pool_max"), number("pool_max_per_route"), any("proxy"),
    number("resurrect_delay"), number("retry_initial_interval"), number("retry_max_interval"),
    number("retry_on_conflict"), text("routing"), text("script"), text("script_lang"),
    text("script_type"), text("script_var_name"), flag("scripted_upsert"),
    list("silence_errors_in_log"), flag("sniffing"), number("sniffing_delay"), text("sniffing_path"),
    flag("ssl"), flag("ssl_enabled"), text("ssl_certificate"), list("ssl_certificate_authorities"),
    flag("ssl_certificate_verification"), list("ssl_cipher_suites"), text("ssl_key"),
    text("ssl_keystore_path"), text("ssl_keystore_password"), text("ssl_keystore_type"),
    list("ssl_supported_protocols"), text("ssl_truststore_path"), text("ssl_truststore_password"),
    text("ssl_truststore_type"), any("ssl_verification_mode"), text("target_bulk_bytes"),
    text("template"), text("template_api"), text("template_name"), flag("template_overwrite"),
    number("timeout"), text("truststore"), text("truststore_password"), text("upsert"),
    flag("use_event_type_for_document_type"), text("user"), number("validate_after_inactivity"),
    text("version"), text("version_type"), number("workers"), number("flush_size"),
    number("idle_flush_time"), number("max_retries"), number("drop_error_types"),
];

/// Inputs of Logstash whose options are not listed.
pub static OTHER_INPUTS: &[&str] = &[
    "azure_event_hubs", "cloudwatch", "couchdb_changes", "dead_letter_queue", "drupal_dblog",
    "dynamodb", "elastic_serverless_forwarder", "elasticsearch", "eventlog", "ganglia", "gelf",
    "gemfire", "github", "google_cloud_storage", "google_pubsub", "graphite", "heroku",
    "http_poller", "imap", "irc", "java_generator", "java_stdin", "jdbc", "jms", "jmx", "kinesis",
    "log4j", "logstash", "lumberjack", "meetup", "mongodb", "neo4j", "opensearch", "pagerduty",
    "puppet_facter", "relp", "rss", "s3", "s3_sns_sqs", "salesforce", "snmp", "snmptrap", "sqlite",
    "sqs", "stomp", "twitter", "varnishlog", "websocket", "wmi", "xmpp", "zenoss", "zeromq",
];

/// Outputs of Logstash whose options are not listed.
pub static OTHER_OUTPUTS: &[&str] = &[
    "azure_loganalytics", "microsoft-logstash-output-azure-loganalytics",
    "microsoft-sentinel-log-analytics-logstash-output-plugin", "boundary", "circonus", "cloudwatch",
    "csv", "datadog", "datadog_logs", "datadog_metrics", "dynatrace", "elastic_app_search",
    "elastic_workplace_search", "email", "ganglia", "gelf", "google_bigquery",
    "google_cloud_storage", "google_pubsub", "graphite", "graphtastic", "influxdb", "irc", "jira",
    "jms", "juggernaut", "kinesis", "librato", "logentries", "loggly", "logstash", "loki",
    "metriccatcher", "monasca_log_api", "mongodb", "nagios", "nagios_nsca", "newrelic", "opentsdb",
    "pagerduty", "redmine", "riak", "riemann", "s3", "sentinelone", "sns", "solr_http", "splunk",
    "sqs", "statsd", "stomp", "timber", "webhdfs", "websocket", "xmpp", "zabbix", "zeromq",
];
