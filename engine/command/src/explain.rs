//! `temblor explain`: the page about a code. Every code that can be printed has one.

use super::ExplainArgs;
use super::check::FAULTY;
use super::repl::print;
use temblor_lang::diagnostic::{codes, nearest};

/// Prints the page, or the list of all pages.
pub(crate) fn explain(args: &ExplainArgs) -> u8 {
    let Some(code) = &args.code else {
        let line = |page: &codes::Page| format!("{}  {}\n", page.code, page.title);
        print(&codes::pages().map(line).collect::<String>());
        return 0;
    };
    if let Some(page) = codes::page(code) {
        print(&page.to_string());
        return 0;
    }
    eprintln!("error: there is no code `{code}`");
    match nearest(&code.to_uppercase(), codes::pages().map(|page| page.code)) {
        Some(near) => eprintln!("  help: did you mean `{near}`?"),
        None => eprintln!("  help: `temblor explain` lists all codes"),
    }
    FAULTY
}
