//! Parsers as steps. A message that a parser cannot read goes no further, as in syslog-ng: where `else` is not
//! written behind a step, `drop_else` says where it goes.

use super::filter::compiles;
use super::names::{Value, place_of, steps_of};
use super::template::{Scene, argument};
use super::tree::{Call, canonical};
use crate::notation::{path, text, texts};

/// Kinds of parsers.
pub(crate) const KINDS: &[&str] = &[
    "csv_parser",
    "kv_parser",
    "json_parser",
    "syslog_parser",
    "date_parser",
    "regexp_parser",
    "grok",
    "grok_parser",
    "db_parser",
    "add_contextual_data",
    "geoip2",
    "xml",
    "xml_parser",
    "apache_accesslog_parser",
    "group_lines",
    "linux_audit_parser",
    "tags_parser",
    "map_value_pairs",
    "cef_parser",
    "leef_parser",
    "python",
    "snmptrapd_parser",
    "sudo_parser",
    "cisco_parser",
    "panos_parser",
    "iptables_parser",
    "app_parser",
    "default_network_drivers",
    "windows_eventlog_xml_parser",
    "metrics_probe",
    "wildcard_file",
];

/// What becomes of a parser.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The step; `{else}` stands where the place of refused messages belongs.
    pub(crate) step: Value,
    /// What it does otherwise.
    pub(crate) remark: Option<String>,
}

/// Where refused messages go, in a step.
pub(crate) const ELSE: &str = "{else}";

/// The step of a parser.
pub(crate) fn step(call: &Call, scene: Scene<'_>) -> Result<Parsed, String> {
    let from = match call.option_text("template") {
        Some(template) => argument(template, scene, 0)?,
        None => Value::new("event.MESSAGE"),
    };
    let prefix = call.option_text("prefix").unwrap_or("");
    let kind = canonical(&call.name);

    match kind.as_str() {
        "json_parser" => json(call, &from, prefix),
        "kv_parser" => kv(call, &from, prefix),
        "csv_parser" => csv(call, &from, prefix),
        "regexp_parser" => regexp(call, &from, prefix),
        "grok" | "grok_parser" => grok(call, &from, prefix),
        "apache_accesslog_parser" => apache(&from, if prefix.is_empty() { ".apache." } else { prefix }),
        "cef_parser" => Ok(simple("cef", &from, prefix)),
        "leef_parser" => Ok(simple("leef", &from, prefix)),
        "date_parser" => date(call, &from),
        "syslog_parser" => {
            let mut settings = vec!["keep_hostname = true".to_string()];
            if call.flags().iter().any(|flag| flag == "syslog_protocol") {
                settings.push("parse = \"protocol\"".to_string());
            }
            let code = format!(
                "set $outer = event\n|> set event = {}\n|> syslog_ng::read{}\n|> set event = merge $outer of event end",
                from.code,
                crate::notation::with(&settings)
            );
            Ok(Parsed { step: Value { code, uses: from.uses }, remark: None })
        }
        "add_contextual_data" => contextual(call, scene),
        "geoip2" => {
            Err("there is no step for databases of places but Logstash's: `logstash::geoip` reads the same file".to_string())
        }
        "db_parser" => Err("pattern databases are not read: write `parse grok` or `parse regex` steps".to_string()),
        "xml" | "xml_parser" => Err("XML is not read into names: `logstash::xml` reads it in its own way".to_string()),
        "group_lines" => group(call),
        other => Err(format!("there is no equivalent of the parser `{other}()`")),
    }
}

/// The place that a prefix such as `.json.` names; nothing for the record itself.
fn into(prefix: &str) -> String {
    let steps = steps_of(prefix);
    if steps.is_empty() { String::new() } else { format!(" into {}", path("event", &steps)) }
}

fn from_clause(from: &Value) -> String {
    if from.code.contains("??") {
        format!(" from ({})", from.code)
    } else {
        format!(" from {}", from.code)
    }
}

fn simple(format: &str, from: &Value, prefix: &str) -> Parsed {
    let code = format!("parse {format}{}{}{ELSE}", from_clause(from), into(prefix));
    Parsed { step: Value { code, uses: from.uses.clone() }, remark: None }
}

