//! The one reader of settings: from what a program, a flow or another front end says to checked
//! [`Settings`].
//!
//! Invariant: every complaint about a setting is made in this folder, and no mistake is reported twice.

pub mod complain;
mod units;
mod value;

use std::sync::Arc;

use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::lower::{Compiler, Rules, Scope};
use temblor_lang::span::{Sources, Span};
use temblor_lang::syntax;
use temblor_lang::syntax::tree::{Binding, Expr, ExprKind, Item, StringLit, StringPart};
use temblor_lang::value::{Arena, Frozen, Value, to_json};

use crate::setting::{Setting, Takes};
use crate::settings::{Given, PerEvent, Settings, Template};

/// What holds where settings are written.
#[derive(Debug)]
pub struct Reader<'r> {
    /// The rows; of two with the same name the first counts.
    pub rows: &'r [&'static [Setting]],
    /// The whole declaration, for messages.
    pub span: Span,
    /// What expressions may name.
    pub scope: &'r Scope,
    /// What `args` stands for.
    pub args: Option<Arc<Frozen>>,
    /// Whether a duration must name its unit. Declarations of tremor, and what stands for them, mean nanoseconds.
    pub wants_units: bool,
}

impl Reader<'_> {
    /// Reads `with name = value, … end` into settings that may hold some already. What is wrong is reported
    /// to the compiler; the settings are then not complete.
    pub fn bindings(
        &self,
        with: &[Binding],
        mut settings: Settings,
        compiler: &mut Compiler<'_>,
    ) -> Settings {
        for binding in with {
            let name = binding.name.text.as_str();
            let Some(row) = find(self.rows, name) else {
                let known = names(self.rows);
                compiler.diagnostics.push(complain::unknown(name, binding.name.span, known));
                continue;
            };
            settings.note(row.name);
            if let Some(given) = self.value(row, &binding.value, compiler) {
                settings.insert(row.name, binding.value.span, given);
            }
        }
        complete(self.rows, &mut settings, compiler);
        settings
    }

    /// Reads one setting.
    fn value(&self, row: &Setting, tree: &Expr, compiler: &mut Compiler<'_>) -> Option<Given> {
        match (row.takes, &tree.kind) {
            (Takes::Formula, _) => {
                return Some(Given::Formula(Arc::new(self.formula(tree, compiler))));
            }
            (takes, _) if takes.is_per_event() => {
                let formula = Arc::new(self.formula(tree, compiler));
                let as_json = !matches!(takes, Takes::PerEvent);
                return Some(Given::PerEvent(PerEvent { formula, as_json }));
            }
            (Takes::Template | Takes::PathTemplate, ExprKind::String(text)) => {
                return Some(self.template(row.takes, text, compiler));
            }
            _ => {}
        }
        if self.wants_units {
            units::look(row, tree, compiler);
        }
        let value = compiler.constant(tree, self.scope, self.args.clone())?;
        let arena = Arena::new();
        let value = value.get().copy_into(&arena);
        checked(row, value, tree.span, &arena, &mut compiler.diagnostics)
    }

    fn formula(&self, tree: &Expr, compiler: &mut Compiler<'_>) -> temblor_lang::program::Formula {
        compiler.lower_formula(tree, self.scope, Rules::FORMULA, self.args.clone())
    }

    /// A text that may depend on the event, such as the path of a sink.
    pub fn template(&self, takes: Takes, text: &StringLit, compiler: &mut Compiler<'_>) -> Given {
        if let Some(known) = text.constant() {
            return Given::Template(Template::Constant(known.to_string()));
        }
        let (directory, rest) = match takes {
            Takes::PathTemplate => directory_of(text),
            _ => (String::new(), text.clone()),
        };
        let tree = Expr { kind: ExprKind::String(rest), span: text.span };
        let formula = Arc::new(self.formula(&tree, compiler));
        Given::Template(Template::PerEvent { directory, formula })
    }
}

/// The directory that a text begins with, and the rest of the text.
fn directory_of(text: &StringLit) -> (String, StringLit) {
    let mut rest = text.clone();
    let slash = match rest.parts.first() {
        Some(StringPart::Text(first)) => first.rfind('/'),
        _ => None,
    };
    let (Some(slash), Some(StringPart::Text(first))) = (slash, rest.parts.first_mut()) else {
        return (".".to_string(), rest);
    };
    let file = first.split_off(slash + 1);
    let directory = std::mem::replace(first, file);
    (directory, rest)
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
    hidden(&[rows], &mut settings, compiler);
    settings
}

