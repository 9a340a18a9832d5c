//! `otlp` with the SDK of OpenTelemetry for Python, with itself, and with peers that break the protocol.

use std::process::Command;

use temblor_testing::{Folder, Process, free_port, peer};

use crate::support::{ByHand, lines, listen, run};

fn receiver(port: u16) -> String {
    format!(
        "source telemetry from otlp \"127.0.0.1:{port}\" with max_body = \"64KiB\" end;\n\
         sink kept into file \"kept.ndjson\" with mode = \"append\" end;\n\
         sink err into file \"odd.ndjson\" with mode = \"append\" end;\n\
         telemetry |> set event.via = $otlp.protocol |> kept"
    )
}

const SDK: &str = r"
import sys
port, way = sys.argv[1], sys.argv[2]
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry._logs import LogRecord, SeverityNumber
if way == 'grpc':
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    import grpc
    args = dict(endpoint='127.0.0.1:' + port, insecure=True, compression=grpc.Compression.Gzip)
    paths = ['', '', '']
else:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http import Compression
    args = dict(endpoint='http://127.0.0.1:' + port, compression=Compression.Gzip)
    paths = ['/v1/traces', '/v1/metrics', '/v1/logs']
def made(kind, path):
    return kind(**{**args, 'endpoint': args['endpoint'] + path})
resource = Resource.create({'service.name': 'shop', 'n': 7})
traces = TracerProvider(resource=resource)
traces.add_span_processor(BatchSpanProcessor(made(OTLPSpanExporter, paths[0])))
with traces.get_tracer('t').start_as_current_span('GET /') as span:
    span.set_attribute('half', 0.5)
assert traces.force_flush()
reader = PeriodicExportingMetricReader(made(OTLPMetricExporter, paths[1]), export_interval_millis=3600000)
metrics = MeterProvider(resource=resource, metric_readers=[reader])
metrics.get_meter('m').create_counter('hits').add(3, {'path': '/'})
assert metrics.force_flush()
logs = LoggerProvider(resource=resource)
logs.add_log_record_processor(BatchLogRecordProcessor(made(OTLPLogExporter, paths[2])))
logs.get_logger('l').emit(LogRecord(timestamp=1700000000000000001, severity_number=SeverityNumber.WARN, body={'m': 'hi'}))
assert logs.force_flush()
for one in (traces, metrics, logs):
    one.shutdown()
";

#[test]
fn the_sdk_brings_logs_metrics_and_traces_over_grpc_and_http() {
    let Some(python) = peer("PYTHON") else { return };
    for (way, via) in [("grpc", "grpc"), ("http", "http/protobuf")] {
        let (folder, port) = (Folder::new(), free_port());
        let program = listen(&folder, "in.tmb", &receiver(port), port);
        let mut command = Command::new(&python);
        command.args(["-c", SDK, &port.to_string(), way]);
        let ran = Process::start(command).wait();
        assert!(ran.code == Some(0) && !ran.err.contains("Failed"), "{}", ran.err);
        let kept = lines(&folder, "kept.ndjson", 3);
        for (key, wanted) in [
            ("trace", &["\"GET /\"", "\"half\":0.5", "\"service.name\":\"shop\"", "\"n\":7"][..]),
            ("metrics", &["\"hits\"", "\"data\":{\"sum\":", "\"value\":3", "\"path\":\"/\""]),
            ("logs", &["\"body\":{\"m\":\"hi\"}", "1700000000000000001", "\"severity_number\":13"]),
        ] {
            let start = format!("{{\"{key}\":[");
            let line = kept.iter().find(|line| line.starts_with(&start));
            let line = line.unwrap_or_else(|| panic!("no {key} in {kept:?}"));
            let via = format!("\"via\":\"{via}\"");
            for part in wanted.iter().copied().chain([via.as_str()]) {
                assert!(line.contains(part), "{part} in {line}");
            }
        }
        program.terminate().succeeded();
        assert_eq!(folder.read("odd.ndjson"), "");
    }
}

