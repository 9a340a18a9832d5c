//! The reader that pest makes from `grammar.pest`. Its types stay inside `syntax`.

#![allow(missing_docs)]

use pest_derive::Parser;

/// Reads text by the rules of the grammar file.
#[derive(Parser)]
#[grammar = "syntax/grammar.pest"]
pub(super) struct Grammar;

/// A piece of text that a rule has read.
pub(super) type Pair<'t> = pest::iterators::Pair<'t, Rule>;

/// Whether a rule stands for punctuation or for a word whose place alone says what it means.
pub(super) fn is_token(rule: Rule) -> bool {
    is_punctuation(rule) || is_structural_word(rule)
}

fn is_punctuation(rule: Rule) -> bool {
    use Rule as R;
    matches!(
        rule,
        R::semi
            | R::comma
            | R::dot
            | R::colon
            | R::colons
            | R::assign
            | R::arrow
            | R::open_paren
            | R::close_paren
            | R::open_bracket
            | R::close_bracket
            | R::open_brace
            | R::close_brace
            | R::open_bytes
            | R::close_bytes
            | R::open_interpolation
            | R::op_tilde_eq
            | R::config_mark
            | R::pipe
            | R::EOI
    )
}

fn is_structural_word(rule: Rule) -> bool {
    use Rule as R;
    matches!(
        rule,
        R::kw_args
            | R::kw_as
            | R::kw_by
            | R::kw_case
            | R::kw_connect
            | R::kw_const
            | R::kw_create
            | R::kw_define
            | R::kw_deploy
            | R::kw_elif
            | R::kw_else
            | R::kw_emit
            | R::kw_end
            | R::kw_event
            | R::kw_flow
            | R::kw_fn
            | R::kw_for
            | R::kw_from
            | R::kw_group
            | R::kw_having
            | R::kw_if
            | R::kw_into
            | R::kw_intrinsic
            | R::kw_let
            | R::kw_match
            | R::kw_of
            | R::kw_patch
            | R::kw_recur
            | R::kw_select
            | R::kw_set
            | R::kw_state
            | R::kw_then
            | R::kw_to
            | R::kw_use
            | R::kw_when
            | R::kw_with
            | R::word_do
            | R::word_first
            | R::word_on
            | R::word_over
            | R::word_route
            | R::word_sink
            | R::word_source
            | R::word_table
    )
}
