//! Paths followed through a document. The work over one document is bounded.

use super::path::{Path, Step, Test};
use roxmltree::{Document, Node};
use std::collections::HashMap;

/// Nodes that one document's paths may look at.
const VISITS_MAX: usize = 5_000_000;

/// What a path finds.
pub(super) enum Found {
    Nothing,
    /// Nodes, each as text.
    Texts(Vec<String>),
    /// What a function gives.
    Text(String),
}

/// A node, or something of it.
#[derive(Clone, Copy, PartialEq)]
enum Item<'d> {
    Node(Node<'d, 'd>),
    /// The value of an attribute, with its element.
    Attribute(Node<'d, 'd>, &'d str),
}

enum Value<'d> {
    Items(Vec<Item<'d>>),
    Text(String),
    Number(f64),
    Truth(bool),
}

/// A document with the namespaces that paths use.
pub(super) struct Search<'d> {
    document: &'d Document<'d>,
    namespaces: &'d HashMap<String, String>,
    any_namespace: bool,
    visits: usize,
}

/// Where a predicate is asked.
#[derive(Clone, Copy)]
struct NodeContext<'d> {
    item: Item<'d>,
    position: usize,
    last: usize,
}

impl<'d> Search<'d> {
    pub(super) fn new(
        document: &'d Document<'d>,
        namespaces: &'d HashMap<String, String>,
        any_namespace: bool,
    ) -> Self {
        Self { document, namespaces, any_namespace, visits: 0 }
    }

    pub(super) fn find(&mut self, path: &Path) -> Found {
        let place = NodeContext { item: Item::Node(self.document.root()), position: 1, last: 1 };
        match self.value(path, place) {
            Value::Items(items) if items.is_empty() => Found::Nothing,
            Value::Items(items) => {
                Found::Texts(items.into_iter().map(|item| self.written(item)).collect())
            }
            Value::Text(text) => Found::Text(text),
            Value::Number(number) => Found::Text(number_text(number)),
            // What does not hold is as good as not there.
            Value::Truth(false) => Found::Nothing,
            Value::Truth(true) => Found::Text("true".to_string()),
        }
    }

    /// A node as XML: text with its entities, all others as they stand; an attribute is its value.
    fn written(&self, item: Item<'d>) -> String {
        /// How raw text begins.
        const RAW: &str = "<![CDATA[";
        let Item::Node(node) = item else { return text(item) };
        let source = &self.document.input_text()[node.range()];
        match node.text() {
            Some(text) if node.is_text() && !source.contains(RAW) => {
                text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
            }
            _ if node.is_root() => text(item),
            _ => source.to_string(),
        }
    }

