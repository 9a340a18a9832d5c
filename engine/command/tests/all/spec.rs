//! The cases under `spec/`, found and played as `temblor test` does it. `TEMBLOR_BLESS=1` rewrites
//! what they expect; `spec/README.md` describes their form.

use std::path::Path;
use std::time::Duration;
use temblor_casebook::report;
use temblor_casebook::selection::Selection;
use temblor_casebook::walk::{run_all, update_all};
use temblor_lang::diagnostic::Colour;

/// Fewer cases than this were not all found.
const CASES_MIN: usize = 200;

#[test]
fn cases_give_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Cases name files as seen from the root of the repository.
    let _turn = crate::within(&root);
    let root = root.join("spec");
    let blesses = std::env::var_os("TEMBLOR_BLESS").is_some();
    let walk = if blesses { update_all } else { run_all };
    let results = walk(&root, &Selection::default()).expect("the cases are in the repository");
    assert!(results.tests.len() >= CASES_MIN, "only {} cases were found", results.tests.len());
    let report = report::text(&results, Colour::Off, Duration::ZERO);
    assert!(results.passed(), "{report}\n(TEMBLOR_BLESS=1 accepts)");
}