#[test]
fn a_sink_brings_to_a_source_what_it_was_given() {
    let event = "{\"logs\":[{\"resource\":{\"attributes\":{\"a\":1,\"b\":[true,\"x\"]}},\"scope_logs\":[{\"log_records\":\
                 [{\"time_unix_nano\":5,\"body\":\"hi\",\"span_id\":\"0102030405060708\"}]}]}]}";
    for settings in [
        "protocol = \"grpc\"",
        "protocol = \"grpc\", compression = \"gzip\"",
        "protocol = \"http\"",
        "protocol = \"http\", compression = \"gzip\"",
        "protocol = \"http\", encoding = \"json\"",
    ] {
        let (folder, port) = (Folder::new(), free_port());
        let program = listen(&folder, "in.tmb", &receiver(port), port);
        folder.write("events.ndjson", format!("{event}\n{{\"logs\":[{{\"odd\":1}}]}}\n7\n"));
        let text = format!(
            "source events from file \"events.ndjson\";\n\
             sink onward into otlp \"http://127.0.0.1:{port}\" with {settings} end;\n\
             sink back into file \"back.ndjson\";\nevents |> onward;\nonward/err |> back"
        );
        run(&folder, "out.tmb", &text).wait().succeeded();
        program.terminate().succeeded();
        let kept = folder.read("kept.ndjson");
        for part in
            ["\"a\":1,\"b\":[true,\"x\"]", "\"body\":\"hi\"", "\"span_id\":\"0102030405060708\""]
        {
            assert!(kept.contains(part), "{settings}: {part} in {kept}");
        }
        assert_eq!(kept.lines().count(), 1, "{settings}");
        let back = folder.read("back.ndjson");
        assert!(
            back.contains("odd") && back.contains("`logs`, `metrics` or `trace`"),
            "{settings}: {back}"
        );
    }
}

#[test]
fn a_sink_tries_again_until_somebody_listens() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write("events.ndjson", "{\"logs\":[]}\n");
    let text = format!(
        "source events from file \"events.ndjson\";\n\
         sink onward into otlp \"http://127.0.0.1:{port}\" with retry = {{\"longest\": \"100ms\"}} end;\n\
         events |> onward"
    );
    let mut sending = run(&folder, "out.tmb", &text);
    sending.wait_for_text("cannot be asked");
    let program = listen(&folder, "in.tmb", &receiver(port), port);
    sending.wait().succeeded();
    program.terminate().succeeded();
    assert_eq!(folder.read("kept.ndjson"), "{\"logs\":[],\"via\":\"grpc\"}\n");
}

/// The status and the body of a request.
fn asked(port: u16, head: &str, body: &str) -> String {
    let mut client = ByHand::connect(port);
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nhost: t\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .replacen("\r\nhost", "\r\ncontent-type: application/json\r\nhost", 1);
    client.send(request.as_bytes());
    String::from_utf8(client.rest()).expect("answers are text")
}

#[test]
fn json_is_taken_and_what_is_wrong_is_answered() {
    let (folder, port) = (Folder::new(), free_port());
    let program = listen(&folder, "in.tmb", &receiver(port), port);
    let span = "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"0102030405060708090a0b0c0d0e0f10\",\
                \"name\":\"s\",\"startTimeUnixNano\":\"7\"}]}]}]}";
    let answer = asked(port, "POST /v1/traces", span);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("\r\n\r\n{}"), "{answer}");
    let kept = lines(&folder, "kept.ndjson", 1);
    for part in [
        "\"trace_id\":\"0102030405060708090a0b0c0d0e0f10\"",
        "\"start_time_unix_nano\":7",
        "http/json",
    ] {
        assert!(kept[0].contains(part), "{part} in {}", kept[0]);
    }
    let long = format!("{{\"x\":\"{}\"}}", "x".repeat(70_000));
    for (head, body, status, reason) in [
        ("POST /v1/logs", "{\"resourceLogs\":", "400", "no JSON"),
        ("POST /v1/logs", "{\"resourceLogs\":7}", "400", "ExportLogsServiceRequest"),
        ("POST /v1/other", "{}", "404", "nobody takes /v1/other"),
        ("GET /v1/logs", "", "405", "only POST"),
        ("POST /v1/logs", &long, "413", "longer than `max_body`, 65536 bytes"),
    ] {
        let answer = asked(port, head, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{head}: {answer}");
        assert!(answer.contains(reason), "{head}: {answer}");
    }
    program.terminate().succeeded();
    assert_eq!(folder.read("odd.ndjson").lines().count(), 2);
}