fn json(call: &Call, from: &Value, prefix: &str) -> Result<Parsed, String> {
    let mut from = from.clone();
    let mut guard = String::new();
    if let Some(marker) = call.option_text("marker") {
        guard = format!("where string::starts_with({}, {}){ELSE}\n|> ", from.code, text(marker));
        from.code = format!("string::trim_prefix({}, {})", from.code, text(marker));
        from.uses.push("string");
    }
    if call.option("extract_prefix").is_some() {
        return Err("`extract-prefix()` takes a part of the document".to_string());
    }
    let code = format!("{guard}parse json{}{}{ELSE}", from_clause(&from), into(prefix));
    Ok(Parsed { step: Value { code, uses: from.uses }, remark: None })
}

fn kv(call: &Call, from: &Value, prefix: &str) -> Result<Parsed, String> {
    let mut settings = Vec::new();
    let separator = call.option_text("value_separator").unwrap_or("=");
    if separator != "=" {
        settings.push(format!("value_split = {}", text(separator)));
    }
    let pairs = call.option_text("pair_separator").unwrap_or(", ");
    let mut characters: String = pairs.chars().filter(|one| !one.is_whitespace()).collect();
    characters.push(' ');
    if call.option("extract_stray_words_into").is_some() {
        return Err("`extract-stray-words-into()` gathers what is no pair".to_string());
    }
    if characters != " " {
        settings.push(format!("field_split = {}", text(&characters)));
    }
    let code = format!(
        "parse kv{}{}{ELSE}{}",
        from_clause(from),
        into(prefix),
        crate::notation::with(&settings)
    );
    let remark = "blanks in values that are not quoted end them".to_string();
    Ok(Parsed { step: Value { code, uses: from.uses.clone() }, remark: Some(remark) })
}

fn csv(call: &Call, from: &Value, prefix: &str) -> Result<Parsed, String> {
    let columns = call.option("columns").map(Call::texts).unwrap_or_default();
    if columns.is_empty() {
        return Err("without `columns()` its fields have no names".to_string());
    }
    let delimiters = match call.option("delimiters") {
        None => ",".to_string(),
        Some(given) if given.option("strings").is_some() => {
            return Err("delimiters of several characters are not read".to_string());
        }
        Some(given) => {
            given.first_text().or_else(|| given.option_text("chars")).unwrap_or(",").to_string()
        }
    };
    if delimiters.chars().count() != 1 {
        return Err("more than one delimiter, or none, is not read".to_string());
    }
    let flags = call.flags();
    if flags.iter().any(|flag| flag == "greedy") {
        return greedy(&columns, &delimiters, from, prefix);
    }
    let mut settings = Vec::new();
    if delimiters != "," {
        settings.push(format!("separator = {}", text(&delimiters)));
    }
    let quotes = call.option_text("quote_pairs").or_else(|| call.option_text("quotes"));
    if let Some(quotes) = quotes {
        match quotes.chars().collect::<Vec<_>>().as_slice() {
            [one] | [one, _] if *one != '"' && quotes.chars().all(|other| other == *one) => {
                settings.push(format!("quote = {}", text(&one.to_string())));
            }
            _ if quotes.starts_with('"') => {}
            _ => return Err("quotes that open and close in two ways are not read".to_string()),
        }
    }
    // Names of columns are places, so that each is set by itself.
    let names: Vec<String> = columns.iter().map(|name| format!("{prefix}{name}")).collect();
    let heads: Vec<Vec<String>> = names.iter().map(|name| steps_of(name)).collect();
    let shared = heads.first().map(|steps| steps[..steps.len().saturating_sub(1)].to_vec());
    let shared = shared.unwrap_or_default();
    let is_flat = heads
        .iter()
        .all(|steps| steps.len() == shared.len() + 1 && steps[..shared.len()] == shared);
    let is_drop = flags.iter().any(|flag| flag == "drop_invalid");
    let remark = (!is_drop)
        .then(|| "lines with too few or too many fields are read as far as they go".to_string());
    if is_flat {
        let names: Vec<&str> =
            heads.iter().filter_map(|steps| steps.last()).map(String::as_str).collect();
        let into = if shared.is_empty() {
            String::new()
        } else {
            format!(" into {}", path("event", &shared))
        };
        let code = format!(
            "parse csv columns {}{}{into}{ELSE}{}",
            texts(&names),
            from_clause(from),
            crate::notation::with(&settings)
        );
        return Ok(Parsed { step: Value { code, uses: from.uses.clone() }, remark });
    }
    let keys: Vec<String> = (1..=names.len()).map(|number| format!("c{number}")).collect();
    let sets: Vec<String> = names
        .iter()
        .zip(&keys)
        .map(|(name, key)| format!("{} = $columns.{key} ?? \"\"", place_of("event", name)))
        .collect();
    let code = format!(
        "parse csv columns {}{} into $columns{ELSE}{}\n|> set {}",
        texts(&keys),
        from_clause(from),
        crate::notation::with(&settings),
        sets.join(", ")
    );
    Ok(Parsed { step: Value { code, uses: from.uses.clone() }, remark })
}

