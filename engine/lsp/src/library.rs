//! The library as files to read: functions of the library have no text of their own, so their declarations
//! and docs are written into a file for each module, to which an editor can go.

use super::declaration::{aggregate_signature, signature};
use super::place::{Lines, uri_of};
use lsp_types::{Location, Range};
use std::path::PathBuf;
use temblor_stdlib::registry;

/// The text of a module, and where each of its functions begins.
struct Page {
    text: String,
    places: Vec<(String, usize)>,
}

/// The page of `std::string` or `aggr::stats`; `None` when nothing is in it.
fn page(module: &str) -> Option<Page> {
    let prefix = format!("{module}::");
    let is_here = |path: &&str| path.strip_prefix(&prefix).is_some_and(|name| !name.contains("::"));
    let mut page = Page { text: String::new(), places: Vec::new() };
    let functions = registry().function_paths().into_iter().filter(is_here);
    let functions = functions.filter_map(|path| registry().function(path));
    let functions = functions.map(|one| (one.path, signature(one).0, one.doc, one.examples));
    let aggregates = registry().aggregate_paths().into_iter().filter(is_here);
    let aggregates = aggregates.filter_map(|path| registry().aggregate(path));
    let aggregates = aggregates.map(|one| (one.path, aggregate_signature(one).0, one.doc, &[][..]));
    for (path, signature, doc, examples) in functions.chain(aggregates) {
        if page.text.is_empty() {
            page.text = format!(
                "# The functions of {module}, written by temblor lsp. Changes have no effect.\n"
            );
        }
        page.text.push('\n');
        doc.lines().for_each(|line| page.text.push_str(&format!("## {line}\n")));
        examples.iter().for_each(|one| page.text.push_str(&format!("##     {one}\n")));
        page.places.push((path.to_string(), page.text.len()));
        page.text.push_str(&format!("# {signature}\n"));
    }
    (!page.places.is_empty()).then_some(page)
}

/// Where the declaration of a function or aggregate of the library can be read, or a whole module.
#[must_use]
pub(crate) fn location(module: &str, path: Option<&str>) -> Option<Location> {
    let page = page(module)?;
    let file = folder()?.join(format!("{}.tremor", module.replace("::", "/")));
    if std::fs::read_to_string(&file).ok().as_ref() != Some(&page.text) {
        std::fs::create_dir_all(file.parent()?).ok()?;
        std::fs::write(&file, &page.text).ok()?;
    }
    let known = page.places.iter().find(|(known, _)| Some(known.as_str()) == path);
    let start = known.map_or(0, |(_, start)| *start);
    let position = Lines::of(&page.text).position(&page.text, start);
    Some(Location::new(uri_of(&file)?, Range::new(position, position)))
}

/// Where the files are kept (XDG Base Directory Specification).
fn folder() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(cache.or_else(home)?.join("temblor").join(env!("CARGO_PKG_VERSION")))
}
