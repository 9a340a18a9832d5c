//! `temblor explain`: the page about a code, a connector, an operator, a codec or an interceptor. Every
//! code that can be printed has one; the other pages are made from the declarations.

mod page;

use super::ExplainArgs;
use super::check::FAULTY;
use super::repl::print;
use page::{Topic, WORDS, topics};
use temblor_lang::diagnostic::{codes, nearest};

/// Prints a page, or a list of pages.
pub(crate) fn explain(args: &ExplainArgs) -> u8 {
    let what: Vec<&str> = args.what.iter().map(String::as_str).collect();
    match what.as_slice() {
        [] => {
            let line = |page: &codes::Page| format!("{}  {}\n", page.code, page.title);
            print(&codes::pages().map(line).collect::<String>());
            let more: Vec<_> =
                WORDS.iter().map(|word| format!("`temblor explain {word}`")).collect();
            print(&format!("\nFurther pages: {}.\n", more.join(", ")));
            0
        }
        [word] if WORDS.contains(word) => list(word),
        [name] => named(name, &topics(), codes::page(name)),
        [word, name, ..] if WORDS.contains(word) => {
            let topics: Vec<_> = topics().into_iter().filter(|one| one.word == *word).collect();
            named(name, &topics, None)
        }
        [word, ..] => {
            let known = WORDS.join(", ");
            refuse(word, &format!("there are pages of: {known}"), &WORDS)
        }
    }
}

/// All names of a sort, each with its first sentence.
fn list(word: &str) -> u8 {
    let mut topics: Vec<_> = topics().into_iter().filter(|one| one.word == word).collect();
    topics.sort_by(|one, other| one.name.cmp(other.name));
    let width = topics.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for one in &topics {
        print(&format!("{:width$}  {}\n", one.name, one.summary));
    }
    0
}

fn named(name: &str, topics: &[Topic], code: Option<&codes::Page>) -> u8 {
    if let Some(page) = code {
        print(&page.to_string());
        return 0;
    }
    let found: Vec<_> = topics.iter().filter(|one| one.is_called(name)).collect();
    let pages: Vec<String> = found.iter().map(|one| (one.page)()).collect();
    if !pages.is_empty() {
        print(&pages.join("\n"));
        return 0;
    }
    let codes = codes::pages().map(|page| page.code);
    let known: Vec<_> = topics.iter().map(|one| one.name).chain(codes).collect();
    refuse(name, "`temblor explain` lists all codes, and what else has pages", &known)
}

fn refuse(name: &str, otherwise: &str, known: &[&str]) -> u8 {
    eprintln!("error: there is no page about `{name}`");
    let nearest = |name: &str| nearest(name, known.iter().copied());
    let near = nearest(name).or_else(|| nearest(&name.to_uppercase()));
    match near {
        Some(near) => eprintln!("  help: did you mean `{near}`?"),
        None => eprintln!("  help: {otherwise}"),
    }
    FAULTY
}
