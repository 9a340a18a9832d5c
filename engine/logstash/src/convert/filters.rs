//! Filters as steps, and branches as chains in steps that come together again.
//!
//! Invariant: steps stand in the order of the configuration, each with the comments in front of it.

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
}

/// A plugin as a step, or why it is none.
pub(super) enum Written {
    Step { head: String, settings: Vec<(String, Setting)> },
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
        Self { page, settings, links, open }
    }

    /// The statements of a section, behind what the chain has already.
    pub(crate) fn section(&mut self, body: &[Statement]) {
        let Some(shared) = kept::sharing(body) else { return self.statements(body) };
        self.statements(&body[..shared.start]);
        self.as_written(&body[shared.clone()]);
        self.statements(&body[shared.end..]);
    }

    /// Writes statements into the chain that is open.
    fn statements(&mut self, body: &[Statement]) {
        let mut rest = body;
        while let Some((statement, behind)) = rest.split_first() {
            rest = behind;
            if let (Statement::Plugin(throttle), Some(Statement::Branch(branch))) =
                (statement, behind.first())
                && let Some(limit) = Limit::of(throttle, branch, self.settings)
            {
                rest = &behind[1..];
                self.limited(throttle, branch, &limit);
                continue;
            }
            match statement {
                Statement::Plugin(plugin) => self.plugin(plugin),
                Statement::Branch(branch) => self.branch(branch),
            }
        }
    }

    /// The statements of an arm, as the chain within it.
    fn arm(&mut self, body: &[Statement]) {
        self.page.open();
        self.statements(body);
        self.page.close();
    }

    /// A plugin as a step.
    fn plugin(&mut self, plugin: &Plugin) {
        let name = &*plugin.name.text;
        let what = format!("filter {name}");
        self.page.comments_until(plugin.span, plugin.span.end);
        let place = self.page.place(plugin.span);
        match self.written(plugin) {
            Written::Step { head, mut settings } => {
                if name == "translate" {
                    self.table_of(plugin, &mut settings);
                }
                self.page.note(plugin.span, &what, Coverage::Exact, "");
                self.page.place_remark(&format!("{place}: {name}"));
                if let Some(step) = idiom::step(name, &settings).filter(|_| !self.page.with_places)
                {
                    return self.page.step(&step);
                }
                if let Some(steps) = ruby::steps(&settings).filter(|_| name == "ruby") {
                    return steps.iter().for_each(|step| self.page.step(step));
                }
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
        let head = format!("logstash::{}", super::notation::name(name));
        Written::Step { head, settings }
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

    /// A branch as a step.
    fn branch(&mut self, branch: &Branch) {
        self.page.comments_until(branch.span, branch.span.start);
        if idiom::drops(branch)
            && let Ok(test) = condition::opposite(&branch.arms[0].0, self.settings)
        {
            return self.dropping(branch, &test);
        }
        // A branch whose condition cannot be said is left to a person.
        let Some(tests) = self.tests(branch, self.settings) else { return };
        let place = self.page.place(branch.span);
        match idiom::common_field(branch, self.settings) {
            Some(field) => {
                self.page.place_remark(&format!("{place}: if, by {field}"));
                self.matched(branch, &field);
            }
            None => {
                self.page.place_remark(&format!("{place}: if"));
                self.conditional(branch, &tests);
            }
        }
    }

    /// The conditions of a branch; nothing when one of them cannot be said.
    pub(crate) fn tests(&mut self, branch: &Branch, settings: &Settings) -> Option<Vec<String>> {
        let mut tests = Vec::new();
        for (condition, _) in &branch.arms {
            match condition::expression(condition, settings) {
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
        self.page.place_remark(&format!("{place}: if {what} drop"));
        self.page.step(&format!("where {test}"));
    }

    pub(super) fn one_line(&self, condition: &Expr) -> String {
        self.page.original(condition.span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Arms that compare one field with texts.
    fn matched(&mut self, branch: &Branch, field: &str) {
        self.page.step(&format!("match {field} of"));
        for (condition, body) in &branch.arms {
            let Some((_, value)) = condition::equality(condition, self.settings) else { continue };
            self.page.note(condition.span, "if", Coverage::Exact, "");
            self.page.between(&format!("case {} =>", text(&value)));
            self.arm(body);
        }
        self.otherwise(branch, "default =>");
    }

    /// Any other arms.
    fn conditional(&mut self, branch: &Branch, tests: &[String]) {
        for (number, ((condition, body), test)) in branch.arms.iter().zip(tests).enumerate() {
            self.page.note(condition.span, "if", Coverage::Exact, "");
            match number {
                0 => self.page.step(&format!("when {test} do")),
                _ => self.page.between(&format!("elif {test} do")),
            }
            self.arm(body);
        }
        self.otherwise(branch, "else");
    }

    fn otherwise(&mut self, branch: &Branch, word: &str) {
        if let Some(body) = branch.otherwise.as_deref().filter(|body| !body.is_empty()) {
            self.page.between(word);
            self.arm(body);
        }
        self.page.between("end");
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
