//! Inline code that only plumbs fields, as steps: fields set, removed and tagged, and events dropped,
//! under conditions that cannot fail. Whatever else code does stays as it is.

use super::condition::{Binds, Test};
use super::notation::{field, field_or_null, name, text};
use crate::options::Setting;
use temblor_logstash_event::reference::FieldRef;
use temblor_ruby::Script;
use temblor_ruby::tree::{Call, Kind, Node, Part};

/// Options that say what happens to events for which code fails: this code never does.
const OF_FAILURES: [&str; 2] = ["tag_on_exception", "tag_with_exception_message"];
/// Deeper conditions stay as they are.
const NESTING_MAX: usize = 8;

/// The steps that do what a filter with these settings does; nothing when that is not certain.
pub(super) fn steps(settings: &[(String, Setting)]) -> Option<Vec<String>> {
    let mut code = None;
    for (name, setting) in settings {
        match name.as_str() {
            "code" => code = setting.text(),
            name if OF_FAILURES.contains(&name) => {}
            _ => return None,
        }
    }
    let code = code.filter(|code| !code.contains("${"))?;
    let actions = actions(Script::parse(code, &[]).ok()?.body(), 0)?;
    if actions.is_empty() {
        return None;
    }
    let alone: Option<Vec<String>> = actions.iter().map(Action::step).collect();
    Some(alone.unwrap_or_else(|| vec![script(&actions)]))
}

/// Something that code does to the event.
#[derive(Debug)]
enum Action {
    /// A field that takes any value, and the value.
    Set(String, String),
    /// The name of a field at the top.
    Remove(String),
    Tag(String),
    Cancel,
    /// What happens when tests hold, and when none does.
    If(Vec<Arm>, Vec<Action>),
}

/// What happens when a test holds.
#[derive(Debug)]
struct Arm {
    test: Test,
    opposite: Test,
    body: Vec<Action>,
}

impl Action {
    /// As a step of its own, if it reads well as one.
    fn step(&self) -> Option<String> {
        Some(match self {
            Self::Set(target, value) => format!("set {target} = {value}"),
            Self::Remove(name) => {
                format!("logstash::mutate with remove_field = [{}] end", text(name))
            }
            Self::Tag(tag) => format!("set {}", tagged(tag)),
            Self::Cancel => format!("logstash::{}", name("drop")),
            Self::If(arms, otherwise) => match (arms.as_slice(), otherwise.as_slice()) {
                ([arm], []) if matches!(arm.body.as_slice(), [Self::Cancel]) => {
                    format!("where {}", arm.opposite.text)
                }
                _ => return None,
            },
        })
    }

    /// As an expression of a script.
    fn expression(&self) -> String {
        match self {
            Self::Set(target, value) => format!("let {target} = {value}"),
            Self::Remove(name) => format!("let event = patch event of erase {} end", text(name)),
            Self::Tag(tag) => format!("let {}", tagged(tag)),
            Self::Cancel => "drop".to_string(),
            Self::If(arms, otherwise) => {
                let mut out = String::from("match event of\n");
                for arm in arms {
                    let body = expressions(&arm.body);
                    out.push_str(&format!("case _ when {} =>\n{body}\n", arm.test.text));
                }
                out.push_str(&format!("case _ => {}\n", expressions(otherwise)));
                out + "end"
            }
        }
    }
}

fn tagged(tag: &str) -> String {
    format!("event.tags = logstash::tagged(event.tags ?? null, {})", text(tag))
}

fn expressions(actions: &[Action]) -> String {
    let all: Vec<_> = actions.iter().map(Action::expression).collect();
    if all.is_empty() { "null".to_string() } else { all.join(";\n") }
}

/// All actions in one step.
fn script(actions: &[Action]) -> String {
    format!("script\n{};\nevent\nend", expressions(actions))
}

