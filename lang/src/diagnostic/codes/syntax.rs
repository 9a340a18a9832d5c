//! Pages about the text itself: `E01xx` for its tokens, `E02xx` for its grammar. The example of each
//! page gets its code, and its correction gets none; a test sees to it.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        code: super::UNTERMINATED,
        title: "a literal is not closed",
        text: r###"A string ends on the line on which it begins, a heredoc with `"""`, an extractor
with `|` and a quoted name with a backtick. The place shown is where the literal
begins. For text of several lines use a heredoc; in an extractor, a backslash at
the end of a line goes on in the next."###,
        wrong: r###""one"###,
        right: r###""one""###,
    },
    Page {
        code: super::BAD_ESCAPE,
        title: "a backslash that escapes nothing",
        text: r###"Strings know \" \\ \# \b \f \n \r \t and \uXXXX. Extractors know only \| and \\
and the backslash at the end of a line, so that the backslashes of a regular
expression are doubled. A raw string, r"…", has no escapes at all."###,
        wrong: r###""a\d""###,
        right: r###""a\\d""###,
    },
    Page {
        code: super::BAD_UNICODE_ESCAPE,
        title: "an escape that is no character",
        text: r###"`\u` is followed by exactly four hexadecimal digits that are no surrogate.
Characters that need more digits are written as they are."###,
        wrong: r###""\uD800""###,
        right: r###""\u00e9""###,
    },
    Page {
        code: super::INVALID_INTEGER,
        title: "an integer that is too large",
        text: r###"Integers have 64 bits: the largest literal is 18446744073709551615. Write a
float for more."###,
        wrong: r###"18446744073709551616"###,
        right: r###"18446744073709551616.0"###,
    },
    Page {
        code: super::INVALID_NUMBER,
        title: "a number in a form that is not known",
        text: r###"A float needs its dot, also before an exponent, and a digit in front of it. A
unit is glued to a number only where it is one: ns us ms s m h d w for durations
and B kB MB GB TB KiB MiB GiB TiB for sizes."###,
        wrong: r###"let x = 1e5"###,
        right: r###"let x = 1.0e5"###,
    },
    Page {
        code: super::EMPTY_INTERPOLATION,
        title: "an interpolation without content",
        text: r###"`#{}` stands for a value, so there must be an expression in it. For the text
itself write `\#{}`."###,
        wrong: r###""a #{} b""###,
        right: r###""a #{event.x} b""###,
    },
    Page {
        code: super::HEREDOC_OPENING,
        title: "text behind the opening of a heredoc",
        text: r###"The text of a heredoc begins on the line after `"""`; even a blank between them
is an error."###,
        wrong: r###""""  a
""""###,
        right: r###""""
a
""""###,
    },
    Page {
        code: super::UNEXPECTED_CHARACTER,
        title: "a character that starts no token",
        text: r###"Quotes are double, names start with a letter, conditions are joined by `and` and
`or`."###,
        wrong: r###"event.a && event.b"###,
        right: r###"event.a and event.b"###,
    },
    Page {
        code: super::UNEXPECTED,
        title: "a text that does not follow the grammar",
        text: r###"The message names what was found, the label what could have stood there. The
cause is often just before the place: a missing `;`, an `=` for `==`, a misspelt
word. The help names the most likely slip."###,
        wrong: r###"let x = match event off case _ => 1 end"###,
        right: r###"let x = match event of case _ => 1 end"###,
    },
    Page {
        code: super::TOO_DEEP,
        title: "nested too deep",
        text: r###"Brackets, forms and strings can be nested 128 levels deep, and 512 operators can
stand in a row, so that no text exhausts the stack. Give the inner parts names
with `let`, or move them into functions."###,
        wrong: concat!(
            "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
            "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
            "1 …"
        ),
        right: r###"(1)"###,
    },
    Page {
        code: super::PATH_EXPECTED,
        title: "no path where only a path can stand",
        text: r###"`let` and `set` assign to a path, `present` and `absent` ask about one. A call
or a literal alone is none; one with a segment, such as `f(x).a`, is."###,
        wrong: r###"present [1]"###,
        right: r###"present event.list[0]"###,
    },
    Page {
        code: super::IF_CONDITION,
        title: "an `if` with more than one condition",
        text: r###"What stands in brackets behind `if` is one condition."###,
        wrong: r###"if (event.a, event.b) then 1 end"###,
        right: r###"if (event.a and event.b) then 1 end"###,
    },
    Page {
        code: super::BYTES_SIZE,
        title: "the size of a part of a bytes literal",
        text: r###"The size behind `:` counts bits, 1 to 64 (bytes for `binary`)."###,
        wrong: r###"<< 1:65 >>"###,
        right: r###"<< 1:64 >>"###,
    },
    Page {
        code: super::BYTES_KIND,
        title: "the type of a part of a bytes literal",
        text: r###"The type behind `/` is `integer`, `unsigned`, `signed_integer`, `little`,
`little_signed_integer` or `binary`, or one of their longer spellings."###,
        wrong: r###"<< 1/float >>"###,
        right: r###"<< 1/little >>"###,
    },
    Page {
        code: super::RESERVED_PORT,
        title: "a script for the port `in`",
        text: r###"The `script` without a port handles the port `in`; a second one for it would
never run."###,
        wrong: r###"define script s script from in event script event end"###,
        right: r###"define script s script event end"###,
    },
    Page {
        code: super::DUPLICATE_PORT,
        title: "a port twice",
        text: r###"Each port has one script, and is named once in a list of ports."###,
        wrong: r###"define script s script from a 1 script from a 2 script event end"###,
        right: r###"define script s script from a 1 script from b 2 script event end"###,
    },
    Page {
        code: super::CONNECTOR_TO_CONNECTOR,
        title: "a connector connected to a connector",
        text: r###"Events flow from connectors through pipelines to connectors: put a pipeline
between the two."###,
        wrong: r###"define flow f flow connect /connector/a to /connector/b end"###,
        right: r###"define flow f flow connect /connector/a to /pipeline/b end"###,
    },
    Page {
        code: super::MISSING_END,
        title: "a form or bracket that is not closed",
        text: r###"The text ends inside of a form. Each `match`, `for`, `patch`, `merge`, `fn`,
`if` and `define` has its own `end`; `else if` opens a second `if`, `elif` does
not."###,
        wrong: r###"match event of case _ => 1"###,
        right: r###"match event of case _ => 1 end"###,
    },
    Page {
        code: super::VARARGS_WITH_CASES,
        title: "a function with both `...` and cases",
        text: r###"A function that is written as cases matches its named parameters; further ones
have no place in a case."###,
        wrong: r###"fn f(a, ...) of case (1) => 2 case _ => 3 end; 1"###,
        right: r###"fn f(a, ...) with match args of case [1] => 2 case _ => 3 end end; 1"###,
    },
    Page {
        code: super::DISCARDED_EXPRESSION,
        title: "an expression that is thrown away",
        text: r###"In a match or comprehension that stands inside of an expression an arm has one
value; of several expressions only the last one counts."###,
        wrong: r###"(match event of case _ => 1, 2 end)"###,
        right: r###"(match event of case _ => [1, 2] end)"###,
    },
];
