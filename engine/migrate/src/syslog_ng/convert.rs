//! A configuration of syslog-ng as a Temblor file: sources and destinations become streams of their names, filters
//! and templates functions, log paths chains.

use super::filter::{condition, function_name};
use super::inputs::{self, Defaults, Input};
use super::names::dotted_root;
use super::outputs::{self, LINE, Templates};
use super::parse::Configuration;
use super::path::Path;
use super::template::{Scene, expression};
use super::tree::{Call, Node, Statement, canonical, flags, is_yes, option};
use crate::complain;
use crate::page::{Chain, Page, place_text, undecided};
use crate::{Conversion, Wishes};
use std::collections::{HashMap, HashSet};
use temblor_lang::diagnostic::Diagnostic;
use temblor_lang::span::Span;
use temblor_logstash::convert::report::Coverage;

/// Options of a configuration that change what is converted, or that need no equivalent.
const OPTIONS: &[&str] = &[
    "keep_hostname",
    "use_dns",
    "use_fqdn",
    "chain_hostnames",
    "dns_cache",
    "time_zone",
    "recv_time_zone",
    "send_time_zone",
    "local_time_zone",
    "create_dirs",
    "owner",
    "group",
    "perm",
    "dir_owner",
    "dir_group",
    "dir_perm",
    "file_template",
    "proto_template",
    "template",
    "ts_format",
    "frac_digits",
    "log_fifo_size",
    "log_msg_size",
    "flush_lines",
    "flush_timeout",
    "stats_freq",
    "stats_level",
    "mark_freq",
    "mark_mode",
    "time_reap",
    "time_reopen",
    "time_sleep",
    "bad_hostname",
    "check_hostname",
    "normalize_hostnames",
    "keep_timestamp",
    "log_iw_size",
    "log_fetch_limit",
    "log_level",
    "threaded",
    "use_uniqid",
    "use_rcptid",
    "on_error",
    "dns_cache_size",
    "dns_cache_expire",
    "dns_cache_expire_failed",
    "dns_cache_hosts",
    "sync",
    "suppress",
    "min_iw_size_per_reader",
    "stats_lifetime",
    "stats_max_dynamics",
    "stats",
    "trim_large_messages",
    "pass_unix_credentials",
    "type_cast",
    "type_casting",
    "jvm_options",
    "custom_domain",
    "batch_lines",
    "batch_timeout",
    "use_time_recvd",
    "long_hostnames",
    "gc_busy_threshold",
    "gc_idle_threshold",
    "file_size",
];

/// What is known of a configuration, and the file that is being written.
pub(crate) struct Converter<'c> {
    configuration: &'c Configuration,
    pub(crate) page: Page,
    wishes: Wishes<'c>,
    diagnostics: Vec<Diagnostic>,
    named: HashMap<(String, String), &'c Statement>,
    dotted: Vec<String>,
    defaults: Defaults,
    line: String,
    /// Functions of filters: their names, or why there are none.
    filters: HashMap<String, Result<String, String>>,
    /// Functions of templates, by the names of the templates.
    templates: HashMap<String, (String, Option<String>)>,
    sources: Vec<(String, String)>,
    destinations: Vec<(String, String)>,
    inline: Vec<(String, Vec<Node>, Span)>,
    streams: HashSet<String>,
    unread: Option<String>,
    /// The sink that stands for all others.
    shown: Option<String>,
}

struct TemplateTexts<'t>(&'t HashMap<String, (String, Option<String>)>);

impl Templates for TemplateTexts<'_> {
    fn text_of(&self, written: &str) -> String {
        self.0.get(written).map_or_else(|| written.to_string(), |(text, _)| text.clone())
    }

    fn function_of(&self, written: &str) -> Option<String> {
        self.0.get(written)?.1.clone()
    }
}