fn actions(node: &Node, depth: usize) -> Option<Vec<Action>> {
    if depth > NESTING_MAX {
        return None;
    }
    Some(match &node.kind {
        Kind::Nil => Vec::new(),
        Kind::Sequence(nodes) => {
            let all: Option<Vec<_>> = nodes.iter().map(|one| actions(one, depth + 1)).collect();
            all?.into_iter().flatten().collect()
        }
        Kind::Call(call) => vec![of_event(call, depth)?],
        Kind::If(condition, then, otherwise) => {
            let (holds, fails) = (test(condition, false, depth)?, test(condition, true, depth)?);
            let (then, otherwise) = (actions(then, depth + 1)?, actions(otherwise, depth + 1)?);
            let (test, opposite) = (holds, fails);
            vec![choice(Arm { test, opposite, body: then }, otherwise)]
        }
        _ => return None,
    })
}

/// A choice; one without anything to do when the test holds is turned round.
fn choice(arm: Arm, mut otherwise: Vec<Action>) -> Action {
    if arm.body.is_empty() {
        let turned = Arm { test: arm.opposite, opposite: arm.test, body: otherwise };
        return Action::If(vec![turned], Vec::new());
    }
    if let [Action::If(arms, last)] = otherwise.as_mut_slice() {
        let mut all = vec![arm];
        all.append(arms);
        return Action::If(all, std::mem::take(last));
    }
    Action::If(vec![arm], otherwise)
}

/// `event.set("a", 1)` and its like.
fn of_event(call: &Call, depth: usize) -> Option<Action> {
    let Some(Node { kind: Kind::Local(receiver), .. }) = &call.receiver else { return None };
    if &*receiver.name != "event" || call.block.is_some() || call.passed.is_some() {
        return None;
    }
    match (&*call.name, call.arguments.as_slice()) {
        ("set", [name, given]) => {
            let target = FieldRef::parse(&literal(name)?).ok().filter(takes_anything)?;
            Some(Action::Set(path(&target)?, value(given, depth)?))
        }
        ("remove", [name]) => {
            let name = literal(name)?;
            let top = FieldRef::parse(&name).ok().filter(FieldRef::is_free)?;
            let only = top.top()?.to_string();
            (!name.contains("%{") && path(&top).is_some()).then_some(Action::Remove(only))
        }
        ("tag", [tag]) => Some(Action::Tag(literal(tag)?)),
        ("cancel", []) => Some(Action::Cancel),
        _ => None,
    }
}

/// Whether the field can be set to anything, whatever the event has.
pub(super) fn takes_anything(reference: &FieldRef) -> bool {
    reference.is_free() || (reference.metadata && reference.steps.len() == 1)
}

/// A field as it is written, if it is more than a name of a function's.
fn path(reference: &FieldRef) -> Option<String> {
    Some(field(reference)).filter(|path| !path.starts_with("logstash::"))
}

/// A text in which nothing is computed.
fn literal(node: &Node) -> Option<String> {
    let Kind::Text(parts) = &node.kind else { return None };
    let text_of = |part: &Part| match part {
        Part::Text(text) => Some(text.to_string()),
        Part::Bytes(_) | Part::Code(_) => None,
    };
    parts.iter().map(text_of).collect()
}

/// A literal value.
fn constant(node: &Node) -> Option<String> {
    Some(match &node.kind {
        Kind::Nil => "null".to_string(),
        Kind::Bool(value) => value.to_string(),
        Kind::Int(number) => number.checked_abs().map(|_| number.to_string())?,
        Kind::Float(number) => {
            let written = format!("{number:?}");
            let is_usual = written.contains('.') && !written.contains('e');
            return is_usual.then_some(written);
        }
        _ => text(&literal(node)?),
    })
}

/// The field of `event.get("a")`. Times and all of `@metadata` are no values between steps.
fn read(node: &Node) -> Option<&FieldRef> {
    let Kind::Get(_, reference) = &node.kind else { return None };
    let first = reference.steps.first()?;
    (reference.metadata || &**first != "@timestamp").then_some(reference)
}

