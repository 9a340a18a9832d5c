//! The standard modules that are written in the language itself. The table is sorted by path.

/// Path and source text of each module.
pub(crate) static MODULES: &[(&str, &str)] = &[
    ("axiom", include_str!("modules/axiom.tremor")),
    ("cncf::otel::logs::severity", include_str!("modules/cncf/otel/logs/severity.tremor")),
    ("cncf::otel::logs::traceflags", include_str!("modules/cncf/otel/logs/traceflags.tremor")),
    (
        "cncf::otel::metrics::temporality",
        include_str!("modules/cncf/otel/metrics/temporality.tremor"),
    ),
    ("cncf::otel::span_id", include_str!("modules/cncf/otel/span_id.tremor")),
    ("cncf::otel::trace::spankind", include_str!("modules/cncf/otel/trace/spankind.tremor")),
    ("cncf::otel::trace::status", include_str!("modules/cncf/otel/trace/status.tremor")),
    ("cncf::otel::trace::status::code", include_str!("modules/cncf/otel/trace/status/code.tremor")),
    (
        "cncf::otel::trace::status::deprecated",
        include_str!("modules/cncf/otel/trace/status/deprecated.tremor"),
    ),
    ("cncf::otel::trace_id", include_str!("modules/cncf/otel/trace_id.tremor")),
    (
        "google::cloud::logging::severity",
        include_str!("modules/google/cloud/logging/severity.tremor"),
    ),
    ("http::content_types", include_str!("modules/http/content_types.tremor")),
    ("http::headers", include_str!("modules/http/headers.tremor")),
    ("http::methods", include_str!("modules/http/methods.tremor")),
    ("http::status", include_str!("modules/http/status.tremor")),
    ("std::datetime::formats", include_str!("modules/std/datetime/formats.tremor")),
    ("std::datetime::timezones", include_str!("modules/std/datetime/timezones.tremor")),
    ("std::integer::signed", include_str!("modules/std/integer/signed.tremor")),
    ("std::integer::unsigned", include_str!("modules/std/integer/unsigned.tremor")),
    ("std::size", include_str!("modules/std/size.tremor")),
    ("std::time::nanos", include_str!("modules/std/time/nanos.tremor")),
    ("tremor::connectors", include_str!("modules/tremor/connectors.tremor")),
    ("tremor::mime", include_str!("modules/tremor/mime.tremor")),
    ("tremor::pipelines", include_str!("modules/tremor/pipelines.tremor")),
    ("tremor::windows", include_str!("modules/tremor/windows.tremor")),
];