/// The last column takes all the rest.
fn greedy(columns: &[&str], delimiter: &str, from: &Value, prefix: &str) -> Result<Parsed, String> {
    let place =
        if from.code.contains("??") { format!("({})", from.code) } else { from.code.clone() };
    let split =
        format!("set $columns = string::split_n({place}, {}, {})", text(delimiter), columns.len());
    let sets: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(at, name)| {
            format!("{} = $columns[{at}] ?? \"\"", place_of("event", &format!("{prefix}{name}")))
        })
        .collect();
    let code = format!("{split}\n|> set {}", sets.join(", "));
    let remark =
        Some("quotes have no meaning: `greedy` is converted to a split at delimiters".to_string());
    let uses = [from.uses.clone(), vec!["string"]].concat();
    Ok(Parsed { step: Value { code, uses }, remark })
}

fn regexp(call: &Call, from: &Value, prefix: &str) -> Result<Parsed, String> {
    let patterns = call.option("patterns").map(Call::texts).unwrap_or_default();
    if patterns.is_empty() {
        return Err("`patterns()` is missing".to_string());
    }
    let ignore_case = call.flags().iter().any(|flag| flag == "ignore_case");
    let mut converted = Vec::new();
    for pattern in patterns {
        compiles(pattern)?;
        let pattern =
            pattern.replace("(?<", "(?P<").replace("(?P<=", "(?<=").replace("(?P<!", "(?<!");
        converted.push(if ignore_case { format!("(?i){pattern}") } else { pattern });
    }
    let pattern = match converted.as_slice() {
        [one] => text(one),
        several => texts(several),
    };
    let code = format!("parse regex {pattern}{}{}{ELSE}", from_clause(from), into(prefix));
    Ok(Parsed { step: Value { code, uses: from.uses.clone() }, remark: None })
}

fn grok(call: &Call, from: &Value, prefix: &str) -> Result<Parsed, String> {
    let matches: Vec<&str> = call
        .arguments
        .iter()
        .filter_map(super::tree::Node::call)
        .filter(|one| one.is("match"))
        .filter_map(Call::first_text)
        .collect();
    if matches.is_empty() || call.option("custom_pattern").is_some() {
        return Err("only `match()` of patterns of the library is converted".to_string());
    }
    let pattern = match matches.as_slice() {
        [one] => text(one),
        several => texts(several),
    };
    let code = format!("parse grok {pattern}{}{}{ELSE}", from_clause(from), into(prefix));
    Ok(Parsed { step: Value { code, uses: from.uses.clone() }, remark: None })
}

fn apache(from: &Value, prefix: &str) -> Result<Parsed, String> {
    let pattern = r#"^(?:(?P<vhost>[^ ]+):(?P<port>\d+) )?(?P<clientip>[^ ]+) (?P<ident>[^ ]+) (?P<auth>[^ ]+) \[(?P<timestamp>[^\]]+)\] "(?P<rawrequest>(?P<verb>[^ ]+) (?P<request>[^ ]+) HTTP/(?P<httpversion>[^ "]+))" (?P<response>\d+) (?P<bytes>[^ ]+)(?: "(?P<referrer>[^"]*)" "(?P<agent>[^"]*)")?"#;
    let pattern = text(&pattern.replace('"', "\\x22"));
    let code = format!("parse regex {pattern}{}{}{ELSE}", from_clause(from), into(prefix));
    let remark = "requests that are no line of HTTP are not read".to_string();
    Ok(Parsed { step: Value { code, uses: from.uses.clone() }, remark: Some(remark) })
}

