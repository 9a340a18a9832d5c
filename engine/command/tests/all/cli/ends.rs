//! Codecs, preprocessors and postprocessors of a program's ends: by options of the command, and by
//! the settings of sources and sinks.

use super::{scratch, temblor};

/// For each codec that reads: a message, and the event that it is.
const READ: &[(&str, &[u8], &str)] = &[
    ("binary", b"ab\n", "\"YWI=\"\n"),
    (
        "binflux",
        b"\0\0\0\x01m\0\0\0\0\0\0\0\x05\0\0\0\x01\0\x01f\0\0\0\0\0\0\0\0\x02",
        "{\"measurement\":\"m\",\"tags\":{},\"fields\":{\"f\":2},\"timestamp\":5}\n",
    ),
    ("csv", b"a,\"b,c\",\n1,2\n", "[\"a\",\"b,c\",\"\"]\n[\"1\",\"2\"]\n"),
    ("dogstatsd", b"x:1|c\n", "{\"metric\":{\"type\":\"c\",\"metric\":\"x\",\"values\":[1.0]}}\n"),
    (
        "graphite-plaintext",
        b"a.b 1 2\n",
        "{\"metric\":\"a.b\",\"value\":1,\"timestamp\":2000000000}\n",
    ),
    (
        "influx",
        b"m f=2i 5\n",
        "{\"measurement\":\"m\",\"tags\":{},\"fields\":{\"f\":2},\"timestamp\":5}\n",
    ),
    ("json", b"{\"a\":[1]}\n", "{\"a\":[1]}\n"),
    ("lines", b"a b\n", "\"a b\"\n"),
    ("msgpack", b"\x81\xa1a\x01", "{\"a\":1}\n"),
    ("null", b"anything\n", "null\n"),
    (
        "statsd",
        b"x:1|c|@0.1\n",
        "{\"metric\":\"x\",\"type\":\"c\",\"value\":1,\"sample_rate\":0.1}\n",
    ),
    ("string", b"a b\n", "\"a b\"\n"),
    (
        "syslog",
        b"<13>1 1970-01-01T00:00:02Z host app - - - hi\n",
        "{\"hostname\":\"host\",\"severity\":\"notice\",\"facility\":\"user\",\"timestamp\":2000000000,\"protocol\":\"RFC5424\",\"protocol_version\":1,\"appname\":\"app\",\"msg\":\"hi\"}\n",
    ),
    ("tremor", b"\0\0\x03\0\0\0\0\0\0\0\x07", "7\n"),
    ("yaml", b"a:\n  - 1\n  - b\n", "{\"a\":[1,\"b\"]}\n"),
];

/// For each codec that writes: an event, and its bytes.
const WRITTEN: &[(&str, &str, &[u8])] = &[
    ("binary", "\"ab\"", b"ab\n"),
    ("csv", "[\"a\",\"b,c\",1]", b"a,\"b,c\",1\n"),
    ("graphite-plaintext", "{\"metric\":\"a\",\"value\":1,\"timestamp\":2000000000}", b"a 1 2\n"),
    (
        "influx",
        "{\"measurement\":\"m\",\"tags\":{},\"fields\":{\"f\":2},\"timestamp\":5}",
        b"m f=2i 5\n",
    ),
    ("json", "{\"b\":1,\"a\":2}", b"{\"b\":1,\"a\":2}\n"),
    ("lines", "\"ab\"", b"ab\n"),
    ("msgpack", "{\"a\":1}", b"\x81\xa1a\x01"),
    ("pretty-json", "{\"a\":1}", b"{\n  \"a\": 1\n}\n"),
    ("raw", "\"ab\"", b"ab"),
    ("sorted-json", "{\"b\":1,\"a\":2}", b"{\"a\":2,\"b\":1}\n"),
    ("statsd", "{\"metric\":\"x\",\"type\":\"c\",\"value\":1}", b"x:1|c\n"),
    ("string", "\"ab\"", b"ab\n"),
    ("tremor", "7", b"\0\0\x04\0\0\0\0\0\0\0\x07"),
    ("with-port", "1", b"{\"port\":\"out\",\"event\":1}\n"),
    ("yaml", "{\"a\":1}", b"a: 1\n\n"),
];

