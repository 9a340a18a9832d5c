//! The connectors of this crate with peers of other projects, with each other, and with those who break the
//! protocol.

mod support;
mod beats;
mod fluent;
mod metrics;
mod otlp;
mod s3;

/// `check` finds no mistake in the examples of the declarations.
#[test]
fn examples_are_programs() {
    let folder = temblor_testing::Folder::new();
    for connector in temblor_collect::CONNECTORS {
        for (index, example) in connector.examples.iter().enumerate() {
            let path = folder.write(&format!("{}-{index}.tmb", connector.kind), example);
            temblor_testing::temblor(["check".as_ref(), path.as_os_str()]).run().succeeded();
        }
    }
}

/// tremor's connectors are found under their names, with their settings.
#[test]
fn flows_may_name_the_connectors_of_tremor() {
    let folder = temblor_testing::Folder::new();
    let path = folder.write("flow.troy", FLOW);
    temblor_testing::temblor(["check".as_ref(), path.as_os_str()]).run().succeeded();
}

const FLOW: &str = r#"
define flow telemetry
flow
  use tremor::pipelines;
  define connector server from otel_server with config = {"url": "127.0.0.1:4317", "logs": true, "metrics": false} end;
  define connector client from otel_client with config = {"url": "127.0.0.1:4318"} end;
  define connector reader from s3_reader with
    codec = "string",
    config = {"bucket": "logs", "aws_region": "eu-west-1", "url": "http://127.0.0.1:9000", "prefix": "a/"}
  end;
  define connector streamer from s3_streamer with
    codec = "json",
    config = {"bucket": "logs", "url": "http://127.0.0.1:9000", "mode": "consistent", "buffer_size": 5242880}
  end;
  create connector server;
  create connector client;
  create connector reader;
  create connector streamer;
  create pipeline passthrough from pipelines::passthrough;
  connect /connector/server to /pipeline/passthrough;
  connect /connector/reader to /pipeline/passthrough;
  connect /pipeline/passthrough to /connector/client;
  connect /pipeline/passthrough to /connector/streamer;
end;
deploy flow telemetry;
"#;
