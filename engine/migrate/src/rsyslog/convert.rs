//! A configuration of rsyslog as a Temblor file: rulesets and actions become streams, templates functions, rules
//! chains. Rules see what the rules in front of them changed, as in rsyslog.

use super::actions::{self, Output, Templates};
use super::expression::{Known, Writer};
use super::inputs;
use super::parse::{Configuration, DEFAULT_RULESET};
use super::selector;
use super::template::{self, BUILT_IN, Written};
use super::tree::{Expression, Kind, Object, Statement, Test};
use crate::complain;
use crate::notation::text;
use crate::page::{Chain, Page, place_text, undecided};
use crate::{Conversion, Wishes};
use std::collections::HashMap;
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;
use temblor_logstash::convert::report::Coverage;

/// Rulesets that call each other, at the most.
pub(crate) const CALL_DEPTH_MAX: usize = 16;
/// Steps of all rulesets with those that they call, at the most.
pub(crate) const STEPS_MAX: usize = 20_000;
/// Rows of a lookup table that become part of the program, at the most.
pub(crate) const TABLE_ROWS_MAX: usize = 10_000;

/// Lines of before that need no equivalent, or that were read where they stand.
const DIRECTIVES: &[&str] = &[
    "modload",
    "umask",
    "workdirectory",
    "fileowner",
    "filegroup",
    "filecreatemode",
    "dircreatemode",
    "dirowner",
    "dirgroup",
    "privdroptouser",
    "privdroptogroup",
    "repeatedmsgreduction",
    "maxmessagesize",
    "preservefqdn",
    "actionfiledefaulttemplate",
    "actionforwarddefaulttemplate",
    "udpserverrun",
    "udpserveraddress",
    "inputtcpserverrun",
    "inputrelpserverrun",
    "inputudpserverbindruleset",
    "inputtcpserverbindruleset",
    "inputfilename",
    "inputfiletag",
    "inputfilestatefile",
    "inputfileseverity",
    "inputfilefacility",
    "inputrunfilemonitor",
    "inputfilepollinterval",
    "template",
    "defaultnetstreamdrivercafile",
    "defaultnetstreamdrivercertfile",
    "defaultnetstreamdriverkeyfile",
    "inputtcpserverstreamdrivermode",
    "inputtcpserverstreamdriverauthmode",
    "systemlogratelimitinterval",
    "systemlogratelimitburst",
    "imjournalstatefile",
    "omitlocallogging",
    "escapecontrolcharactersonreceive",
    "klogpermitnonkernelfacility",
    "mainmsgqueuesize",
    "mainmsgqueuetype",
    "mainmsgqueuefilename",
    "addunixlistensocket",
    "actionfileenablesync",
    "markmessageperiod",
    "allowedsender",
    "debugfile",
    "debuglevel",
    "createdirs",
    "outchannel",
    "inputtcpmaxsessions",
    "localhostname",
    "resetconfigvariables",
    "systemlogsocketname",
    "generateconfiggraph",
    "dropmsgswithmaliciousdnsptrrecords",
    "actionfiledefaulttemplate",
    "failonchownfailure",
    "syslogtag",
];

struct Converter<'c> {
    configuration: &'c Configuration,
    page: Page,
    wishes: Wishes<'c>,
    diagnostics: Vec<Diagnostic>,
    templates: HashMap<String, (Object, Option<String>)>,
    tables: HashMap<String, (String, String)>,
    rulesets: HashMap<String, String>,
    inputs: inputs::Defaults,
    actions: actions::Defaults,
    /// Streams of actions that are the same.
    sinks: Vec<(Vec<String>, String, String)>,
    shown: Option<String>,
    steps: usize,
}

/// Steps of one chain, and whether messages come out at their end.
struct Steps {
    list: Vec<String>,
    comes_back: bool,
}

/// Converts what was read.
pub(crate) fn convert(mut configuration: Configuration, wishes: Wishes<'_>) -> Conversion {
    let diagnostics = std::mem::take(&mut configuration.diagnostics);
    let mut converter = Converter {
        page: Page::new(wishes.title, "rsyslog"),
        configuration: &configuration,
        wishes,
        diagnostics,
        templates: HashMap::new(),
        tables: HashMap::new(),
        rulesets: HashMap::new(),
        inputs: inputs::Defaults::default(),
        actions: actions::Defaults::default(),
        sinks: Vec::new(),
        shown: None,
        steps: 0,
    };
    converter.gather();
    converter.write_inputs();
    converter.write_rulesets();
    let (page, diagnostics) = (converter.page, converter.diagnostics);
    let (text, report) = page.finish();
    Conversion { text, report, sources: configuration.sources, diagnostics }
}

