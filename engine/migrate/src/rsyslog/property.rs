//! Properties of messages and variables as expressions over the record that `rsyslog::read` makes.

use crate::notation::{path, text};

/// A value, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) code: String,
    pub(crate) uses: Vec<&'static str>,
    pub(crate) is_text: bool,
    pub(crate) is_number: bool,
}

impl Value {
    fn text(code: impl Into<String>) -> Result<Self, String> {
        Ok(Self { code: code.into(), uses: Vec::new(), is_text: true, is_number: false })
    }

    fn number(code: impl Into<String>) -> Result<Self, String> {
        Ok(Self { code: code.into(), uses: Vec::new(), is_text: false, is_number: true })
    }

    fn using(mut self, module: &'static str) -> Self {
        self.uses.push(module);
        self
    }
}

/// Names of properties; those with a sign are the system's.
pub(crate) const PROPERTIES: &[&str] = &[
    "msg",
    "rawmsg",
    "rawmsg-after-pri",
    "hostname",
    "source",
    "fromhost",
    "fromhost-ip",
    "syslogtag",
    "programname",
    "pri",
    "pri-text",
    "iut",
    "syslogfacility",
    "syslogfacility-text",
    "syslogseverity",
    "syslogseverity-text",
    "syslogpriority",
    "syslogpriority-text",
    "timegenerated",
    "timereported",
    "timestamp",
    "protocol-version",
    "structured-data",
    "app-name",
    "procid",
    "msgid",
    "inputname",
    "uuid",
    "parsesuccess",
    "jsonmesg",
    "$now",
    "$year",
    "$month",
    "$day",
    "$hour",
    "$hhour",
    "$qhour",
    "$minute",
    "$myhostname",
    "$bom",
    "$uptime",
    "$!all-json",
];

/// Whether a property is a number.
pub(crate) fn is_number(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "pri" | "syslogfacility" | "syslogseverity" | "syslogpriority" | "iut"
    )
}

/// The place of a variable such as `!user!id`, for writing.
pub(crate) fn place(root: &str, name: &str) -> Result<String, String> {
    let name = name.trim_start_matches('$');
    let (field, rest) = match name.as_bytes().first() {
        Some(b'!') => ("json", &name[1..]),
        Some(b'.') => ("local", &name[1..]),
        Some(b'/') => return Err("variables of all messages (`$/…`) are not kept".to_string()),
        _ => return Err(format!("`${name}` cannot be set")),
    };
    let steps: Vec<&str> =
        std::iter::once(field).chain(rest.split('!')).filter(|step| !step.is_empty()).collect();
    Ok(path(root, &steps))
}

/// What a name stands for.
pub(crate) fn value(root: &str, name: &str) -> Result<Value, String> {
    let name = name.trim();
    if name.eq_ignore_ascii_case("$!all-json")
        || name.eq_ignore_ascii_case("!all-json")
        || name == "$!"
        || name == "!"
    {
        return Value::text(format!("json::encode({root}.json)")).map(|value| value.using("json"));
    }
    if name.trim_start_matches('$').starts_with(['!', '.', '/']) {
        let place = place(root, name)?;
        let code = format!("{place} ?? \"\"");
        return Ok(Value { code, uses: Vec::new(), is_text: false, is_number: false });
    }
    let lower = name.to_ascii_lowercase();
    let field = |field: &str| Value::text(format!("{root}.{field}"));
    let clock = |form: &str| {
        let code = format!("datetime::format(system::ingest_ns(), {})", text(form));
        Value::text(code).map(|value| value.using("datetime").using("system"))
    };
    match lower.as_str() {
        "msg" => field("msg"),
        "rawmsg" => field("rawmsg"),
        "rawmsg-after-pri" => {
            Value::text(format!("re::replace(\"^<[0-9]+>\", {root}.rawmsg, \"\")"))
                .map(|value| value.using("re"))
        }
        "hostname" | "source" => field("hostname"),
        "fromhost" => field("fromhost"),
        "fromhost-ip" => field("fromhost_ip"),
        "syslogtag" => field("syslogtag"),
        "programname" => field("programname"),
        "app-name" => field("app_name"),
        "procid" => field("procid"),
        "msgid" => field("msgid"),
        "structured-data" => field("structured_data"),
        "protocol-version" => field("protocol_version"),
        "inputname" => field("inputname"),
        "iut" => Value::number("1"),
        "pri" => Value::number(format!("{root}.pri")),
        "pri-text" => Value::text(format!("\"#{{{root}.facility}}.#{{{root}.severity}}\"")),
        "syslogfacility" => Value::number(format!("{root}.facility_number")),
        "syslogfacility-text" => field("facility"),
        "syslogseverity" | "syslogpriority" => Value::number(format!("{root}.severity_number")),
        "syslogseverity-text" | "syslogpriority-text" => field("severity"),
        "timereported" | "timestamp" | "timegenerated" => {
            let time = if lower == "timegenerated" { "timegenerated" } else { "timereported" };
            let code = format!("datetime::format({root}.{time}, \"%b %e %H:%M:%S\")");
            Value::text(code).map(|value| value.using("datetime"))
        }
        "uuid" => Value::text("uuid::v4()").map(|value| value.using("uuid")),
        "now" | "$now" => clock("%Y-%m-%d"),
        "year" | "$year" => clock("%Y"),
        "month" | "$month" => clock("%m"),
        "day" | "$day" => clock("%d"),
        "hour" | "$hour" => clock("%H"),
        "minute" | "$minute" => clock("%M"),
        "myhostname" | "$myhostname" => {
            Value::text("system::hostname()").map(|value| value.using("system"))
        }
        "bom" | "$bom" => Value::text("\"\u{feff}\""),
        _ => {
            let near = temblor_lang::diagnostic::nearest(&lower, PROPERTIES.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Err(format!("there is no property `{name}`{near}"))
        }
    }
}
