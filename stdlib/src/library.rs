//! The registry of everything that this crate offers. Its table is built at the first look-up and
//! never changes.

use crate::aggregates::AGGREGATES;
use crate::extractors::{EXTRACTORS, many};
use crate::functions::GROUPS;
use crate::modules::MODULES;
use crate::total::TOTAL;
use halfbrown::HashMap;
use std::sync::OnceLock;
use temblor_lang::builtin::{Aggregate, ExtractorKind, Function, ManyTests, Registry};

/// Where tremor's short names of built-ins (`intrinsic fn len(a) as array::len`) are at home: the
/// beginning of the short name, and what stands there in the full path.
const SHORT_NAMES: &[(&str, &str)] = &[
    ("", "std::"),
    ("", "tremor::"),
    ("cncf_otel::", "cncf::otel::"),
    ("google_logging::", "google::cloud::logging::"),
];

/// Everything that programs can call.
#[derive(Debug)]
pub struct Library {
    functions: HashMap<&'static str, &'static Function>,
    /// Sorted, since names are resolved segment by segment.
    module_paths: Vec<&'static str>,
}

/// The registry of the standard library.
#[must_use]
pub fn registry() -> &'static dyn Registry {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(Library::new)
}

impl Library {
    fn new() -> Self {
        let functions = functions().map(|function| (function.path, function)).collect();
        Self { functions, module_paths: module_paths() }
    }
}

/// All functions, module by module.
pub(crate) fn functions() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|group| group.iter())
}

impl Registry for Library {
    fn function(&self, path: &str) -> Option<&'static Function> {
        self.functions.get(path).copied().or_else(|| {
            SHORT_NAMES.iter().find_map(|(short, full)| {
                let rest = path.strip_prefix(short)?;
                self.functions.get(format!("{full}{rest}").as_str()).copied()
            })
        })
    }

    fn aggregate(&self, path: &str) -> Option<&'static Aggregate> {
        AGGREGATES.iter().find(|aggregate| aggregate.path == path)
    }

    fn extractor(&self, name: &str) -> Option<&'static ExtractorKind> {
        EXTRACTORS.iter().find(|kind| kind.name.eq_ignore_ascii_case(name))
    }

    fn combine(&self, name: &str, patterns: &[&str]) -> Option<Box<dyn ManyTests>> {
        many::combine(name, patterns)
    }

    fn never_refuses(&self, function: &Function) -> bool {
        TOTAL.binary_search(&function.path).is_ok()
    }

    fn module(&self, path: &str) -> Option<&'static str> {
        let at = MODULES.binary_search_by_key(&path, |(path, _)| path).ok()?;
        Some(MODULES[at].1)
    }

    fn function_paths(&self) -> Vec<&'static str> {
        functions().map(|function| function.path).collect()
    }

    fn aggregate_paths(&self) -> Vec<&'static str> {
        AGGREGATES.iter().map(|aggregate| aggregate.path).collect()
    }

    fn extractor_names(&self) -> Vec<&'static str> {
        EXTRACTORS.iter().map(|kind| kind.name).collect()
    }

    fn module_paths(&self) -> Vec<&'static str> {
        self.module_paths.clone()
    }
}

/// The paths of all modules and of those around them, sorted.
fn module_paths() -> Vec<&'static str> {
    let members = functions()
        .map(|function| function.path)
        .chain(AGGREGATES.iter().map(|aggregate| aggregate.path))
        .filter_map(parent);
    let named = MODULES.iter().map(|(path, _)| *path);
    let mut paths: Vec<_> = members.chain(named).flat_map(with_parents).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The path of the module that something is in.
fn parent(path: &'static str) -> Option<&'static str> {
    path.rsplit_once("::").map(|(module, _)| module)
}

/// The path of a module and those of the modules around it.
fn with_parents(path: &'static str) -> impl Iterator<Item = &'static str> {
    std::iter::successors(Some(path), |path| parent(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_found_and_unique() {
        let mut paths = registry().function_paths();
        assert!(paths.len() > 100, "only {} functions", paths.len());
        assert!(paths.iter().all(|path| registry().function(path).is_some()));
        paths.sort_unstable();
        assert!(paths.windows(2).all(|pair| pair[0] != pair[1]), "a path is declared twice");
    }

    #[test]
    fn every_function_is_documented() {
        for function in functions() {
            assert!(function.doc.ends_with(['.', ')']), "{}", function.path);
            assert!(!function.examples.is_empty(), "{} has no example", function.path);
        }
    }

    #[test]
    fn short_names_of_intrinsics_are_found() {
        let path = |name| registry().function(name).map(|function| function.path);
        assert_eq!(path("array::len"), Some("std::array::len"));
        assert_eq!(path("origin::host"), Some("tremor::origin::host"));
        assert_eq!(path("cncf_otel::gen_span_id_array"), Some("cncf::otel::gen_span_id_array"));
        assert_eq!(path("array::nothing"), None);
    }

    #[test]
    fn modules_are_sorted_and_their_parents_known() {
        assert!(MODULES.is_sorted_by(|left, right| left.0 < right.0));
        let paths = registry().module_paths();
        for path in ["std", "std::integer", "std::integer::signed", "std::array", "cncf", "http"] {
            assert!(paths.contains(&path), "{path}");
        }
        assert!(registry().module("std::time::nanos").is_some());
        assert!(registry().module("std::array").is_none());
    }
}