impl Templates for Converter<'_> {
    fn written(&self, name: &str) -> Result<Written, String> {
        let name = name.trim();
        if let Some((object, function)) = self.templates.get(name) {
            let mut written = of_object(object, "event")?;
            if let Some(function) = function
                && written.constant.is_none()
                && object.text("type") != Some("path")
            {
                let path = written.code.clone();
                let is_path = path.starts_with("\"/");
                if !is_path {
                    written.code = format!("{function}(event)");
                }
            }
            return Ok(written);
        }
        if name == "StdJSONFmt" {
            let json = "{\"message\": event.msg, \"fromhost\": event.fromhost, \"facility\": event.facility, \
                        \"priority\": event.severity, \"timereported\": event.timereported_rfc3339}";
            return Ok(Written {
                code: format!("json::encode({json})"),
                uses: vec!["json"],
                ends_line: false,
                constant: None,
            });
        }
        let built_in = BUILT_IN.iter().find(|(one, _)| *one == name);
        let Some((_, text)) = built_in else {
            let known = self
                .templates
                .keys()
                .map(String::as_str)
                .chain(BUILT_IN.iter().map(|(name, _)| *name));
            let near = temblor_lang::diagnostic::nearest(name, known);
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!("there is no template `{name}`{near}"));
        };
        let mut written = template::string(text, "event")?;
        if let Some((function, _)) = SHARED.iter().find(|(_, one)| *one == name) {
            written.code = format!("{function}(event)");
            written.uses = vec![function];
        }
        Ok(written)
    }
}

/// Functions of templates that rsyslog has without a word.
const SHARED: &[(&str, &str)] = &[
    ("file_format", "RSYSLOG_FileFormat"),
    ("traditional_file_format", "RSYSLOG_TraditionalFileFormat"),
    ("forward_format", "RSYSLOG_ForwardFormat"),
    ("traditional_forward_format", "RSYSLOG_TraditionalForwardFormat"),
    ("protocol_format", "RSYSLOG_SyslogProtocol23Format"),
];

impl Known for Converter<'_> {
    fn template(&self, name: &str) -> Option<String> {
        self.templates.get(name)?.1.clone()
    }

    fn table(&self, name: &str) -> Option<(String, String)> {
        self.tables.get(name).cloned()
    }
}

/// The text that a template makes.
fn of_object(object: &Object, root: &str) -> Result<Written, String> {
    match object.text("type").unwrap_or("string") {
        "string" => template::string(object.text("string").unwrap_or(""), root),
        "list" => template::list(&object.inside, root),
        "subtree" => {
            let place = super::property::place(root, object.text("subtree").unwrap_or("$!"))?;
            let code = format!("json::encode({place} ?? {{}})");
            Ok(Written { code, uses: vec!["json"], ends_line: false, constant: None })
        }
        "plugin" => Err("templates of plugins are not converted".to_string()),
        other => Err(format!("there is no type of templates `{other}`")),
    }
}

