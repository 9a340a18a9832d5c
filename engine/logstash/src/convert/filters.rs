//! Filters and branches as chains. A chain ends where the ways of events part; each way is a chain of
//! its own, and all lead to the stream behind the branch.

use super::condition;
use super::idiom;
use super::kept;
use super::limit::Limit;
use super::notation::{WIDTH, raw_block, setting, text};
use super::page::Page;
use super::report::Coverage;
use super::ruby;
use crate::complain;
use crate::filter::mutate::sequence::SEQUENCE;
use crate::filter::{Declaration, FILTERS};
use crate::link::Links;
use crate::options::{Arguments, COMMON, Setting};
use crate::program::ProgramBuilder;
use crate::settings::{Ecs, Settings};
use crate::syntax::tree::{Branch, Expr, Plugin, Statement};
use temblor_lang::diagnostic::Severity;
use temblor_lang::span::Span;

/// Writes filter sections.
pub(super) struct Filters<'p, 't> {
    pub page: &'p mut Page<'t>,
    pub settings: &'p Settings,
    pub links: &'p Links,
    /// With `${NAME}` left as it is.
    pub open: Settings,
    /// Whether an earlier filter may have added `_grokparsefailure`.
    pub(crate) grok_seen: bool,
}

/// A plugin as a step, or why it is none.
pub(super) enum Written {
    Step { head: String, settings: Vec<(String, Setting)>, remark: Option<String> },
    Undecided(Coverage, String),
}

/// Filters whose field names depend on the mode.
const WITH_MODES: &[&str] =
    &["grok", "syslog_pri", "fingerprint", "translate", "clone", "geoip", "useragent", "csv"];

/// Options that hold Ruby, in which empty lines around it mean nothing.
const CODES: [&str; 3] = ["code", "init", "timeout_code"];

impl<'p, 't> Filters<'p, 't> {
    pub(super) fn new(page: &'p mut Page<'t>, settings: &'p Settings, links: &'p Links) -> Self {
        let open = Settings { keeps_variables: true, ..settings.clone() };
        Self { page, settings, links, open, grok_seen: false }
    }

    /// The statements of a section, behind what the chain has already.
    pub(super) fn section(&mut self, body: &[Statement]) {
        let Some(shared) = kept::sharing(body) else { return self.statements(body, None) };
        self.statements(&body[..shared.start], None);
        self.as_written(&body[shared.clone()]);
        self.statements(&body[shared.end..], None);
    }

    /// Writes statements into the chain that is open. With `end`, the chain ends there at last.
    fn statements(&mut self, body: &[Statement], end: Option<&str>) {
        let mut rest = body;
        while let Some((statement, behind)) = rest.split_first() {
            rest = behind;
            if let (Statement::Plugin(grok), Some(Statement::Branch(branch))) =
                (statement, behind.first())
                && let Some(failure) = idiom::failure_branch(grok, branch, self.grok_seen)
            {
                rest = &behind[1..];
                let into = end.filter(|_| rest.is_empty());
                self.grok_with_else(grok, branch, &failure, into);
                if into.is_some() {
                    return;
                }
                continue;
            }
            if let (Statement::Plugin(throttle), Some(Statement::Branch(branch))) =
                (statement, behind.first())
                && let Some(limit) = Limit::of(throttle, branch, self.settings)
            {
                rest = &behind[1..];
                self.limited(throttle, branch, &limit);
                continue;
            }
            match statement {
                Statement::Plugin(plugin) => self.plugin(plugin, None),
                Statement::Branch(branch) => {
                    let into = end.filter(|_| rest.is_empty());
                    if self.branch(branch, into) {
                        return;
                    }
                }
            }
        }
        if let Some(end) = end {
            self.page.end_into(end);
        }
    }

