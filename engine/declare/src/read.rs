//! The one reader of settings: from what a program, a flow or another front end says to checked
//! [`Settings`]. Every complaint about a setting is made here.

use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::lower::{Compiler, Rules, Scope};
use temblor_lang::program::{self, Formula};
use temblor_lang::span::{Sources, Span};
use temblor_lang::syntax;
use temblor_lang::syntax::tree::{Binding, Expr, Item};
use temblor_lang::units;
use temblor_lang::value::{Arena, Frozen, Value, push_text, to_json};

use crate::secret::Secret;
use crate::setting::{Setting, Takes};
use crate::settings::{Given, PerEvent, Settings};

use std::sync::Arc;
use std::time::Duration;

/// Reads `with name = value, … end`. What is wrong is reported to the compiler; the settings are then
/// not complete.
pub fn bindings(
    rows: &'static [Setting],
    with: &[&Binding],
    span: Span,
    compiler: &mut Compiler<'_>,
) -> Settings {
    let mut settings = Settings::new(span);
    for binding in with {
        let name = binding.name.text.as_str();
        let Some(row) = find(rows, name) else {
            compiler.diagnostics.push(unknown(name, rows, binding.name.span));
            continue;
        };
        let span = binding.value.span;
        if row.takes.is_per_event() {
            let given = per_event(row.takes, &binding.value, compiler);
            settings.insert(row.name, span, given);
            continue;
        }
        let Some(value) = compiler.constant(&binding.value, &Scope::with_prelude(), None) else {
            continue;
        };
        let arena = Arena::new();
        match value_of(row, value.get().copy_into(&arena), span, &arena, &mut compiler.diagnostics)
        {
            Some(given) => settings.insert(row.name, span, given),
            None => continue,
        }
    }
    complete(rows, &mut settings, compiler);
    settings
}

/// Reads a record, such as the `config` of a tremor connector. Expressions that are evaluated for each
/// event are constants there.
pub fn record<'a>(
    rows: &'static [Setting],
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    compiler: &mut Compiler<'_>,
) -> Settings {
    let mut settings = entries(rows, value, span, arena, &mut compiler.diagnostics);
    complete(rows, &mut settings, compiler);
    settings
}

fn entries<'a>(
    rows: &'static [Setting],
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    diagnostics: &mut Vec<Diagnostic>,
) -> Settings {
    let mut settings = Settings::new(span);
    for (key, value) in value.as_record(arena).iter().flat_map(|record| record.iter()) {
        let Some(row) = find(rows, key) else {
            diagnostics.push(unknown(key, rows, span));
            continue;
        };
        if value == Value::Null {
            continue;
        }
        if let Some(given) = value_of(row, value, span, arena, diagnostics) {
            settings.insert(row.name, span, given);
        }
    }
    settings
}

/// Adds defaults and hidden expressions, and reports what is missing.
fn complete(rows: &'static [Setting], settings: &mut Settings, compiler: &mut Compiler<'_>) {
    for row in rows {
        if let Takes::Hidden(text) = row.takes {
            // The connector looks for it, whether the program writes it or not.
            let key = text.trim_start_matches('$').split('.').next();
            if let Some(key) = key.filter(|key| !key.is_empty()) {
                compiler.metadata_is_written(Some(key));
            }
            let given =
                expression(text, compiler).map(|tree| per_event(row.takes, &tree, compiler));
            given.into_iter().for_each(|given| settings.insert(row.name, settings.span, given));
        } else if !settings.has(row.name) {
            add_default(row, settings, &mut compiler.diagnostics);
        }
    }
}

fn add_default(row: &Setting, settings: &mut Settings, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(default) = row.default {
        let given = default_of(row, default).expect("a test reads every default");
        settings.insert(row.name, settings.span, given);
    } else if row.required {
        let message = format!("the setting `{}` is missing", row.name);
        let help = format!("{}: {}", row.takes.describe(), row.doc);
        diagnostics.push(Diagnostic::error("E0507", settings.span, message).with_help(help));
    }
}

/// The value that a default stands for; `None` when it stands for none.
#[must_use]
pub fn default_of(row: &Setting, text: &'static str) -> Option<Given> {
    let number = || text.parse::<u64>().ok();
    let arena = Arena::new();
    let value = match row.takes {
        Takes::Whole { .. } => Value::UInt(number()?),
        Takes::Number => Value::Float(text.parse().ok()?),
        Takes::Flag => Value::Bool(text.parse().ok()?),
        _ => Value::Str(text),
    };
    read(row.takes, value, Span::default(), &arena, &mut Vec::new()).ok()
}

