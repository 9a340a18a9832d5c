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
        advice: "write the bodies of requests with a `stdio` or `file` connector and send them with \
                 `curl --data-binary`",
    },
    Instead {
        kinds: &["clickhouse"],
        advice: "write rows with a `stdio` connector: `temblor run FLOW | clickhouse-client -q 'INSERT \
                 INTO TABLE FORMAT JSONEachRow'`",
    },
    Instead {
        kinds: &[
            "gbq_writer",
            "gcl_writer",
            "gcs_streamer",
            "gpubsub_consumer",
            "gpubsub_producer",
        ],
        advice: "use the tools `bq`, `gcloud` and `gsutil` with what a `file` or `stdio` connector reads or writes",
    },
    Instead {
        kinds: &["dns", "dns_client"],
        advice: "look names up beforehand, and add them with the operator `enrich` from a table",
    },
    Instead {
        kinds: &["kv"],
        advice: "keep values in the `state` of a script (`--state DIR` keeps it), or look them up with `enrich`",
    },
    Instead {
        kinds: &["wal"],
        advice: "run with `--state DIR`: what has not been delivered is read again after a crash",
    },
    Instead {
        kinds: &["cb"],
        advice: "it tests tremor itself; `temblor run --stats json` counts what was acknowledged",
    },
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
