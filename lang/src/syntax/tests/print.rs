//! What is printed parses to the tree that was printed.

use super::accept::{DEPLOYS, PROGRAMS, QUERIES, SCRIPTS};
use super::{parse_deploy, parse_program, parse_query, parse_script, parsed};
use crate::span::{SourceId, Sources};
use crate::syntax::{Parsed, print_deploy, print_program, print_query, print_script};
use std::fmt::Debug;

/// The tree as text without its places.
fn shape(tree: &impl Debug) -> String {
    let text = format!("{tree:?}");
    let mut pieces = text.split("Span { ");
    let mut shape = pieces.next().unwrap_or("").to_string();
    for piece in pieces {
        shape.push_str(piece.split_once('}').map_or(piece, |(_, rest)| rest));
    }
    shape
}

fn check<T: Debug>(
    texts: &[&str],
    parse: impl Fn(&Sources, SourceId) -> Parsed<T>,
    print: impl Fn(&T) -> String,
) {
    for text in texts {
        let (tree, _) = parsed(text, &parse);
        let printed = print(&tree);
        let (again, diagnostics) = parsed(&printed, &parse);
        assert!(super::errors(&diagnostics).is_empty(), "{text}\n{printed}\n{diagnostics:#?}");
        assert_eq!(shape(&tree), shape(&again), "{text}\n{printed}");
        assert_eq!(printed, print(&again), "{text}");
    }
}

#[test]
fn every_accepted_text_survives() {
    check(SCRIPTS, parse_script, print_script);
    check(QUERIES, parse_query, print_query);
    check(DEPLOYS, parse_deploy, print_deploy);
    check(PROGRAMS, parse_program, print_program);
}
