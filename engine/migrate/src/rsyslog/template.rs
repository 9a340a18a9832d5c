//! Templates of rsyslog as Temblor texts: `"%timegenerated% %msg:::drop-last-lf%\n"`, lists of constants and
//! properties, and subtrees.

use super::property::{self, Value};
use super::tree::Object;
use crate::notation::{escaped, text};

/// What a template is, and the modules it needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) code: String,
    pub(crate) uses: Vec<&'static str>,
    /// Whether it ends with a newline, which is left out.
    pub(crate) ends_line: bool,
    /// The text in front of the first property, and whether there is one.
    pub(crate) constant: Option<String>,
}

/// Templates that rsyslog has without a word.
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    (
        "RSYSLOG_FileFormat",
        "%TIMESTAMP:::date-rfc3339% %HOSTNAME% %syslogtag%%msg:::sp-if-no-1st-sp%%msg:::drop-last-lf%\n",
    ),
    (
        "RSYSLOG_TraditionalFileFormat",
        "%TIMESTAMP% %HOSTNAME% %syslogtag%%msg:::sp-if-no-1st-sp%%msg:::drop-last-lf%\n",
    ),
    (
        "RSYSLOG_ForwardFormat",
        "<%PRI%>%TIMESTAMP:::date-rfc3339% %HOSTNAME% %syslogtag:1:32%%msg:::sp-if-no-1st-sp%%msg%",
    ),
    (
        "RSYSLOG_TraditionalForwardFormat",
        "<%PRI%>%TIMESTAMP% %HOSTNAME% %syslogtag:1:32%%msg:::sp-if-no-1st-sp%%msg%",
    ),
    (
        "RSYSLOG_SyslogProtocol23Format",
        "<%PRI%>1 %TIMESTAMP:::date-rfc3339% %HOSTNAME% %APP-NAME% %PROCID% %MSGID% %STRUCTURED-DATA% %msg%\n",
    ),
];

/// A piece of a template.
enum Piece {
    Text(String),
    Code(Value),
}