    /// A plugin as a step; `other` takes the events for which it does not succeed.
    fn plugin(&mut self, plugin: &Plugin, other: Option<&str>) {
        let name = &*plugin.name.text;
        let what = format!("filter {name}");
        self.page.comments_until(plugin.span, plugin.span.end);
        let place = self.page.place(plugin.span);
        self.grok_seen |= name == "grok" || name == "syslog_pri";
        match self.written(plugin) {
            Written::Step { head, mut settings, remark } => {
                if name == "translate" {
                    self.table_of(plugin, &mut settings);
                }
                let remark = remark.unwrap_or_default();
                let coverage = if remark.is_empty() { Coverage::Exact } else { Coverage::Remarks };
                self.page.note(plugin.span, &what, coverage, &remark);
                self.page.remark(&format!("{place}: {name}"));
                if !remark.is_empty() {
                    self.page.remark(&format!("  but: {remark}"));
                }
                if let Some(steps) = ruby::steps(&settings).filter(|_| name == "ruby") {
                    return steps.iter().for_each(|step| self.page.step(step));
                }
                let head = match other {
                    Some(other) => format!("{head} else {other}"),
                    None => head,
                };
                self.page.step(&step_text(&head, &settings));
            }
            Written::Undecided(coverage, reason) => {
                self.undecided(plugin.span, &what, coverage, &reason);
            }
        }
    }

    /// A step that fails every check until somebody decides, and what stood in its place.
    pub(super) fn undecided(&mut self, span: Span, what: &str, coverage: Coverage, reason: &str) {
        let place = self.page.place(span);
        self.page.note(span, what, coverage, reason);
        self.page.remark(&format!("{place}: {what}: UNDECIDED"));
        let original = self.page.original(span);
        original.lines().for_each(|line| self.page.remark(&format!("    {line}")));
        let block = format!("{what} at {place}");
        let (block, reason) = (text(&block), text(reason));
        self.page.step(&format!("logstash::undecided {block} with\n    because = {reason}\n  end"));
    }

    /// What a plugin becomes.
    fn written(&self, plugin: &Plugin) -> Written {
        let name = &*plugin.name.text;
        let declaration: Option<&Declaration> =
            FILTERS.iter().copied().find(|one| one.name == name);
        let Some(declaration) = declaration else {
            let reason = format!("the filter `{name}` is not available yet");
            return Written::Undecided(Coverage::NeedsHand, reason);
        };
        if let Some(reason) = self.fault(plugin) {
            return Written::Undecided(Coverage::NotPossible, reason);
        }
        let mut diagnostics = Vec::new();
        let arguments =
            Arguments::new(plugin, declaration.options, COMMON, &self.open, &mut diagnostics);
        let mut settings: Vec<(String, Setting)> = arguments
            .entries()
            .filter(|(name, _)| !matches!(*name, "enable_metric" | "periodic_flush"))
            .map(|(name, setting)| (name.to_string(), setting.clone()))
            .collect();
        if name == "mutate" {
            let order = || SEQUENCE.iter().chain(&["add_tag", "remove_tag"]);
            let rank = |name: &str| order().position(|one| *one == name);
            settings.sort_by_key(|(name, _)| rank(name).unwrap_or(0));
        }
        self.add_mode(name, plugin, &mut settings);
        let remark = idiom::remark(name, &settings);
        let head = format!("logstash::{}", super::notation::name(name));
        Written::Step { head, settings, remark }
    }

    fn add_mode(&self, name: &str, plugin: &Plugin, settings: &mut Vec<(String, Setting)>) {
        let Some(word) = mode_word(self.settings.ecs) else { return };
        if WITH_MODES.contains(&name) && !settings.iter().any(|(one, _)| one == "ecs_compatibility")
        {
            let kind = crate::options::SettingKind::Text(word.to_string());
            settings.push(("ecs_compatibility".to_string(), Setting { span: plugin.span, kind }));
        }
    }

