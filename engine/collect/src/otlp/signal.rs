//! The three signals, and where each goes.

use temblor_declare::Settings;

/// A kind of telemetry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Signal {
    /// The key of its events.
    pub key: &'static str,
    /// The field of its requests.
    pub field: &'static str,
    /// Its path over HTTP.
    pub path: &'static str,
    /// Its path over gRPC.
    pub method: &'static str,
    /// The type of its requests.
    pub request: &'static str,
    /// The type of its answers.
    pub answer: &'static str,
    /// The field of an answer's `partial_success` that counts what was refused.
    pub(crate) rejected: &'static str,
}

/// All of them.
pub(crate) static SIGNALS: [Signal; 3] = [
    Signal {
        key: "logs",
        field: "resource_logs",
        path: "/v1/logs",
        method: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        request: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest",
        answer: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse",
        rejected: "rejected_log_records",
    },
    Signal {
        key: "metrics",
        field: "resource_metrics",
        path: "/v1/metrics",
        method: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        request: "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest",
        answer: "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse",
        rejected: "rejected_data_points",
    },
    Signal {
        key: "trace",
        field: "resource_spans",
        path: "/v1/traces",
        method: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        request: "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest",
        answer: "opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse",
        rejected: "rejected_spans",
    },
];

/// Those that a program takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signals([bool; 3]);

impl Signals {
    /// As the settings `logs`, `metrics` and `trace` say.
    pub(super) fn of_settings(settings: &Settings) -> Self {
        Self(["logs", "metrics", "trace"].map(|name| settings.optional_flag(name) != Some(false)))
    }

    /// The first that is taken and fits.
    pub(super) fn find(self, fits: impl Fn(&Signal) -> bool) -> Option<&'static Signal> {
        let taken = SIGNALS.iter().zip(self.0).filter(|(_, taken)| *taken);
        taken.map(|(signal, _)| signal).find(|signal| fits(signal))
    }
}
