//! Pages about Logstash configurations: `E07xx` and `W07xx`. A test of the engine checks the examples.

use super::Page;

pub(super) const PAGES: &[Page] = &[
    Page {
        code: "E0701",
        title: "something else should stand here",
        text: r###"The configuration does not follow the grammar. The label says what was expected. There is no
`elsif`, no `&&` and no trailing comma."###,
        wrong: r###"filter { if [a] { drop { } } elsif [b] { drop { } } }"###,
        right: r###"filter { if [a] { drop { } } else if [b] { drop { } } }"###,
    },
    Page {
        code: "E0702",
        title: "a text that is never closed",
        text: r###"A backslash right before a quote makes the quote part of the text, even as its last character and
even where escapes are not read."###,
        wrong: r###"filter { mutate { replace => { "a" => "C:\" } } }"###,
        right: r###"filter { mutate { replace => { "a" => "C:\ " } } }"###,
    },
    Page {
        code: "E0703",
        title: "nested too deep",
        text: r###"Blocks, lists and parentheses may stand inside of each other up to a limit (`spec/limits.md`)."###,
        wrong: r###"filter { if ((((…)))) { drop { } } }"###,
        right: r###"filter { if [a] { drop { } } }"###,
    },
    Page {
        code: "E0704",
        title: "`xor` and `nand` beside another operator",
        text: r###"Logstash gives neither a precedence, so parentheses must say what belongs together."###,
        wrong: r###"filter { if [a] xor [b] or [c] { drop { } } }"###,
        right: r###"filter { if ([a] xor [b]) or [c] { drop { } } }"###,
    },
    Page {
        code: "E0706",
        title: "a plugin that nobody knows",
        text: r###"No plugin of this kind has the name; the nearest one is named. A plugin that Logstash has and
Temblor has not is W0707."###,
        wrong: r###"filter { mutat { } }"###,
        right: r###"filter { mutate { } }"###,
    },
    Page {
        code: "W0707",
        title: "a plugin that is not here",
        text: r###"Logstash has the plugin, Temblor has not, or not yet. `check` names each with its line; `run`
refuses the configuration. `--stdin` and `--stdout` replace inputs and outputs, so that the
filters can be run without them, and `--skip-missing` leaves such filters out."###,
        wrong: r###"filter { virustotal { } }"###,
        right: r###"filter { mutate { } }"###,
    },
    Page {
        code: "E0708",
        title: "an option that the plugin does not have",
        text: r###"The nearest option is named."###,
        wrong: r###"filter { mutate { renam => { "a" => "b" } } }"###,
        right: r###"filter { mutate { rename => { "a" => "b" } } }"###,
    },
    Page {
        code: "E0709",
        title: "an option of the past",
        text: r###"The plugin had the option once; the help says what to write today."###,
        wrong: r###"filter { multiline { pattern => "^ " what => "previous" } }"###,
        right: r###"input { stdin { codec => multiline { pattern => "^ " what => "previous" } } }"###,
    },
    Page {
        code: "E0710",
        title: "a value that the option does not take",
        text: r###"The message says what it takes: a number, `true` or `false`, one of some words, a hash."###,
        wrong: r###"filter { drop { percentage => "half" } }"###,
        right: r###"filter { drop { percentage => 50 } }"###,
    },
    Page {
        code: "E0711",
        title: "an option that must be there",
        text: r###"The plugin does nothing without it."###,
        wrong: r###"filter { json { } }"###,
        right: r###"filter { json { source => "message" } }"###,
    },
    Page {
        code: "E0712",
        title: "text that is no field reference",
        text: r###"A field is `name`, `[name]` or `[outer][inner]`; brackets must be closed and hold something."###,
        wrong: r###"filter { json { source => "a[b" } }"###,
        right: r###"filter { json { source => "[a][b]" } }"###,
    },
    Page {
        code: "E0713",
        title: "a variable without a value",
        text: r###"`${NAME}` is replaced at the start by the environment's variable, or by what stands behind the
colon."###,
        wrong: r###"filter { mutate { replace => { "a" => "${NOT_SET_ANYWHERE}" } } }"###,
        right: r###"filter { mutate { replace => { "a" => "${NOT_SET_ANYWHERE:x}" } } }"###,
    },
    Page {
        code: "E0714",
        title: "no regular expression or pattern",
        text: r###"The expression does not compile, or names a grok pattern that there is not."###,
        wrong: r###"filter { grok { match => { "message" => "%{NOSUCHPATTERN}" } } }"###,
        right: r###"filter { grok { match => { "message" => "%{GREEDYDATA:rest}" } } }"###,
    },
    Page {
        code: "E0715",
        title: "a condition that cannot be meant",
        text: r###"A list has no order and cannot stand on the left of `in`; a regular expression stands only behind
`=~` and `!~`."###,
        wrong: r###"filter { if ["a", "b"] in [c] { drop { } } }"###,
        right: r###"filter { if [c] in ["a", "b"] { drop { } } }"###,
    },
    Page {
        code: "E0716",
        title: "a file that cannot be used",
        text: r###"The plugin cannot work without the file, or the file does not hold what it should."###,
        wrong: r###"filter { translate { source => "a" dictionary_path => "/no/such/file.yml" } }"###,
        right: r###"filter { translate { source => "a" dictionary => { "1" => "one" } } }"###,
    },
    Page {
        code: "W0717",
        title: "a list of one text",
        text: r###"`["x"]` is read as the field of that name, quotes included, since fields are tried before lists."###,
        wrong: r###"filter { if [a] in ["x"] { drop { } } }"###,
        right: r###"filter { if [a] == "x" { drop { } } }"###,
    },
    Page {
        code: "W0720",
        title: "a file that is not here",
        text: r###"The file may be where the configuration runs. Until it is there, the plugin works as if it were
empty."###,
        wrong: r###"filter { grok { patterns_dir => ["/no/such/folder"] match => { "message" => "%{WORD:a}" } } }"###,
        right: r###"filter { grok { match => { "message" => "%{WORD:a}" } } }"###,
    },
    Page {
        code: "E0721",
        title: "a block that was not converted",
        text: r###"`temblor convert logstash` leaves what it cannot convert as a step that fails every check, with
the block and the reason. Write what belongs there, or take the step out."###,
        wrong: r###"in |> logstash::undecided "filter geoip" with because = "it is not available" end"###,
        right: r###"in |> logstash::mutate with add_tag = "seen" end"###,
    },
    Page {
        code: "E0722",
        title: "pipelines that send to each other in a circle",
        text: r###"An event would never come to an end. Take one of the links out."###,
        wrong: r###"input { pipeline { address => "a" } } output { pipeline { send_to => ["a"] } }"###,
        right: r###"input { pipeline { address => "a" } } output { stdout { } }"###,
    },
    Page {
        code: "W0723",
        title: "an address that nobody listens to",
        text: r###"A pipeline sends to an address that no pipeline has as `input { pipeline { address => … } }`. What
is sent there is dropped."###,
        wrong: r###"output { pipeline { send_to => ["nowhere"] } }"###,
        right: r###"output { stdout { } }"###,
    },
    Page {
        code: "E0724",
        title: "a comparison of things that have no order",
        text: r###"`<`, `<=`, `>` and `>=` order two numbers, two texts or two times. When a field is missing or of
another kind, Logstash takes the event out; here it goes to `err` with the reason. Test the field first, and
convert it where it is read."###,
        wrong: r###"filter { if [bytes] > 100 { drop { } } }"###,
        right: r###"filter { if [bytes] and [bytes] > 100 { drop { } } }"###,
    },
    Page {
        code: "W0725",
        title: "an option that is not known",
        text: r###"The plugin cannot be run here, and the list of its options is that of Logstash 9; this one is not
in it. Logstash refuses to start with an option that its plugin does not have."###,
        wrong: r###"input { tcp { port => 5000 colour => "red" } }"###,
        right: r###"input { tcp { port => 5000 } }"###,
    },
    Page {
        code: "W0726",
        title: "an option that Logstash 9 took away",
        text: r###"Older releases had the option; Logstash 9 refuses it. The help names what does its work now."###,
        wrong: r###"input { beats { port => 5044 ssl => true } }"###,
        right: r###"input { beats { port => 5044 ssl_enabled => true } }"###,
    },
    Page {
        code: "W0727",
        title: "an option without effect",
        text: r###"The plugin takes the option, but what the rest says leaves nothing for it to do."###,
        wrong: r###"filter { useragent { source => "agent" prefix => "ua_" } }"###,
        right: r###"filter { useragent { source => "agent" } }"###,
    },
    Page {
        code: "W0728",
        title: "a backslash and a letter that stay two characters",
        text: r###"Without `config.support_escapes`, `"\n"` is a backslash and an `n`. Regular expressions read the two as
a newline; where the text itself counts, as here, nothing will be cut at newlines or tabs."###,
        wrong: r###"filter { csv { separator => "\t" } }"###,
        right: r###"filter { csv { separator => "	" } }"###,
    },
    Page {
        code: "W0729",
        title: "a name that fails for every event",
        text: r###"Logstash reads the names in `mutate` and in the options of all filters only when an event comes. One
that is no field reference loads, and fails then: `mutate` ends there and adds its failure tag."###,
        wrong: r###"filter { mutate { add_field => { "meta_[source]" => "1" } } }"###,
        right: r###"filter { mutate { add_field => { "[meta][source]" => "1" } } }"###,
    },
    Page {
        code: "W0730",
        title: "what Logstash does here is not what it looks like",
        text: r###"The configuration runs as in Logstash, which does something that its text does not show: `mutate` has an
order of its own, the last of several fingerprints stays, separators of `kv` are sets of characters.
`--strict-logstash` leaves such explanations out; what runs is the same."###,
        wrong: r###"filter { mutate { gsub => ["a", ",", ""] convert => { "a" => "integer" } } }"###,
        right: r###"filter { mutate { gsub => ["a", ",", ""] } mutate { convert => { "a" => "integer" } } }"###,
    },
    Page {
        code: "W0731",
        title: "a variable of a plugin that cannot be run here has no value",
        text: r###"Where the plugin runs, the variable must be set: Logstash refuses to start without it. Here nothing asks
for its value. In a plugin that runs here, it is an error (E0713)."###,
        wrong: r###"output { elasticsearch { password => "${NOT_SET_ANYWHERE}" } }"###,
        right: r###"output { elasticsearch { password => "${NOT_SET_ANYWHERE:secret}" } }"###,
    },
];