/// Converts what was read.
pub(crate) fn convert(mut configuration: Configuration, wishes: Wishes<'_>) -> Conversion {
    let diagnostics = std::mem::take(&mut configuration.diagnostics);
    let mut converter = Converter {
        page: Page::new(wishes.title, "syslog-ng"),
        configuration: &configuration,
        wishes,
        diagnostics,
        named: HashMap::new(),
        dotted: Vec::new(),
        defaults: Defaults { use_dns: true, ..Defaults::default() },
        line: LINE.to_string(),
        filters: HashMap::new(),
        templates: HashMap::new(),
        sources: Vec::new(),
        destinations: Vec::new(),
        inline: Vec::new(),
        streams: HashSet::new(),
        unread: None,
        shown: None,
    };
    converter.gather();
    let paths = converter.paths();
    converter.write_paths(&paths);
    converter.write_sources(&paths);
    converter.write_destinations();
    if let Some(unread) = converter.unread.clone() {
        converter.page.chain(Chain::from(&unread).step("drop"));
    }
    let (page, diagnostics) = (converter.page, converter.diagnostics);
    let (text, report) = page.finish();
    Conversion { text, report, sources: configuration.sources, diagnostics }
}

impl<'c> Converter<'c> {
    pub(crate) fn scene_of<'s>(&'s self, root: &'s str) -> Scene<'s> {
        let is_typed = self.configuration.version.starts_with('4');
        Scene { root, dotted: &self.dotted, is_typed }
    }