    fn value(&mut self, path: &Path, place: NodeContext<'d>) -> Value<'d> {
        match path {
            Path::Text(text) => Value::Text(text.clone()),
            Path::Number(number) => Value::Number(*number),
            Path::Union(parts) => {
                let mut items: Vec<Item<'d>> = Vec::new();
                for part in parts {
                    if let Value::Items(more) = self.value(part, place) {
                        items.extend(
                            more.into_iter()
                                .filter(|item| !items.contains(item))
                                .collect::<Vec<_>>(),
                        );
                    }
                }
                Value::Items(items)
            }
            Path::All(parts) => Value::Truth(parts.iter().all(|part| {
                let value = self.value(part, place);
                truth(&value)
            })),
            Path::Any(parts) => Value::Truth(parts.iter().any(|part| {
                let value = self.value(part, place);
                truth(&value)
            })),
            Path::Compare(left, operator, right) => {
                let (left, right) = (self.value(left, place), self.value(right, place));
                Value::Truth(compare(&left, operator, &right))
            }
            Path::Call(name, arguments) => self.call(name, arguments, place),
            Path::Steps(absolute, steps) => {
                let start = match (*absolute, place.item) {
                    (true, _) => Item::Node(self.document.root()),
                    (false, item) => item,
                };
                let mut items = vec![start];
                for step in steps {
                    items = self.step(&items, step);
                }
                Value::Items(items)
            }
        }
    }

    fn step(&mut self, items: &[Item<'d>], step: &Step) -> Vec<Item<'d>> {
        let mut found: Vec<Item<'d>> = Vec::new();
        for item in items {
            let Item::Node(node) = *item else {
                if step.test == Test::Here {
                    found.push(*item);
                }
                continue;
            };
            let bases: Vec<Node<'d, 'd>> =
                if step.deep { node.descendants().collect() } else { vec![node] };
            for base in bases {
                self.visits += 1;
                if self.visits > VISITS_MAX {
                    return found;
                }
                let taken = self.take(base, &step.test);
                let kept = self.kept(taken, &step.predicates);
                found.extend(
                    kept.into_iter()
                        .filter(|item| items.len() == 1 || !found.contains(item))
                        .collect::<Vec<_>>(),
                );
            }
        }
        found
    }

    fn take(&mut self, base: Node<'d, 'd>, test: &Test) -> Vec<Item<'d>> {
        match test {
            Test::Here => vec![Item::Node(base)],
            Test::Parent => base.parent().map(Item::Node).into_iter().collect(),
            Test::Text => base.children().filter(Node::is_text).map(Item::Node).collect(),
            Test::Any => base.children().map(Item::Node).collect(),
            Test::Element(prefix, name) => {
                self.visits += 1;
                base.children()
                    .filter(|child| {
                        child.is_element() && self.fits(*child, prefix.as_deref(), name)
                    })
                    .map(Item::Node)
                    .collect()
            }
            Test::Following(name) => base
                .next_siblings()
                .skip(1)
                .filter(|one| one.is_element() && (name == "*" || one.tag_name().name() == name))
                .map(Item::Node)
                .collect(),
            Test::Attribute(prefix, name) => base
                .attributes()
                .filter(|one| {
                    let wanted = prefix.as_ref().and_then(|prefix| self.namespaces.get(prefix));
                    (name == "*" || one.name() == name)
                        && (self.any_namespace
                            || prefix.is_none()
                            || one.namespace() == wanted.map(String::as_str))
                })
                .map(|one| Item::Attribute(base, one.value()))
                .collect(),
        }
    }

    fn fits(&self, node: Node<'d, 'd>, prefix: Option<&str>, name: &str) -> bool {
        let tag = node.tag_name();
        if name != "*" && tag.name() != name {
            return false;
        }
        if self.any_namespace {
            return true;
        }
        match prefix {
            None => name == "*" || tag.namespace().is_none(),
            Some(prefix) => {
                let wanted = self.namespaces.get(prefix).map(String::as_str);
                let wanted = wanted.or_else(|| node.lookup_namespace_uri(Some(prefix)));
                wanted.is_some() && tag.namespace() == wanted
            }
        }
    }

    fn kept(&mut self, mut items: Vec<Item<'d>>, predicates: &[Path]) -> Vec<Item<'d>> {
        for predicate in predicates {
            let last = items.len();
            let mut kept = Vec::new();
            for (at, item) in items.into_iter().enumerate() {
                let place = NodeContext { item, position: at + 1, last };
                let holds = match self.value(predicate, place) {
                    Value::Number(number) => number == (at + 1) as f64,
                    value => truth(&value),
                };
                if holds {
                    kept.push(item);
                }
            }
            items = kept;
        }
        items
    }

    fn call(&mut self, name: &str, arguments: &[Path], place: NodeContext<'d>) -> Value<'d> {
        let values: Vec<Value<'d>> =
            arguments.iter().map(|argument| self.value(argument, place)).collect();
        let here = || text(place.item);
        let part = |at: usize| values.get(at).map_or_else(here, string);
        match name {
            "count" => Value::Number(match values.first() {
                Some(Value::Items(items)) => items.len() as f64,
                _ => 0.0,
            }),
            "sum" => Value::Number(match values.first() {
                Some(Value::Items(items)) => items.iter().map(|item| number(&text(*item))).sum(),
                _ => 0.0,
            }),
            "last" => Value::Number(place.last as f64),
            "position" => Value::Number(place.position as f64),
            "number" => Value::Number(number(&part(0))),
            "string" => Value::Text(part(0)),
            "string-length" => Value::Number(part(0).chars().count() as f64),
            "normalize-space" => {
                Value::Text(part(0).split_whitespace().collect::<Vec<_>>().join(" "))
            }
            "name" | "local-name" => {
                let item = match values.first() {
                    Some(Value::Items(items)) => items.first().copied(),
                    _ => Some(place.item),
                };
                Value::Text(match item {
                    Some(Item::Node(node)) => node.tag_name().name().to_string(),
                    _ => String::new(),
                })
            }
            "contains" => Value::Truth(part(0).contains(&part(1))),
            "starts-with" => Value::Truth(part(0).starts_with(&part(1))),
            "concat" => Value::Text((0..values.len()).map(part).collect()),
            "substring-before" => {
                Value::Text(part(0).split_once(&part(1)).map_or(String::new(), |(a, _)| a.into()))
            }
            "substring-after" => {
                Value::Text(part(0).split_once(&part(1)).map_or(String::new(), |(_, b)| b.into()))
            }
            "translate" => {
                let (from, to): (Vec<char>, Vec<char>) =
                    (part(1).chars().collect(), part(2).chars().collect());
                let map = |c: char| match from.iter().position(|one| *one == c) {
                    Some(at) => to.get(at).copied(),
                    None => Some(c),
                };
                Value::Text(part(0).chars().filter_map(map).collect())
            }
            "not" => Value::Truth(!values.first().is_some_and(truth)),
            "boolean" => Value::Truth(values.first().is_some_and(truth)),
            name => Value::Truth(name == "true"),
        }
    }
}

/// The text inside.
fn text(item: Item<'_>) -> String {
    match item {
        Item::Attribute(_, value) => value.to_string(),
        Item::Node(node) if node.is_text() => node.text().unwrap_or_default().to_string(),
        Item::Node(node) => {
            node.descendants().filter(Node::is_text).filter_map(|one| one.text()).collect()
        }
    }
}

fn string(value: &Value<'_>) -> String {
    match value {
        Value::Items(items) => items.first().map_or(String::new(), |item| text(*item)),
        Value::Text(text) => text.clone(),
        Value::Number(number) => number_text(*number),
        Value::Truth(truth) => truth.to_string(),
    }
}

fn number(text: &str) -> f64 {
    text.trim().parse().unwrap_or(f64::NAN)
}

fn number_text(number: f64) -> String {
    temblor_logstash_event::datum::float_text(number)
}

fn truth(value: &Value<'_>) -> bool {
    match value {
        Value::Items(items) => !items.is_empty(),
        Value::Text(text) => !text.is_empty(),
        Value::Number(number) => *number != 0.0 && !number.is_nan(),
        Value::Truth(truth) => *truth,
    }
}

/// Of several nodes one is enough.
fn compare(left: &Value<'_>, operator: &str, right: &Value<'_>) -> bool {
    let texts = |value: &Value<'_>| match value {
        Value::Items(items) => items.iter().map(|item| text(*item)).collect(),
        other => vec![string(other)],
    };
    let numeric = matches!(left, Value::Number(_)) || matches!(right, Value::Number(_));
    let one = |left: &str, right: &str| match operator {
        "=" if numeric => number(left) == number(right),
        "=" => left == right,
        "!=" if numeric => number(left) != number(right),
        "!=" => left != right,
        "<" => number(left) < number(right),
        "<=" => number(left) <= number(right),
        ">" => number(left) > number(right),
        _ => number(left) >= number(right),
    };
    let right = texts(right);
    texts(left).iter().any(|left| right.iter().any(|right| one(left, right)))
}
