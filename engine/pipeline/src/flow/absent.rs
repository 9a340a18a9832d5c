//! Connectors of tremor that this build does not have, each with what does its work meanwhile.

use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;

/// What to do instead of a connector.
struct Instead {
    kinds: &'static [&'static str],
    advice: &'static str,
}

const ABSENT: &[Instead] = &[
    Instead {
        kinds: &["discord", "azure_monitor_ingest_writer"],
        advice: "send the same requests with `http_client`: `url`, `headers` and `auth` = {\"bearer\": token} say to whom",
    },
    Instead {
        kinds: &["clickhouse"],
        advice: "send rows with `http_client`: `\"url\": \"http://HOST:8123/?query=INSERT%20INTO%20TABLE%20FORMAT%20JSONEachRow\"`",
    },
    Instead {
        kinds: &["gcs_streamer", "gcs_writer"],
        advice: "Cloud Storage speaks the protocol of S3: use `s3_streamer` with `\"url\": \"https://storage.googleapis.com\"` \
                 and, as `auth`, an HMAC key of the service account (`gcloud storage hmac create`)",
    },
    Instead {
        kinds: &["gbq_writer", "gcl_writer", "gpubsub_consumer", "gpubsub_producer"],
        advice: "use the tools `bq` and `gcloud` with what a `file` or `stdio` connector reads or writes",
    },
    Instead { kinds: &["dns"], advice: "the connector that looks names up is called `dns_client`" },
];

/// The names of all of them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ABSENT.iter().flat_map(|one| one.kinds.iter().copied())
}

/// What is said about one of them; `None` for a kind that nobody has.
pub(super) fn diagnostic(kind: &str, span: Span) -> Option<Diagnostic> {
    let found = ABSENT.iter().find(|one| one.kinds.contains(&kind))?;
    let message = format!("the connector `{kind}` is known but not part of this build yet");
    Some(Diagnostic::error("E0524", span, message).with_help(found.advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_connector_is_named_twice() {
        let mut names: Vec<_> = names().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
