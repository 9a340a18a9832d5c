//! What an editor is told about a Logstash configuration: what plugins and options do, which can stand
//! at a place, and the shape of the whole. Facts come from the declarations of the plugins.

use super::analysis::Analysis;
use super::blocks::{Block, BlockKind, Blocks, Token, TokenKind};
use lsp_types::{
    CompletionItem, CompletionItemKind, DocumentSymbol, Documentation, FoldingRange, Hover,
    HoverContents, MarkupContent, MarkupKind, SymbolKind,
};
use std::ops::Range;
use temblor_logstash::codec::CODECS;
use temblor_logstash::filter::{Declaration, FILTERS};
use temblor_logstash::options::{self, OptionSpec, Takes};
use temblor_logstash::{catalog, input, output};

/// The words that open sections.
const SECTIONS: [(&str, &str); 3] = [
    ("input", "Where events come from."),
    ("filter", "What happens to events, step by step."),
    ("output", "Where events go."),
];
/// Characters of a condition that the outline shows.
const HEAD_CHARS_MAX: usize = 60;

/// A plugin that is known by name.
struct Known {
    name: &'static str,
    doc: &'static str,
    options: &'static [OptionSpec],
    common: &'static [OptionSpec],
}

impl Known {
    fn options(&self) -> impl Iterator<Item = &'static OptionSpec> {
        self.options.iter().chain(self.common).filter(|option| option.gone.is_none())
    }

    fn option(&self, name: &str) -> Option<&'static OptionSpec> {
        self.options.iter().chain(self.common).find(|option| option.name == name)
    }
}

/// All plugins that can stand in a section: those that can be run, and those that are only known.
fn plugins(section: &str) -> Vec<Known> {
    let mut all: Vec<Known> = match section {
        "filter" => {
            let known = |one: &Declaration| Known {
                name: one.name,
                doc: one.doc,
                options: one.options,
                common: options::COMMON,
            };
            FILTERS.iter().map(|one| known(one)).collect()
        }
        "input" => {
            let here = input::INPUTS.iter().map(|one| (one.name, one.options));
            here.map(|(name, options)| Known { name, doc: "", options, common: input::COMMON })
                .collect()
        }
        "output" => {
            let here = output::OUTPUTS.iter().map(|one| (one.name, one.options));
            here.map(|(name, options)| Known { name, doc: "", options, common: output::COMMON })
                .collect()
        }
        _ => Vec::new(),
    };
    let common = all.first().map_or(&[][..], |one| one.common);
    all.extend(elsewhere(section, common));
    all
}

/// The plugins of a kind that cannot be run here.
fn elsewhere<'k>(
    kind: &'k str,
    common: &'static [OptionSpec],
) -> impl Iterator<Item = Known> + use<'k> {
    let known = catalog::names(kind).filter_map(move |name| catalog::find(kind, name));
    let doc = "Is checked, but cannot be run here.";
    known.map(move |one| Known { name: one.name, doc, options: &one.options, common })
}

fn codecs() -> impl Iterator<Item = Known> {
    let (doc, common) = ("How bytes are read and written.", &[][..]);
    let here =
        CODECS.iter().map(move |one| Known { name: one.name, doc, options: one.options, common });
    here.chain(elsewhere("codec", common))
}

/// The plugin of a block.
fn plugin(blocks: &Blocks, number: usize, text: &str) -> Option<Known> {
    let block = &blocks.all[number];
    let name = &text[block.head.clone()];
    match block.kind {
        BlockKind::Plugin { is_codec: true } => codecs().find(|one| one.name == name),
        BlockKind::Plugin { is_codec: false } => {
            let section = &text[blocks.section(number).head.clone()];
            plugins(section).into_iter().find(|one| one.name == name)
        }
        _ => None,
    }
}