    pub(crate) fn complain(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(crate) fn note(&mut self, span: Span, what: &str, coverage: Coverage, reason: &str) {
        self.page.note(&self.configuration.sources, span, what, coverage, reason);
    }

    /// `filter (syslog-ng.conf:12)`
    pub(crate) fn part(&self, span: Span, what: &str) -> String {
        format!("{what} ({})", place_text(&self.configuration.sources, span))
    }

    fn gather(&mut self) {
        let configuration = self.configuration;
        for statement in &configuration.statements {
            gather_dotted(&statement.body, &mut self.dotted);
            if let Some((name, span)) = &statement.name {
                let key = (statement.word.clone(), name.clone());
                if let Some(first) = self.named.get(&key) {
                    let message = format!("the {} `{name}` is defined twice", statement.word);
                    let first = first.span;
                    self.diagnostics.push(
                        Diagnostic::error("E0809", *span, message).with_place(first, "first here"),
                    );
                    continue;
                }
                if statement.word == "filter" {
                    // Conditions name filters by their functions, so these have their names first.
                    let _ = self.page.name(&function_name(name));
                }
                self.named.insert(key, statement);
            }
        }
        self.dotted.sort();
        self.dotted.dedup();
        for statement in &configuration.statements {
            match statement.word.as_str() {
                "template" => self.template(statement),
                "options" => self.options(statement),
                "template-function" | "python" => {
                    let why = "functions and code of its own are not converted";
                    self.note(statement.span, &statement.word, Coverage::NeedsHand, why);
                }
                _ => {}
            }
        }
    }

    fn options(&mut self, statement: &Statement) {
        for call in statement.body.iter().filter_map(Node::call) {
            let name = canonical(&call.name);
            if !OPTIONS.contains(&name.as_str()) {
                let known: Vec<String> =
                    OPTIONS.iter().map(|name| name.replace('_', "-")).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                self.complain(complain::unknown(call.span, "option", &call.name, &known));
                continue;
            }
            let given = call.first_text().unwrap_or("").to_string();
            match name.as_str() {
                "keep_hostname" => self.defaults.keep_hostname = is_yes(&given),
                "use_dns" => self.defaults.use_dns = is_yes(&given) || given == "persist_only",
                "time_zone" | "recv_time_zone" => self.defaults.zone = Some(given),
                "file_template" => {
                    self.line = self.templates.get(&given).map_or(given, |(text, _)| text.clone());
                }
                "ts_format" if given != "rfc3164" && given != "bsd" => {
                    let form =
                        if given == "iso" || given == "rfc3339" { "$ISODATE" } else { "$DATE" };
                    self.line = LINE.replace("$DATE", form);
                }
                "frac_digits" if given != "0" => {
                    let why = "times are written without a fraction";
                    self.note(call.span, "option frac-digits()", Coverage::Remarks, why);
                }
                "chain_hostnames" if is_yes(&given) => {
                    let why = "`HOST` holds one name";
                    self.note(call.span, "option chain-hostnames()", Coverage::Remarks, why);
                }
                "mark_freq" if given != "0" => {
                    let why = "no marks are written: `metronome` is a source of them";
                    self.note(call.span, "option mark-freq()", Coverage::Remarks, why);
                }
                _ => {}
            }
        }
        self.note(statement.span, "options", Coverage::Exact, "");
    }

    fn template(&mut self, statement: &Statement) {
        let Some((name, _)) = &statement.name else { return };
        let text = option(&statement.body, "template")
            .and_then(Call::first_text)
            .or_else(|| statement.body.first().and_then(Node::text))
            .unwrap_or("")
            .to_string();
        let line = text.strip_suffix('\n').unwrap_or(&text).to_string();
        let value = expression(&line, self.scene_of("m"), 0);
        let function = match value {
            Ok(value) => {
                let function = self.page.name(name);
                let code = self.used(value);
                self.page.function(
                    &statement.comments,
                    format!("fn {function}(m) with\n  {code}\nend;"),
                );
                self.note(statement.span, "template", Coverage::Exact, "");
                Some(function)
            }
            // Whoever uses it says why.
            Err(_) => None,
        };
        self.templates.insert(name.clone(), (text, function));
    }

    /// Whether a name is defined; says so where it is not.
    pub(crate) fn knows(&mut self, kind: &str, name: &str, span: Span) -> bool {
        if self.named.contains_key(&(kind.to_string(), name.to_string())) {
            return true;
        }
        let known: Vec<String> = self
            .named
            .keys()
            .filter(|(one, _)| one == kind)
            .map(|(_, name)| name.clone())
            .collect();
        let known = known.iter().map(String::as_str);
        let diagnostic = complain::undefined(span, kind, name, known);
        self.complain(diagnostic);
        false
    }

    pub(crate) fn body(&self, kind: &str, name: &str) -> Vec<Node> {
        let key = (kind.to_string(), name.to_string());
        self.named.get(&key).map(|statement| statement.body.clone()).unwrap_or_default()
    }

    /// Looks at the names of filters within a condition.
    pub(crate) fn check_filters(&mut self, nodes: &[Node], _: Span) {
        for node in nodes {
            match node {
                Node::Call(call) => {
                    let known = super::filter::KINDS;
                    if !known.contains(&canonical(&call.name).as_str()) {
                        let shown: Vec<String> =
                            known.iter().map(|name| name.replace('_', "-")).collect();
                        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
                        self.complain(complain::unknown(call.span, "filter", &call.name, &shown));
                    }
                }
                Node::Group(inside, span) => self.check_filters(inside, *span),
                _ => {}
            }
        }
    }

    /// Writes the functions of filters that a condition names.
    pub(crate) fn need_filters(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Call(call) if call.is("filter") => {
                    for name in call.texts() {
                        if self.knows("filter", name, call.span) {
                            let _ = self.filter_function(name);
                        }
                    }
                }
                Node::Call(call) => self.need_filters(&call.arguments),
                Node::Group(inside, _) => self.need_filters(inside),
                _ => {}
            }
        }
    }

    /// The function that stands for a filter; it is written when it is needed first.
    pub(crate) fn filter_function(&mut self, name: &str) -> Result<String, String> {
        if let Some(known) = self.filters.get(name) {
            return known.clone();
        }
        self.filters.insert(name.to_string(), Err("the filter uses itself".to_string()));
        let key = ("filter".to_string(), name.to_string());
        let Some(statement) = self.named.get(&key).copied() else {
            return Err(format!("there is no filter `{name}`"));
        };
        self.check_filters(&statement.body, statement.span);
        self.need_filters(&statement.body);
        let mut inner = Vec::new();
        names_of_filters(&statement.body, &mut inner);
        let broken = inner.iter().find_map(|one| match self.filters.get(one) {
            Some(Err(why)) => Some(format!("its filter `{one}`: {why}")),
            _ => None,
        });
        let made = match broken {
            Some(why) => Err(why),
            None => condition(&statement.body, self.scene_of("m")),
        };
        let result = match made {
            Ok(value) => {
                let function = function_name(name);
                let code = self.used(value);
                self.page.function(
                    &statement.comments,
                    format!("fn {function}(m) with\n  {code}\nend;"),
                );
                self.note(statement.span, "filter", Coverage::Exact, "");
                Ok(function)
            }
            Err(why) => {
                self.note(statement.span, "filter", Coverage::NeedsHand, &why);
                Err(why)
            }
        };
        self.filters.insert(name.to_string(), result.clone());
        result
    }

    fn paths(&mut self) -> Vec<Path> {
        let configuration = self.configuration;
        let mut paths = Vec::new();
        for statement in configuration.statements.iter().filter(|one| one.word == "log") {
            let mut sources = Vec::new();
            let elements = self.elements(&statement.body, &mut sources, 0);
            paths.push(Path {
                sources,
                elements,
                flags: flags(&statement.body),
                comments: statement.comments.clone(),
                span: statement.span,
            });
        }
        paths
    }

    pub(crate) fn source_names(&self) -> Vec<String> {
        let statements = self.configuration.statements.iter().filter(|one| one.word == "source");
        let mut names: Vec<String> =
            statements.filter_map(|one| one.name.as_ref().map(|(name, _)| name.clone())).collect();
        names.extend(self.inline.iter().map(|(name, _, _)| name.clone()));
        names
    }

    /// The stream of a source.
    pub(crate) fn source_stream(&mut self, name: &str) -> String {
        if let Some((_, stream)) = self.sources.iter().find(|(one, _)| one == name) {
            return stream.clone();
        }
        let stream = match (self.wishes.stdin, self.sources.first()) {
            // Standard input stands for all sources.
            (true, Some((_, first))) => first.clone(),
            _ => self.stream(name),
        };
        self.sources.push((name.to_string(), stream.clone()));
        stream
    }

    fn stream(&mut self, wanted: &str) -> String {
        let stream = self.page.stream(wanted);
        self.streams.insert(stream.clone());
        stream
    }

    pub(crate) fn destination_stream(&mut self, name: &str) -> String {
        if let Some((_, stream)) = self.destinations.iter().find(|(one, _)| one == name) {
            return stream.clone();
        }
        let stream = self.stream(name);
        self.destinations.push((name.to_string(), stream.clone()));
        stream
    }

    /// Whether a step is a place that events go to.
    pub(crate) fn is_stream(&self, step: &str) -> bool {
        self.streams.contains(step)
    }

    /// Where messages go that a parser could not read: nowhere.
    pub(crate) fn unread(&mut self) -> String {
        match &self.unread {
            Some(unread) => unread.clone(),
            None => {
                let unread = self.stream("unread");
                self.unread = Some(unread.clone());
                unread
            }
        }
    }

    pub(crate) fn inline_source(&mut self, body: &[Node], span: Span) -> String {
        let name = format!("s_{}", self.inline.len() + 1);
        self.inline.push((name.clone(), body.to_vec(), span));
        name
    }

    pub(crate) fn inline_destination(&mut self, body: &[Node], span: Span) -> String {
        let name = format!("d_{}", self.inline.len() + 1);
        self.inline.push((name.clone(), body.to_vec(), span));
        self.destination_stream(&name)
    }

    fn body_of(&self, kind: &str, name: &str) -> (Vec<Node>, Vec<String>) {
        if let Some((_, body, _)) = self.inline.iter().find(|(one, _, _)| one == name) {
            return (body.clone(), Vec::new());
        }
        let key = (kind.to_string(), name.to_string());
        let statement = self.named.get(&key);
        statement.map(|one| (one.body.clone(), one.comments.clone())).unwrap_or_default()
    }

    fn write_sources(&mut self, _: &[Path]) {
        let mut is_stdin_written = false;
        for (name, stream) in self.sources.clone() {
            let (body, comments) = self.body_of("source", &name);
            let mut comments = comments;
            for node in &body {
                let call = match node {
                    Node::Call(call) => call.clone(),
                    Node::Word(word, span) => {
                        Call { name: word.clone(), arguments: Vec::new(), span: *span }
                    }
                    Node::Mark(..) => continue,
                    other => {
                        self.complain(complain::unexpected(
                            other.span(),
                            "{",
                            "a driver, such as `network()`",
                        ));
                        continue;
                    }
                };
                if !inputs::DRIVERS.contains(&canonical(&call.name).as_str()) {
                    let known: Vec<String> =
                        inputs::DRIVERS.iter().map(|name| name.replace('_', "-")).collect();
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    self.complain(complain::unknown(
                        call.span,
                        "driver of sources",
                        &call.name,
                        &known,
                    ));
                    continue;
                }
                let what = format!("source {}()", call.name);
                match inputs::inputs(&call, &name, &self.defaults) {
                    Ok(found) => {
                        let mut remarks: Vec<String> = Vec::new();
                        for input in found {
                            remarks.extend(input.remarks.iter().cloned());
                            if self.wishes.stdin && std::mem::replace(&mut is_stdin_written, true) {
                                continue;
                            }
                            self.write_input(
                                &name,
                                &stream,
                                &input,
                                &std::mem::take(&mut comments),
                            );
                        }
                        let coverage =
                            if remarks.is_empty() { Coverage::Exact } else { Coverage::Remarks };
                        self.note(call.span, &what, coverage, &remarks.join("; "));
                    }
                    Err(why) => {
                        let part = self.part(call.span, &what);
                        comments.push(format!("{part} was not converted: {why}"));
                        self.note(call.span, &what, Coverage::NotPossible, &why);
                    }
                }
            }
            if !comments.is_empty() && body.iter().any(|node| node.call().is_some()) {
                self.page.end(&comments, "");
            }
        }
    }

    fn write_input(&mut self, name: &str, stream: &str, input: &Input, comments: &[String]) {
        let (kind, end) = if self.wishes.stdin {
            ("stdin", "stdin with codec = \"string\" end")
        } else {
            (input.kind, input.end.as_str())
        };
        let source = self.page.name(&format!("{name}_{kind}"));
        self.page.end(comments, &format!("source {source} from {end};"));
        let mut chain = Chain::from(&source);
        chain.steps.extend(input.steps.iter().cloned());
        self.page.chain(chain.step(input.read.clone()).step(stream));
    }

    fn write_destinations(&mut self) {
        for (name, stream) in self.destinations.clone() {
            let (body, mut comments) = self.body_of("destination", &name);
            let mut is_empty = true;
            for node in &body {
                let call = match node {
                    Node::Call(call) => call.clone(),
                    Node::Mark(..) => continue,
                    Node::Word(_, _) | Node::Block(..) | Node::Group(..) | Node::Text(..) => {
                        let found = node.text().unwrap_or("{").to_string();
                        self.complain(complain::unexpected(
                            node.span(),
                            &found,
                            "a driver, such as `file(…)`",
                        ));
                        continue;
                    }
                };
                is_empty = false;
                if !outputs::DRIVERS.contains(&canonical(&call.name).as_str()) {
                    let known: Vec<String> =
                        outputs::DRIVERS.iter().map(|name| name.replace('_', "-")).collect();
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    self.complain(complain::unknown(
                        call.span,
                        "driver of destinations",
                        &call.name,
                        &known,
                    ));
                    continue;
                }
                self.write_driver(&name, &stream, &call, &std::mem::take(&mut comments));
            }
            if is_empty {
                self.page.chain(Chain::from(&stream).step("drop"));
            }
        }
    }

    fn write_driver(&mut self, name: &str, stream: &str, call: &Call, comments: &[String]) {
        let what = format!("destination {}()", call.name);
        let made = outputs::output(
            call,
            &TemplateTexts(&self.templates),
            self.scene_of("event"),
            &self.line,
        );
        let output = match made {
            Ok(output) => output,
            Err(why) => {
                let part = self.part(call.span, &what);
                self.note(call.span, &what, Coverage::NotPossible, &why);
                let mut chain = Chain::from(stream).step(undecided(&part, &why)).step("drop");
                chain.comments = comments.to_vec();
                return self.page.chain(chain);
            }
        };
        for module in &output.uses {
            self.use_shared(module);
        }
        let coverage = if output.remarks.is_empty() { Coverage::Exact } else { Coverage::Remarks };
        self.note(call.span, &what, coverage, &output.remarks.join("; "));
        let sink = if self.wishes.stdout {
            match &self.shown {
                Some(shown) => shown.clone(),
                None => {
                    let shown = self.page.name("shown");
                    self.page.end(
                        comments,
                        &format!("sink {shown} into stdout with codec = \"string\" end;"),
                    );
                    self.shown = Some(shown.clone());
                    shown
                }
            }
        } else {
            let sink = self.page.name(&format!("{name}_{}", output.kind));
            self.page.end(comments, &format!("sink {sink} into {};", output.end));
            sink
        };
        let mut chain = Chain::from(stream);
        chain.steps = output.steps;
        self.page.chain(chain.step(sink));
    }

    /// The function that writes lines as files have them.
    fn use_shared(&mut self, module: &'static str) {
        if module != "line_of" {
            return self.page.uses(module);
        }
        if self.templates.contains_key("\0line") {
            return;
        }
        let value = expression(self.line.trim_end_matches('\n'), self.scene_of("m"), 0);
        if let Ok(value) = value {
            let code = self.used(value);
            let _ = self.page.name("line_of");
            let text = format!(
                "## A line as syslog-ng writes it to files.\nfn line_of(m) with\n  {code}\nend;"
            );
            self.page.function(&[], text);
        }
        self.templates.insert("\0line".to_string(), (String::new(), None));
    }
}

