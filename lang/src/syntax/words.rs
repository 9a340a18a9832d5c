//! Words: the reserved ones, and what each rule of the grammar is called in messages.

use super::grammar::Rule;

/// Words that are names only in backticks.
pub const RESERVED: [&str; 61] = [
    "absent",
    "and",
    "args",
    "as",
    "by",
    "case",
    "connect",
    "connector",
    "const",
    "copy",
    "create",
    "default",
    "define",
    "deploy",
    "drop",
    "each",
    "emit",
    "end",
    "erase",
    "event",
    "false",
    "flow",
    "fn",
    "for",
    "from",
    "group",
    "having",
    "insert",
    "into",
    "intrinsic",
    "let",
    "match",
    "merge",
    "mod",
    "move",
    "not",
    "null",
    "of",
    "operator",
    "or",
    "patch",
    "pipeline",
    "present",
    "recur",
    "script",
    "select",
    "set",
    "sliding",
    "state",
    "stream",
    "to",
    "true",
    "tumbling",
    "update",
    "upsert",
    "use",
    "when",
    "where",
    "window",
    "with",
    "xor",
];

/// Words that start a clause of a step, as in the grammar file; names everywhere else.
pub const CLAUSE_WORDS: [&str; 40] = [
    "from", "into", "by", "as", "within", "per", "across", "burst", "else", "last", "keep",
    "refresh", "max_keys", "cost", "bytes", "on", "every", "first", "mode", "block", "count",
    "adjacent", "timeout", "size", "limit", "weight", "until", "before", "after", "when", "using",
    "columns", "types", "evict", "emit", "gap", "key", "where", "over", "store",
];

/// Words behind the time that a window goes by.
pub(super) const TIME_WORDS: [&str; 3] = ["late", "idle", "ahead"];

/// Clauses whose value is a name, not an expression.
pub(crate) const NAME_CLAUSES: [&str; 3] = ["else", "keep", "mode"];

/// Words of the language that name operators, too.
pub(super) const OPERATOR_WORDS: [&str; 5] = ["where", "drop", "window", "each", "merge"];

/// What a rule is called in a message; rules without a name would only confuse.
pub(super) fn name(rule: Rule) -> Option<&'static str> {
    form(rule).or_else(|| clause(rule)).or_else(|| sign(rule)).or_else(|| word(rule))
}

/// The words of the language among rules.
pub(super) fn texts(rules: &[Rule]) -> Vec<&'static str> {
    let quoted = rules.iter().copied().flat_map(starts).filter_map(|rule| word(rule));
    quoted.map(|name| name.trim_matches('`')).collect()
}

/// The words that a rule may start with.
fn starts(rule: Rule) -> Vec<Rule> {
    use Rule as R;
    match rule {
        R::arm | R::iarm | R::for_arm | R::ifor_arm | R::fn_case | R::fn_default => {
            vec![R::kw_case]
        }
        R::match_arm => vec![R::kw_case],
        R::when_elif => vec![R::kw_elif],
        R::when_else => vec![R::kw_else],
        R::match_default => vec![R::kw_default],
        R::for_into | R::into_ports => vec![R::kw_into],
        R::guard => vec![R::kw_when],
        R::with_block => vec![R::kw_with],
        R::where_clause => vec![R::kw_where],
        R::group_by => vec![R::kw_group],
        R::having => vec![R::kw_having],
        R::args_clause => vec![R::kw_args],
        R::state_clause => vec![R::kw_state],
        R::port_script | R::main_script => vec![R::kw_script],
        R::fn_block => vec![R::kw_with],
        R::fn_cases => vec![R::kw_of],
        R::define => vec![R::kw_define],
        R::create => vec![R::kw_create],
        R::select => vec![R::kw_select],
        R::use_def => vec![R::kw_use],
        R::connect => vec![R::kw_connect],
        R::deploy_flow => vec![R::kw_deploy],
        R::create_kind => vec![R::kw_script, R::kw_operator, R::kw_pipeline, R::kw_connector],
        R::patch_op => vec![
            R::kw_insert,
            R::kw_upsert,
            R::kw_update,
            R::kw_erase,
            R::kw_move,
            R::kw_copy,
            R::kw_merge,
            R::kw_default,
        ],
        other => vec![other],
    }
}