/// Reads the configuration of a codec or an interceptor; nothing when it is wrong, which is reported.
pub fn constants(
    rows: &'static [Setting],
    config: Option<&Frozen>,
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Settings> {
    let arena = Arena::new();
    let value = config.map_or(Value::Null, |config| config.get().copy_into(&arena));
    let before = diagnostics.len();
    let settings = entries(rows, value, span, &arena, diagnostics);
    let is_fine = diagnostics[before..].iter().all(|one| one.severity != Severity::Error);
    is_fine.then_some(settings)
}

/// Reads a record that stands in no program.
///
/// # Errors
/// The first setting that is wrong, and why.
pub fn plain<'a>(
    rows: &[&'static [Setting]],
    value: Value<'a>,
    arena: &'a Arena,
) -> Result<Settings, (String, String)> {
    let span = Span::default();
    let mut settings = Settings::new(span);
    for (key, value) in value.as_record(arena).iter().flat_map(|record| record.iter()) {
        let Some(row) = find(rows, key) else {
            let known = names(rows).collect::<Vec<_>>().join(", ");
            return Err((key.to_string(), format!("there is no such setting; known are {known}")));
        };
        let mut inner = Vec::new();
        let given = value::read(row.takes, value, span, arena, &mut inner);
        let given = given.map_err(|reason| (key.to_string(), reason))?;
        if let Some(one) = inner.into_iter().next() {
            return Err((key.to_string(), one.message));
        }
        settings.note(row.name);
        settings.insert(row.name, span, given);
    }
    defaults(rows, &mut settings, &mut Vec::new());
    let mut all = rows.iter().flat_map(|rows| rows.iter());
    match all.find(|row| row.required && !settings.has(row.name)) {
        Some(row) => Err((row.name.to_string(), format!("is missing: {}", row.doc))),
        None => Ok(settings),
    }
}

/// Reads the value of one setting.
///
/// # Errors
/// What is wrong with it, as a sentence.
pub fn one<'a>(
    row: &Setting,
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
) -> Result<Given, String> {
    let mut inner = Vec::new();
    let given = value::read(row.takes, value, span, arena, &mut inner);
    let given = given.map_err(|reason| complain::sentence(row.name, &reason))?;
    inner.into_iter().next().map_or(Ok(given), |complaint| Err(complaint.message))
}

/// The settings of a record; `null` is as good as nothing.
fn entries<'a>(
    rows: &'static [Setting],
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    diagnostics: &mut Vec<Diagnostic>,
) -> Settings {
    let mut settings = Settings::new(span);
    if value != Value::Null && value.as_record(arena).is_none() {
        let message = format!("expected a record of settings, got {}", to_json(value));
        diagnostics.push(Diagnostic::error("E0510", span, message));
    }
    for (key, value) in value.as_record(arena).iter().flat_map(|record| record.iter()) {
        let Some(row) = find(&[rows], key) else {
            diagnostics.push(complain::unknown(key, span, names(&[rows])));
            continue;
        };
        if value == Value::Null {
            continue;
        }
        settings.note(row.name);
        if let Some(given) = checked(row, value, span, arena, diagnostics) {
            settings.insert(row.name, span, given);
        }
    }
    defaults(&[rows], &mut settings, diagnostics);
    settings
}

fn checked<'a>(
    row: &Setting,
    value: Value<'a>,
    span: Span,
    arena: &'a Arena,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Given> {
    match value::read(row.takes, value, span, arena, diagnostics) {
        Ok(given) => Some(given),
        Err(reason) => {
            diagnostics.push(complain::unfit(row.name, &reason, span));
            None
        }
    }
}

/// Adds defaults and hidden expressions, and reports what is missing.
fn complete(rows: &[&'static [Setting]], settings: &mut Settings, compiler: &mut Compiler<'_>) {
    defaults(rows, settings, &mut compiler.diagnostics);
    hidden(rows, settings, compiler);
}

fn defaults(
    rows: &[&'static [Setting]],
    settings: &mut Settings,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for row in rows.iter().flat_map(|rows| rows.iter()) {
        // What the program sets wrongly has been reported.
        if settings.has(row.name) || settings.says(row.name) || row.takes.is_hidden() {
            continue;
        }
        if let Some(default) = row.default {
            let given = default_of(row, default).expect("a test reads every default");
            settings.insert(row.name, settings.span, given);
        } else if row.required {
            diagnostics.push(complain::missing(row, settings.span));
        }
    }
}

fn hidden(rows: &[&'static [Setting]], settings: &mut Settings, compiler: &mut Compiler<'_>) {
    for row in rows.iter().flat_map(|rows| rows.iter()) {
        let Takes::Hidden(text) = row.takes else { continue };
        let Some(tree) = expression(text, compiler) else { continue };
        // The connector looks for it, whether the program writes it or not.
        let key = text.trim_start_matches('$').split('.').next();
        if let Some(key) = key.filter(|key| !key.is_empty()) {
            compiler.metadata_is_written(Some(key));
        }
        let scope = Scope::with_prelude();
        let formula = Arc::new(compiler.lower_formula(&tree, &scope, Rules::FORMULA, None));
        let given = Given::PerEvent(PerEvent { formula, as_json: true });
        settings.insert(row.name, settings.span, given);
    }
}

/// The value that a default stands for; `None` when it stands for none.
#[must_use]
pub fn default_of(row: &Setting, text: &'static str) -> Option<Given> {
    let number = || text.parse::<u64>().ok();
    let arena = Arena::new();
    let value = match row.takes {
        Takes::Whole { .. } => Value::UInt(number()?),
        Takes::Signed { .. } => Value::Int(text.parse().ok()?),
        Takes::Number | Takes::Between { .. } => Value::Float(text.parse().ok()?),
        Takes::Flag => Value::Bool(text.parse().ok()?),
        _ => Value::Str(text),
    };
    value::read(row.takes, value, Span::default(), &arena, &mut Vec::new()).ok()
}

fn find(rows: &[&'static [Setting]], name: &str) -> Option<&'static Setting> {
    let mut all = rows.iter().flat_map(|rows| rows.iter());
    all.find(|row| row.name == name && !row.takes.is_hidden())
}

/// The names that users can set.
fn names(rows: &[&'static [Setting]]) -> impl Iterator<Item = &'static str> {
    let known = rows.iter().flat_map(|rows| rows.iter()).filter(|row| !row.takes.is_hidden());
    known.map(|row| row.name)
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