/// A text with properties between percent signs.
pub(crate) fn string(template: &str, root: &str) -> Result<Written, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    let mut plain = String::new();
    while let Some((before, behind)) = rest.split_once('%') {
        plain.push_str(before);
        if let Some(behind) = behind.strip_prefix('%') {
            plain.push('%');
            rest = behind;
            continue;
        }
        // A regular expression may hold percent signs.
        let end = match behind.find("--end%") {
            Some(end) if behind.contains(":R,") && behind.find(":R,") < behind.find('%') => {
                end + "--end".len()
            }
            _ => behind.find('%').ok_or("a `%` is never closed")?,
        };
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(Piece::Code(replaced(&behind[..end], root)?));
        rest = &behind[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(written(pieces))
}

fn written(mut pieces: Vec<Piece>) -> Written {
    let mut out = Written::default();
    if let Some(Piece::Text(last)) = pieces.last_mut()
        && let Some(line) = last.strip_suffix('\n')
    {
        *last = line.to_string();
        out.ends_line = true;
    }
    out.constant = match pieces.as_slice() {
        [] => Some(String::new()),
        [Piece::Text(one)] => Some(one.clone()),
        _ => None,
    };
    let mut code = String::from("\"");
    for piece in pieces {
        match piece {
            Piece::Text(text) => code.push_str(&escaped(&text)),
            Piece::Code(value) => {
                out.uses.extend(&value.uses);
                code.push_str(&format!("#{{{}}}", value.code));
            }
        }
    }
    code.push('"');
    out.code = code;
    out
}

/// `msg:R,ERE,1,BLANK:a(b)--end:uppercase`
fn replaced(inside: &str, root: &str) -> Result<Value, String> {
    let (name, rest) = inside.split_once(':').unwrap_or((inside, ""));
    let value = property::value(root, name)?;
    if rest.is_empty() {
        return Ok(value);
    }
    let (from, to, options) = if rest.starts_with("R,") {
        let (from, behind) = rest.split_once(':').ok_or("a regular expression is missing")?;
        let (expression, behind) = behind.split_once("--end").ok_or("`--end` is missing")?;
        (from.to_string(), expression.to_string(), behind.trim_start_matches(':').to_string())
    } else {
        let mut parts = rest.splitn(3, ':');
        let mut next = || parts.next().unwrap_or("").to_string();
        (next(), next(), next())
    };
    let value = cut(value, &from, &to)?;
    options
        .split(',')
        .filter(|option| !option.is_empty())
        .try_fold(value, |value, option| changed(value, name, option.trim(), root))
}

fn as_text(value: &Value) -> String {
    if value.is_text { value.code.clone() } else { format!("\"#{{{}}}\"", value.code) }
}

fn made(value: Value, code: String, module: &'static str) -> Value {
    let mut uses = value.uses;
    uses.push(module);
    Value { code, uses, is_text: true, is_number: false }
}

/// Characters, a field, or what an expression finds.
fn cut(value: Value, from: &str, to: &str) -> Result<Value, String> {
    if from.is_empty() && to.is_empty() {
        return Ok(value);
    }
    let of = as_text(&value);
    if let Some(spec) = from.strip_prefix("R") {
        let parts: Vec<&str> = spec.trim_start_matches(',').split(',').collect();
        let kind = parts.first().copied().unwrap_or("ERE");
        if kind != "ERE" && kind != "BRE" {
            return Err(format!("there is no kind of expression `{kind}`"));
        }
        let group: u32 = parts.get(1).and_then(|group| group.parse().ok()).unwrap_or(0);
        if parts.get(3).is_some_and(|which| *which != "0") {
            return Err("only the first match is looked for".to_string());
        }
        let otherwise = match parts.get(2).copied().unwrap_or("DFLT") {
            "BLANK" => text(""),
            "ZERO" => text("0"),
            "FIELD" => of.clone(),
            _ => text("**NO MATCH**"),
        };
        crate::rsyslog::compiles(to)?;
        let code =
            format!("(re::captures({}, {of}) ?? {{}})[\"{group}\"] ?? {otherwise}", text(to));
        return Ok(made(value, code, "re"));
    }
    if let Some(spec) = from.strip_prefix('F') {
        let spec = spec.trim_start_matches(',');
        let delimiter = if spec.is_empty() {
            "\t".to_string()
        } else {
            let code = spec.trim_end_matches('+').parse::<u32>().ok().and_then(char::from_u32);
            code.ok_or_else(|| format!("`{spec}` is no code of a character"))?.to_string()
        };
        let number: usize = to
            .trim_end_matches(['+', '.'])
            .parse()
            .map_err(|_| format!("`{to}` is no number of a field"))?;
        let code = if spec.ends_with('+') {
            format!(
                "(re::split({}, {of}))[{}] ?? \"**FIELD NOT FOUND**\"",
                text(&format!("[{}]+", regex::escape(&delimiter))),
                number.max(1) - 1
            )
        } else {
            format!(
                "(string::split({of}, {}))[{}] ?? \"**FIELD NOT FOUND**\"",
                text(&delimiter),
                number.max(1) - 1
            )
        };
        let module = if spec.ends_with('+') { "re" } else { "string" };
        return Ok(made(value, code, module));
    }
    let first: i64 = if from.is_empty() {
        1
    } else {
        from.parse().map_err(|_| format!("`{from}` is no place"))?
    };
    let start = first.max(1) - 1;
    let code = match to {
        "" | "$" => format!("string::slice({of}, {start})"),
        to => {
            let end: i64 = to.parse().map_err(|_| format!("`{to}` is no place"))?;
            format!("string::slice({of}, {start}, {end})")
        }
    };
    Ok(made(value, code, "string"))
}

/// An option such as `uppercase` or `date-rfc3339`.
fn changed(value: Value, name: &str, option: &str, root: &str) -> Result<Value, String> {
    let of = as_text(&value);
    let of = if of.contains(" ?? ") && !of.starts_with('"') { format!("({of})") } else { of };
    let lower = option.to_ascii_lowercase();
    let time = match name.to_ascii_lowercase().as_str() {
        "timegenerated" => "timegenerated",
        _ => "timereported",
    };
    if let Some(form) = lower.strip_prefix("date-") {
        return date(form, time, root);
    }
    match lower.as_str() {
        "lowercase" => Ok(made(value, format!("string::lowercase({of})"), "string")),
        "uppercase" => Ok(made(value, format!("string::uppercase({of})"), "string")),
        "drop-last-lf" => Ok(made(value, format!("string::trim_suffix({of}, \"\\n\")"), "string")),
        "sp-if-no-1st-sp" => {
            let code = format!("if string::starts_with({of}, \" \") then \"\" else \" \" end");
            Ok(made(value, code, "string"))
        }
        "json" => Ok(made(value, format!("json_text({of})"), "json_text")),
        "jsonf" => {
            let code = format!(
                "\"\\\"{}\\\":\\\"#{{json_text({of})}}\\\"\"",
                escaped(name.trim_start_matches(['$', '!', '.']))
            );
            Ok(made(value, code, "json_text"))
        }
        "csv" => {
            let code = format!("\"\\\"#{{string::replace({of}, \"\\\"\", \"\\\"\\\"\")}}\\\"\"");
            Ok(made(value, code, "string"))
        }
        "drop-cc" => {
            Ok(made(value, format!("re::replace_all(r\"[\\x00-\\x1f\\x7f]\", {of}, \"\")"), "re"))
        }
        "space-cc" => {
            Ok(made(value, format!("re::replace_all(r\"[\\x00-\\x1f\\x7f]\", {of}, \" \")"), "re"))
        }
        "compressspace" => Ok(made(value, format!("re::replace_all(\" +\", {of}, \" \")"), "re")),
        "secpath-drop" => {
            Ok(made(value, format!("file_name(string::replace({of}, \"/\", \"\"))"), "file_name"))
        }
        "secpath-replace" => {
            Ok(made(value, format!("file_name(string::replace({of}, \"/\", \"_\"))"), "file_name"))
        }
        "escape-cc" | "pos-end-relative" | "fixed-width" => {
            Err(format!("there is no equivalent of the option `{option}`"))
        }
        _ => Err(format!("there is no option `{option}`")),
    }
}

/// A part of a time.
fn date(form: &str, time: &str, root: &str) -> Result<Value, String> {
    let form = match form {
        "rfc3339" if time == "timereported" => {
            return Ok(Value {
                code: format!("{root}.timereported_rfc3339"),
                uses: Vec::new(),
                is_text: true,
                is_number: false,
            });
        }
        "rfc3339" => "%Y-%m-%dT%H:%M:%S%.6f%:z",
        "rfc3164" => "%b %e %H:%M:%S",
        "rfc3164-buggyday" => "%b %d %H:%M:%S",
        "mysql" => "%Y%m%d%H%M%S",
        "pgsql" => "%Y-%m-%d %H:%M:%S",
        "unixtimestamp" => "%s",
        "subseconds" => "%6f",
        "year" => "%Y",
        "month" => "%m",
        "day" => "%d",
        "hour" => "%H",
        "minute" => "%M",
        "second" => "%S",
        "wday" => "%w",
        "wdayname" => "%a",
        "ordinal" => "%j",
        "week" => "%U",
        "iso-week" => "%V",
        "iso-week-year" => "%G",
        "utc" | "local" => return Err("times are written in their own zone".to_string()),
        other => return Err(format!("there is no format of times `date-{other}`")),
    };
    let code = format!("datetime::format({root}.{time}, {})", text(form));
    Ok(Value { code, uses: vec!["datetime"], is_text: true, is_number: false })
}

/// `template(name="…" type="list") { constant(value="…") property(name="…") }`
pub(crate) fn list(inside: &[Object], root: &str) -> Result<Written, String> {
    let mut pieces: Vec<Piece> = Vec::new();
    for part in inside {
        if part.kind == "constant" {
            let value = part.text("value").unwrap_or("");
            let value = match (part.text("format"), part.text("outname")) {
                (Some("jsonf"), Some(name)) => format!("\"{name}\":\"{value}\""),
                _ => value.to_string(),
            };
            match pieces.last_mut() {
                Some(Piece::Text(last)) => last.push_str(&value),
                _ => pieces.push(Piece::Text(value)),
            }
            continue;
        }
        pieces.push(Piece::Code(listed(part, root)?));
    }
    Ok(written(pieces))
}

fn listed(part: &Object, root: &str) -> Result<Value, String> {
    let name = part.text("name").ok_or("a property has no name")?;
    let mut value = property::value(root, name)?;
    if let Some(expression) = part.text("regex.expression") {
        let otherwise = part.text("regex.nomatchmode").unwrap_or("DFLT");
        let group = part.text("regex.submatch").unwrap_or("0");
        value = cut(value, &format!("R,ERE,{group},{otherwise}"), expression)?;
    } else if let Some(number) = part.text("field.number") {
        let delimiter = part.text("field.delimiter").unwrap_or("9");
        value = cut(value, &format!("F,{delimiter}"), number)?;
    } else if part.text("position.from").is_some() || part.text("position.to").is_some() {
        if part.flag("position.relativetoend") == Some(true) {
            return Err("places from the end are not converted".to_string());
        }
        value = cut(
            value,
            part.text("position.from").unwrap_or(""),
            part.text("position.to").unwrap_or(""),
        )?;
    }
    if let Some(form) = part.text("dateformat") {
        value = changed(value, name, &format!("date-{form}"), root)?;
    }
    match part.text("caseconversion") {
        Some("lower") => value = changed(value, name, "lowercase", root)?,
        Some("upper") => value = changed(value, name, "uppercase", root)?,
        _ => {}
    }
    for (option, word) in [
        ("droplastlf", "drop-last-lf"),
        ("spifno1stsp", "sp-if-no-1st-sp"),
        ("compressspace", "compressspace"),
    ] {
        if part.flag(option) == Some(true) {
            value = changed(value, name, word, root)?;
        }
    }
    match part.text("controlcharacters") {
        Some("drop") => value = changed(value, name, "drop-cc", root)?,
        Some("space") => value = changed(value, name, "space-cc", root)?,
        Some(other) => {
            return Err(format!("there is no equivalent of `controlcharacters=\"{other}\"`"));
        }
        None => {}
    }
    match part.text("securepath") {
        Some("drop") => value = changed(value, name, "secpath-drop", root)?,
        Some("replace") => value = changed(value, name, "secpath-replace", root)?,
        _ => {}
    }
    let shown = part.text("outname").unwrap_or(name);
    match part.text("format") {
        None => Ok(value),
        Some(format @ ("json" | "jsonf" | "csv")) => changed(value, shown, format, root),
        Some("jsonr" | "jsonfr") => {
            let of = as_text(&value);
            let code = format!("\"\\\"{}\\\":\\\"#{{{of}}}\\\"\"", escaped(shown));
            Ok(made(value, code, "string"))
        }
        Some(other) => Err(format!("there is no format `{other}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::string;

    #[test]
    fn templates_become_texts() {
        for (template, wanted) in [
            ("%HOSTNAME% 100%% %msg%\n", r##""#{m.hostname} 100% #{m.msg}""##),
            ("%msg:1:3%", r##""#{string::slice(m.msg, 0, 3)}""##),
            ("%msg:F,32:2%", r##""#{(string::split(m.msg, " "))[1] ?? "**FIELD NOT FOUND**"}""##),
            ("%$!a!b%", r##""#{m.json.a.b ?? ""}""##),
            ("%timereported:::date-year%", r##""#{datetime::format(m.timereported, "%Y")}""##),
        ] {
            let written = string(template, "m").map(|written| written.code);
            assert_eq!(written.as_deref(), Ok(wanted), "{template}");
        }
        assert!(string("%nosuch%", "m").is_err());
        assert!(string("%msg", "m").is_err());
    }
}