/// What is read as an expression or as a part of one.
const EXPRESSIONS: [Rule; 37] = [
    Rule::iexpr,
    Rule::if_statement,
    Rule::operand,
    Rule::postfix,
    Rule::number,
    Rule::list,
    Rule::record,
    Rule::paren,
    Rule::named,
    Rule::meta,
    Rule::bare_meta,
    Rule::event,
    Rule::state,
    Rule::args,
    Rule::group,
    Rule::window,
    Rule::literal,
    Rule::recur,
    Rule::patch,
    Rule::merge,
    Rule::bytes,
    Rule::presence,
    Rule::match_expr,
    Rule::imatch_expr,
    Rule::for_expr,
    Rule::ifor_expr,
    Rule::if_expr,
    Rule::iif_expr,
    Rule::block,
    Rule::iblock,
    Rule::let_expr,
    Rule::emit_expr,
    Rule::drop_expr,
    Rule::positional,
    Rule::script_body,
    Rule::group_dim,
    Rule::bytes_part,
];

fn form(rule: Rule) -> Option<&'static str> {
    use Rule as R;
    if EXPRESSIONS.contains(&rule) {
        return Some("an expression");
    }
    Some(match rule {
        R::pattern
        | R::elem_pattern
        | R::record_pat
        | R::array_pat
        | R::tuple_pat
        | R::any
        | R::bind => "a pattern",
        R::field_pat | R::field_presence | R::field_bound | R::field_matches | R::field_compare => {
            "the test of a field"
        }
        R::string | R::quoted_string | R::heredoc | R::raw_string | R::field => "a string",
        R::ident
        | R::plain
        | R::quoted
        | R::mod_path
        | R::alias
        | R::stream
        | R::window_kind
        | R::arg_decl
        | R::program_arg
        | R::binding
        | R::endpoint_kind
        | R::use_target => "a name",
        R::test | R::test_literal => "an extractor such as `re|…|`",
        R::arm
        | R::iarm
        | R::for_arm
        | R::ifor_arm
        | R::fn_case
        | R::fn_default
        | R::route_arm
        | R::match_arm => "`case`",
        R::guard => "`when`",
        R::for_into => "`into`",
        R::patch_op => "an operation such as `insert`",
        R::const_def
        | R::fn_def
        | R::intrinsic_def
        | R::use_def
        | R::define
        | R::create
        | R::select
        | R::deploy_flow
        | R::connect
        | R::source_def
        | R::sink_def
        | R::table_def
        | R::pipeline_body
        | R::config => "a statement",
        R::step
        | R::flow_chain
        | R::step_operator
        | R::operator_name
        | R::sub_chain
        | R::sub_step
        | R::sub_operator => "a step",
        R::deploy_file => "`use`, `define flow` or `deploy flow`",
        R::module_file => "`use`, `const`, `fn`, `intrinsic` or `define`",
        R::script_file => "an expression",
        R::query_file | R::program_file => "a statement",
        R::EOI => "the end of the text",
        _ => return None,
    })
}

/// Clauses, by how each starts.
fn clause(rule: Rule) -> Option<&'static str> {
    use Rule as R;
    Some(match rule {
        R::program_args => "`args`",
        R::arg_kind => "a kind such as `string`",
        R::params | R::call_args => "`(`",
        R::for_names => "`(key, value)`",
        R::windows => "`[window]`",
        R::event_time => "`on`",
        R::time_bound => "`late`, `idle`, `ahead`",
        R::else_place => "`else`",
        R::with_block => "`with`",
        R::where_clause => "`where`",
        R::having => "`having`",
        R::group_by => "`group by`",
        R::main_script | R::port_script => "`script`",
        R::args_clause => "`args`",
        R::endpoint => "`/connector/name` or `/pipeline/name`",
        R::int => "an integer",
        R::create_kind => "`script`, `operator`, `pipeline`, `connector`",
        R::fn_block => "`with`",
        R::fn_cases => "`of`",
        R::varargs => "`...`",
        R::word_do => "`do`",
        R::step_name => "`as`",
        R::format => "a format",
        R::when_elif => "`elif`",
        R::when_else => "`else`",
        R::match_default => "`default`",
        _ => return None,
    })
}