    /// What is wrong with a plugin.
    fn fault(&self, plugin: &Plugin) -> Option<String> {
        let mut diagnostics = Vec::new();
        let mut builder = ProgramBuilder::new(self.settings, &mut diagnostics);
        builder.section(&[Statement::Plugin(plugin.clone())]);
        drop(builder.finish());
        let is_fault = |one: &&temblor_lang::diagnostic::Diagnostic| {
            one.severity == Severity::Error || one.code == complain::MISSING
        };
        diagnostics.iter().find(is_fault).map(|one| one.message.clone())
    }

    /// A branch; whether its chain ended (into `into`).
    fn branch(&mut self, branch: &Branch, into: Option<&str>) -> bool {
        self.page.comments_until(branch.span, branch.span.start);
        let line = self.page.line(branch.span);
        if idiom::drops(branch)
            && let Ok(test) = condition::opposite(&branch.arms[0].0, self.settings)
        {
            self.dropping(branch, &test);
            return false;
        }
        let Some(tests) = self.tests(branch) else {
            // The whole branch is left to a person; its filters are still converted behind it.
            return false;
        };
        let behind = match into {
            Some(into) => into.to_string(),
            None => self.page.stream(&format!("after_{line}")),
        };
        if let Some(field) = idiom::common_field(branch, self.settings) {
            self.matched(branch, &field, &behind);
        } else {
            self.routed(branch, &tests, &behind);
        }
        if into.is_none() {
            self.page.begin(&behind);
        }
        into.is_some()
    }

    /// The conditions of a branch; nothing when one of them cannot be said.
    fn tests(&mut self, branch: &Branch) -> Option<Vec<String>> {
        let mut tests = Vec::new();
        for (condition, _) in &branch.arms {
            match condition::expression(condition, self.settings) {
                Ok(test) => tests.push(test),
                Err(reason) => {
                    let coverage = Coverage::NotPossible;
                    self.undecided(condition.span, "if", coverage, &reason);
                    return None;
                }
            }
        }
        Some(tests)
    }

    /// `if c { drop {} }` lets through what passes `test`, the opposite of `c`.
    fn dropping(&mut self, branch: &Branch, test: &str) {
        let (condition, body) = &branch.arms[0];
        let Some(Statement::Plugin(drop)) = body.first() else { return };
        let (place, what) = (self.page.place(branch.span), self.one_line(condition));
        self.page.comments_until(drop.span, drop.span.end);
        self.page.note(branch.span, "if", Coverage::Exact, "");
        self.page.note(drop.span, "filter drop", Coverage::Exact, "");
        self.page.remark(&format!("{place}: if {what} drop"));
        self.page.step(&format!("where {test}"));
    }