fn names_of_filters(nodes: &[Node], out: &mut Vec<String>) {
    for node in nodes {
        match node {
            Node::Call(call) if call.is("filter") => {
                out.extend(call.texts().iter().map(|name| (*name).to_string()));
            }
            Node::Call(call) => names_of_filters(&call.arguments, out),
            Node::Group(inside, _) => names_of_filters(inside, out),
            _ => {}
        }
    }
}

/// First steps of all names that begin with a dot.
fn gather_dotted(nodes: &[Node], out: &mut Vec<String>) {
    for node in nodes {
        match node {
            Node::Call(call) => gather_dotted(&call.arguments, out),
            Node::Group(inside, _) | Node::Block(inside, _) => gather_dotted(inside, out),
            Node::Text(text, _) | Node::Word(text, _) => {
                let names = text
                    .split("${")
                    .skip(1)
                    .map(|rest| rest.split(['}', ':']).next().unwrap_or(""));
                for name in names.chain([text.as_str()]) {
                    let begins = name.len() > 1 && !name.contains(['/', ' ', '$', '*', '\\']);
                    if let (true, Some(root)) = (begins, dotted_root(name))
                        && root != "SDATA"
                        && root.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_')
                        && root.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
                    {
                        out.push(root);
                    }
                }
            }
            Node::Mark(..) => {}
        }
    }
}