fn find(rows: &'static [Setting], name: &str) -> Option<&'static Setting> {
    rows.iter().find(|row| row.name == name && !matches!(row.takes, Takes::Hidden(_)))
}

fn unknown(name: &str, rows: &'static [Setting], span: Span) -> Diagnostic {
    let known = rows.iter().filter(|row| !matches!(row.takes, Takes::Hidden(_)));
    Diagnostic::error("E0506", span, format!("unknown setting `{name}`"))
        .with_nearest(name, known.map(|row| row.name))
}

fn value_of<'a>(
    row: &Setting,
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Given> {
    match read(row.takes, value, span, arena, diagnostics) {
        Ok(given) => Some(given),
        Err(reason) => {
            let got = match row.takes {
                Takes::Secret => String::new(),
                _ => format!(", got {}", to_json(value)),
            };
            let message = match reason {
                Some(reason) => format!("`{}`: {reason}", row.name),
                None => format!("`{}` must be {}{got}", row.name, row.takes.describe()),
            };
            diagnostics.push(Diagnostic::error("E0510", span, message));
            None
        }
    }
}

/// A value as a setting takes it; the error is a sentence where "must be …" does not say it all.
fn read<'a>(
    takes: Takes,
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Given, Option<String>> {
    let text = || value.as_str().map(str::to_string);
    let given = match takes {
        Takes::Text => text().map(Given::Text),
        Takes::Texts => texts(value, arena).map(Given::Texts),
        Takes::Whole { least, most } => {
            value.as_u64().filter(|one| (least..=most).contains(one)).map(Given::Whole)
        }
        Takes::Number => number(value).map(Given::Number),
        Takes::Flag => value.as_bool().map(Given::Flag),
        Takes::Duration => match value.as_str() {
            Some(text) => units::parse_duration(text),
            None => value.as_u64(),
        }
        .map(|nanoseconds| Given::Duration(Duration::from_nanos(nanoseconds))),
        Takes::Bytes => match value.as_str() {
            Some(text) => units::parse_size(text),
            None => value.as_u64(),
        }
        .map(Given::Whole),
        Takes::Word(words) => text().filter(|text| words.contains(&text.as_str())).map(Given::Text),
        Takes::Secret => match value.as_str() {
            Some(text) => Some(Given::Secret(Secret::of_setting(text).map_err(Some)?)),
            None => None,
        },
        Takes::Record(rows) => value.as_record(arena).map(|_| {
            let mut settings = entries(rows, value, span, arena, diagnostics);
            add_defaults(rows, &mut settings, diagnostics);
            Given::Record(settings)
        }),
        Takes::Records(rows) => value.as_array(arena).map(|items| {
            let each = items.iter().map(|item| {
                let mut settings = entries(rows, *item, span, arena, diagnostics);
                add_defaults(rows, &mut settings, diagnostics);
                settings
            });
            Given::Records(each.collect())
        }),
        Takes::Map => map(value, arena).map(Given::Map),
        Takes::Any => Some(Given::Any(to_json(value))),
        Takes::PerEvent | Takes::PerEventJson | Takes::Hidden(_) => {
            let as_json = !matches!(takes, Takes::PerEvent);
            let formula = Arc::new(constant(value, span));
            Some(Given::PerEvent(PerEvent { formula, as_json }))
        }
    };
    given.ok_or(None)
}

fn add_defaults(
    rows: &'static [Setting],
    settings: &mut Settings,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for row in rows.iter().filter(|row| !settings.has(row.name)).collect::<Vec<_>>() {
        add_default(row, settings, diagnostics);
    }
}

fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Float(number) => Some(number),
        #[expect(clippy::cast_precision_loss, reason = "settings are small numbers")]
        _ => value.as_i64().map(|number| number as f64),
    }
}

fn texts<'a>(value: Value<'a>, arena: &'a Arena) -> Option<Vec<String>> {
    if let Some(text) = value.as_str() {
        return Some(vec![text.to_string()]);
    }
    let items = value.as_array(arena)?;
    items.iter().map(|item| item.as_str().map(str::to_string)).collect()
}

fn map<'a>(value: Value<'a>, arena: &'a Arena) -> Option<Vec<(String, String)>> {
    let record = value.as_record(arena)?;
    let entry = |(key, value): (&str, Value<'a>)| {
        let mut text = Vec::new();
        push_text(&mut text, value);
        Some((key.to_string(), String::from_utf8(text).ok()?))
    };
    record.iter().map(entry).collect()
}

/// An expression of the program as a setting that is evaluated for each event.
fn per_event(takes: Takes, tree: &Expr, compiler: &mut Compiler<'_>) -> Given {
    let formula = compiler.lower_formula(tree, &Scope::with_prelude(), Rules::FORMULA, None);
    let as_json = !matches!(takes, Takes::PerEvent);
    Given::PerEvent(PerEvent { formula: Arc::new(formula), as_json })
}

/// A formula whose value is always the same.
fn constant(value: Value<'_>, span: Span) -> Formula {
    let expr = program::Expr::Const(Arc::new(Frozen::new(value)));
    Formula { expr, slots: 0, aggregates: Vec::new(), span }
}

/// The tree of an expression that a declaration holds.
fn expression(text: &str, compiler: &mut Compiler<'_>) -> Option<Expr> {
    let mut sources = Sources::default();
    let source = sources.add("<declaration>", text.to_string());
    let parsed = syntax::parse_script(&sources, source);
    compiler.diagnostics.extend(parsed.diagnostics.iter().cloned());
    parsed.tree.items.into_iter().rev().find_map(|item| match item {
        Item::Expr(tree) => Some(tree),
        _ => None,
    })
}
