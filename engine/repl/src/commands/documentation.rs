//! What functions, aggregates, steps and grok patterns say about themselves.

use temblor_lang::builtin::{Aggregate, Arity, Function};
use temblor_lang::value::Kind;
use temblor_stdlib::grok::Library;

/// The page about a name.
pub(crate) fn doc(name: &str) -> Result<String, String> {
    let registry = temblor_stdlib::registry();
    if let Some(function) = function(name) {
        return Ok(function_page(function));
    }
    if let Some(aggregate) = aggregate(name) {
        let head = head(aggregate.path, aggregate.params, aggregate.arity, aggregate.returns);
        return Ok(format!("{head}\naggregate: {}\n", aggregate.doc));
    }
    if let Some(step) = temblor_catalog::registry().operator(name) {
        return Ok(step_page(step));
    }
    if let Some(kind) = registry.extractor(name) {
        return Ok(format!("{}|…|: test\n{}\n", kind.name, kind.doc));
    }
    let library = Library::legacy();
    let bare = name.trim_start_matches("%{").trim_end_matches('}');
    if let Some(pattern) = library.get(bare) {
        return Ok(format!("%{{{bare}}}: grok pattern\n{pattern}\n"));
    }
    let mut known: Vec<String> = registry.function_paths().into_iter().map(short).collect();
    known.extend(registry.aggregate_paths().into_iter().map(str::to_string));
    known.extend(
        temblor_catalog::registry().operators().filter_map(|kind| kind.word).map(str::to_string),
    );
    let near = temblor_lang::diagnostic::nearest(name, known.iter().map(String::as_str));
    let help = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(format!("error: nothing is named `{name}`{help}"))
}

fn short(path: &str) -> String {
    path.strip_prefix("std::").unwrap_or(path).to_string()
}

fn function(name: &str) -> Option<&'static Function> {
    let registry = temblor_stdlib::registry();
    registry.function(name).or_else(|| registry.function(&format!("std::{name}")))
}

fn aggregate(name: &str) -> Option<&'static Aggregate> {
    let registry = temblor_stdlib::registry();
    registry.aggregate(name).or_else(|| registry.aggregate(&format!("aggr::{name}")))
}

/// Name, parameters and result of a function or aggregate.
pub(crate) fn signature(name: &str) -> Option<String> {
    if let Some(function) = function(name) {
        return Some(head(function.path, function.params, function.arity, function.returns));
    }
    let aggregate = aggregate(name)?;
    Some(head(aggregate.path, aggregate.params, aggregate.arity, aggregate.returns))
}

fn head(path: &str, params: &[(&str, Kind)], arity: Arity, returns: Kind) -> String {
    let mut written: Vec<_> =
        params.iter().map(|(name, kind)| format!("{name}: {}", kind.name())).collect();
    if let Arity::Optional(count) = arity {
        let first = written.len().saturating_sub(count);
        written[first..].iter_mut().for_each(|one| one.push('?'));
    }
    let rest = if arity == Arity::Variadic { ", ..." } else { "" };
    format!("{path}({}{rest}) -> {}", written.join(", "), returns.name())
}

fn function_page(function: &Function) -> String {
    let head = head(function.path, function.params, function.arity, function.returns);
    let mut text = format!("{head}\n{}\n", function.doc);
    for example in function.examples {
        text.push_str(&format!("  {example}\n"));
    }
    text
}

fn step_page(step: &temblor_pipeline::operators::OperatorKind) -> String {
    let mut text = format!("{}: step\n{}\n", step.path, step.doc);
    for setting in step.settings {
        text.push_str(&format!("  {}: {}\n", setting.name, setting.doc));
    }
    for example in step.examples {
        text.push_str(&format!("  {}\n", example.replace('\n', "\n  ")));
    }
    text
}