/// `a || b || c`, in their order; on the right of each there is one alone.
fn alternatives(node: &Node) -> Vec<&Node> {
    let (mut all, mut rest) = (Vec::new(), node);
    while let Kind::Or(left, right) = &rest.kind {
        all.push(&**right);
        rest = left;
    }
    all.push(rest);
    all.reverse();
    all
}

/// A value that cannot fail.
fn value(node: &Node, depth: usize) -> Option<String> {
    if depth > NESTING_MAX {
        return None;
    }
    match &node.kind {
        Kind::Get(..) => Some(field_or_null(read(node)?)),
        Kind::If(condition, then, otherwise) => {
            let test = test(condition, false, depth)?.text;
            let (then, otherwise) = (value(then, depth + 1)?, value(otherwise, depth + 1)?);
            Some(format!("if {test} then {then} else {otherwise} end"))
        }
        Kind::Or(..) => {
            let mut all = alternatives(node);
            let last = all.pop()?;
            let mut out = String::new();
            for (number, one) in all.iter().enumerate() {
                let word = if number == 0 { "if" } else { "elif" };
                let reference = read(one)?;
                out.push_str(&format!(
                    "{word} {} then {}\n",
                    holds(reference, false).text,
                    field(reference)
                ));
            }
            Some(format!("{out}else {} end", value(last, depth + 1)?))
        }
        Kind::Not(_) => Some(test(node, false, depth)?.text),
        Kind::Call(call) if matches!(&*call.name, "nil?" | "include?" | "==") => {
            Some(test(node, false, depth)?.text)
        }
        Kind::Sequence(nodes) => match nodes.as_slice() {
            [only] => value(only, depth + 1),
            _ => None,
        },
        _ => constant(node),
    }
}

/// Whether a field is neither missing nor null nor false.
fn holds(reference: &FieldRef, negated: bool) -> Test {
    Test::equality(&format!("({} ?? false)", field(reference)), "false", !negated)
}

/// A condition that cannot fail, or with `negated` its opposite, which is made part by part.
fn test(node: &Node, negated: bool, depth: usize) -> Option<Test> {
    if depth > NESTING_MAX {
        return None;
    }
    let joined = |left, right, word| {
        let parts = vec![test(left, negated, depth + 1)?, test(right, negated, depth + 1)?];
        Some(Test::joined(parts, word))
    };
    match (&node.kind, negated) {
        (Kind::Get(..), _) => Some(holds(read(node)?, negated)),
        (Kind::And(left, right), false) | (Kind::Or(left, right), true) => {
            joined(left, right, Binds::And)
        }
        (Kind::Or(left, right), false) | (Kind::And(left, right), true) => {
            joined(left, right, Binds::Or)
        }
        (Kind::Not(inner), _) => test(inner, !negated, depth + 1),
        (Kind::Sequence(nodes), _) => match nodes.as_slice() {
            [only] => test(only, negated, depth + 1),
            _ => None,
        },
        (Kind::Call(call), _) => asked(call, negated),
        _ => None,
    }
}

/// `event.get("a").nil?`, `event.get("a") == 1`, `event.include?("a")`
fn asked(call: &Call, negated: bool) -> Option<Test> {
    let receiver = call.receiver.as_ref()?;
    if call.block.is_some() || call.passed.is_some() || call.safe {
        return None;
    }
    let equals = |node, other: &str| {
        Some(Test::equality(&format!("({})", field_or_null(read(node)?)), other, negated))
    };
    match (&*call.name, call.arguments.as_slice()) {
        ("nil?", []) => equals(receiver, "null"),
        ("==", [other]) => equals(receiver, &constant(other)?),
        ("include?", [name]) => {
            let Kind::Local(event) = &receiver.kind else { return None };
            let reference = FieldRef::parse(&literal(name)?).ok()?;
            let is_plain = &*event.name == "event" && !reference.steps.is_empty();
            let path = path(&reference).filter(|_| is_plain)?;
            Some(Test::call(format!("present {path}")).turned(negated))
        }
        _ => None,
    }
}