    pub(super) fn one_line(&self, condition: &Expr) -> String {
        self.page.original(condition.span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Arms that compare one field with texts: a `match`, whose ports are the arms.
    fn matched(&mut self, branch: &Branch, field: &str, behind: &str) {
        let line = self.page.line(branch.span);
        let name = self.page.name(&format!("by_{}_{line}", idiom::word_of(field)));
        let place = self.page.place(branch.span);
        let mut cases = String::new();
        let mut ports = Vec::new();
        for (condition, _) in &branch.arms {
            let Some((_, value)) = condition::equality(condition, self.settings) else { continue };
            let port = idiom::port_of(&value, &ports);
            cases.push_str(&format!("    case {} => emit => {}\n", text(&value), text(&port)));
            ports.push(port);
        }
        let script = format!(
            "define script {name}\nscript\n  match {field} of\n{cases}    case _ => event\n  end\nend;\n\
             create script {name}"
        );
        self.page.remark(&format!("{place}: if, by {field}"));
        self.page.end_into(&name);
        self.page.statement_in_front(&script);
        for ((condition, body), port) in branch.arms.iter().zip(&ports) {
            self.page.note(condition.span, "if", Coverage::Exact, "");
            self.arm(&format!("{name}/{port}"), body, behind);
        }
        self.otherwise(&name, branch, behind);
    }

    /// Any other arms: a `route` to a stream for each.
    fn routed(&mut self, branch: &Branch, tests: &[String], behind: &str) {
        let place = self.page.place(branch.span);
        let line = self.page.line(branch.span);
        let mut route = String::from("route\n");
        let mut streams = Vec::new();
        for ((condition, _), test) in branch.arms.iter().zip(tests) {
            let stream = self.page.stream(&format!("if_{}", self.page.line(condition.span)));
            route.push_str(&format!("  case {test} => {stream}\n"));
            streams.push(stream);
        }
        let rest = match &branch.otherwise {
            Some(body) if !body.is_empty() => Some(self.page.stream(&format!("else_{line}"))),
            _ => None,
        };
        let default = rest.as_deref().unwrap_or(behind);
        route.push_str(&format!("  default => {default}\nend"));
        self.page.remark(&format!("{place}: if"));
        self.page.end(&route);
        for ((condition, body), stream) in branch.arms.iter().zip(&streams) {
            self.page.note(condition.span, "if", Coverage::Exact, "");
            self.arm(stream, body, behind);
        }
        if let Some(rest) = rest {
            self.otherwise(&rest, branch, behind);
        }
    }

    fn arm(&mut self, from: &str, body: &[Statement], behind: &str) {
        self.page.begin(from);
        self.statements(body, Some(behind));
    }

    fn otherwise(&mut self, from: &str, branch: &Branch, behind: &str) {
        self.arm(from, branch.otherwise.as_deref().unwrap_or(&[]), behind);
    }

    /// Grok and the branch behind it that asks whether it failed: the step's `else` port.
    fn grok_with_else(
        &mut self,
        grok: &Plugin,
        branch: &Branch,
        failure: &idiom::Failure<'_>,
        into: Option<&str>,
    ) {
        let line = self.page.line(branch.span);
        let failed = self.page.stream(&format!("failed_{line}"));
        self.plugin(grok, Some(&failed));
        self.page.comments_until(branch.span, branch.span.start);
        let reason = "events that come in with the tag `_grokparsefailure` go the way of those that \
                      do not";
        self.page.note(branch.span, "if", Coverage::Remarks, reason);
        let behind = match into {
            Some(into) => into.to_string(),
            None => self.page.stream(&format!("after_{line}")),
        };
        self.statements(failure.matched, Some(&behind));
        let place = self.page.place(branch.span);
        self.page.remark(&format!("{place}: what did not match"));
        self.arm(&failed, failure.failed, &behind);
        if into.is_none() {
            self.page.begin(&behind);
        }
    }
}

/// The word of a mode that is not the usual one.
pub(super) fn mode_word(ecs: Ecs) -> Option<&'static str> {
    match ecs {
        Ecs::Disabled => Some("disabled"),
        Ecs::V1 => Some("v1"),
        Ecs::V8 => None,
    }
}

/// `logstash::grok with … end`, on one line where there is room.
pub(super) fn step_text(head: &str, settings: &[(String, Setting)]) -> String {
    if settings.is_empty() {
        return head.to_string();
    }
    let value_of = |name: &str, value: &Setting, indent| match value.text() {
        Some(code) if CODES.contains(&name) => ruby_code(code),
        _ => setting(value, indent),
    };
    let short: Vec<_> = settings
        .iter()
        .map(|(name, value)| format!("{name} = {}", value_of(name, value, 0)))
        .collect();
    let one_line = format!("{head} with {} end", short.join(", "));
    if one_line.len() + 3 <= WIDTH && !one_line.contains('\n') {
        return one_line;
    }
    let long: Vec<_> = settings
        .iter()
        .map(|(name, value)| format!("    {name} = {}", value_of(name, value, 4)))
        .collect();
    format!("{head} with\n{}\n  end", long.join(",\n"))
}

/// Ruby as a text; what has several lines keeps them.
fn ruby_code(code: &str) -> String {
    match code.trim() {
        line if !line.contains('\n') => text(line),
        _ => raw_block(code),
    }
}
