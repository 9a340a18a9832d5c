//! Semantic tokens: what each piece of a text is, as far as names are understood. Pieces never
//! overlap and never go over the end of a line, as the protocol asks.

use super::analysis::Analysis;
use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use std::collections::HashMap;
use temblor_lang::index::{Part, PartKind, Reference, SymbolKind, Target};
use temblor_lang::syntax::{KEYWORDS, TokenClass, classes};

/// The types, in the order of their numbers.
const TYPES: [SemanticTokenType; 12] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::COMMENT,
    SemanticTokenType::STRING,
    SemanticTokenType::NUMBER,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::CLASS,
    SemanticTokenType::INTERFACE,
];
const KEYWORD: u32 = 0;
const COMMENT: u32 = 1;
const STRING: u32 = 2;
const NUMBER: u32 = 3;
const OPERATOR: u32 = 4;
const VARIABLE: u32 = 5;
const PARAMETER: u32 = 6;
const PROPERTY: u32 = 7;
const FUNCTION: u32 = 8;
const NAMESPACE: u32 = 9;
const CLASS: u32 = 10;
const INTERFACE: u32 = 11;

/// Modifiers, as bits.
const DECLARATION: u32 = 1;
const READONLY: u32 = 2;
const LIBRARY: u32 = 4;

/// What the numbers mean.
#[must_use]
pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: vec![
            SemanticTokenModifier::DECLARATION,
            SemanticTokenModifier::READONLY,
            SemanticTokenModifier::DEFAULT_LIBRARY,
        ],
    }
}

/// A piece: start, end, type, modifiers.
type Piece = (usize, usize, u32, u32);

/// The tokens of a text, each relative to the one before.
#[must_use]
pub(crate) fn tokens(analysis: &Analysis) -> Vec<SemanticToken> {
    let mut tokens = Vec::new();
    let (mut line, mut column) = (0, 0);
    for (start, end, token_type, modifiers) in single_lines(analysis, pieces(analysis)) {
        let at = analysis.lines.position(&analysis.text, start);
        let length = analysis.text[start..end].encode_utf16().count();
        let delta_line = at.line - line;
        let delta_start = if delta_line == 0 { at.character - column } else { at.character };
        (line, column) = (at.line, at.character);
        tokens.push(SemanticToken {
            delta_line,
            delta_start,
            length: u32::try_from(length).unwrap_or(u32::MAX),
            token_type,
            token_modifiers_bitset: modifiers,
        });
    }
    tokens
}

fn pieces(analysis: &Analysis) -> Vec<Piece> {
    let references: HashMap<usize, &Reference> =
        analysis.index.references.iter().map(|one| (one.span.start as usize, one)).collect();
    let mut found = Vec::new();
    for (start, end, class) in classes(&analysis.text) {
        match class {
            TokenClass::Word => found.extend(word(analysis, &references, start, end)),
            TokenClass::Number => found.push((start, end, NUMBER, 0)),
            TokenClass::Text => text(analysis, &references, start, end, &mut found),
            TokenClass::Comment => comment(analysis, start, end, &mut found),
            TokenClass::Sign => found.push((start, end, OPERATOR, 0)),
            TokenClass::Blank => {}
        }
    }
    found
}

fn word(
    analysis: &Analysis,
    references: &HashMap<usize, &Reference>,
    start: usize,
    end: usize,
) -> Option<Piece> {
    let word = &analysis.text[start..end];
    let is_keyword = KEYWORDS.iter().any(|(keyword, _)| *keyword == word);
    match references.get(&start) {
        Some(one) if one.span.end as usize == end => {
            let (kind, modifiers) = meaning(analysis, one);
            Some((start, end, kind, modifiers))
        }
        // A keyword of the language, whatever it is a part of.
        _ if is_keyword => Some((start, end, KEYWORD, 0)),
        _ => within(analysis, start, end),
    }
}

