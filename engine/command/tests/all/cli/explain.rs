//! `temblor explain` of what is declared: connectors, operators, codecs, interceptors and windows.

use super::temblor;

fn page(words: &[&str]) -> String {
    let ran = temblor(&[&["explain"], words].concat(), b"");
    assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.err);
    ran.out
}

#[test]
fn what_is_declared_has_a_page() {
    for (words, shown) in [
        (
            &["tcp"][..],
            &[
                "tcp: a source and a sink of Temblor files",
                "Settings as a source:",
                "max_connections",
            ][..],
        ),
        (&["connector", "stdio"], &["of tremor's flows", "must name a codec"]),
        (
            &["dedup"],
            &[
                "an operator, `stream::dedup`",
                "max_keys: a whole number from 1 to 1000000000, 1000000 unless set",
            ],
        ),
        (&["generic::batch"], &["batch: an operator", "count: a whole number"]),
        (&["msgpack"], &["msgpack: a codec"]),
        (&["decompress"], &["a preprocessor", "algorithm: one of br, gzip"]),
        (&["window", "session"], &["gap: a duration"]),
        (&["generator"], &["loss: a number from 0 to 1"]),
        (&["E0401"], &["E0401: "]),
    ] {
        let page = page(words);
        let missing = shown.iter().find(|text| !page.contains(**text));
        assert_eq!(missing, None, "{words:?}: {page}");
    }
}

#[test]
fn a_name_of_several_things_has_all_their_pages() {
    let pages = page(&["syslog"]);
    assert!(pages.contains("of Temblor files") && pages.contains("a codec"), "{pages}");
    assert!(!page(&["codec", "syslog"]).contains("of Temblor files"));
}

#[test]
fn a_sort_lists_its_names() {
    let codecs = page(&["codec"]);
    assert!(codecs.lines().any(|line| line.starts_with("pretty-json ")), "{codecs}");
    assert!(page(&[]).contains("`temblor explain connector`"));
}

#[test]
fn what_nobody_has_leads_to_the_nearest() {
    for (words, near) in [
        (&["kafak"][..], "did you mean `kafka`?"),
        (&["operator", "dedupe"], "did you mean `dedup`?"),
        (&["conector", "tcp"], "did you mean `connector`?"),
        (&["codec", "tcp"], "lists all"),
    ] {
        let ran = temblor(&[&["explain"], words].concat(), b"");
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{words:?}");
        assert!(ran.err.contains(near), "{words:?}: {}", ran.err);
    }
}
