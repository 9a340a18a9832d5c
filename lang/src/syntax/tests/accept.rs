//! What each notation accepts and what it refuses.

use super::{check_all, parse_deploy, parse_program, parse_query, parse_script};

pub(in crate::syntax) const SCRIPTS: &[&str] = &[
    "event",
    "event;",
    "match 1 of case ~ re|  a| => 1 case ~ re|\ta\\\n  b| => 2 case ~ glob| \\\na|=>3 case ~ json|  \\\n | => 4 end",
    "### docs\n### more\nuse std::string; use a::{b, c as d, e::{f}}; event",
    "let x = 1; let event.a.`two words`[x][1:2] = x; event",
    "1 + 2 * -3 - --4 / +5 % 2 == 3 and not not true or !1 ^ 2 & 3 xor 1 >> 2 >>> 3 << 4",
    "match event of case %{ present a, absent b, c ~= json||, d == 1, e ~= %[1, _, ~ re|x|], } when event.x > 1 => let y = 1; emit y => \"port\" case x = %(1, _, ...) => drop case _ => null end",
    "let a = match event of case ~ re|\\\\d+\\|| => 1 case %() => 2 case %(...) => 3 end",
    "for event of case (k, v) when k == \"a\" => {\"k\": 1} into {} use + end",
    "(for event of case (k, v) => {\"#{k}\": v}, 2 into {} end)",
    "patch event of insert \"a\" => 1; upsert \"b\" => 2; update \"c\" => 3; erase \"d\"; move \"a\" => \"b\"; copy \"a\" => \"b\"; merge \"k\" => {}; merge => {}; default \"k\" => 1; default => {} end",
    "(merge event of {\"a\": null} end).a",
    "fn f(a, b, ...) with let c = a; recur(1, 2); end; fn g(x) of case (1) => 2; 3 case (~ json||) when x => 1 case _ => 0 end; intrinsic fn len(x) as string::len; const A = 5; f(1, 2,)",
    "<< 1:4, 2:4/little, event.a/binary, (-1):8/signed_integer >>",
    "<<>>",
    "$; $a.b[1]; let $a = $b; $",
    "present event.a and absent $b.c or present x",
    "\"a #{ \"b #{ {\"c\": 1}.c } }\" } d \\u0041 \\\" \\#{x}\"",
    "\"\"\"\n  text \"quoted\" #{event}\n\"\"\"",
    "\"\"",
    "1_000; 0xff_FF; 1.5; 1.; 1.e5; 1.0e-5; 1_000.5_5; 00012",
    "emit; emit event; emit => \"x\"; emit event => \"#{x}\"; drop",
    "let if = 1; let then = if; if + then",
    "if(1)",
    "1._5",
    "<< patch {} of insert \"a\" => 1 end:0x8 >>",
    "let `` = 1",
    "if event.a then 1 else 2 end",
    "if (event.a) and event.b then emit 1 => \"a\" elif -1 < 2 then drop else event.c end",
    "if -1 < 2 then 1 end",
    "let x = 1 + if true then 1 else 2 end",
    "if true then emit else drop end",
    "event.a ?? event.b ?? 1 + 1",
    "10s + 250ms + 5m + 1h + 2d + 100us + 10ns + 5MiB + 10kB",
    "r\"\\d+\" + r#\"a\"b\"#",
    "f (1) . a [ 1 ]",
    "[1, [2, [3,],],][0]; {\"a\": {\"b\": 1,},}.a.b",
    "match x of case if => 1 end",
    "case_x; event_y; let match_z = 1",
];

const NOT_SCRIPTS: &[&str] = &[
    "",
    "# only a comment",
    "event;;",
    "$.a",
    "$[x]",
    "_x",
    "let x = _",
    "5 %(3)",
    "1e5",
    ".5",
    "1..2",
    "12q",
    "3x1",
    "0b1",
    "1.0e",
    "'a'",
    "\"abc\"[0]",
    "event.\"x\"",
    "not -1",
    "event ## note",
    "a || b",
    "a | b",
    "a = 1",
    "[let x = 1]",
    "1 + match x of case _ => 1 end",
    "match x of case _ => 1; end",
    "match x of default => 1 end",
    "match x of end",
    "patch event of insert \"a\" => 1; end",
    "patch event of end",
    "use a::{b, c,}",
    "use a::*",
    "const a = let x = 1",
    "fn f(a,) with a end",
    "fn f(a) with fn g() with 1 end end",
    "event.case",
    "recur",
    "present 1",
    "present f(x)",
    "\"\\x\"",
    "\"\\uD800\"",
    "\"#{}\"",
    "\"a\nb\"",
    "\"\"\" x\n\"\"\"",
    "18446744073709551616",
    "0x1_0000_0000_0000_0000",
    "<< 1:65 >>",
    "<< 1:0 >>",
    "<< 1/float >>",
    "<< 1 + 2 >>",
    "%{ \"a\" == 1 }",
    "match x of case %{ \"a\" == 1 } => 1 end",
    "match x of case ~ re|\\d| => 1 end",
    "match x of case ~ re|a\nb| => 1 end",
    "match x of case %[ %[1] ] => 1 end",
    "#!config a = 1\nevent",
    "use {a}",
    "fn f(a, ...) of case (1) => 2 case _ => 3 end; 1",
    "`a",
    "a:::b",
    "define operator a from b::c",
];