/// A word of a longer name, such as `generic::batch`.
fn within(analysis: &Analysis, start: usize, end: usize) -> Option<Piece> {
    let all = &analysis.index.references;
    let behind = all.partition_point(|one| one.span.start as usize <= start);
    let around = all[..behind].last().filter(|one| end <= one.span.end as usize)?;
    let (kind, modifiers) = meaning(analysis, around);
    Some((start, end, kind, modifiers))
}

fn meaning(analysis: &Analysis, one: &Reference) -> (u32, u32) {
    let declared = if one.defines { DECLARATION } else { 0 };
    match &one.target {
        Target::Symbol(symbol) => {
            let (kind, modifiers) = match analysis.index.symbols[*symbol].kind {
                SymbolKind::Local | SymbolKind::Binding => (VARIABLE, 0),
                SymbolKind::Parameter | SymbolKind::Argument => (PARAMETER, 0),
                SymbolKind::Constant => (VARIABLE, READONLY),
                SymbolKind::Function => (FUNCTION, 0),
                SymbolKind::Module => (NAMESPACE, 0),
                SymbolKind::Node | SymbolKind::Port => (INTERFACE, 0),
                _ => (CLASS, 0),
            };
            (kind, modifiers | declared)
        }
        Target::Member(..) => (FUNCTION, 0),
        Target::Part(Part { kind: PartKind::Argument, .. }) => (PARAMETER, 0),
        Target::Part(_) => (INTERFACE, 0),
        Target::Port(..) => (INTERFACE, LIBRARY),
        Target::Module(_) => (NAMESPACE, 0),
        Target::OperatorKind(_) | Target::Extractor(_) => (FUNCTION, LIBRARY),
        Target::Setting(..) | Target::ConnectorSetting(..) => (KEYWORD, 0),
        Target::Kind(_) | Target::Connector(..) => (CLASS, LIBRARY),
        Target::Field(_) => (PROPERTY, 0),
        Target::Unknown => (VARIABLE, 0),
    }
}

/// A string with names in its interpolations; or a name behind a dot.
fn text(
    analysis: &Analysis,
    references: &HashMap<usize, &Reference>,
    start: usize,
    end: usize,
    found: &mut Vec<Piece>,
) {
    if let Some(one) = references.get(&start).filter(|one| one.span.end as usize == end) {
        let (kind, modifiers) = meaning(analysis, one);
        return found.push((start, end, kind, modifiers));
    }
    let is_literal = analysis.text[start..].starts_with(['"', '|', 'r']);
    let kind = if is_literal { STRING } else { PROPERTY };
    let all = &analysis.index.references;
    let first = all.partition_point(|one| (one.span.start as usize) < start);
    let mut at = start;
    for one in all[first..].iter().take_while(|one| one.span.end as usize <= end) {
        let (from, to) = (one.span.start as usize, one.span.end as usize);
        if from < at || from == to {
            continue;
        }
        found.extend((at < from).then_some((at, from, kind, 0)));
        let (kind, modifiers) = meaning(analysis, one);
        found.push((from, to, kind, modifiers));
        at = to;
    }
    found.extend((at < end).then_some((at, end, kind, 0)));
}

/// A gap with comments: only from the hash on it is one.
fn comment(analysis: &Analysis, start: usize, end: usize, found: &mut Vec<Piece>) {
    let mut at = start;
    for line in analysis.text[start..end].split_inclusive('\n') {
        if let Some(hash) = line.find('#') {
            let length = line.trim_end().len();
            found.push((at + hash, at + length.max(hash), COMMENT, 0));
        }
        at += line.len();
    }
}

/// Pieces over several lines, cut at the ends of lines.
fn single_lines(analysis: &Analysis, pieces: Vec<Piece>) -> Vec<Piece> {
    let mut cut = Vec::with_capacity(pieces.len());
    for (start, end, kind, modifiers) in pieces {
        let mut at = start;
        for line in analysis.text[start..end].split_inclusive('\n') {
            let length = line.trim_end_matches(['\n', '\r']).len();
            cut.extend((length > 0).then_some((at, at + length, kind, modifiers)));
            at += line.len();
        }
    }
    cut
}
