//! The parameters of a Temblor file: `args limit: integer = 10, name;` declares them, and `--set`,
//! `--args` or the declaration gives their values, in this order. They are known when the program is
//! compiled, so that settings, patterns and places of files may depend on them.

use super::LoadOptions;
use std::sync::Arc;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, Scope};
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    EndpointDef, Expr, ExprKind, PathRoot, Program, ProgramArg, StringLit, StringPart,
};
use temblor_lang::units::{parse_duration, parse_size};
use temblor_lang::value::{Arena, Frozen, Key, Kind, Value};
use temblor_stdlib::formats::json;

/// What a parameter may be declared as.
const KINDS: [&str; 9] =
    ["string", "integer", "float", "number", "bool", "array", "record", "duration", "size"];

/// The record that `args` stands for; none for a program that declares no parameters.
pub(super) fn arguments(
    program: &Program,
    given: &LoadOptions<'_>,
    compiler: &mut Compiler<'_>,
) -> Option<Arc<Frozen>> {
    unknown(program, given, compiler);
    if program.args.is_empty() {
        return None;
    }
    let arena = Arena::new();
    let mut record = arena.record_builder(program.args.len());
    for arg in &program.args {
        if record.contains(&arg.name.text) {
            let message = format!("the argument `{}` is declared already", arg.name.text);
            compiler.diagnostics.push(Diagnostic::error("E0504", arg.name.span, message));
            continue;
        }
        let value = match value(arg, given, compiler) {
            Ok(value) => value,
            Err(complaint) => {
                compiler.diagnostics.push(complaint);
                continue;
            }
        };
        record.insert(arena.str(&arg.name.text), value.get().copy_into(&arena));
    }
    Some(Arc::new(Frozen::new(record.finish())))
}

/// The arguments of deployed flows: the record of `--args`, with what `--set` says in place of its own.
pub(super) fn of_flows(given: &LoadOptions<'_>) -> Frozen {
    let arena = Arena::new();
    let of_file = given.args.map(|args| args.get().copy_into(&arena));
    let of_file = of_file.and_then(|args| args.as_record(&arena));
    let mut record = arena.record_builder(given.set.len());
    of_file.into_iter().flat_map(|args| args.iter()).for_each(|(name, value)| {
        record.insert(name, value);
    });
    for (name, text) in given.set {
        record.insert(name, read(text, None, &arena).unwrap_or(Value::Str(text)));
    }
    Frozen::new(record.finish())
}

/// Reports values for what is not declared.
fn unknown(program: &Program, given: &LoadOptions<'_>, compiler: &mut Compiler<'_>) {
    let declared = || program.args.iter().map(|arg| arg.name.text.as_str());
    let span = program.args.first().map_or(Span::default(), |arg| arg.span);
    let arena = Arena::new();
    let args = given.args.map(|args| args.get().copy_into(&arena));
    let of_file = args.and_then(|args| args.as_record(&arena));
    let of_file = of_file.into_iter().flat_map(|record| record.iter().map(|(name, _)| name));
    let names = given.set.iter().map(|(name, _)| name.as_str()).chain(of_file);
    for name in names.filter(|name| !declared().any(|known| known == *name)) {
        let message = format!("the program has no argument `{name}`");
        let complaint = Diagnostic::error("E0509", span, message).with_nearest(name, declared());
        compiler.diagnostics.push(match complaint.help {
            Some(_) => complaint,
            None => complaint.with_help(format!("declare it in front: `args {name};`")),
        });
    }
}

