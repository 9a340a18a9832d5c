//! Pages about selects, windows, flows, operators and budgets: `E0426` to `E0444`, `E0521` and up, `E06xx`.

use super::Page;

/// A flow with all that it needs.
const WHOLE_FLOW: &str = "define flow f\nflow
  define connector clock from metronome with config = {\"interval\": 1000000000} end;
  define connector nowhere from null;
  define pipeline p pipeline select event from in into out end;
  create connector clock;
  create connector nowhere;
  create pipeline p;
  connect /connector/clock to /pipeline/p;
  connect /pipeline/p to /connector/nowhere
end;
deploy flow f";

/// A page; the source order is that of the codes.
const fn page(
    code: &'static str,
    title: &'static str,
    text: &'static str,
    wrong: &'static str,
    right: &'static str,
) -> Page {
    Page { code, title, text, wrong, right }
}

pub(super) const PAGES: &[Page] = &[
    page(
        "E0426",
        "an event at a port that the script does not have",
        "A script takes events at `in` and at the ports that it has sections for: `script from name`.",
        "define script s script event end;\ncreate script s;\nselect event from in into s/other;\n\
         select event from s into out",
        "define script s script from other event script event end;\ncreate script s;\n\
         select event from in into s/other;\nselect event from s into out",
    ),
    page(
        "E0427",
        "a `where` or `having` that is no bool",
        "There is no truthiness: a condition must be true or false. Compare, or ask with `present`.",
        "select event from in where event.a into out",
        "select event from in where event.a == 1 into out",
    ),
    page(
        "E0428",
        "`each` of something that is no array",
        "`each` makes one group for each element of an array. Wrap a single value: `each([event.a])`.",
        "select group from in group by each(event.a) into out",
        "select group from in group by each(event.c) into out",
    ),
    page(
        "E0429",
        "an event in too many groups",
        "`each` inside of `set` multiplies. An event may be in 65,536 groups at most.",
        "use std::range;\nselect 1 from in\n\
         group by set(each(range::range(0, 257)), each(range::range(0, 257)))\ninto out",
        "use std::range;\nselect 1 from in group by each(range::range(0, 257)) into out",
    ),
    page(
        "E0430",
        "a window's script that gives no whole number",
        "The script of a window by size gives the weight of an event, that of one by interval its time in nanoseconds.",
        "define window w from tumbling with size = 2 script event.b end;\nselect 1 from in[w] into out",
        "define window w from tumbling with size = 2 script event.a end;\nselect 1 from in[w] into out",
    ),
    page(
        "E0431",
        "a window's script that does not say whether to close",
        "The script of a window by state gives a bool, or two: `[emit, include]`.",
        "define window w from tumbling state 0 script event.b end;\nselect 1 from in[w] into out",
        "define window w from tumbling state 0 script event.a == 1 end;\nselect 1 from in[w] into out",
    ),
    page(
        "E0432",
        "too many groups",
        "`max_groups` bounds the groups that are open at a time. Raise it, or let `eviction = \"lru\"` close the group \
         that was used least recently.",
        "define window w from tumbling with size = 2, max_groups = 1 end;\n\
         select 1 from in[w] group by each([1, 2]) into out",
        "define window w from tumbling with size = 2, max_groups = 1, eviction = \"lru\" end;\n\
         select 1 from in[w] group by each([1, 2]) into out",
    ),
    page(
        "E0433",
        "an aggregate of a wrong kind of value",
        "Sums, means and the like take numbers only. Leave other events out by `where`.",
        "define window w from tumbling with size = 1 end;\n\
         select aggr::stats::sum(event.b) from in[w] into out",
        "define window w from tumbling with size = 1 end;\n\
         select aggr::stats::sum(event.a) from in[w] into out",
    ),
    page(
        "E0440",
        "an evaluation that takes too many steps",
        "The REPL stops an evaluation after five million turns of loops and calls of functions. Runs have no such limit.",
        "fn again(n) with recur(n) end;\nagain(1)",
        "1",
    ),
    page(
        "E0441",
        "an evaluation that was interrupted",
        "Ctrl-C was typed while the REPL evaluated. What was entered has no effect.",
        "for event.c of case (_, _) => 1 end",
        "1",
    ),
    page(
        "E0499",
        "a mistake of Temblor",
        "Working on one event brought out a mistake of Temblor itself. The event goes to `err` with the bytes that it came in as, or is printed and counted; the others go on. Standard error says where in the sources. Please report it, with the event and the program.",
        "event",
        "event",
    ),
    page(
        "E0442",
        "an event that needs too much memory",
        "What all scripts and expressions of a program build for one event may take 64 MiB together, however long the event is. The event fails, others do not; what takes care of it at `err` has 16 MiB of its own. Look for a value that is added to itself in a loop, or that holds another one very often.",
        "use std::string;\nlet s = string::repeat(\"x\", 16000000);\ns + s + s + s + s",
        "use std::string;\nlet s = string::repeat(\"x\", 16000000);\ns + s",
    ),
    page(
        "E0443",
        "an event that takes too much work",
        "What all scripts and expressions of a program do for one event is counted: bytes and elements that functions look at, turns of loops, calls. After two thousand million such steps, which take seconds, the event fails; others do not. Look for loops within loops over all of a long value.",
        "use std::string;\nuse std::range;\nlet s = string::repeat(\"x\", 16000000);\nfor range::range(0, 200) of case (i, n) => string::contains(s, \"#{n}\") end",
        "use std::string;\nlet s = string::repeat(\"x\", 16000000);\nstring::contains(s, \"y\")",
    ),
    page(
        "E0444",
        "constants that take too much memory or work",
        "What is known at load is computed at load. All constants of a program may take 64 MiB together, and two thousand million steps. Compute what is larger in the run, where it is gone after each event.",
        "use std::string;\nconst A = string::repeat(\"x\", 16000000);\nconst B = A + A + A;\nconst C = B + A;\nC",
        "use std::string;\nconst A = string::repeat(\"x\", 16000000);\nA",
    ),
    page(
        "E0445",
        "an event whose time cannot be told",
        "The time behind `on` of a window is whole nanoseconds since 1970, or a text of RFC 3339 such as `2026-01-31T08:00:00Z`. Nothing else is taken, so that seconds are never read as nanoseconds: multiply them, or read other texts by `datetime::parse`. With `ahead`, a time further ahead of the event's arrival is refused, too, because it would close all windows up to there.",
        "in |> select aggr::stats::count() over tumbling 1m on event.b |> out",
        "in |> select aggr::stats::count() over tumbling 1m on event.a * 1_000_000_000 |> out",
    ),
    page(
        "E0446",
        "an event that comes too late for its window",
        "Windows by the time of events close when the newest event of every source and partition is further than `late` behind their end. What comes after that goes to the place behind `else`, or to the port `late` of the stream that the select writes to; where nothing takes it, it fails. Wait longer by `late`, or take late events.",
        "create stream all;\nin |> set event.t = 20 |> all;\nin |> set event.t = 5 |> all;\nall |> select aggr::stats::count() over tumbling 10ns on event.t |> out",
        "create stream all;\nin |> set event.t = 20 |> all;\nin |> set event.t = 5 |> all;\nall |> select aggr::stats::count() over tumbling 10ns on event.t late 1m |> out",
    ),
    page(
        "E0447",
        "too many open windows",
        "A select keeps a million windows of event time open at the most, each slide and session of each group counted. Events that would open more fail. Lower `late`, or `idle` where a partition without events holds windows open, take longer windows, or fewer groups.",
        "in |> select aggr::stats::count() over tumbling 1ns on event.a late 1d |> out",
        "in |> select aggr::stats::count() over tumbling 1m on event.a late 1d |> out",
    ),
    page(
        "E0521",
        "a definition that nothing uses",
        "It was defined but never created, so it does nothing. Create it, or remove it.",
        "define flow f\nflow\n  define connector c from null;\n  define connector d from null;\n  create connector d\nend;\ndeploy flow f",
        WHOLE_FLOW,
    ),
    page(
        "E0522",
        "an instance that nothing is connected to",
        "It was created, but no event can reach it or leave it. Connect it, or remove it.",
        "define flow f\nflow\n  define connector c from null;\n  create connector c\nend;\ndeploy flow f",
        WHOLE_FLOW,
    ),
    page(
        "E0523",
        "something that does not belong here",
        "A deploy file defines and deploys flows. A flow defines and creates connectors and pipelines. Streams, scripts, windows and operators belong inside of a pipeline.",
        "define flow f\nflow\n  create stream s\nend;\ndeploy flow f",
        WHOLE_FLOW,
    ),
    page(
        "E0524",
        "a connector, codec or processor that is not there",
        "The name is misspelt, or it is one of tremor's that this build does not have yet; the message says which.",
        "define flow f\nflow\n  define connector c from clickhouse;\n  create connector c\nend;\ndeploy flow f",
        WHOLE_FLOW,
    ),
    page(
        "E0525",
        "a select without its ends",
        "A select in a query says where events come from and where they go. Only the steps of a chain leave both out.",
        "define window w from tumbling with size = 2 end; select event.a",
        "select event.a from in into out",
    ),
    page(
        "E0526",
        "a lookup table that cannot be read",
        "A table is read while the program is compiled, from the working directory or beside the program. The \
         message says whether the file is missing, or which line of it is no row.",
        "table hosts from file \"no-such-file.csv\";\nwhere event.a == 1",
        "where event.a == 1",
    ),
    page(
        "E0600",
        "a setting of an operator that cannot be",
        "The value is of the right kind but makes no sense here; the message says what is expected.",
        "sample 0",
        "sample 10",
    ),
    page(
        "E0601",
        "too many redundant streams",
        "`dedup across` tells 64 streams apart unless `max_streams` says otherwise. More usually means that the expression \
         gives the event instead of its stream.",
        "dedup by event.a across event.b within 10s with max_streams = 1 end\n--- in\n{\"a\": 1, \"b\": \"s\"}\n{\"a\": 1, \"b\": \"t\"}",
        "dedup by event.a across event.b within 10s",
    ),
    page(
        "E0602",
        "a rate or cost that is no whole number",
        "Rates and costs are whole numbers from 0.",
        "rate_limit event.b per 1s",
        "rate_limit 10 per 1s",
    ),
    page(
        "E0603",
        "a rate of 0 that would block for ever",
        "With `block` an event over the limit waits for its turn, which never comes at a rate of 0.",
        "rate_limit event.a - 1 per 1s block",
        "rate_limit 1 per 1s block",
    ),
    page(
        "E0604",
        "a place in something that is no record",
        "Only records have fields. Choose another place, or make the value a record first.",
        "sample 10 as event.a.x",
        "sample 10 as event.x",
    ),
    page(
        "E0607",
        "a trigger that is neither true nor false",
        "`when` of `around` must be a bool for each event.",
        "in |> around when event.a before 1 |> out",
        "in |> around when event.a == 1 before 1 |> out",
    ),
    page(
        "E0608",
        "an event without text to join",
        "`join` puts lines together: the event must be a text, or `from` must say which field the line is in.",
        "in |> join \"^x\" |> out",
        "in |> join \"^x\" from event.b |> out",
    ),
    page(
        "E0609",
        "a found row that cannot be merged",
        "Without `into`, the fields of the row are added to those of the event, so both must be records.",
        "enrich \"hosts.csv\" from event",
        "event",
    ),
    page(
        "E0610",
        "what an operator refused, with its own reason",
        "The operator sent the event to a port that nothing is connected to; the reason is in the message. Connect the port, \
         for example by `else bad`.",
        "in |> parse json from event.b |> out",
        "in |> parse json from event.b else bad |> out",
    ),
];