pub(in crate::syntax) const QUERIES: &[&str] = &[
    "#!config id = \"x\"\n### docs\nselect event from in into out",
    "define window w from tumbling with size = 2, interval = 3, state 0 script from tick false script event.w end; select {\"n\": aggr::stats::count()} from in[w, m::w2,] where event.a group by set(event.a, each(event.b)) into out/x having event.n > 1;",
    "define operator o from generic::batch args a, b = 1, with count = args.a, end; create operator o with a = 1 end; create operator p from m::o; select event from in into o; select event from o/err into out",
    "define script s args limit = 10 state {\"seen\": 0} script from reset let state.seen = 0; drop script event end; create script s; create stream a",
    "define pipeline p from a, b into x, args c pipeline #!config m = 1\n select event from a into x; end; create pipeline p with c = 1 end",
    "in |> where event.x > 1 |> out",
];

const NOT_QUERIES: &[&str] = &[
    "",
    "select event from in",
    "select event from in into out where true",
    "create window w",
    "let x = 1",
    "define script s script from in 1 script 2 end",
    "define script s script from a 1 script from a 1 script 2 end",
];

pub(in crate::syntax) const DEPLOYS: &[&str] = &[
    "define flow f args a = 1 flow use x; define connector c from file args a with codec = \"json\" end; define connector d from stdio; create connector c with a = 1 end; define pipeline p pipeline select event from in into out end; create pipeline p; connect /connector/c/out to /pipeline/p/in; connect /pipeline/p to /connector/c; end; deploy flow f from f with a = 2 end; deploy flow g",
];

const NOT_DEPLOYS: &[&str] = &[
    "define flow f flow connect /connector/a to /connector/b end",
    "select event from in into out",
];

pub(in crate::syntax) const PROGRAMS: &[&str] = &[
    "source a from file \"x.log\" with codec = \"string\", end; sink out into stdout; in |> parse grok \"%{COMBINEDAPACHELOG}\" from event.message else bad |> dedup by [event.clientip, event.request] within \"10s\" |> rate_limit 1000 per 1s by event.clientip else slow |> route case event.response >= 500 => errors case event.response >= 400 => warnings default => out end;",
    "where event.a == 1",
    "set event.a = 1, $b = event.c |> script let x = 1; event end |> select {\"a\": aggr::stats::count()} over w group by event.a having event.a > 1 |> out/x",
    "dedup last 1000 keep last refresh by event.a else else |> generic::counter |> drop",
    "sample 0.1 by event.id with seed = 1 end |> route all case event.a => a case _ => b end",
    "dedup",
    "when event.a == 1 do parse json else bad |> set event.b = 1 elif event.a > 2 do drop else dedup by event.c end |> out",
    "in |> match event.a of case \"b\" => set event.c = 1 |> out/x case ~ cidr|10.0.0.0/8| when event.d => when x do pass end case %{present e} => script event end default => select event over tumbling 2 end",
    "parse first of [grok \"%{IP:a}\" with keep_empty = true end, json, kv,] from event.m as event.n else bad |> when event.a do parse first of [json] else out end",
    "suppress where event.a |> when event.a do route case event.b => b default => c end else match event.b of case _ => bad end end",
];

#[test]
fn scripts() {
    check_all(SCRIPTS, true, parse_script);
    check_all(NOT_SCRIPTS, false, parse_script);
}

#[test]
fn queries() {
    check_all(QUERIES, true, parse_query);
    check_all(NOT_QUERIES, false, parse_query);
}

#[test]
fn deploys() {
    check_all(DEPLOYS, true, parse_deploy);
    check_all(NOT_DEPLOYS, false, parse_deploy);
}

#[test]
fn programs() {
    check_all(PROGRAMS, true, parse_program);
}