fn value(
    arg: &ProgramArg,
    given: &LoadOptions<'_>,
    compiler: &mut Compiler<'_>,
) -> Result<Frozen, Diagnostic> {
    let name = &arg.name.text;
    let kind = arg.kind.as_ref().map(|kind| (kind.text.as_str(), kind.span));
    if let Some((kind, span)) = kind.filter(|(kind, _)| !KINDS.contains(kind)) {
        let message = format!("there is no kind `{kind}`");
        return Err(Diagnostic::error("E0510", span, message).with_known(kind, &KINDS));
    }
    let kind = kind.map(|(kind, _)| kind);
    let arena = Arena::new();
    let wrong = |value: &str, span: Span, from: &str| {
        let wanted = kind.unwrap_or("value");
        let message = format!("`{name}` must be of kind {wanted}, got {value}{from}");
        Diagnostic::error("E0510", span, message)
    };
    if let Some((_, text)) = given.set.iter().rev().find(|(set, _)| set == name) {
        let value = read(text, kind, &arena);
        return value.map(Frozen::new).ok_or_else(|| wrong(text, arg.span, " by --set"));
    }
    let of_file = given.args.map(|args| args.get().copy_into(&arena));
    let of_file = of_file.and_then(|args| args.get(&Key::new(name)));
    let (value, span, from) = match (of_file, &arg.default) {
        (Some(value), _) => (value, arg.span, " by --args"),
        (None, Some(default)) => {
            let scope = Scope::with_prelude();
            let value = compiler.constant(default, &scope, None).unwrap_or_default();
            (value.get().copy_into(&arena), default.span, "")
        }
        (None, None) => {
            let message = format!("missing required argument: {name}");
            let help = format!("give it, `--set {name}=…`, or a default: `args {name} = …;`");
            return Err(Diagnostic::error("E0508", arg.span, message).with_help(help));
        }
    };
    let text = temblor_lang::value::to_json(value);
    fitting(value, kind).map(Frozen::new).ok_or_else(|| wrong(&text, span, from))
}

/// The value of a text of the command line.
fn read<'a>(text: &'a str, kind: Option<&str>, arena: &'a Arena) -> Option<Value<'a>> {
    let json = || json::parse(text, arena).ok();
    match kind {
        Some("string") => Some(Value::Str(text)),
        Some("duration" | "size") => {
            json().filter(|value| value.kind() == Kind::Integer).or(Some(Value::Str(text)))
        }
        Some(_) => json(),
        None => Some(json().unwrap_or(Value::Str(text))),
    }
    .and_then(|value| fitting(value, kind))
}

/// The value, if it is of the kind; durations and sizes may be texts.
fn fitting<'a>(value: Value<'a>, kind: Option<&str>) -> Option<Value<'a>> {
    let number = |parse: fn(&str) -> Option<u64>| match value.as_str() {
        Some(text) => parse(text).map(Value::UInt),
        None => value.as_u64().map(Value::UInt),
    };
    let wanted = match kind {
        None => Kind::Any,
        Some("duration") => return number(parse_duration),
        Some("size") => return number(parse_size),
        Some("string") => Kind::String,
        Some("integer") => Kind::Integer,
        Some("float") => Kind::Float,
        Some("number") => Kind::Number,
        Some("bool") => Kind::Bool,
        Some("array") => Kind::Array,
        Some(_) => Kind::Record,
    };
    value.kind().fits(wanted).then_some(value)
}

/// The sources, sinks and tables of a program; in texts that need nothing but parameters and the
/// environment these are filled in.
pub(super) fn endpoints(program: &Program, compiler: &mut Compiler<'_>) -> Vec<EndpointDef> {
    let mut endpoints = program.endpoints.clone();
    for endpoint in &mut endpoints {
        let Some(text) = endpoint.argument.as_mut().filter(|text| is_known(text)) else { continue };
        let kind = ExprKind::String(text.clone());
        let args = compiler.program_args.clone();
        let tree = Expr { kind, span: text.span };
        let value = compiler.constant(&tree, &Scope::with_prelude(), args);
        if let Some(known) = value.as_ref().and_then(|value| value.get().as_str()) {
            text.parts = vec![StringPart::Text(known.to_string())];
        }
    }
    endpoints
}

fn is_known(text: &StringLit) -> bool {
    let mut parts = text.parts.iter().filter_map(|part| match part {
        StringPart::Expr(expr) => Some(expr),
        StringPart::Text(_) => None,
    });
    text.constant().is_none() && parts.all(is_known_expr)
}

fn is_known_expr(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Path(path) => matches!(path.root, PathRoot::Args | PathRoot::Const(_)),
        ExprKind::Coalesce(left, right) => is_known_expr(left) && is_known_expr(right),
        ExprKind::String(text) => text.constant().is_some(),
        _ => false,
    }
}
