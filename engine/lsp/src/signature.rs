//! Which parameter of which function is being written. The call around the cursor is found by its
//! brackets, so that it need not be finished.

use super::hover;
use super::navigate::Meaning;
use super::workspace::Workspace;
use lsp_types::{
    Documentation, ParameterInformation, ParameterLabel, SignatureHelp, SignatureInformation, Uri,
};
use temblor_lang::index::{Symbol, SymbolKind};
use temblor_lang::syntax::{TokenClass, classes};

/// A call whose brackets are open at the cursor.
#[derive(Debug, PartialEq, Eq)]
struct OpenCall {
    /// `string::split`, by its names.
    path: Vec<String>,
    /// The number of the argument at the cursor, from 0.
    argument: usize,
}

/// Signature, places of its parameters, and documentation.
type Described = (String, Vec<(usize, usize)>, String);

fn open_call(text: &str, offset: usize) -> Option<OpenCall> {
    let pieces = classes(text);
    let tokens: Vec<&str> = pieces
        .iter()
        .filter(|piece| piece.1 <= offset)
        .filter(|piece| !matches!(piece.2, TokenClass::Blank | TokenClass::Comment))
        .map(|piece| &text[piece.0..piece.1])
        .collect();
    let (mut depth, mut argument) = (0_usize, 0);
    for (at, token) in tokens.iter().enumerate().rev() {
        match *token {
            ")" | "]" | "}" => depth += 1,
            "(" if depth == 0 => {
                let path = path_before(&tokens[..at]);
                return (!path.is_empty()).then_some(OpenCall { path, argument });
            }
            "[" | "{" | "%{" | "%[" | "%(" if depth == 0 => argument = 0,
            "(" | "[" | "{" | "%{" | "%[" | "%(" => depth -= 1,
            "," if depth == 0 => argument += 1,
            ";" if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn path_before(tokens: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = tokens.iter().rev();
    while let Some(name) = rest.next() {
        if !name.starts_with(|first: char| first.is_alphabetic() || first == '`') {
            break;
        }
        names.insert(0, name.trim_matches('`').to_string());
        if rest.next() != Some(&"::") {
            break;
        }
    }
    names
}

impl Workspace {
    /// The signature of the call around a byte.
    #[must_use]
    pub(crate) fn signature(&self, uri: &Uri, offset: usize) -> Option<SignatureHelp> {
        let document = self.document(uri)?;
        let call = open_call(&document.analysis.text, offset)?;
        let (label, places, doc) = self.called(uri, &call)?;
        let parameters = places.iter().map(|(start, end)| ParameterInformation {
            label: ParameterLabel::LabelOffsets([units(&label, *start), units(&label, *end)]),
            documentation: None,
        });
        let active = call.argument.min(places.len().saturating_sub(1));
        let active = u32::try_from(active).unwrap_or(0);
        let signature = SignatureInformation {
            parameters: Some(parameters.collect()),
            documentation: Some(Documentation::String(doc)).filter(|_| !places.is_empty()),
            active_parameter: Some(active),
            label,
        };
        Some(SignatureHelp {
            signatures: vec![signature],
            active_signature: Some(0),
            active_parameter: Some(active),
        })
    }

    /// Signature, places of its parameters and documentation of what is called.
    fn called(&self, uri: &Uri, call: &OpenCall) -> Option<Described> {
        let document = self.document(uri)?;
        let (name, modules) = call.path.split_last()?;
        let Some((first, rest)) = modules.split_first() else {
            let known = [&document.analysis, &document.complete];
            let is_it = |one: &&Symbol| one.kind == SymbolKind::Function && one.name == *name;
            let symbols = known.iter().flat_map(|one| &one.index.symbols);
            return symbols.into_iter().find(is_it).map(of_symbol);
        };
        let known = [&document.analysis, &document.complete];
        let mut imports = known.iter().flat_map(|one| &one.index.imports);
        let import = imports.find(|import| import.alias == *first);
        let mut module = import.map_or_else(|| first.clone(), |import| import.path.clone());
        rest.iter().for_each(|name| module = format!("{module}::{name}"));
        match self.member(uri, &module, name)? {
            Meaning::Function(function) => {
                let (label, places) = hover::signature(function);
                Some((label, places, function.doc.to_string()))
            }
            Meaning::Aggregate(aggregate) => {
                let (label, places) = hover::aggregate_signature(aggregate);
                Some((label, places, aggregate.doc.to_string()))
            }
            Meaning::Symbol(definition) => Some(of_symbol(definition.get())),
            Meaning::Module(..) | Meaning::Other(_) => None,
        }
    }
}

fn of_symbol(symbol: &Symbol) -> Described {
    let mut label = format!("{}(", symbol.name);
    let mut places = Vec::new();
    for (at, param) in symbol.params.iter().enumerate() {
        if at > 0 {
            label.push_str(", ");
        }
        places.push((label.len(), label.len() + param.len()));
        label.push_str(param);
    }
    label.push(')');
    let docs: Vec<_> = symbol.docs.iter().map(|line| line.trim()).collect();
    (label, places, docs.join("\n"))
}

/// UTF-16 code units in front of a byte of a label.
fn units(label: &str, end: usize) -> u32 {
    u32::try_from(label[..end].encode_utf16().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_open_call_counts() {
        let call = |text: &str| open_call(text, text.len());
        let open = |path: &[&str], argument| {
            let path = path.iter().map(ToString::to_string).collect();
            Some(OpenCall { path, argument })
        };
        assert_eq!(call("f("), open(&["f"], 0));
        assert_eq!(call("string::split(a, "), open(&["string", "split"], 1));
        assert_eq!(call("f(g(1, 2), [1, 2], "), open(&["f"], 2));
        assert_eq!(call("f(g(1, "), open(&["g"], 1));
        assert_eq!(call("f(1)"), None);
        assert_eq!(call("f(1; "), None);
        assert_eq!(call("let x = (1, "), None);
    }
}