/// What a run gives, as bytes, and what it says.
fn bytes(arguments: &[&str], input: &[u8]) -> (Vec<u8>, String) {
    let directory = scratch(&format!("ends-{:?}", std::thread::current().id()));
    let output = directory.join("out").display().to_string();
    let mut all = vec!["run", "-o", output.as_str()];
    all.extend(arguments);
    let ran = temblor(&all, input);
    (std::fs::read(&output).unwrap_or_default(), ran.err)
}

#[test]
fn each_codec_reads_standard_input() {
    for (codec, message, event) in READ {
        let ran = temblor(&["run", "--codec", codec, "-e", "out"], message);
        assert_eq!(ran.out, *event, "{codec}: {}", ran.err);
    }
}

#[test]
fn each_codec_writes_a_file() {
    for (codec, event, wanted) in WRITTEN {
        let (got, err) = bytes(&["--out-codec", codec, "-e", "out"], event.as_bytes());
        assert_eq!(
            got.escape_ascii().to_string(),
            wanted.escape_ascii().to_string(),
            "{codec}: {err}"
        );
    }
}

#[test]
fn a_source_and_a_sink_of_a_file_take_the_same_codecs() {
    let directory = scratch("ends-program");
    let path = |name: &str| directory.join(name).display().to_string();
    std::fs::write(path("in.csv"), "a,1\nb,2\n").expect("it can be written");
    let program = format!(
        "source in from file \"{}\" with codec = \"csv\" end;\n\
         sink out into file \"{}\" with codec = \"msgpack\", postprocessors = [\"length-prefixed\", \"base64\", \"separate\"] end;\n\
         in |> out;\n",
        path("in.csv"),
        path("out")
    );
    std::fs::write(path("p.tmb"), program).expect("it can be written");
    let ran = temblor(&["run", &path("p.tmb")], b"");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let arguments = [
        "run",
        "-i",
        &path("out"),
        "--codec",
        "msgpack",
        "-e",
        "out",
        "--preprocessor",
        "separate",
        "--preprocessor",
        "base64",
        "--preprocessor",
        "length-prefixed",
    ];
    let back = temblor(&arguments, b"");
    assert_eq!(back.out, "[\"a\",\"1\"]\n[\"b\",\"2\"]\n", "{}", back.err);
}

#[test]
fn a_codec_that_nobody_has_is_named_with_the_nearest() {
    let ran = temblor(&["run", "--codec", "jsno", "-e", "out"], b"");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("'jsno'") && ran.err.contains("json"), "{}", ran.err);
    let directory = scratch("ends-wrong");
    let file = directory.join("p.tmb").display().to_string();
    let program = "source in from stdin with codec = \"jsno\", preprocessors = [\"sepparate\"], framing = \"whole\" end;\n\
                   sink out into stdout with codec = \"rawe\", postprocessors = [\"base46\"] end;\nin |> out;\n";
    std::fs::write(&file, program).expect("it can be written");
    let ran = temblor(&["check", &file], b"");
    for said in [
        "unknown codec `jsno`",
        "unknown preprocessor `sepparate`",
        "unknown codec `rawe`",
        "unknown postprocessor `base46`",
    ] {
        assert!(ran.err.contains(said) || ran.out.contains(said), "{said}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_message_that_its_codec_cannot_read_is_told_and_the_next_goes_on() {
    let ran = temblor(&["run", "--codec", "statsd", "-e", "out"], b"nonsense\nx:1|c\n");
    assert_eq!(ran.out, "{\"metric\":\"x\",\"type\":\"c\",\"value\":1}\n");
    assert!(ran.err.contains("nonsense"), "{}", ran.err);
}