impl Converter<'_> {
    fn note(&mut self, span: Span, what: &str, coverage: Coverage, reason: &str) {
        self.page.note(&self.configuration.sources, span, what, coverage, reason);
    }

    fn part(&self, span: Span, what: &str) -> String {
        format!("{what} ({})", place_text(&self.configuration.sources, span))
    }

    fn use_module(&mut self, module: &'static str) {
        let Some((function, name)) = SHARED.iter().find(|(function, _)| *function == module) else {
            return self.page.uses(module);
        };
        if self.tables.contains_key(&format!("\0{function}")) {
            return;
        }
        self.tables.insert(format!("\0{function}"), (String::new(), String::new()));
        let Some((_, string)) = BUILT_IN.iter().find(|(one, _)| one == name) else { return };
        if let Ok(written) = template::string(string, "m") {
            for module in &written.uses {
                self.page.uses(module);
            }
            let _ = self.page.name(function);
            let text = format!("## `{name}`\nfn {function}(m) with\n  {}\nend;", written.code);
            self.page.function(&[], text);
        }
    }

    fn used(&mut self, modules: &[&'static str]) {
        for module in modules {
            self.use_module(module);
        }
    }

    /// Templates, tables, and what all inputs and actions share.
    fn gather(&mut self) {
        let configuration = self.configuration;
        for (name, value, span) in &configuration.directives {
            self.directive(name, value, *span);
        }
        for object in &configuration.objects {
            match object.kind.as_str() {
                "template" => self.template(object.clone()),
                "lookup_table" => self.table(object),
                "module" => self.module(object),
                "global" => {
                    let text = |name: &str| object.text(name).map(str::to_string);
                    self.actions.ca =
                        text("defaultnetstreamdrivercafile").or(self.actions.ca.take());
                    self.actions.cert =
                        text("defaultnetstreamdrivercertfile").or(self.actions.cert.take());
                    self.actions.key =
                        text("defaultnetstreamdriverkeyfile").or(self.actions.key.take());
                }
                _ => {}
            }
        }
        let asks_tls = configuration.objects.iter().any(|object| {
            object.kind == "module"
                && object.text("load") == Some("imtcp")
                && object.text("streamdriver.mode") == Some("1")
        });
        if let (true, Some(cert), Some(key)) = (asks_tls, &self.actions.cert, &self.actions.key) {
            let ca = self
                .actions
                .ca
                .as_ref()
                .map(|ca| format!(", \"ca\": {}", text(ca)))
                .unwrap_or_default();
            self.inputs.tls =
                Some(format!("tls = {{\"cert\": {}, \"key\": {}{ca}}}", text(cert), text(key)));
        }
    }

    fn directive(&mut self, name: &str, value: &str, span: Span) {
        let lower = name.to_ascii_lowercase();
        if !DIRECTIVES.contains(&lower.as_str()) {
            let known = complain::unknown(span, "directive", name, DIRECTIVES);
            self.diagnostics.push(known);
            return;
        }
        match lower.as_str() {
            "actionfiledefaulttemplate" => self.actions.file_template = Some(value.to_string()),
            "actionforwarddefaulttemplate" => {
                self.actions.forward_template = Some(value.to_string())
            }
            "defaultnetstreamdrivercafile" => self.actions.ca = Some(value.to_string()),
            "defaultnetstreamdrivercertfile" => self.actions.cert = Some(value.to_string()),
            "defaultnetstreamdriverkeyfile" => self.actions.key = Some(value.to_string()),
            "template" => {
                let (name, rest) = value.split_once(',').unwrap_or((value, ""));
                let rest = rest.trim();
                let string = rest
                    .strip_prefix('"')
                    .and_then(|rest| rest.rsplit_once('"'))
                    .map(|(text, _)| text);
                let string = unescaped(string.unwrap_or(rest));
                let mut object = Object { kind: "template".into(), span, ..Object::default() };
                object.parameters.push(("name".into(), vec![name.trim().to_string()]));
                object.parameters.push(("string".into(), vec![string]));
                self.template(object);
            }
            "repeatedmsgreduction" if value.eq_ignore_ascii_case("on") => {
                let why = "repeats are written: a `dedup mode adjacent` step leaves them out";
                self.note(span, "$RepeatedMsgReduction", Coverage::Remarks, why);
            }
            "fileowner" | "filegroup" | "filecreatemode" | "dircreatemode" | "dirowner"
            | "dirgroup" | "umask" => {
                let why = "files and folders belong to who runs the program, with the rights of its umask";
                self.note(span, &format!("${name}"), Coverage::Remarks, why);
            }
            "privdroptouser" | "privdroptogroup" => {
                let why = "`temblor run` has `--user` and `--group` for it, or the unit of systemd";
                self.note(span, &format!("${name}"), Coverage::Remarks, why);
            }
            "outchannel" | "allowedsender" => {
                let why = "there is no equivalent of it";
                self.note(span, &format!("${name}"), Coverage::NeedsHand, why);
            }
            _ => {}
        }
    }

    fn module(&mut self, object: &Object) {
        if let Some(template) = object.text("template") {
            match object.text("load") {
                Some("builtin:omfile") => self.actions.file_template = Some(template.to_string()),
                Some("builtin:omfwd") => self.actions.forward_template = Some(template.to_string()),
                _ => {}
            }
        }
    }

    fn template(&mut self, object: Object) {
        let Some(name) = object.text("name").map(str::to_string) else {
            self.diagnostics.push(complain::unexpected(object.span, "template", "`name=\"…\"`"));
            return;
        };
        let function = match of_object(&object, "m") {
            // A path is no line: who uses it as one has it in its place.
            Ok(written) if written.constant.is_none() && !written.code.starts_with("\"/") => {
                let function = self.page.name(&name);
                self.used(&written.uses);
                let text = format!("fn {function}(m) with\n  {}\nend;", written.code);
                self.page.function(&object.comments, text);
                Some(function)
            }
            _ => None,
        };
        let blanks = object
            .text("string")
            .is_some_and(|text| text.contains("%$!%") || text.contains("%$!all-json%"))
            || object.text("type") == Some("subtree");
        match (of_object(&object, "m"), blanks) {
            (Err(why), _) => {
                self.note(object.span, &format!("template {name}"), Coverage::NeedsHand, &why)
            }
            (Ok(_), true) => {
                let why = "JSON is written without blanks";
                self.note(object.span, &format!("template {name}"), Coverage::Remarks, why);
            }
            (Ok(_), false) => {
                self.note(object.span, &format!("template {name}"), Coverage::Exact, "")
            }
        }
        self.templates.insert(name, (object, function));
    }

    /// A table of texts becomes a constant.
    fn table(&mut self, object: &Object) {
        let what = "lookup_table";
        let (Some(name), Some(file)) = (object.text("name"), object.text("file")) else {
            self.diagnostics.push(complain::unexpected(
                object.span,
                what,
                "`name=\"…\" file=\"…\"`",
            ));
            return;
        };
        let made = read_table(file);
        match made {
            Ok((rows, otherwise)) => {
                let constant = self.page.name(&format!("{}_TABLE", name.to_uppercase()));
                self.page.function(&object.comments, format!("const {constant} = {rows};"));
                self.tables.insert(name.to_string(), (constant, otherwise));
                let why = "the table became part of the program: `table` reads one that changes";
                self.note(object.span, what, Coverage::Remarks, why);
            }
            Err(why) => self.note(object.span, what, Coverage::NeedsHand, &why),
        }
    }

    fn ruleset_stream(&mut self, name: &str) -> String {
        if let Some(stream) = self.rulesets.get(name) {
            return stream.clone();
        }
        let wanted = if name == DEFAULT_RULESET { "rules" } else { name };
        let stream = self.page.stream(wanted);
        self.rulesets.insert(name.to_string(), stream.clone());
        stream
    }

    fn write_inputs(&mut self) {
        let configuration = self.configuration;
        let mut objects: Vec<Object> = Vec::new();
        for object in &configuration.objects {
            match (object.kind.as_str(), object.text("load")) {
                ("input", _) => objects.push(object.clone()),
                // Loaded modules that listen without an input.
                ("module", Some("imuxsock")) if object.flag("syssock.use") != Some(false) => {
                    objects.push(input_of(object, "imuxsock", &[]));
                }
                (
                    "module",
                    Some(kind @ ("imklog" | "imjournal" | "imkmsg" | "immark" | "impstats")),
                ) => {
                    objects.push(input_of(object, kind, &[]));
                }
                _ => {}
            }
        }
        objects.extend(self.legacy_inputs());
        let mut is_stdin_written = false;
        for object in objects {
            let kind = object.text("type").unwrap_or("").to_string();
            let what = format!("input {kind}");
            if !inputs::TYPES.contains(&kind.to_ascii_lowercase().as_str()) {
                self.diagnostics.push(complain::unknown(
                    object.span,
                    "input",
                    &kind,
                    inputs::TYPES,
                ));
                continue;
            }
            let ruleset = object.text("ruleset").unwrap_or(DEFAULT_RULESET).to_string();
            if !configuration.rulesets.iter().any(|(name, _)| *name == ruleset)
                && ruleset != DEFAULT_RULESET
            {
                let known = configuration.rulesets.iter().map(|(name, _)| name.as_str());
                self.diagnostics.push(complain::undefined(object.span, "ruleset", &ruleset, known));
                continue;
            }
            match inputs::inputs(&object, &self.inputs) {
                Ok(found) => {
                    let mut remarks: Vec<String> = Vec::new();
                    for (at, input) in found.into_iter().enumerate() {
                        remarks.extend(input.remarks.iter().cloned());
                        if self.wishes.stdin && std::mem::replace(&mut is_stdin_written, true) {
                            continue;
                        }
                        let stream = self.ruleset_stream(&ruleset);
                        let (kind, end) = if self.wishes.stdin {
                            ("lines", "stdin with codec = \"string\" end")
                        } else {
                            (kind.as_str(), input.end.as_str())
                        };
                        let source = self.page.name(object.text("name").unwrap_or(kind));
                        let comments: &[String] = if at == 0 { &object.comments } else { &[] };
                        self.page.end(comments, &format!("source {source} from {end};"));
                        let mut chain = Chain::from(&source);
                        chain.steps = input.steps;
                        self.page.chain(chain.step(input.read).step(stream));
                    }
                    remarks.dedup();
                    let coverage =
                        if remarks.is_empty() { Coverage::Exact } else { Coverage::Remarks };
                    self.note(object.span, &what, coverage, &remarks.join("; "));
                }
                Err(why) => {
                    let mut comments = object.comments.clone();
                    comments.push(format!(
                        "{} was not converted: {why}",
                        self.part(object.span, &what)
                    ));
                    self.page.end(&comments, "");
                    self.note(object.span, &what, Coverage::NotPossible, &why);
                }
            }
        }
    }

    /// `$UDPServerRun 514`, `$InputTCPServerRun 514`, `$InputRunFileMonitor`
    fn legacy_inputs(&self) -> Vec<Object> {
        let mut out = Vec::new();
        let mut file: Vec<(&str, String)> = Vec::new();
        let (mut udp_ruleset, mut tcp_ruleset, mut address) = (None, None, None);
        for (name, value, span) in &self.configuration.directives {
            let at = Object { span: *span, ..Object::default() };
            let set = |kind: &str, pairs: &[(&str, String)]| input_of(&at, kind, pairs);
            match name.to_ascii_lowercase().as_str() {
                "modload" if value.trim_end_matches(".so") == "imuxsock" => {
                    out.push(set("imuxsock", &[]))
                }
                "modload" => {
                    let module = value.trim_end_matches(".so");
                    if matches!(module, "imklog" | "imjournal" | "immark" | "impstats") {
                        out.push(set(module, &[]));
                    }
                }
                "udpserveraddress" => address = Some(value.clone()),
                "inputudpserverbindruleset" => udp_ruleset = Some(value.clone()),
                "inputtcpserverbindruleset" => tcp_ruleset = Some(value.clone()),
                "udpserverrun" => {
                    let mut pairs = vec![("port", value.clone())];
                    pairs.extend(address.clone().map(|address| ("address", address)));
                    pairs.extend(udp_ruleset.clone().map(|ruleset| ("ruleset", ruleset)));
                    out.push(set("imudp", &pairs));
                }
                "inputtcpserverrun" => {
                    let mut pairs = vec![("port", value.clone())];
                    pairs.extend(tcp_ruleset.clone().map(|ruleset| ("ruleset", ruleset)));
                    out.push(set("imtcp", &pairs));
                }
                "inputrelpserverrun" => out.push(set("imrelp", &[("port", value.clone())])),
                "addunixlistensocket" => out.push(set("imuxsock", &[("socket", value.clone())])),
                "inputfilename" => file.push(("file", value.clone())),
                "inputfiletag" => file.push(("tag", value.clone())),
                "inputfileseverity" => file.push(("severity", value.clone())),
                "inputfilefacility" => file.push(("facility", value.clone())),
                "inputrunfilemonitor" => out.push(set("imfile", &std::mem::take(&mut file))),
                _ => {}
            }
        }
        out
    }

    fn write_rulesets(&mut self) {
        let configuration = self.configuration;
        // Rulesets that inputs name, in the order of the text; others are written where they are called.
        for (name, statements) in &configuration.rulesets {
            let Some(stream) = self.rulesets.get(name).cloned() else { continue };
            self.write_ruleset(&stream, statements);
        }
        for name in self.rulesets.keys().cloned().collect::<Vec<_>>() {
            if !configuration.rulesets.iter().any(|(one, _)| *one == name) {
                let stream = self.rulesets[&name].clone();
                self.page.chain(Chain::from(&stream).step("drop"));
            }
        }
        for (name, statements) in &configuration.rulesets {
            if !self.rulesets.contains_key(name)
                && !statements.is_empty()
                && name == DEFAULT_RULESET
            {
                let span = statements[0].span;
                let why = "no input brings messages to these rules";
                self.note(span, "rules", Coverage::Remarks, why);
                let stream = self.ruleset_stream(name);
                self.page.chain(Chain::from("in").step("rsyslog::read").step(stream.clone()));
                self.write_ruleset(&stream, statements);
            }
        }
    }

    fn write_ruleset(&mut self, stream: &str, statements: &[Statement]) {
        let mut current = stream.to_string();
        let mut pending: Vec<String> = Vec::new();
        let mut is_read = false;
        let mut comments: Vec<String> = Vec::new();
        for statement in statements {
            comments.extend(statement.comments.iter().cloned());
            if !changes(statement, self.configuration, 0) {
                if !pending.is_empty() {
                    let next = self.page.stream(&format!("{stream}_on"));
                    let mut chain = Chain::from(&current);
                    chain.steps = std::mem::take(&mut pending);
                    self.page.chain(chain.step(next.clone()));
                    current = next;
                }
                is_read |= self.write_rule(&current, statement, std::mem::take(&mut comments));
                continue;
            }
            let steps = self.statement(statement, 0);
            pending.extend(steps.list);
            if !steps.comes_back {
                break;
            }
        }
        if !pending.is_empty() || !is_read {
            let mut chain = Chain::from(&current);
            chain.comments = comments;
            chain.steps = pending;
            let ends = chain.steps.last().is_some_and(|last| last == "drop" || self.is_sink(last));
            if !ends && !ends_for_good(chain.steps.last()) {
                chain.steps.push("drop".to_string());
            }
            self.page.chain(chain);
        }
    }

    fn is_sink(&self, step: &str) -> bool {
        self.sinks.iter().any(|(_, _, stream)| stream == step)
    }

    /// A rule that changes nothing for those behind it, as a chain of its own.
    fn write_rule(&mut self, from: &str, statement: &Statement, comments: Vec<String>) -> bool {
        let mut chain = Chain::from(from);
        chain.comments = comments;
        let body = match &statement.kind {
            Kind::If(test, then, otherwise) if otherwise.is_empty() => {
                match self.test(test) {
                    Ok(code) if code == "true" => {}
                    Ok(code) => chain.steps.push(format!("where {code}")),
                    Err(why) => {
                        let step = self.left(statement.span, "filter", &why);
                        chain.steps.push(step);
                    }
                }
                self.rule_note(statement);
                self.statements(then, 0)
            }
            _ => self.statement(statement, 0),
        };
        if body.list.is_empty() {
            return false;
        }
        chain.steps.extend(body.list);
        let last = chain.steps.last();
        if !last.is_some_and(|last| last == "drop" || self.is_sink(last)) && !ends_for_good(last) {
            chain.steps.push("drop".to_string());
        }
        self.page.chain(chain);
        true
    }

    fn rule_note(&mut self, statement: &Statement) {
        let what = match &statement.kind {
            Kind::If(Test::Selector(selector), ..) => format!("rule {selector}"),
            Kind::If(Test::Property(name, ..), ..) => format!("rule :{name}"),
            _ => "rule if".to_string(),
        };
        self.note(statement.span, &what, Coverage::Exact, "");
    }

    fn left(&mut self, span: Span, what: &str, why: &str) -> String {
        self.note(span, what, Coverage::NeedsHand, why);
        undecided(&self.part(span, what), why)
    }

    fn statements(&mut self, statements: &[Statement], depth: usize) -> Steps {
        let mut list = Vec::new();
        for statement in statements {
            let steps = self.statement(statement, depth);
            list.extend(steps.list);
            if !steps.comes_back {
                return Steps { list, comes_back: false };
            }
        }
        Steps { list, comes_back: true }
    }

    fn statement(&mut self, statement: &Statement, depth: usize) -> Steps {
        self.steps += 1;
        let span = statement.span;
        let one = |step: String| Steps { list: vec![step], comes_back: true };
        if self.steps > STEPS_MAX || depth > CALL_DEPTH_MAX {
            let limit = if depth > CALL_DEPTH_MAX { CALL_DEPTH_MAX } else { STEPS_MAX };
            if self.steps <= STEPS_MAX + 1 {
                self.diagnostics.push(complain::too_much(
                    span,
                    "rulesets call each other too often",
                    limit,
                ));
            }
            return Steps { list: Vec::new(), comes_back: true };
        }
        match &statement.kind {
            Kind::Act(object) => self.act(object),
            Kind::If(test, then, otherwise) => self.branch(statement, test, then, otherwise, depth),
            Kind::Stop => Steps { list: vec!["drop".to_string()], comes_back: false },
            Kind::Set(name, value) => {
                let made = self.set(name, value);
                match made {
                    Ok(step) => one(step),
                    Err(why) => one(self.left(span, "set", &why)),
                }
            }
            Kind::Unset(name) => match super::property::place("event", name) {
                Ok(place) => {
                    self.page.uses("record");
                    let (before, last) = place.rsplit_once('.').unwrap_or((&place, ""));
                    one(format!(
                        "when present {place} do\nset {before} = record::without({before}, [{}])\nend",
                        text(last)
                    ))
                }
                Err(why) => one(self.left(span, "unset", &why)),
            },
            Kind::Foreach => one(self.left(span, "foreach", "its body acts on each element of a list: `for` in a `script` step changes the list")),
            Kind::Call(name) => self.called(name, span, depth),
            Kind::Other(name) => one(self.left(span, name, "there is no equivalent of it")),
        }
    }

    fn set(&mut self, name: &str, value: &Expression) -> Result<String, String> {
        let place = super::property::place("event", name)?;
        if let Expression::Call(function, arguments) = value
            && function == "parse_json"
            && let [of, Expression::Text(container)] = arguments.as_slice()
        {
            let into = super::property::place("event", container.trim_start_matches('\\'))?;
            let (of, uses) = self.said(|writer| writer.text(of))?;
            self.used(&uses);
            return Ok(format!(
                "set {into} = match {of} of case document = ~ json|| => document case _ => {into} ?? {{}} end, {place} = 0"
            ));
        }
        let is_number = matches!(value, Expression::Number(_) | Expression::Minus(_))
            || matches!(value, Expression::Binary(operator, ..) if operator != "&")
            || matches!(value, Expression::Call(name, _) if name == "cnum" || name == "strlen");
        let (code, uses) =
            self.said(|writer| if is_number { writer.number(value) } else { writer.text(value) })?;
        self.used(&uses);
        Ok(format!("set {place} = {code}"))
    }

    fn said(
        &self,
        say: impl FnOnce(&mut Writer<'_>) -> Result<String, String>,
    ) -> Result<(String, Vec<&'static str>), String> {
        let mut writer = Writer { root: "event", known: self, uses: Vec::new() };
        let code = say(&mut writer)?;
        Ok((code, writer.uses))
    }

    fn test(&mut self, test: &Test) -> Result<String, String> {
        match test {
            Test::Expression(expression) => {
                let (code, uses) = self.said(|writer| writer.condition(expression))?;
                self.used(&uses);
                Ok(code)
            }
            Test::Selector(written) => {
                let code = selector::condition(written, "event")?;
                if code.contains("array::") {
                    self.page.uses("array");
                }
                Ok(code)
            }
            Test::Property(name, is_negated, comparison, value) => {
                let found = super::property::value("event", name)?;
                self.used(&found.uses);
                let place = if found.is_text {
                    found.code
                } else {
                    self.page.uses("string");
                    format!("string::to_text({})", found.code)
                };
                let code = match comparison.as_str() {
                    "contains" | "contains_i" | "startswith" | "endswith" | "startswith_i" => {
                        self.page.uses("string");
                        let function = match comparison.trim_end_matches("_i") {
                            "contains" => "contains",
                            "endswith" => "ends_with",
                            _ => "starts_with",
                        };
                        if comparison.ends_with("_i") {
                            format!(
                                "string::{function}(string::lowercase({place}), {})",
                                text(&value.to_lowercase())
                            )
                        } else {
                            format!("string::{function}({place}, {})", text(value))
                        }
                    }
                    "isequal" => format!("{place} == {}", text(value)),
                    "isempty" => format!("{place} == \"\""),
                    "regex" | "ereregex" => {
                        super::compiles(value)?;
                        let (code, module) = crate::notation::found(value, false, &place);
                        self.page.uses(module);
                        code
                    }
                    other => {
                        let known = [
                            "contains",
                            "isequal",
                            "startswith",
                            "endswith",
                            "regex",
                            "ereregex",
                            "isempty",
                        ];
                        let near = temblor_lang::diagnostic::nearest(other, known);
                        let near = near
                            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                        return Err(format!("there is no comparison `{other}`{near}"));
                    }
                };
                Ok(if *is_negated { format!("not ({code})") } else { code })
            }
        }
    }

    fn branch(
        &mut self,
        statement: &Statement,
        test: &Test,
        then: &[Statement],
        otherwise: &[Statement],
        depth: usize,
    ) -> Steps {
        let test = match self.test(test) {
            Ok(test) => test,
            Err(why) => {
                return Steps {
                    list: vec![self.left(statement.span, "filter", &why)],
                    comes_back: true,
                };
            }
        };
        self.rule_note(statement);
        let (then, otherwise) = (self.statements(then, depth), self.statements(otherwise, depth));
        if otherwise.list.is_empty() && then.list == ["drop"] {
            if test == "true" {
                return Steps { list: vec!["drop".to_string()], comes_back: false };
            }
            let test = test
                .strip_prefix("not (")
                .and_then(|test| test.strip_suffix(')'))
                .filter(|test| {
                    !test.contains(')')
                        || test.matches('(').count() == test.matches(')').count()
                            && !test.contains(") ")
                })
                .map_or_else(|| format!("not ({test})"), str::to_string);
            return Steps { list: vec![format!("where {test}")], comes_back: true };
        }
        if test == "true" && otherwise.list.is_empty() {
            return then;
        }
        if then.list.is_empty() && otherwise.list.is_empty() {
            return Steps { list: Vec::new(), comes_back: true };
        }
        let comes_back = then.comes_back || otherwise.comes_back;
        let body = |steps: Steps, converter: &Self| {
            let mut list = steps.list;
            let tee = list.last().is_some_and(|last| converter.is_sink(last));
            if steps.comes_back && (list.is_empty() || tee) {
                list.push("pass".to_string());
            }
            list.join("\n|> ")
        };
        let mut code = format!("when {test} do\n{}\n", body(then, self));
        if !otherwise.list.is_empty() {
            code.push_str(&format!("else\n{}\n", body(otherwise, self)));
        }
        Steps { list: vec![code + "end"], comes_back }
    }

    /// `call name`: its rules stand where they are called.
    fn called(&mut self, name: &str, span: Span, depth: usize) -> Steps {
        let configuration = self.configuration;
        let Some((_, statements)) = configuration.rulesets.iter().find(|(one, _)| one == name)
        else {
            let known = configuration.rulesets.iter().map(|(name, _)| name.as_str());
            self.diagnostics.push(complain::undefined(span, "ruleset", name, known));
            return Steps { list: Vec::new(), comes_back: true };
        };
        self.statements(statements, depth + 1)
    }

    fn act(&mut self, object: &Object) -> Steps {
        let kind = object.text("type").unwrap_or("").to_string();
        let what = format!("action {kind}");
        if !actions::TYPES.contains(&kind.to_ascii_lowercase().as_str()) {
            self.diagnostics.push(complain::unknown(object.span, "action", &kind, actions::TYPES));
            return Steps { list: Vec::new(), comes_back: true };
        }
        let mut uses = Vec::new();
        let defaults = self.actions.clone();
        let made = actions::output(object, self, &defaults, &mut uses);
        self.used(&uses);
        match made {
            Ok(Output::Sink { kind, steps, end, remarks }) => {
                let coverage = if remarks.is_empty() { Coverage::Exact } else { Coverage::Remarks };
                self.note(object.span, &what, coverage, &remarks.join("; "));
                let stream = self.sink(object, kind, steps, end);
                Steps { list: vec![stream], comes_back: true }
            }
            Ok(Output::Steps { steps, uses, remarks }) => {
                self.used(&uses);
                let coverage = if remarks.is_empty() { Coverage::Exact } else { Coverage::Remarks };
                self.note(object.span, &what, coverage, &remarks.join("; "));
                let comes_back = steps.last().is_none_or(|last| last != "drop");
                Steps { list: steps, comes_back }
            }
            Err(why) => {
                self.note(object.span, &what, Coverage::NotPossible, &why);
                if kind.to_ascii_lowercase().starts_with("mm") {
                    // What should have changed the message must not go on unchanged: it may hold what
                    // nobody behind may see.
                    return Steps {
                        list: vec![undecided(&self.part(object.span, &what), &why)],
                        comes_back: true,
                    };
                }
                // What comes behind must see the message: what fails is a copy.
                let stream = self.page.stream("left_out");
                let step = undecided(&self.part(object.span, &what), &why);
                self.page.last_chain(Chain::from(&stream).step(step).step("drop"));
                self.sinks.push((Vec::new(), String::new(), stream.clone()));
                Steps { list: vec![stream], comes_back: true }
            }
        }
    }

    /// The stream of an action; actions that do the same share it.
    fn sink(&mut self, object: &Object, kind: &str, steps: Vec<String>, end: String) -> String {
        if let Some((_, _, stream)) =
            self.sinks.iter().find(|(one, other, _)| *one == steps && *other == end)
        {
            return stream.clone();
        }
        let wanted = object.text("name").map(str::to_string).unwrap_or_else(|| {
            let target = object
                .text("file")
                .or_else(|| object.text("dynafile"))
                .or_else(|| object.text("target"));
            let target = target.or_else(|| object.text("topic")).unwrap_or(kind);
            let last = target.trim_end_matches('/').rsplit('/').next().unwrap_or(kind);
            let stem = last.strip_suffix(".log").unwrap_or(last);
            if stem.is_empty() { kind.to_string() } else { format!("to_{stem}") }
        });
        let stream = self.page.stream(&wanted);
        self.sinks.push((steps.clone(), end.clone(), stream.clone()));
        let sink = match (self.wishes.stdout, &self.shown) {
            (true, Some(shown)) => shown.clone(),
            (true, None) => {
                let shown = self.page.name("shown");
                self.page
                    .end(&[], &format!("sink {shown} into stdout with codec = \"string\" end;"));
                self.shown = Some(shown.clone());
                shown
            }
            (false, _) => {
                let sink = self.page.name(&format!("{stream}_{kind}"));
                self.page.end(&[], &format!("sink {sink} into {end};"));
                sink
            }
        };
        let mut chain = Chain::from(&stream);
        chain.steps = steps;
        self.page.last_chain(chain.step(sink));
        stream
    }
}

/// Whether the arms of a last step all end for good.
fn ends_for_good(step: Option<&String>) -> bool {
    step.is_some_and(|step| {
        step.starts_with("when ") && step.contains("\nelse\n") && step.ends_with("drop\nend") && {
            let then = step.split("\nelse\n").next().unwrap_or("");
            then.ends_with("drop")
        }
    })
}

/// Whether a statement changes the message or ends its way, for those behind it.
fn changes(statement: &Statement, configuration: &Configuration, depth: usize) -> bool {
    if depth > CALL_DEPTH_MAX {
        return true;
    }
    let any = |list: &[Statement]| list.iter().any(|one| changes(one, configuration, depth + 1));
    match &statement.kind {
        Kind::Act(object) => {
            let kind = object.text("type").unwrap_or("").to_ascii_lowercase();
            kind.starts_with("mm") || kind == "omdiscard"
        }
        Kind::If(_, then, otherwise) => any(then) || any(otherwise),
        Kind::Call(name) => {
            let found = configuration.rulesets.iter().find(|(one, _)| one == name);
            found.is_some_and(|(_, statements)| any(statements))
        }
        Kind::Other(_) => false,
        Kind::Set(..) | Kind::Unset(_) | Kind::Foreach | Kind::Stop => true,
    }
}

fn input_of(at: &Object, kind: &str, pairs: &[(&str, String)]) -> Object {
    let mut parameters = vec![("type".to_string(), vec![kind.to_string()])];
    let name = at.text("syssock.name").filter(|_| kind == "imuxsock");
    parameters.extend(name.map(|name| ("socket".to_string(), vec![name.to_string()])));
    parameters.extend(pairs.iter().map(|(name, value)| ((*name).to_string(), vec![value.clone()])));
    Object {
        kind: "input".into(),
        parameters,
        span: at.span,
        inside: Vec::new(),
        comments: at.comments.clone(),
    }
}

/// `\n` and `\"` of texts between quotes.
fn unescaped(written: &str) -> String {
    let mut out = String::new();
    let mut characters = written.chars();
    while let Some(one) = characters.next() {
        match one {
            '\\' => match characters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other @ ('"' | '\\' | '%')) => out.push(other),
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
                None => out.push('\\'),
            },
            other => out.push(other),
        }
    }
    out
}

