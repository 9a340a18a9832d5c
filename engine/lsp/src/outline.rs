//! The shape of a text: its definitions as a tree, and what an editor can fold.

use super::analysis::Analysis;
use lsp_types::{
    DocumentSymbol, FoldingRange, FoldingRangeKind, SymbolKind as EditorKind, SymbolTag,
};
use temblor_lang::index::{Symbol, SymbolKind};
use temblor_lang::syntax::forms;

/// The definitions of a text.
#[must_use]
pub(crate) fn symbols(analysis: &Analysis) -> Vec<DocumentSymbol> {
    below(analysis, None)
}

fn below(analysis: &Analysis, parent: Option<usize>) -> Vec<DocumentSymbol> {
    let symbols = analysis.index.symbols.iter().enumerate();
    let shown = symbols.filter(|(_, one)| one.parent == parent && parent_of(one.kind));
    shown.map(|(number, one)| outlined(analysis, number, one)).collect()
}

/// Whether a kind of symbol is part of the outline.
fn parent_of(kind: SymbolKind) -> bool {
    !matches!(
        kind,
        SymbolKind::Local | SymbolKind::Binding | SymbolKind::Parameter | SymbolKind::Module
    )
}

#[expect(deprecated, reason = "the protocol's struct has a field that nobody uses any more")]
fn outlined(analysis: &Analysis, number: usize, symbol: &Symbol) -> DocumentSymbol {
    let range = |span| analysis.lines.range(&analysis.text, span);
    let children = below(analysis, Some(number));
    let tags: Option<Vec<SymbolTag>> = None;
    DocumentSymbol {
        name: symbol.name.clone(),
        detail: Some(symbol.detail.clone()),
        kind: editor_kind(symbol.kind),
        tags,
        deprecated: None,
        range: range(symbol.whole.to(symbol.span)),
        selection_range: range(symbol.span),
        children: Some(children).filter(|children| !children.is_empty()),
    }
}

fn editor_kind(kind: SymbolKind) -> EditorKind {
    match kind {
        SymbolKind::Constant => EditorKind::CONSTANT,
        SymbolKind::Function => EditorKind::FUNCTION,
        SymbolKind::Argument => EditorKind::PROPERTY,
        SymbolKind::Node | SymbolKind::Port => EditorKind::INTERFACE,
        SymbolKind::Module => EditorKind::MODULE,
        SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Binding => EditorKind::VARIABLE,
        _ => EditorKind::CLASS,
    }
}

/// Forms over several lines, and comments of several lines.
#[must_use]
pub(crate) fn folds(analysis: &Analysis) -> Vec<FoldingRange> {
    let line = |offset| analysis.lines.line(offset);
    let mut folds: Vec<_> = forms(&analysis.text)
        .into_iter()
        .filter_map(|(start, end)| {
            let (first, last) = (line(start), line(end));
            // The last line with the `end` stays in sight.
            (last > first + 1).then(|| fold(first, last - 1, None))
        })
        .collect();
    let mut first: Option<usize> = None;
    let lines: Vec<_> = analysis.text.lines().chain([""]).collect();
    for (number, text) in lines.iter().enumerate() {
        let is_comment = text.trim_start().starts_with('#');
        match (is_comment, first) {
            (true, None) => first = Some(number),
            (false, Some(start)) => {
                if number > start + 1 {
                    folds.push(fold(start, number - 1, Some(FoldingRangeKind::Comment)));
                }
                first = None;
            }
            _ => {}
        }
    }
    folds
}

fn fold(first: usize, last: usize, kind: Option<FoldingRangeKind>) -> FoldingRange {
    let line = |number| u32::try_from(number).unwrap_or(u32::MAX);
    FoldingRange { start_line: line(first), end_line: line(last), kind, ..FoldingRange::default() }
}
