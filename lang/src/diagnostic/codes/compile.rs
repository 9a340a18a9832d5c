//! Pages about programs that can be read but not run: `E03xx`. A test compiles the examples.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        code: "E0330",
        title: "a variable that the environment does not have",
        text: r###"`env::NAME` is looked up when the program is compiled. A default behind `??` stands
for a variable that is not set."###,
        wrong: r###"set event.a = env::TEMBLOR_IS_NOT_SET"###,
        right: r###"set event.a = env::TEMBLOR_IS_NOT_SET ?? "default""###,
    },
    Page {
        code: "E0331",
        title: "something that can fail in a program that says it cannot",
        text: r###"A line `#!total` at the head of a program says that no event makes it fail. Then each place that
can is an error: fields that may be missing, values that may be of another kind, functions that refuse some values,
matches without a default. `temblor check --can-fail` lists them for any program."###,
        wrong: r###"#!total
let event.total = event.count"###,
        right: r###"#!total
let event.total = event.count ?? 0"###,
    },
    Page {
        code: "E0301",
        title: "an expression that is not constant",
        text: r###"The right side of `const`, the default of an argument and the settings of
definitions are computed once, before the first event. Literals, operators,
other constants and calls of pure functions are known then; the event,
`match`, `for`, `patch`, `merge` and functions that look at the clock are not."###,
        wrong: r###"const LIMIT = event.limit;
LIMIT"###,
        right: r###"let limit = event.a;
limit"###,
    },
    Page {
        code: "E0302",
        title: "a name that is defined twice",
        text: r###"In one file a name can be given to one constant and to one function only,
whatever its parameters; parameters of one function differ, too."###,
        wrong: r###"const A = 1;
const A = 2;
A"###,
        right: r###"const A = 1;
const B = 2;
A + B"###,
    },
    Page {
        code: "E0303",
        title: "a function that is not defined",
        text: r###"No function of this name is known here. Functions are defined in front of
their first use, and a function cannot call itself by name: that is what
`recur` is for. Functions of modules are called by the name of the module that
`use` brought in."###,
        wrong: r###"use std::string;
string::uppercas("a")"###,
        right: r###"use std::string;
string::uppercase("a")"###,
    },
    Page {
        code: "E0304",
        title: "a constant that is not defined",
        text: r###"The module has no constant of this name."###,
        wrong: r###"use std::integer;
integer::signed::MAXI"###,
        right: r###"use std::integer;
integer::signed::MAX"###,
    },
    Page {
        code: "E0305",
        title: "a module that is not found",
        text: r###"`use a::b` looks for the standard module of that name or for a file
`a/b.tremor` in the directories given with `--path`, in TEMBLOR_PATH and
TREMOR_PATH, and beside the program. Only modules can be used, not single
functions or constants."###,
        wrong: r###"use std::strings;
1"###,
        right: r###"use std::string;
1"###,
    },
    Page {
        code: "E0306",
        title: "a module that is not in use",
        text: r###"A path of names begins with a module that a `use` of the same file names.
Bodies of definitions need their own `use`."###,
        wrong: r###"string::len("a")"###,
        right: r###"use std::string;
string::len("a")"###,
    },
    Page {
        code: "E0307",
        title: "modules that use each other",
        text: r###"A module is read before the one that uses it, so that two modules cannot use
each other, even through others. Move what both need into a third."###,
        wrong: r###"use cyclic::a;
a::ONE
--- module cyclic/a.tremor
use cyclic::b;
const ONE = b::ONE;
--- module cyclic/b.tremor
use cyclic::a;
const ONE = 1;"###,
        right: r###"use linear::a;
a::ONE
--- module linear/a.tremor
use linear::b;
const ONE = b::ONE;
--- module linear/b.tremor
const ONE = 1;"###,
    },
    Page {
        code: "E0308",
        title: "too many modules in a row",
        text: r###"Modules may use modules that use modules, to a limit. A chain this long is
most likely made by a program that writes modules."###,
        wrong: r###"use deep::m0;
1"###,
        right: r###"use std::string;
1"###,
    },
    Page {
        code: "E0309",
        title: "a wrong number of arguments",
        text: r###"The function takes another number of arguments. `recur` takes as many as the
function has parameters."###,
        wrong: r###"use std::string;
string::len("a", "b")"###,
        right: r###"use std::string;
string::len("a")"###,
    },
    Page {
        code: "E0310",
        title: "a binding in a binding",
        text: r###"`x = pattern` binds what the pattern gives to one name. Tremor accepts a
second name and then fails at the first event."###,
        wrong: r###"match event of
  case x = y = _ => x
end"###,
        right: r###"match event of
  case x = _ => x
end"###,
    },
    Page {
        code: "E0311",
        title: "an extractor that cannot be built",
        text: r###"The text between the bars is not in the form that this extractor reads: a
regular expression that is not closed, a network without a length."###,
        wrong: r###"match event of
  case ~ re|(| => 1
  case _ => 2
end"###,
        right: r###"match event of
  case ~ re|\\(| => 1
  case _ => 2
end"###,
    },
    Page {
        code: "E0312",
        title: "an unknown extractor",
        text: r###"The name in front of the bars is none of the extractors."###,
        wrong: r###"match event of
  case ~ jsn|| => 1
  case _ => 2
end"###,
        right: r###"match event of
  case ~ json|| => 1
  case _ => 2
end"###,
    },
    Page {
        code: "E0313",
        title: "`recur` in the middle of a function",
        text: r###"`recur` begins the function again, so nothing can be left to do behind it: it
stands at the end of the function, or at the end of an arm of a `match` there.
Carry intermediate results in a parameter."###,
        wrong: r###"fn product(n) with n * recur(n - 1) end;
1"###,
        right: r###"fn product(n, all) with
  match n of
    case 0 => all
    case _ => recur(n - 1, n * all)
  end
end;
product(5, 1)"###,
    },
    Page {
        code: "E0314",
        title: "`emit` or `drop` where a value is wanted",
        text: r###"Functions give a value to their caller. Leaving the script is up to the script
itself."###,
        wrong: r###"fn check(x) with drop end;
check(event)"###,
        right: r###"fn is_bad(x) with x == null end;
match event of
  case x = _ when is_bad(x) => drop
  case _ => event
end"###,
    },
    Page {
        code: "E0315",
        title: "an aggregate in an aggregate",
        text: r###"An aggregate sees the events of a window one by one; the result of another
aggregate is only known at its end."###,
        wrong: r###"define window w from tumbling with size = 2 end;
select aggr::stats::max(aggr::stats::sum(event.a)) from in[w] into out"###,
        right: r###"define window w from tumbling with size = 2 end;
select aggr::stats::sum(event.a) from in[w] into out"###,
    },
    Page {
        code: "E0316",
        title: "an aggregate without a window",
        text: r###"Aggregates can be called in the target and in `having` of a `select` whose
source has a window. (Tremor gives null in scripts, and sometimes fails.)"###,
        wrong: r###"select aggr::stats::count() from in into out"###,
        right: r###"define window w from tumbling with size = 2 end;
select aggr::stats::count() from in[w] into out"###,
    },
    Page {
        code: "E0317",
        title: "a local variable outside of a script",
        text: r###"Clauses of a `select` see the event, `$`, arguments, `group` and constants.
There are no locals, so a bare name is a mistake, most often a missing
`event.`."###,
        wrong: r###"select status from in into out"###,
        right: r###"select event.a from in into out"###,
    },
    Page {
        code: "E0318",
        title: "the event where there is none",
        text: r###"A windowed `select` gives one result for many events, so that its target
cannot ask for *the* event. Use an aggregate, or an expression behind `group
by`."###,
        wrong: r###"define window w from tumbling with size = 2 end;
select event.a from in[w] into out"###,
        right: r###"define window w from tumbling with size = 2 end;
select aggr::win::last(event.a) from in[w] into out"###,
    },
    Page {
        code: "E0319",
        title: "an assignment to the event of a window",
        text: r###"Scripts of windows decide when a window ends. They see the event, but do not
change it."###,
        wrong: r###"define window w from tumbling with size = 2
script
  let event = 1;
  true
end;
select aggr::stats::count() from in[w] into out"###,
        right: r###"define window w from tumbling with size = 2
script
  event.a
end;
select aggr::stats::count() from in[w] into out"###,
    },
    Page {
        code: "E0322",
        title: "a literal that is no index",
        text: r###"In brackets stands a string for a field or a whole number for an element."###,
        wrong: r###"event.c[1.5]"###,
        right: r###"event.c[1]"###,
    },
    Page {
        code: "E0323",
        title: "`recur` outside of a function",
        text: r###"Only functions can begin anew."###,
        wrong: r###"recur(1)"###,
        right: r###"fn f(n) with
  match n of
    case 0 => "done"
    case _ => recur(n - 1)
  end
end;
f(3)"###,
    },
    Page {
        code: "E0324",
        title: "a definition where none can stand",
        text: r###"Files of scripts hold `use`, `const`, `fn`, `intrinsic` and expressions;
module files no expressions; definitions of windows, operators and pipelines
belong in queries and modules."###,
        wrong: r###"use misplaced::define;
1"###,
        right: r###"use std::string;
1"###,
    },
    Page {
        code: "E0325",
        title: "a bound that is no index",
        text: r###"The bounds of a range are whole numbers from 0."###,
        wrong: r###"event.c[0:1.5]"###,
        right: r###"event.c[0:1]"###,
    },
    Page {
        code: "E0326",
        title: "a range that ends before it starts",
        text: r###"The first bound is the first element taken, the second the first that is not."###,
        wrong: r###"event.c[2:1]"###,
        right: r###"event.c[1:2]"###,
    },
    Page {
        code: "E0327",
        title: "a lookup table that is not declared",
        text: r###"A program that declares lookup tables declares all that it asks. A table is
named by its name, or by a text. In programs without declarations the tables
come from `--table`, and their names are not checked before the run."###,
        wrong: r###"table hosts from file "hosts.csv";
set event.host = lookup::get("host", event.ip)"###,
        right: r###"set event.host = event.a"###,
    },
];