/// What is said about the plugin or option under the pointer.
#[must_use]
pub(crate) fn hover(analysis: &Analysis, offset: usize) -> Option<Hover> {
    let text = &analysis.text;
    let blocks = Blocks::of(text);
    let covers = |place: &Range<usize>| place.start <= offset && offset <= place.end;
    let at =
        blocks.tokens.iter().position(|one| one.kind == TokenKind::Word && covers(&one.place))?;
    let place = blocks.tokens[at].place.clone();
    let word = &text[place.clone()];
    let own = blocks.all.iter().position(|block| block.head == place);
    let is_option = blocks.tokens.get(at + 1).is_some_and(|next| next.kind == TokenKind::Arrow);
    let value = match own {
        Some(number) if blocks.all[number].kind == BlockKind::Section => {
            let (_, doc) = SECTIONS.iter().find(|(name, _)| *name == word)?;
            format!("**{word}**\n\n{doc}")
        }
        Some(number) => about_plugin(&plugin(&blocks, number, text)?),
        None if is_option => {
            let owner = plugin(&blocks, blocks.around(offset)?, text)?;
            format!("**{}**\n\n{}", owner.name, about_option(owner.option(word)?))
        }
        None => about_plugin(&codecs().find(|one| one.name == word)?),
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
    let lines = &analysis.lines;
    let range =
        lsp_types::Range::new(lines.position(text, place.start), lines.position(text, place.end));
    Some(Hover { contents, range: Some(range) })
}

fn about_plugin(known: &Known) -> String {
    let mut text = format!("**{}**\n\n{}\n", known.name, known.doc);
    let own = known.options.iter().filter(|option| option.gone.is_none());
    own.for_each(|option| text.push_str(&format!("\n- {}", about_option(option))));
    if !known.common.is_empty() {
        let names: Vec<_> = known.common.iter().map(|one| format!("`{}`", one.name)).collect();
        text.push_str(&format!("\n\nAlso: {}", names.join(", ")));
    }
    text
}

fn about_option(option: &OptionSpec) -> String {
    if let Some(hint) = option.gone {
        return format!("`{}` is no option any more: {hint}", option.name);
    }
    let required = if option.required { ", required" } else { "" };
    let doc = if option.doc.is_empty() { String::new() } else { format!(": {}", option.doc) };
    format!("`{}` ({}{required}){doc}", option.name, takes(option.takes))
}

fn takes(takes: Takes) -> String {
    match takes {
        Takes::Text => "text".to_string(),
        Takes::Number => "number".to_string(),
        Takes::Flag => "true or false".to_string(),
        Takes::List => "list".to_string(),
        Takes::Hash => "hash".to_string(),
        Takes::OneOf(words) => words.join(", "),
        Takes::Codec => "codec".to_string(),
        Takes::Duration => "seconds, or a time such as \"1 hour\"".to_string(),
        Takes::Anything => "any value".to_string(),
    }
}

/// What can stand at a byte.
#[must_use]
pub(crate) fn proposals(analysis: &Analysis, offset: usize) -> Vec<CompletionItem> {
    let (text, blocks) = (&analysis.text, Blocks::of(&analysis.text));
    let before: Vec<&Token> = blocks.tokens.iter().filter(|one| one.place.end <= offset).collect();
    let typed =
        before.last().is_some_and(|one| one.kind == TokenKind::Word && one.place.end == offset);
    let done = if typed { &before[..before.len() - 1] } else { &before[..] };
    let Some(number) = blocks.around(offset) else {
        return SECTIONS
            .iter()
            .map(|(word, doc)| item(word, CompletionItemKind::KEYWORD, "", doc))
            .collect();
    };
    let block = &blocks.all[number];
    if matches!(block.kind, BlockKind::Section | BlockKind::Branch) {
        let section = &text[blocks.section(number).head.clone()];
        let mut items: Vec<_> =
            plugins(section).iter().map(|one| plugin_item(one, section)).collect();
        items.extend(["if", "else"].map(|word| item(word, CompletionItemKind::KEYWORD, "", "")));
        return items;
    }
    let Some(known) = plugin(&blocks, number, text) else { return Vec::new() };
    match done {
        [.., name, arrow] if arrow.kind == TokenKind::Arrow => {
            known.option(&text[name.place.clone()]).map_or_else(Vec::new, values)
        }
        _ => known.options().map(|one| option_item(one, known.name)).collect(),
    }
}

/// Whether the name of a grok pattern is being written.
#[must_use]
pub(crate) fn wants_pattern(analysis: &Analysis, offset: usize) -> bool {
    let line = &analysis.text[..offset];
    let line = &line[line.rfind('\n').map_or(0, |end| end + 1)..];
    let name = line.rfind("%{").map(|at| &line[at + 2..]);
    let is_name = name.is_some_and(|name| name.chars().all(is_part_of_pattern));
    let blocks = Blocks::of(&analysis.text);
    let mut around = blocks.around(offset);
    while let Some(number) = around.filter(|_| is_name) {
        if &analysis.text[blocks.all[number].head.clone()] == "grok" {
            return true;
        }
        around = blocks.all[number].parent;
    }
    false
}

fn is_part_of_pattern(one: char) -> bool {
    one.is_ascii_alphanumeric() || one == '_'
}

fn item(label: &str, kind: CompletionItemKind, detail: &str, doc: &str) -> CompletionItem {
    let markdown = MarkupContent { kind: MarkupKind::Markdown, value: doc.to_string() };
    CompletionItem {
        label: label.to_string(),
        kind: Some(kind),
        detail: Some(detail.to_string()).filter(|detail| !detail.is_empty()),
        documentation: (!doc.is_empty()).then_some(Documentation::MarkupContent(markdown)),
        ..CompletionItem::default()
    }
}

fn plugin_item(known: &Known, section: &str) -> CompletionItem {
    item(known.name, CompletionItemKind::FUNCTION, section, &about_plugin(known))
}

fn option_item(option: &OptionSpec, plugin: &str) -> CompletionItem {
    let mut item = item(option.name, CompletionItemKind::PROPERTY, plugin, &about_option(option));
    item.insert_text = Some(format!("{} => ", option.name));
    item
}

/// The values of an option that are words.
fn values(option: &OptionSpec) -> Vec<CompletionItem> {
    let word = |word: &str| item(word, CompletionItemKind::VALUE, option.name, "");
    match option.takes {
        Takes::Flag => ["true", "false"].map(word).to_vec(),
        Takes::OneOf(words) => words.iter().map(|one| word(&format!("\"{one}\""))).collect(),
        Takes::Codec => codecs().map(|one| plugin_item(&one, "codec")).collect(),
        _ => Vec::new(),
    }
}

/// The sections with their branches and plugins.
#[must_use]
pub(crate) fn symbols(analysis: &Analysis) -> Vec<DocumentSymbol> {
    below(analysis, &Blocks::of(&analysis.text), None)
}

fn below(analysis: &Analysis, blocks: &Blocks, parent: Option<usize>) -> Vec<DocumentSymbol> {
    let inner = blocks.all.iter().enumerate().filter(|(_, block)| block.parent == parent);
    let shown = inner.filter(|(_, block)| !block.head.is_empty());
    shown.map(|(number, block)| symbol(analysis, blocks, number, block)).collect()
}

#[expect(deprecated, reason = "the protocol's struct has a field that nobody uses any more")]
fn symbol(analysis: &Analysis, blocks: &Blocks, number: usize, block: &Block) -> DocumentSymbol {
    let (text, lines) = (&analysis.text, &analysis.lines);
    let range = |place: Range<usize>| {
        lsp_types::Range::new(lines.position(text, place.start), lines.position(text, place.end))
    };
    let head = text[block.head.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
    let end = (block.inside.end + 1).min(text.len());
    DocumentSymbol {
        name: head.chars().take(HEAD_CHARS_MAX).collect(),
        detail: None,
        kind: match block.kind {
            BlockKind::Section => SymbolKind::NAMESPACE,
            BlockKind::Branch => SymbolKind::OPERATOR,
            BlockKind::Plugin { .. } | BlockKind::Hash => SymbolKind::FUNCTION,
        },
        tags: None,
        deprecated: None,
        range: range(block.head.start..end),
        selection_range: range(block.head.clone()),
        children: Some(below(analysis, blocks, Some(number))).filter(|inner| !inner.is_empty()),
    }
}

/// Blocks over several lines.
#[must_use]
pub(crate) fn folds(analysis: &Analysis) -> Vec<FoldingRange> {
    let line = |offset| u32::try_from(analysis.lines.line(offset)).unwrap_or(u32::MAX);
    let blocks = Blocks::of(&analysis.text);
    let places = blocks.all.iter().map(|block| (line(block.inside.start), line(block.inside.end)));
    let several = places.filter(|(first, last)| last > &(first + 1));
    // The last line with its brace stays in sight.
    let fold = |(first, last): (u32, u32)| FoldingRange {
        start_line: first,
        end_line: last - 1,
        ..FoldingRange::default()
    };
    several.map(fold).collect()
}
