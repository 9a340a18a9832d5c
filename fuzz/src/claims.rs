//! What the compiler claims about programs is true: a comparison that it calls never equal never
//! is, a field that it calls never written is never there, and a row of `and` and `or`, however long
//! and however it is balanced, gives what its parts give one by one. The bytes choose the program.

use temblor_lang::builtin::Facts;
use temblor_lang::diagnostic::{Diagnostic, Severity};
use temblor_lang::lower::{Compiler, NoModules, Rules, Scope};
use temblor_lang::program::Script;
use temblor_lang::run::{Context, Outcome};
use temblor_lang::span::Sources;
use temblor_lang::syntax;
use temblor_lang::value::{Arena, Frozen, Owned, Value};
use temblor_stdlib::formats::json;

/// Parts of an expression in each other.
const DEPTH_MAX: usize = 4;
/// Operands of a row.
const OPERANDS_MAX: usize = 700;

/// Choices by the bytes of an input, the first ones when there are no more.
struct Choices<'d>(std::slice::Iter<'d, u8>);

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        self.0.next().map_or(0, |byte| usize::from(*byte) % limit)
    }

    fn one_of<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.below(choices.len())]
    }
}

const FUNCTIONS: &str = "fn same(x) with x end;
fn text(x) with \"#{x}\" end;
fn either(x) of case (1) => 0 case (n) when n == 2 => {\"f\": n} case _ => \"s\" end;
fn down(n) of case (0) => [] case _ => recur(0) end;
fn held(x) with let r = {\"f\": x}; r end;
";
const LOCALS: [&str; 3] = ["x", "y", "z"];
const FIELDS: [&str; 3] = ["f", "g", "h"];
const LITERALS: [&str; 10] =
    ["1", "\"s\"", "1.0", "true", "null", "[]", "{}", "{\"f\": 1}", "[1, 2]", "<<1>>"];
const EVENTS: [&str; 4] =
    ["1", "\"s\"", r#"{"a": 1, "key": "f"}"#, r#"{"a": {"f": "s"}, "key": "g"}"#];

fn expression(choices: &mut Choices<'_>, depth: usize) -> String {
    let kind = if depth == 0 { 0 } else { choices.below(15) };
    let local = choices.one_of(&LOCALS);
    let field = choices.one_of(&FIELDS);
    let mut inner = || expression(choices, depth.saturating_sub(1));
    match kind {
        1 => local.to_string(),
        2 => format!("{local}.{field}"),
        3 => "event".to_string(),
        4 => "event.a".to_string(),
        5 => format!("{{\"{field}\": {}}}", inner()),
        6 => format!("same({})", inner()),
        7 => format!("text({})", inner()),
        8 => format!("either({})", inner()),
        9 => format!("held({})", inner()),
        10 => format!("(match {} of case 1 => {} case _ => {} end)", inner(), inner(), inner()),
        11 => format!("(patch {local} of upsert \"{field}\" => {} end)", inner()),
        12 => format!("(merge {local} of {} end)", inner()),
        13 => format!("(for {} of case (k, v) => v into {} end)", inner(), inner()),
        14 => format!("({} + {})", inner(), inner()),
        _ => choices.one_of(&LITERALS).to_string(),
    }
}

fn statement(choices: &mut Choices<'_>) -> String {
    let local = choices.one_of(&LOCALS);
    let field = choices.one_of(&FIELDS);
    let value = expression(choices, DEPTH_MAX);
    match choices.below(6) {
        0 => format!("let {local}.{field} = {value};\n"),
        1 => format!("let {local}.{field}.f = {value};\n"),
        2 => format!("let {local}[event.key] = {value};\n"),
        _ => format!("let {local} = {value};\n"),
    }
}

/// Something that is true only if the compiler's warning about it is wrong.
fn probe(choices: &mut Choices<'_>) -> String {
    let local = choices.one_of(&LOCALS);
    let field = choices.one_of(&FIELDS);
    let value = expression(choices, 1);
    match choices.below(4) {
        0 => format!("present {local}.{field}"),
        1 => format!("{local}.{field} == {value}"),
        2 => format!("match {local} of case {value} => true case _ => false end"),
        _ => format!("{local} == {value}"),
    }
}

fn compile(text: &str) -> (Option<Script>, Vec<Diagnostic>, Sources) {
    let mut compiler = Compiler::new(temblor_stdlib::registry(), &NoModules);
    let source = compiler.sources.add("fuzz", text);
    let parsed = syntax::parse_script(&compiler.sources, source);
    compiler.diagnostics.extend(parsed.diagnostics);
    compiler.begin_state(&Frozen::default());
    let script = compiler.lower_script(&parsed.tree, Scope::default(), Rules::SCRIPT, None);
    compiler.end_state();
    let bad = compiler.diagnostics.iter().any(|one| one.severity == Severity::Error);
    ((!bad).then_some(script), compiler.diagnostics, compiler.sources)
}

/// What a script makes of an event, when that is a bool.
fn answer(script: &Script, event: &str) -> Result<Option<bool>, String> {
    let (arena, facts, mut state) = (Arena::new(), Facts::default(), Owned::Null);
    let event = json::parse(event, &arena).unwrap_or(Value::Null);
    let mut context = Context::new(&arena, &facts, event, Value::Null, &mut state);
    match script.run(&mut context) {
        Ok(Outcome::Emit { value: Value::Bool(value), .. }) => Ok(Some(value)),
        Ok(_) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes a program whose last line compares something. When that line has a warning that it is
/// never true, no event makes it so.
pub fn inference(data: &[u8]) {
    let mut choices = Choices(data.iter());
    let mut text = FUNCTIONS.to_string();
    for _ in 0..=choices.below(6) {
        text += &statement(&mut choices);
    }
    let last = text.len();
    text += &probe(&mut choices);
    let (Some(script), warnings, _) = compile(&text) else { return };
    let claimed =
        |one: &Diagnostic| one.span.range().start >= last && matches!(one.code, "W0617" | "W0622");
    let Some(claim) = warnings.iter().find(|one| claimed(one)) else { return };
    for event in EVENTS {
        let is_true = answer(&script, event) == Ok(Some(true));
        assert!(!is_true, "{text}\n{} although it is, for {event}", claim.message);
    }
}

/// Writes a row of `and` and `or`, and compares what it gives with what its operands give.
pub fn logic(data: &[u8]) {
    let mut choices = Choices(data.iter());
    let count = 1 + (choices.below(256) * choices.below(4)) % OPERANDS_MAX;
    let mut text = String::new();
    let mut rows: Vec<Vec<Option<bool>>> = vec![Vec::new()];
    for number in 0..count {
        let (operand, value) = match choices.below(8) {
            0 | 1 => ("event.t", Some(true)),
            2 | 3 => ("event.f", Some(false)),
            4 => ("true", Some(true)),
            5 => ("false", Some(false)),
            6 => ("event.missing", None),
            _ => ("(event.t and event.t)", Some(true)),
        };
        if number > 0 {
            let is_or = choices.below(3) == 0;
            text += if is_or { " or " } else { " and " };
            if is_or {
                rows.push(Vec::new());
            }
        }
        text += operand;
        rows.last_mut().expect("there is one from the start").push(value);
    }
    let (script, diagnostics, _) = compile(&text);
    let script = script.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    let mut expected = Some(false);
    for row in &rows {
        let first = row.iter().find(|value| **value != Some(true));
        expected = first.copied().unwrap_or(Some(true));
        if expected != Some(false) {
            break;
        }
    }
    let given = answer(&script, r#"{"t": true, "f": false}"#);
    assert_eq!(given.unwrap_or(None), expected, "{text}");
}
