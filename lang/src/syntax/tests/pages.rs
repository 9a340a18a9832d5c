//! The examples on the pages of the codes are true.

use super::{parse_deploy, parse_query, parse_script, parsed};
use crate::diagnostic::{Diagnostic, codes};

fn read(text: &str) -> Vec<Diagnostic> {
    if text.starts_with("define flow") {
        return parsed(text, parse_deploy).1;
    }
    if text.starts_with("define") {
        return parsed(text, parse_query).1;
    }
    parsed(text, parse_script).1
}

#[test]
fn wrong_examples_get_their_code_and_right_ones_get_none() {
    for page in codes::pages().filter(|page| page.code < "E03" || page.code == "W0620") {
        let found: Vec<_> = read(page.wrong).iter().map(|one| one.code).collect();
        assert!(found.contains(&page.code), "{}: {found:?}", page.code);
        assert!(read(page.right).is_empty(), "{}: {:?}", page.code, read(page.right));
        assert!(page.to_string().contains(page.title));
    }
}

#[test]
fn codes_are_found_in_any_case_and_are_unique() {
    assert_eq!(codes::page("e0201").map(|page| page.code), Some(codes::UNEXPECTED));
    assert!(codes::page("E9999").is_none());
    let mut all: Vec<_> = codes::pages().map(|page| page.code).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}