fn date(call: &Call, from: &Value) -> Result<Parsed, String> {
    let mut formats = call.option("format").map(Call::texts).unwrap_or_default();
    if formats.is_empty() {
        formats = vec!["%FT%T.%f%z", "%FT%T%z"];
    }
    if call.option_text("time_stamp").is_some_and(|stamp| stamp == "recvd") {
        return Err("the time of arrival is that of the event".to_string());
    }
    let zone = call.option_text("time_zone").unwrap_or("UTC");
    let formats: Vec<String> = formats
        .iter()
        .map(|form| form.replace("%f", "%6f").replace("%s", "UNIX").replace(".%6f", "%.f"))
        .collect();
    let code = format!(
        "set $date = datetime::parse_any({}, {}, {})\n|> where $date != null{ELSE}\n\
         |> set event.STAMP = datetime::with_timezone($date, {})",
        from.code,
        texts(&formats),
        text(zone),
        text(zone)
    );
    let uses = [from.uses.clone(), vec!["datetime"]].concat();
    let remark = "the offset that a time was written with is not kept: it is written in the zone of the parser";
    Ok(Parsed { step: Value { code, uses }, remark: Some(remark.to_string()) })
}

/// `add-contextual-data(selector("$HOST") database("x.csv") prefix("."))`
fn contextual(call: &Call, scene: Scene<'_>) -> Result<Parsed, String> {
    let selector = call.option("selector").ok_or("`selector()` is missing")?;
    let template =
        selector.first_text().ok_or("selectors by filters or globs are not converted")?;
    let selector = argument(template, scene, 0)?;
    let database = call.option_text("database").ok_or("`database()` is missing")?;
    let prefix = call.option_text("prefix").unwrap_or("");
    let read = crate::file::read(std::path::Path::new(database));
    let read = read.map_err(|error| format!("its database `{database}` was not read: {error}"))?;
    // A selector may have several lines; each is a name and a value.
    let mut rows: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for line in read.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut cells = line.splitn(3, ',').map(|cell| cell.trim_matches('"').to_string());
        let (Some(key), Some(name), Some(value)) = (cells.next(), cells.next(), cells.next())
        else {
            return Err(format!("a line of `{database}` has not three fields: {line}"));
        };
        if rows.iter().map(|(_, fields)| fields.len()).sum::<usize>() >= CONTEXT_LINES_MAX {
            return Err(format!(
                "its database has more than {CONTEXT_LINES_MAX} lines: use a table"
            ));
        }
        match rows.iter_mut().find(|(one, _)| *one == key) {
            Some((_, fields)) => fields.push((name, value)),
            None => rows.push((key, vec![(name, value)])),
        }
    }
    let rows: Vec<String> = rows
        .iter()
        .map(|(key, fields)| {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", text(name), text(value)))
                .collect();
            format!("{}: {{{}}}", text(key), fields.join(", "))
        })
        .collect();
    let place = if steps_of(prefix).is_empty() {
        "event".to_string()
    } else {
        path("event", &steps_of(prefix))
    };
    let otherwise =
        call.option_text("default_selector").map(|key| format!("$contexts[{}]", text(key)));
    let otherwise = otherwise.unwrap_or_else(|| "{}".to_string());
    let known = if place == "event" { "event".to_string() } else { format!("({place} ?? {{}})") };
    let code = format!(
        "set $contexts = {{{}}}\n|> set $context = $contexts[{}] ?? {otherwise}\n\
         |> set {place} = merge {known} of $context end",
        rows.join(", "),
        selector.code
    );
    let remark =
        "the database became part of the program: `enrich` reads one that changes".to_string();
    Ok(Parsed { step: Value { code, uses: selector.uses }, remark: Some(remark) })
}

/// Lines of a database of contexts that become part of the program, at the most.
pub(crate) const CONTEXT_LINES_MAX: usize = 1_000;

/// `group-lines(key("$HOST") multi-line-mode("indented"))`
fn group(call: &Call) -> Result<Parsed, String> {
    let mode = call.option_text("multi_line_mode").unwrap_or("");
    let prefix = call.option_text("multi_line_prefix");
    let (pattern, mode) = match (mode, prefix) {
        ("indented", _) => (r"^\s".to_string(), ""),
        (_, Some(prefix)) => {
            compiles(prefix)?;
            (prefix.to_string(), " mode start")
        }
        _ => return Err(format!("the mode `{mode}` of lines is not converted")),
    };
    let key = call.option_text("key").unwrap_or("$HOST");
    let scene = Scene { root: "event", dotted: &[], is_typed: false };
    let key = argument(key, scene, 0)?;
    let code = format!("join {}{mode} by {} from event.MESSAGE", text(&pattern), key.code);
    Ok(Parsed { step: Value { code, uses: key.uses }, remark: None })
}
