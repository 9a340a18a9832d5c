//! Macros and names of syslog-ng as expressions over the record that `syslog_ng::read` makes.

use crate::notation::{path, text};

/// A text built at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// The expression.
    pub(crate) code: String,
    /// The module of the library that it needs.
    pub(crate) uses: Vec<&'static str>,
}

impl Value {
    pub(crate) fn new(code: impl Into<String>) -> Self {
        Self { code: code.into(), uses: Vec::new() }
    }

    pub(crate) fn using(code: impl Into<String>, module: &'static str) -> Self {
        Self { code: code.into(), uses: vec![module] }
    }
}

/// Fields that every message has, so that asking for them cannot fail.
pub(crate) const ALWAYS: &[&str] = &[
    "FACILITY",
    "LEVEL",
    "PRI",
    "HOST",
    "HOST_FROM",
    "SOURCEIP",
    "PROGRAM",
    "PID",
    "MSGID",
    "MSGHDR",
    "MESSAGE",
    "SOURCE",
    "STRUCTURED",
];

/// The name under which a record has what syslog-ng calls so.
pub(crate) fn field_of(name: &str) -> &str {
    match name {
        "MSG" | "MSGONLY" => "MESSAGE",
        "PRIORITY" | "LEVEL" | "SEVERITY" => "LEVEL",
        "SDATA" => "STRUCTURED",
        "FULLHOST" => "HOST",
        "FULLHOST_FROM" => "HOST_FROM",
        other => other,
    }
}

/// The steps of a name: `.json.a[0]` is `json`, `a`, `0`.
pub(crate) fn steps_of(name: &str) -> Vec<String> {
    let name = field_of(name);
    let name = name.strip_prefix('.').unwrap_or(name);
    let mut steps = Vec::new();
    // What structured data is called may hold dots: `.SDATA.exampleSDID@32473.iut`.
    if let Some(rest) = name.strip_prefix("SDATA.") {
        let (id, parameter) = rest.rsplit_once('.').unwrap_or((rest, ""));
        return ["SDATA", id, parameter]
            .iter()
            .filter(|step| !step.is_empty())
            .map(|step| (*step).to_string())
            .collect();
    }
    for part in name.split('.') {
        let mut part = part;
        if let Some((head, indexes)) = part.split_once('[') {
            steps.push(head.to_string());
            part = indexes;
            for index in part.split('[') {
                steps.push(index.trim_end_matches(']').to_string());
            }
        } else {
            steps.push(part.to_string());
        }
    }
    steps.retain(|step| !step.is_empty());
    steps
}

/// The place of a name, for writing.
pub(crate) fn place_of(root: &str, name: &str) -> String {
    path(root, &steps_of(name))
}

