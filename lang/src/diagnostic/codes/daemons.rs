//! Pages about configurations of syslog-ng and rsyslog: `E08xx` and `W08xx`. A test of the command checks the examples,
//! which are of syslog-ng.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        code: "E0801",
        title: "something else should stand here",
        text: r###"The configuration of syslog-ng or rsyslog does not follow its grammar. The label says what was
expected."###,
        wrong: r###"log { source(s) "x" };"###,
        right: r###"log { };"###,
    },
    Page {
        code: "E0802",
        title: "a bracket, brace or quote that is never closed",
        text: r###"The place where it was opened is shown."###,
        wrong: r###"source s { udp(;"###,
        right: r###"source s { udp(); };"###,
    },
    Page {
        code: "E0803",
        title: "a word that nobody knows here",
        text: r###"There is no statement, driver, filter, parser, option or function of this name. The nearest one is
named."###,
        wrong: r###"sorce s { udp(); };"###,
        right: r###"source s { udp(); };"###,
    },
    Page {
        code: "E0804",
        title: "a name that is never defined",
        text: r###"A path names a source, filter or destination, or a text a definition between backticks, that the
configuration does not have. The nearest one is named."###,
        wrong: r###"log { source(s_net); };"###,
        right: r###"source s_net { udp(); }; log { source(s_net); };"###,
    },
    Page {
        code: "E0805",
        title: "more than a configuration may hold",
        text: r###"Files, bytes, and what stands in each other are bounded, so that a configuration that includes
itself comes to an end (`spec/limits.md`)."###,
        wrong: r###"filter f { ((((…)))) };"###,
        right: r###"filter f { (level(err)) };"###,
    },
    Page {
        code: "W0806",
        title: "a file of a configuration that is not there",
        text: r###"What stands in it is missing in the conversion. Convert on the machine where the configuration
runs, or copy its folder."###,
        wrong: r###"@include "/no/such/file.conf""###,
        right: r###"@include "/no/such/folder/*.conf""###,
    },
    Page {
        code: "E0807",
        title: "a part that was not converted",
        text: r###"An event came to a step that stands where `temblor convert syslog-ng` or `temblor convert rsyslog`
could not convert something; the reason is in the message. The event went to `err`. Write what belongs
there, or take the step out."###,
        wrong: r###"in |> migrate::undecided "destination sql()" with because = "there is no sink for SQL" end |> out"###,
        right: r###"in |> out"###,
    },
    Page {
        code: "E0808",
        title: "a message that is no text",
        text: r###"`syslog_ng::read` and `rsyslog::read` read texts: give the source the codec `string`."###,
        wrong: r###"in |> syslog_ng::read |> out"###,
        right: r###"in |> select "<13>prog: text" |> syslog_ng::read |> out"###,
    },
    Page {
        code: "E0809",
        title: "a name that is defined twice",
        text: r###"Both places are shown; which of them counts depends on the version of syslog-ng."###,
        wrong: r###"source s { udp(); }; source s { tcp(); };"###,
        right: r###"source s { udp(); tcp(); };"###,
    },
];