fn sign(rule: Rule) -> Option<&'static str> {
    use Rule as R;
    Some(match rule {
        R::semi => "`;`",
        R::comma => "`,`",
        R::colon => "`:`",
        R::assign => "`=`",
        R::arrow => "`=>`",
        R::pipe => "`|>`",
        R::op_tilde_eq => "`~=`",
        R::open_paren => "`(`",
        R::close_paren => "`)`",
        R::open_bracket => "`[`",
        R::close_bracket => "`]`",
        R::open_brace => "`{`",
        R::close_brace => "`}`",
        R::close_bytes => "`>>`",
        R::op_coalesce
        | R::op_or
        | R::op_xor
        | R::op_and
        | R::op_bitxor
        | R::op_bitand
        | R::op_eq
        | R::op_noteq
        | R::op_gte
        | R::op_gt
        | R::op_lte
        | R::op_lt
        | R::op_shru
        | R::op_shr
        | R::op_shl
        | R::op_add
        | R::op_sub
        | R::op_mul
        | R::op_div
        | R::op_mod => "an operator",
        _ => return None,
    })
}

/// The words of the language.
const WORDS: [(Rule, &str); 61] = [
    (Rule::kw_absent, "`absent`"),
    (Rule::kw_args, "`args`"),
    (Rule::kw_as, "`as`"),
    (Rule::kw_by, "`by`"),
    (Rule::kw_case, "`case`"),
    (Rule::kw_connect, "`connect`"),
    (Rule::kw_connector, "`connector`"),
    (Rule::kw_const, "`const`"),
    (Rule::kw_copy, "`copy`"),
    (Rule::kw_create, "`create`"),
    (Rule::kw_default, "`default`"),
    (Rule::kw_define, "`define`"),
    (Rule::kw_deploy, "`deploy`"),
    (Rule::kw_drop, "`drop`"),
    (Rule::kw_each, "`each`"),
    (Rule::kw_elif, "`elif`"),
    (Rule::kw_else, "`else`"),
    (Rule::kw_emit, "`emit`"),
    (Rule::kw_end, "`end`"),
    (Rule::kw_erase, "`erase`"),
    (Rule::kw_event, "`event`"),
    (Rule::kw_false, "`false`"),
    (Rule::kw_flow, "`flow`"),
    (Rule::kw_fn, "`fn`"),
    (Rule::kw_for, "`for`"),
    (Rule::kw_from, "`from`"),
    (Rule::kw_group, "`group`"),
    (Rule::kw_having, "`having`"),
    (Rule::kw_if, "`if`"),
    (Rule::kw_insert, "`insert`"),
    (Rule::kw_into, "`into`"),
    (Rule::kw_intrinsic, "`intrinsic`"),
    (Rule::kw_let, "`let`"),
    (Rule::kw_match, "`match`"),
    (Rule::kw_merge, "`merge`"),
    (Rule::kw_move, "`move`"),
    (Rule::kw_null, "`null`"),
    (Rule::kw_of, "`of`"),
    (Rule::kw_operator, "`operator`"),
    (Rule::kw_patch, "`patch`"),
    (Rule::kw_pipeline, "`pipeline`"),
    (Rule::kw_present, "`present`"),
    (Rule::kw_recur, "`recur`"),
    (Rule::kw_script, "`script`"),
    (Rule::kw_select, "`select`"),
    (Rule::kw_set, "`set`"),
    (Rule::kw_state, "`state`"),
    (Rule::kw_stream, "`stream`"),
    (Rule::kw_then, "`then`"),
    (Rule::kw_to, "`to`"),
    (Rule::kw_true, "`true`"),
    (Rule::kw_update, "`update`"),
    (Rule::kw_upsert, "`upsert`"),
    (Rule::kw_use, "`use`"),
    (Rule::kw_when, "`when`"),
    (Rule::kw_where, "`where`"),
    (Rule::kw_window, "`window`"),
    (Rule::kw_with, "`with`"),
    (Rule::op_and, "`and`"),
    (Rule::op_or, "`or`"),
    (Rule::op_xor, "`xor`"),
];

fn word(rule: Rule) -> Option<&'static str> {
    WORDS.iter().find(|(one, _)| *one == rule).map(|(_, name)| *name)
}