/// What a name stands for, as a text; `otherwise` where nothing is there.
pub(crate) fn value_of(root: &str, name: &str, otherwise: &str) -> Result<Value, String> {
    if let Some(value) = time_of(root, name) {
        return Ok(value);
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() {
        return Ok(Value::new(format!("$match[{}] ?? \"\"", text(name))));
    }
    let stands = |code: String| Ok(Value::new(code));
    match name {
        "TAGS" => Ok(Value::using(format!("array::join({root}.TAGS, \",\")"), "array")),
        "RAWMSG" => stands(format!("{root}.RAWMSG ?? \"\"")),
        "LOGHOST" => Ok(Value::using("system::hostname()", "system")),
        "CONTEXT_ID" | "SEQNUM" | "UNIQID" | "RCPTID" | "HOSTID" | "SYSUPTIME" | "PEERIP"
        | "LOADGEN" | "STRUCTURED_DATA" | "TRANSPORT" | "PROTO" | "DESTIP" | "DESTPORT"
        | "SOURCEPORT" => Err(format!("a message does not know its `{name}` here")),
        "LEVEL_NUM" | "SEVERITY_NUM" => number_of(root, "LEVEL", &super::reader::LEVELS),
        "FACILITY_NUM" => number_of(root, "FACILITY", &super::reader::FACILITIES),
        "TAG" => Ok(Value {
            code: format!(
                "string::pad_start(integer::format_base(integer::parse({root}.PRI), 16), 2, \"0\")"
            ),
            uses: vec!["integer", "string"],
        }),
        _ => {
            let place = place_of(root, name);
            if ALWAYS.contains(&field_of(name)) && otherwise.is_empty() {
                stands(place)
            } else if ALWAYS.contains(&field_of(name)) {
                stands(format!("if {place} == \"\" then {} else {place} end", text(otherwise)))
            } else {
                stands(format!("{place} ?? {}", text(otherwise)))
            }
        }
    }
}

fn number_of(root: &str, field: &str, names: &[&str]) -> Result<Value, String> {
    let names = crate::notation::texts(names);
    Ok(Value::using(format!("array::index_of({names}, {root}.{field})"), "array"))
}

/// `DATE`, `ISODATE`, `R_YEAR`, `S_UNIXTIME` …
fn time_of(root: &str, name: &str) -> Option<Value> {
    let (field, part) = match name.split_once('_') {
        Some(("R", part)) => ("RECEIVED", part),
        Some(("S", part)) => ("STAMP", part),
        Some(("C" | "P", part)) => ("", part),
        _ => ("STAMP", name),
    };
    let moment = if field.is_empty() {
        "system::ingest_ns()".to_string()
    } else {
        format!("{root}.{field}")
    };
    let form = match part {
        "DATE" | "STAMP" => "%b %e %H:%M:%S",
        "FULLDATE" => "%Y %b %e %H:%M:%S",
        "ISODATE" => "%Y-%m-%dT%H:%M:%S%:z",
        "UNIXTIME" => "%s",
        "YEAR" => "%Y",
        "YEAR_DAY" => "%j",
        "MONTH" => "%m",
        "MONTH_ABBREV" => "%b",
        "MONTH_NAME" => "%B",
        "DAY" => "%d",
        "HOUR" => "%H",
        "HOUR12" => "%I",
        "MIN" => "%M",
        "SEC" => "%S",
        "MSEC" => "%3f",
        "USEC" => "%6f",
        "AMPM" => "%p",
        "WEEKDAY" => "%a",
        "WEEK_DAY" | "WEEK_DAY_ABBREV" => {
            return week_day(&moment, part);
        }
        "WEEK_DAY_NAME" => "%A",
        "WEEK" => "%W",
        "ISOWEEK" | "ISO_WEEK" => "%V",
        "TZ" | "TZOFFSET" => "%:z",
        _ => return None,
    };
    let mut value = Value::using(format!("datetime::format({moment}, {})", text(form)), "datetime");
    if field.is_empty() {
        value.uses.push("system");
    }
    Some(value)
}

/// The day of the week as a number from 1 (Sunday).
fn week_day(moment: &str, part: &str) -> Option<Value> {
    if part == "WEEK_DAY_ABBREV" {
        return Some(Value::using(format!("datetime::format({moment}, \"%a\")"), "datetime"));
    }
    Some(Value::using(format!("datetime::weekday({moment}) % 7 + 1"), "datetime"))
}

/// Names that start with a dot, whose first step is not one of the message's own names.
pub(crate) fn dotted_root(name: &str) -> Option<String> {
    name.strip_prefix('.').and_then(|_| steps_of(name).into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::{place_of, value_of};

    #[test]
    fn names_become_places() {
        assert_eq!(place_of("event", ".json.a[0].b"), "event.json.a[0].b");
        assert_eq!(place_of("m", ".SDATA.id@1.2.x"), "m.SDATA[\"id@1.2\"].x");
        assert_eq!(value_of("m", "MSG", "").map(|one| one.code), Ok("m.MESSAGE".into()));
        assert_eq!(value_of("m", "x", "y").map(|one| one.code), Ok("m.x ?? \"y\"".into()));
        assert!(value_of("m", "SEQNUM", "").is_err());
    }
}
