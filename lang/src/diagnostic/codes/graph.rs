//! Pages about graphs and chains: `E05xx`. A test compiles the examples.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        code: "E0501",
        title: "something that is not defined",
        text: r###"`create` and `from in[window]` name something that a `define` in the same file
or in a module defines."###,
        wrong: r###"create script unknown;
select event from in into out"###,
        right: r###"define script known script event end;
create script known;
select event from in into out"###,
    },
    Page {
        code: "E0502",
        title: "a stream that is not defined",
        text: r###"`from` and `into` name a stream, an operator, a script, or the ports `in`,
`out` and `err`. Nodes are created with `create` before they are used."###,
        wrong: r###"select event from inn into out"###,
        right: r###"select event from in into out"###,
    },
    Page {
        code: "E0503",
        title: "a cycle",
        text: r###"Events would run in a circle. Streams lead from inputs to outputs."###,
        wrong: r###"create stream a;
create stream b;
select event from a into b;
select event from b into a"###,
        right: r###"create stream a;
select event from in into a;
select event from a into out"###,
    },
    Page {
        code: "E0504",
        title: "a name that is in use",
        text: r###"Streams, operators and scripts of one graph have different names."###,
        wrong: r###"create stream a;
create stream a;
select event from in into out"###,
        right: r###"create stream a;
create stream b;
select event from in into out"###,
    },
    Page {
        code: "E0505",
        title: "an unknown operator",
        text: r###"There is no operator of this name."###,
        wrong: r###"define operator o from generic::dedupp;
create operator o;
select event from in into out"###,
        right: r###"select event from in into out"###,
    },
    Page {
        code: "E0506",
        title: "an unknown setting",
        text: r###"The operator has no setting of this name."###,
        wrong: r###"define operator b from generic::batch with
  count = 2,
  counts = 3
end;
create operator b;
select event from in into out"###,
        right: r###"define operator b from generic::batch with
  count = 2
end;
create operator b;
select event from in into out"###,
    },
    Page {
        code: "E0507",
        title: "a missing setting",
        text: r###"The operator cannot work without this setting."###,
        wrong: r###"rate_limit 10"###,
        right: r###"rate_limit 10 per 1s"###,
    },
    Page {
        code: "E0508",
        title: "a missing argument",
        text: r###"An argument without a default must be given when the thing is created."###,
        wrong: r###"define script s args n script args.n end;
create script s;
select event from in into out"###,
        right: r###"define script s args n script args.n end;
create script s with n = 1 end;
select event from in into out"###,
    },
    Page {
        code: "E0509",
        title: "an unknown argument",
        text: r###"`with` names arguments that the definition has under `args`."###,
        wrong: r###"define script s args n = 1 script args.n end;
create script s with m = 1 end;
select event from in into out"###,
        right: r###"define script s args n = 1 script args.n end;
create script s with n = 1 end;
select event from in into out"###,
    },
    Page {
        code: "E0510",
        title: "a setting of a wrong kind",
        text: r###"The value of the setting is not of the kind that it needs."###,
        wrong: r###"define operator b from generic::batch with
  count = "two"
end;
create operator b;
select event from in into out"###,
        right: r###"define operator b from generic::batch with
  count = 2
end;
create operator b;
select event from in into out"###,
    },
    Page {
        code: "E0511",
        title: "a window that cannot be",
        text: r###"A window needs either a size or an interval."###,
        wrong: r###"define window w from tumbling end;
select aggr::stats::count() from in[w] into out"###,
        right: r###"define window w from tumbling with size = 2 end;
select aggr::stats::count() from in[w] into out"###,
    },
    Page {
        code: "E0512",
        title: "the port `in` of a script",
        text: r###"The script without a name is the one for `in`."###,
        wrong: r###"define script s script from in event script event end;
create script s;
select event from in into out"###,
        right: r###"define script s script event end;
create script s;
select event from in into out"###,
    },
    Page {
        code: "E0513",
        title: "two scripts for one port",
        text: r###"Each port has one section."###,
        wrong: r###"define script s script from a event script from a event script event end;
create script s;
select event from in into out"###,
        right: r###"define script s script from a event script event end;
create script s;
select event from in into out"###,
    },
    Page {
        code: "E0514",
        title: "a port of a window",
        text: r###"The scripts of a window are the one for events and `script from tick`."###,
        wrong: r###"define window w from tumbling with size = 2 script from tock true script true end;
select aggr::stats::count() from in[w] into out"###,
        right: r###"define window w from tumbling with size = 2 script from tick true script 1 end;
select aggr::stats::count() from in[w] into out"###,
    },
    Page {
        code: "E0515",
        title: "a port that is not there",
        text: r###"The node has no port of this name."###,
        wrong: r###"define pipeline p pipeline select event from in into out end;
create pipeline p;
select event from in into p/inn;
select event from p into out"###,
        right: r###"define pipeline p pipeline select event from in into out end;
create pipeline p;
select event from in into p;
select event from p into out"###,
    },
    Page {
        code: "E0516",
        title: "pipelines in pipelines, too deep",
        text: r###"Pipelines may create pipelines, to a limit."###,
        wrong: r###"too many to show"###,
        right: r###"select event from in into out"###,
    },
    Page {
        code: "E0517",
        title: "a value that nothing takes",
        text: r###"The operator has no use for a value here."###,
        wrong: r###"where event.a event.b"###,
        right: r###"where event.a == 1 and event.b == "s""###,
    },
    Page {
        code: "E0518",
        title: "no name",
        text: r###"Here stands a name, such as that of the stream behind `else`."###,
        wrong: r###"where event.a == 1 else"###,
        right: r###"where event.a == 1 else rest"###,
    },
    Page {
        code: "E0519",
        title: "an unknown kind of source or sink",
        text: r###"Sources read from `file`, `stdin`, `tcp` and others that the message lists."###,
        wrong: r###"source in from files "a.log";
where event.a == 1"###,
        right: r###"where event.a == 1"###,
    },
    Page {
        code: "E0520",
        title: "a source or sink without its place",
        text: r###"A file needs a path, a socket an address."###,
        wrong: r###"source in from file;
where event.a == 1"###,
        right: r###"where event.a == 1"###,
    },
    Page {
        code: "E0530",
        title: "a name in a chain that nothing declares",
        text: r###"A name alone in a chain is a step without settings, or a stream, port, sink or created
node that the program declares. Behind `else` and in the arms of `route` stands where events go: a
name that is new there makes an output, unless it looks like a slip for a declared one."###,
        wrong: r###"in |> dedpu |> out"###,
        right: r###"in |> dedup |> out"###,
    },
    Page {
        code: "E0531",
        title: "steps that no event comes to",
        text: r###"`route` and `drop` let no event go on, and so does an operator that sends all events
to ports of its own. What stands behind them would never run. A port that an operator sends to is
declared as a stream or sink."###,
        wrong: r###"in |> roundrobin ["a", "b"] |> out"###,
        right: r###"in |> roundrobin ["out"] |> out"###,
    },
    Page {
        code: "E0532",
        title: "an input that is written, or an output that is read",
        text: r###"`in` and sources give events, `out`, `err` and sinks take them. What is both sent to
and read is a stream."###,
        wrong: r###"in |> where event.a == 1 |> out;
err |> out"###,
        right: r###"in |> where event.a == 1 |> out"###,
    },
    Page {
        code: "E0533",
        title: "a stream or node that nothing reads",
        text: r###"Events go into it and are never seen again, though nothing says that they should be
dropped. Begin a chain with it, or go on behind it."###,
        wrong: r###"in |> where event.a == 1 else rest |> out;
create stream rest"###,
        right: r###"in |> where event.a == 1 else rest |> out;
rest |> set event.b = 1 |> out"###,
    },
];
