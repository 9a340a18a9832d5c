//! Pages about events that fail: `E04xx`. A test runs the examples on one event.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        code: "E0401",
        title: "a key that is not there",
        text: r###"A path must exist to its end. Ask with `present`, give a default with `??`, or
match with a record pattern."###,
        wrong: r###"event.missing"###,
        right: r###"event.missing ?? "none""###,
    },
    Page {
        code: "E0402",
        title: "a local without a value",
        text: r###"No `let` has run for this name on the way to here, perhaps because it stands
in an arm that was not taken."###,
        wrong: r###"match event of
  case 1 => let x = 1
  case _ => null
end;
x"###,
        right: r###"let x = 0;
match event of
  case 1 => let x = 1
  case _ => null
end;
x"###,
    },
    Page {
        code: "E0403",
        title: "a value of the wrong kind",
        text: r###"Fields are read from records, elements from arrays; `merge` and `patch` work
on records. `match` with a pattern finds out what a value is."###,
        wrong: r###"event.b.x"###,
        right: r###"match event of
  case %{ b ~= %{ present x } } => event.b.x
  case _ => null
end"###,
    },
    Page {
        code: "E0404",
        title: "an index beyond the end",
        text: r###"Elements are counted from 0."###,
        wrong: r###"event.c[7]"###,
        right: r###"event.c[1]"###,
    },
    Page {
        code: "E0405",
        title: "a negative index",
        text: r###"Indexes are whole numbers from 0; there is no counting from the end."###,
        wrong: r###"event.c[-1]"###,
        right: r###"use std::array;
event.c[array::len(event.c) - 1]"###,
    },
    Page {
        code: "E0406",
        title: "a range that does not fit",
        text: r###"Both bounds of a range lie within the array, the second one may be its length,
and the first is not above the second."###,
        wrong: r###"event.c[0:7]"###,
        right: r###"event.c[0:2]"###,
    },
    Page {
        code: "E0407",
        title: "an assignment to what cannot change",
        text: r###"`let` assigns to locals, to `event`, to `state` and to keys of `$`. Constants,
arguments and results of expressions stay what they are, and so does `$` as a
whole."###,
        wrong: r###"const A = 1;
let A = 2;
A"###,
        right: r###"const A = 1;
let a = 2;
a"###,
    },
    Page {
        code: "E0408",
        title: "an assignment to an element",
        text: r###"Arrays are built anew, they are not changed in place."###,
        wrong: r###"let event.c[0] = 5;
event"###,
        right: r###"let event.c = [5] + event.c[1:2];
event"###,
    },
    Page {
        code: "E0409",
        title: "no arm matches",
        text: r###"A `match` needs an arm for every value that comes."###,
        wrong: r###"match event.a of
  case 5 => "five"
end"###,
        right: r###"match event.a of
  case 5 => "five"
  case _ => "other"
end"###,
    },
    Page {
        code: "E0410",
        title: "a key that exists already",
        text: r###"`insert`, `move` and `copy` do not overwrite; `upsert` does."###,
        wrong: r###"patch event of insert "a" => 2 end"###,
        right: r###"patch event of upsert "a" => 2 end"###,
    },
    Page {
        code: "E0411",
        title: "an update of nothing",
        text: r###"`update` changes a key that is there; `upsert` sets it in any case."###,
        wrong: r###"patch event of update "q" => 2 end"###,
        right: r###"patch event of upsert "q" => 2 end"###,
    },
    Page {
        code: "E0412",
        title: "a fold that is not defined",
        text: r###"`into` an array or a record takes `+` only, and strings are not folded: gather
them in an array and join it."###,
        wrong: r###"for event.c of
  case (i, v) => "#{v}"
  into ""
end"###,
        right: r###"use std::array;
array::join(for event.c of case (i, v) => v end, "")"###,
    },
    Page {
        code: "E0413",
        title: "an operation on kinds that it is not defined for",
        text: r###"Nothing is converted: numbers are added to numbers, strings to strings. Only
numbers and texts have an order."###,
        wrong: r###"event.a + event.b"###,
        right: r###""#{event.a}#{event.b}""###,
    },
    Page {
        code: "E0414",
        title: "an operation on a kind that it is not defined for",
        text: r###"`-` and `+` want a number, `not` a bool, `!` an integer or a bool."###,
        wrong: r###"-event.b"###,
        right: r###"-event.a"###,
    },
    Page {
        code: "E0415",
        title: "an integer that does not fit",
        text: r###"Integers have 64 bits, and results that do not fit are errors, not other
numbers. Floats reach further, with less precision."###,
        wrong: r###"18446744073709551615 + event.a"###,
        right: r###"18446744073709551615.0 + event.a"###,
    },
    Page {
        code: "E0416",
        title: "a division by zero",
        text: r###"Of two integers the second may not be 0. Test it first."###,
        wrong: r###"event.a / 0"###,
        right: r###"if event.a != 0 then 1 / event.a else 0 end"###,
    },
    Page {
        code: "E0417",
        title: "a shift by too many bits",
        text: r###"Integers have 64 bits, so they are shifted by 0 to 63."###,
        wrong: r###"event.a << 64"###,
        right: r###"event.a << 63"###,
    },
    Page {
        code: "E0418",
        title: "an argument of the wrong kind",
        text: r###"The function was called with a value of a kind that it does not take; the
message says what it does take."###,
        wrong: r###"use std::string;
string::len(event.a)"###,
        right: r###"use std::string;
string::len(event.b)"###,
    },
    Page {
        code: "E0419",
        title: "a wrong number of arguments",
        text: r###"An intrinsic was called with a number of arguments that the function behind it
does not take."###,
        wrong: r###"intrinsic fn length(a, b) as string::len;
length(event.b, event.b)"###,
        right: r###"intrinsic fn length(a) as string::len;
length(event.b)"###,
    },
    Page {
        code: "E0420",
        title: "a function that failed",
        text: r###"The kinds were right, but the values cannot be worked with; the message is the
function's."###,
        wrong: r###"use std::integer;
integer::parse(event.b)"###,
        right: r###"use std::integer;
integer::parse("12")"###,
    },
    Page {
        code: "E0421",
        title: "too many turns",
        text: r###"A function may begin anew 1023 times. More is most likely a loop without an
end."###,
        wrong: r###"fn f(n) with recur(n) end;
f(event)"###,
        right: r###"fn f(n) with
  match n of
    case 0 => 0
    case _ => recur(n - 1)
  end
end;
f(9)"###,
    },
    Page {
        code: "E0422",
        title: "bytes of what is no integer",
        text: r###"Parts of a bytes literal are unsigned integers unless they say otherwise:
`/signed_integer`, `/binary`."###,
        wrong: r###"<< event.b >>"###,
        right: r###"<< event.b/binary >>"###,
    },
    Page {
        code: "E0423",
        title: "too few bytes",
        text: r###"The part asks for more bytes than the value has."###,
        wrong: r###"<< event.b:9/binary >>"###,
        right: r###"<< event.b/binary >>"###,
    },
    Page {
        code: "E0424",
        title: "a condition that is no bool",
        text: r###"Guards and the operands of `and`, `or` and `not` are true or false; no other
value counts as either."###,
        wrong: r###"match event of
  case _ when event.a => 1
  case _ => 2
end"###,
        right: r###"match event of
  case _ when event.a == 1 => 1
  case _ => 2
end"###,
    },
];
