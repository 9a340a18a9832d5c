// A grammar for colours, for the structure of brackets and for what is called and defined, in editors
// that have tree-sitter. It reads every text that is a program, and most that are not one yet: what a
// program means is the business of `temblor lsp`.

// Words of the language. A test holds them to the table in lang/src/syntax/keywords.rs.
const KEYWORDS = [
  'absent', 'and', 'as', 'by', 'case', 'connect', 'connector', 'const', 'copy', 'create', 'default',
  'define', 'deploy', 'do', 'drop', 'each', 'elif', 'else', 'emit', 'end', 'erase', 'flow', 'fn', 'for',
  'from', 'having', 'if', 'insert', 'into', 'intrinsic', 'let', 'match', 'merge', 'mod', 'move', 'not',
  'of', 'operator', 'or', 'over', 'patch', 'pipeline', 'present', 'recur', 'route', 'script', 'select',
  'set', 'sink', 'sliding', 'source', 'stream', 'table', 'then', 'to', 'tumbling', 'update', 'upsert', 'use',
  'when', 'where', 'with', 'xor',
];
const ROOTS = ['args', 'event', 'group', 'state', 'window'];

const NAME = /[\p{L}][\p{L}\p{N}\p{Mn}\p{Pc}]*/u;

module.exports = grammar({
  name: 'temblor',

  word: ($) => $.identifier,

  extras: ($) => [/\s/, /\uFEFF/, $.comment],

  rules: {
    source_file: ($) => repeat($._item),

    _item: ($) =>
      choice(
        $.doc_comment,
        $.directive,
        $.function_definition,
        $.constant_definition,
        $.use,
        $.step,
        $.extractor,
        $.call,
        $.path,
        $.field,
        $.metadata,
        $.root,
        $.boolean,
        $.null,
        $.wildcard,
        $.keyword,
        $.string,
        $.heredoc,
        $.raw_string,
        $.number,
        $.list,
        $.record,
        $.group,
        $.pattern,
        $.operator,
        $.punctuation,
      ),

    comment: () => token(prec(-1, /#([^#!{\n][^\n]*)?/)),
    doc_comment: () => token(prec(1, /##[^\n]*/)),
    directive: () => token(prec(1, /#![^\n]*/)),

    function_definition: ($) =>
      prec(2, seq('fn', field('name', $._name), field('parameters', $.group))),
    constant_definition: ($) => prec(2, seq('const', field('name', $._name))),
    use: ($) => prec(2, seq('use', field('module', $.path))),

    step: ($) => prec.right(2, seq('|>', optional(field('operator', $.path)))),

    extractor: ($) =>
      prec(2, seq(choice('~', '~='), field('name', $._name), field('pattern', $.test_literal))),
    test_literal: () => token.immediate(/\|(\\(.|\n)|[^|\\\n])*\|/),

    call: ($) => prec(2, seq(field('function', $.path), field('arguments', $.group))),
    path: ($) => prec.right(1, seq($._name, repeat(seq('::', choice($._name, $.use_group))))),
    use_group: ($) => seq('{', repeat(choice($.path, ',', 'as')), '}'),
    _name: ($) => choice($.identifier, $.quoted_identifier),
    identifier: () => NAME,
    quoted_identifier: () => /`[^`\n]*`/,

    field: ($) => prec(1, seq('.', field('name', $._name))),
    metadata: () => /\$([\p{L}][\p{L}\p{N}\p{Mn}\p{Pc}]*)?/u,
    root: () => choice(...ROOTS),

    boolean: () => choice('true', 'false'),
    null: () => 'null',
    wildcard: () => '_',
    keyword: () => choice(...KEYWORDS),

    string: ($) =>
      seq(
        '"',
        repeat(choice($.string_content, $.escape_sequence, $.interpolation)),
        token.immediate('"'),
      ),
    string_content: () => token.immediate(prec(1, /[^"\\#\n]+|#/)),
    escape_sequence: () => token.immediate(prec(2, /\\(u[0-9a-fA-F]{4}|.|\n)/)),
    interpolation: ($) => seq(token.immediate(prec(2, '#{')), repeat($._item), '}'),

    heredoc: ($) =>
      seq(
        '"""',
        repeat(choice($.heredoc_content, $.escape_sequence, $.interpolation)),
        token.immediate(prec(2, '"""')),
      ),
    heredoc_content: () => token.immediate(prec(1, /[^"\\#]+|"|#/)),

    raw_string: () =>
      token(
        prec(
          1,
          choice(/r"[^"]*"/, /r#"([^"]|"[^#])*"#/, /r##"([^"]|"[^#]|"#[^#])*"##/),
        ),
      ),

    number: () =>
      token(
        choice(
          /0x[0-9a-fA-F_]+/,
          /[0-9][0-9_]*(\.[0-9][0-9_]*|\.)?(e[+-]?[0-9_]+)?(ns|us|µs|ms|s|min|m|h|d|w|B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?/,
        ),
      ),

    list: ($) => seq('[', repeat($._item), ']'),
    record: ($) => seq('{', repeat($._item), '}'),
    group: ($) => seq('(', repeat($._item), ')'),
    pattern: ($) =>
      choice(
        seq('%{', repeat($._item), '}'),
        seq('%[', repeat($._item), ']'),
        seq('%(', repeat($._item), ')'),
      ),

    operator: () =>
      choice(
        '=>', '=', '==', '!=', '>=', '>', '<=', '<', '>>>', '>>', '<<', '??', '+', '-', '*', '/', '%',
        '&', '^', '!', '~', '~=', '...',
      ),
    punctuation: () => choice(',', ';', ':'),
  },
});
