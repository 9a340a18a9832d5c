//! Pages about programs that run, but perhaps not as meant: `W06xx`. A test compiles the examples.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        code: "W0630",
        title: "a default that is more than a value",
        text: r###"`??` binds least of all operators, so everything behind it is the default. Brackets
say what is meant."###,
        wrong: r###"event.a ?? 0 > 3"###,
        right: r###"(event.a ?? 0) > 3"###,
    },
    Page {
        code: "W0601",
        title: "a constant in lower case",
        text: r###"Constants look like locals where they are read. Upper case tells them apart."###,
        wrong: r###"const limit = 5;
limit"###,
        right: r###"const LIMIT = 5;
LIMIT"###,
    },
    Page {
        code: "W0602",
        title: "a match without a default",
        text: r###"An event that no arm takes fails."###,
        wrong: r###"match event of
  case 1 => "one"
end"###,
        right: r###"match event of
  case 1 => "one"
  case _ => "other"
end"###,
    },
    Page {
        code: "W0603",
        title: "an arm that is never reached",
        text: r###"An arm above takes everything, or asks the same without a guard."###,
        wrong: r###"match event of
  case _ => "other"
  case 1 => "one"
end"###,
        right: r###"match event of
  case 1 => "one"
  case _ => "other"
end"###,
    },
    Page {
        code: "W0604",
        title: "a field that is asked for twice",
        text: r###"Both tests must hold, but only what the later one gives is kept under the name
of the field."###,
        wrong: r###"match event of
  case %{ present a, a ~= json|| } => 1
  case _ => 2
end"###,
        right: r###"match event of
  case %{ a ~= json|| } => 1
  case _ => 2
end"###,
    },
    Page {
        code: "W0605",
        title: "a field that must be there and must not",
        text: r###"The pattern can never match."###,
        wrong: r###"match event of
  case %{ absent a, a == 1 } => 1
  case _ => 2
end"###,
        right: r###"match event of
  case %{ a == 1 } => 1
  case _ => 2
end"###,
    },
    Page {
        code: "W0606",
        title: "a slow function",
        text: r###"The function copies or gathers more than is needed; the message says what to
use instead."###,
        wrong: r###"use std::array;
array::push([1], event)"###,
        right: r###"[1] + [event]"###,
    },
    Page {
        code: "W0607",
        title: "a fold with `use`",
        text: r###"Tremor calls this form experimental."###,
        wrong: r###"for event of
  case (i, v) => v
  into 1 use *
end"###,
        right: r###"for event.c of
  case (i, v) => v
  into 0
end"###,
    },
    Page {
        code: "W0608",
        title: "a value that nobody takes",
        text: r###"Only the last expression of a block gives a value. One in front of it that has
no effect is not even run, so that its mistakes stay hidden."###,
        wrong: r###"event.a + 1;
event"###,
        right: r###"let b = event.a + 1;
b"###,
    },
    Page {
        code: "W0609",
        title: "a function with another number of parameters",
        text: r###"Missing arguments fail when they are read, further ones are ignored."###,
        wrong: r###"fn f(x) with x end;
f(1, 2)"###,
        right: r###"fn f(x) with x end;
f(1)"###,
    },
    Page {
        code: "W0611",
        title: "an assignment at the end of a script",
        text: r###"The value of the last expression becomes the event, and an assignment gives
the assigned value."###,
        wrong: r###"let $class = "x""###,
        right: r###"let $class = "x";
event"###,
    },
    Page {
        code: "W0612",
        title: "a local that nothing assigns",
        text: r###"The name is read, but no `let` and no pattern gives it a value: most often it
is misspelt, or `event.` is missing."###,
        wrong: r###"evnt.a"###,
        right: r###"event.a"###,
    },
    Page {
        code: "W0613",
        title: "a case with another number of patterns",
        text: r###"A case of a function has one pattern for each parameter; one that has not
never matches."###,
        wrong: r###"fn f(a) of
  case (1, 2) => 1
  case _ => 2
end;
f(1)"###,
        right: r###"fn f(a) of
  case (1) => 1
  case _ => 2
end;
f(1)"###,
    },
    Page {
        code: "W0614",
        title: "a binding that a constant hides",
        text: r###"Constants are looked up before bindings, so the name stands for the constant."###,
        wrong: r###"const A = 5;
match event of
  case A = _ => A
end"###,
        right: r###"const A = 5;
match event of
  case a = _ => [a, A]
end"###,
    },
    Page {
        code: "W0615",
        title: "a binding that is never read",
        text: r###"The name is bound by a pattern, and nothing asks for it."###,
        wrong: r###"match event of
  case all = %{ present a } => 1
  case _ => 2
end"###,
        right: r###"match event of
  case %{ present a } => 1
  case _ => 2
end"###,
    },
    Page {
        code: "W0616",
        title: "a local that is never read",
        text: r###"The value is computed and forgotten."###,
        wrong: r###"let unread = event.a;
event"###,
        right: r###"let $read = event.a;
event"###,
    },
    Page {
        code: "W0617",
        title: "a comparison that always has the same result",
        text: r###"The two sides are of kinds that are never equal, whatever the event is."###,
        wrong: r###""#{event.a}" == 5"###,
        right: r###""#{event.a}" == "5""###,
    },
    Page {
        code: "W0618",
        title: "a condition that is never a bool",
        text: r###"What stands here is of another kind, whatever the event is, so that every
event that comes here fails."###,
        wrong: r###"match event of
  case _ when "#{event}" => 1
  case _ => 2
end"###,
        right: r###"match event of
  case _ when "#{event}" == "" => 1
  case _ => 2
end"###,
    },
    Page {
        code: "W0619",
        title: "an operand or argument of a wrong kind",
        text: r###"What stands here is of a kind that the operator or function does not take,
whatever the event is."###,
        wrong: r###"use std::string;
string::len([event])"###,
        right: r###"use std::string;
string::len("#{event}")"###,
    },
    Page {
        code: "W0621",
        title: "code that is never reached",
        text: r###"`emit` and `drop` end the script; nothing behind them in the same block is
run."###,
        wrong: r###"drop;
event"###,
        right: r###"event"###,
    },
    Page {
        code: "W0622",
        title: "a field that is read and never written",
        text: r###"No statement that can run writes this field, so that it is never there. Looked
at are locals; the state of a script, with all scripts of its ports and what `state` gives it at first;
and, in a Temblor file, whose events begin without metadata, metadata. The order of statements does not
count. No warning is given where another may have written the field: an input, a function, a pattern,
an operator, a computed name. A state that an earlier version of the program saved (`--state`) may
have a field that this one no longer writes."###,
        wrong: r###"let found = {"count": event.a};
found.cuont"###,
        right: r###"let found = {"count": event.a};
found.count"###,
    },
    Page {
        code: "W0527",
        title: "an end of the program that is open to others",
        text: r###"A source that listens on an address that other machines reach takes events from everybody when
it asks neither for a certificate nor for a password; a sink that sends over a network without TLS, or that does not
check the certificate of the other side, shows its events to everybody in between. The message says what to set."###,
        wrong: r###"source in from tcp "0.0.0.0:5514";
in |> out"###,
        right: r###"source in from tcp "127.0.0.1:5514";
in |> out"###,
    },
    Page {
        code: "W0528",
        title: "an input that nothing feeds",
        text: r###"A file that declares a source gets its events from its sources alone; `in` stands for the input of the
command line, which is read only where the file declares none. What reads from `in` beside a source of another name never
sees an event. Begin with the name of a source, or call a source `in`."###,
        wrong: r###"source lines from stdin;
in |> out"###,
        right: r###"source lines from stdin;
lines |> out"###,
    },
];