/// A table of texts, as a record, and what it gives for other keys.
fn read_table(file: &str) -> Result<(String, String), String> {
    use temblor_lang::value::{Arena, Value};
    let written = crate::file::read(std::path::Path::new(file));
    let written = written.map_err(|error| format!("`{file}` was not read: {error}"))?;
    let arena = Arena::new();
    let value =
        crate::json::read(&written, &arena).ok_or_else(|| format!("`{file}` is no JSON"))?;
    let record = value.as_record(&arena).ok_or_else(|| format!("`{file}` is no table"))?;
    if record.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "string") {
        return Err("only tables of texts are converted".to_string());
    }
    let rows = record.get("table").and_then(|rows| rows.as_array(&arena)).unwrap_or(&[]);
    if rows.len() > TABLE_ROWS_MAX {
        return Err(format!("`{file}` has more than {TABLE_ROWS_MAX} rows: use a `table`"));
    }
    let mut out = Vec::new();
    for row in rows {
        let row = row.as_record(&arena).ok_or("a row is no record")?;
        let (key, value) = (row.get("index"), row.get("value"));
        let (Some(key), Some(value)) = (key.and_then(Value::as_str), value.and_then(Value::as_str))
        else {
            return Err("a row has no `index` and `value`".to_string());
        };
        out.push(format!("{}: {}", text(key), text(value)));
    }
    let otherwise = record.get("nomatch").and_then(Value::as_str).unwrap_or("");
    Ok((format!("{{{}}}", out.join(", ")), text(otherwise)))
}
