//! The examples of all connectors of this crate are programs.

use temblor_testing::temblor;
use temblor_wire::CONNECTORS;

#[test]
fn every_example_is_checked() {
    for connector in CONNECTORS {
        for example in connector.examples {
            let ran = temblor(["check", "-e", example]).run();
            assert_eq!(ran.code, Some(0), "{}: {example}\n{}{}", connector.kind, ran.out, ran.err);
        }
    }
}

#[test]
fn what_weakens_is_said_and_what_cannot_be_is_refused() {
    for (program, wanted) in [
        ("source s from tcp \"0.0.0.0:5514\"; s |> out", "W0527"),
        (
            "sink t into tcp \"127.0.0.1:1\" with tls = {\"verify\": false} end; in |> t",
            "nobody checks who answers",
        ),
        ("source s from tcp \"nowhere\"; s |> out", "`nowhere` is no address"),
        ("source s from syslog \"127.0.0.1:514\"; s |> out", "does not say what carries"),
        ("source s from syslog \"tls://127.0.0.1:1\"; s |> out", "listening with TLS needs `tls`"),
        (
            "source s from tcp \"127.0.0.1:1\" with tls = {\"cert\": \"/none.pem\", \"key\": \"/none.key\"} end; s |> out",
            "/none.pem cannot be used",
        ),
        (
            "source s from tcp \"127.0.0.1:1\" with framing = \"octet\", preprocessors = [\"base64\"] end; s |> out",
            "does not go with `preprocessors`",
        ),
        (
            "source s from unix \"/tmp/x\" with permissions = \"rw\" end; s |> out",
            "`rw` is no mode of a file",
        ),
        ("source s from tcp \"127.0.0.1:1\" with framing = \"frames\" end; s |> out", "octet"),
    ] {
        let ran = temblor(["check", "-e", program]).run();
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(wanted), "{program}: {said}");
    }
}
