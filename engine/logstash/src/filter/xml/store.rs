//! An element as a map: attributes and children by name, text alone where there is nothing else. Depth
//! is bounded by the reader of XML.

use roxmltree::Node;
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::{Datum, Map};

/// How it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// `force_array`
    pub lists: bool,
    /// `force_content`
    pub content: bool,
    /// `suppress_empty`
    pub(crate) suppress_empty: bool,
}

/// Where text goes that is not alone.
const CONTENT: &str = "content";
/// Deeper elements are left out.
const DEPTH_MAX: usize = 256;

/// The value of an element; its own name is not part of it.
pub(super) fn collapse<'a>(element: Node<'_, '_>, style: Style, arena: &'a Arena) -> Datum<'a> {
    element_at(element, style, arena, 0)
}

fn element_at<'a>(
    element: Node<'_, '_>,
    style: Style,
    arena: &'a Arena,
    depth: usize,
) -> Datum<'a> {
    let mut map = attributes(element, arena);
    let bare = map.is_empty();
    let has_elements = element.children().any(|child| child.is_element());
    if !has_elements {
        let text: String =
            element.children().filter(Node::is_text).filter_map(|child| child.text()).collect();
        if !text.trim().is_empty() {
            let value = Datum::Str(arena.str(&text));
            if bare && !style.content {
                return value;
            }
            map.insert(CONTENT, value);
            return Datum::Map(map);
        }
    }
    if depth < DEPTH_MAX {
        for child in element.children().filter(Node::is_element) {
            let value = element_at(child, style, arena, depth + 1);
            let empty = match &value {
                Datum::Null => true,
                Datum::Map(map) => map.is_empty(),
                Datum::Str(text) => text.is_empty(),
                _ => false,
            };
            if empty && bare && style.suppress_empty {
                continue;
            }
            merge(&mut map, arena.str(child.tag_name().name()), value, style.lists);
        }
    }
    if has_elements {
        let mut texts: Vec<Datum<'a>> = element
            .children()
            .filter(Node::is_text)
            .map(|child| as_written(child))
            .filter(|text| !text.trim().is_empty())
            .map(|text| Datum::Str(arena.str(text)))
            .collect();
        match texts.len() {
            0 => {}
            1 => map.insert(CONTENT, texts.remove(0)),
            _ => map.insert(CONTENT, Datum::List(texts)),
        }
    }
    if map.is_empty() && style.suppress_empty {
        return Datum::Null;
    }
    Datum::Map(map)
}

/// A repeated name becomes a list.
fn merge<'a>(map: &mut Map<'a>, key: &'a str, value: Datum<'a>, lists: bool) {
    match map.get_mut(key) {
        Some(Datum::List(items)) => items.push(value),
        Some(old) => {
            let first = std::mem::take(old);
            *old = Datum::List(vec![first, value]);
        }
        None => map.insert(key, if lists { Datum::List(vec![value]) } else { value }),
    }
}

/// Attributes by their names as written, with the namespaces that are declared here.
fn attributes<'a>(element: Node<'_, '_>, arena: &'a Arena) -> Map<'a> {
    let mut map = Map::default();
    let around = element.parent_element();
    for namespace in element.namespaces() {
        let same = |one: &roxmltree::Namespace<'_>| {
            one.name() == namespace.name() && one.uri() == namespace.uri()
        };
        let is_new = !around.is_some_and(|around| around.namespaces().any(same));
        if is_new && namespace.name() != Some("xml") {
            let key = match namespace.name() {
                Some(prefix) => arena.format(format_args!("xmlns:{prefix}")),
                None => "xmlns",
            };
            map.insert(key, Datum::Str(arena.str(namespace.uri())));
        }
    }
    let text = element.document().input_text();
    for attribute in element.attributes() {
        let name = text.get(attribute.range_qname()).unwrap_or(attribute.name());
        map.insert(arena.str(name), Datum::Str(arena.str(attribute.value())));
    }
    map
}

/// Text beside elements keeps its entities, unless it is a section of raw text.
fn as_written<'t>(text: Node<'t, '_>) -> &'t str {
    let written = &text.document().input_text()[text.range()];
    if written.contains("<![CDATA[") { text.text().unwrap_or_default() } else { written }
}
