//! Inputs and outputs: sources and sinks of the Temblor file, and the steps between them and the
//! filters. Each output has a chain of its own, since all of them get the same events.

use super::condition;
use super::filters::{Filters, step_text};
use super::network::intake_options;
use super::notation::text;
use super::report::Coverage;
use super::statement::{not_convertible, sink_text, source_remark, source_text};
use crate::input::{self, Origin};
use crate::load::Pipeline;
use crate::network;
use crate::options::{Arguments, OptionSpec, Setting, SettingKind};
use crate::output::{self, Destination};
use crate::settings::Settings;
use crate::syntax::tree::{Branch, Plugin, SectionKind, Statement, Value, ValueKind};
use std::fmt::Write;
use temblor_declare::Ends;
use temblor_lang::diagnostic::{Diagnostic, Severity};

/// Options of inputs that their step takes.
const INTAKE: &[&str] = &[
    "codec",
    "type",
    "tags",
    "add_field",
    "command",
    "message",
    "sequence",
    "threads",
    "ecs_compatibility",
];

impl Filters<'_, '_> {
    /// The inputs of a pipeline; leaves the chain open that its filters go on with.
    pub(super) fn inputs(&mut self, pipeline: &Pipeline, stdin: bool, main: &str) {
        let plugins = pipeline.plugins(SectionKind::Input);
        let is_link = |plugin: &Plugin| self.is_link(plugin);
        let own = plugins.iter().any(|plugin| !is_link(plugin)) || plugins.is_empty();
        let shown: Vec<&Plugin> =
            plugins.iter().copied().filter(|plugin| !stdin || is_link(plugin)).collect();
        let from_stdin = own && (stdin || plugins.is_empty());
        let several = shown.len() + usize::from(from_stdin) > 1;
        let into = several.then(|| self.page.stream(main));
        if from_stdin {
            self.page.begin("in");
            self.page.step("logstash::input");
            self.close(into.as_deref());
        }
        for plugin in shown {
            self.input(plugin, pipeline);
            self.close(into.as_deref());
        }
        if let Some(into) = into {
            self.page.begin(&into);
        }
    }

    /// Whether it leads to another pipeline of the configuration.
    fn is_link(&self, plugin: &Plugin) -> bool {
        self.links.is_inside(plugin, self.settings)
    }

    pub(super) fn begin_at(&mut self, from: Option<&str>) {
        if let Some(from) = from {
            self.page.begin(from);
        }
    }

    fn close(&mut self, into: Option<&str>) {
        if let Some(into) = into {
            self.page.end_into(into);
        }
    }

    fn undecided_edge(&mut self, plugin: &Plugin, what: &str, diagnostics: &[Diagnostic]) {
        let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
        let worst = diagnostics.iter().find(is_error).or(diagnostics.last());
        let coverage = match worst {
            Some(one) if one.severity == Severity::Error => Coverage::NotPossible,
            _ => Coverage::NeedsHand,
        };
        let reason = worst.map_or_else(|| "it is wrong".to_string(), |one| one.message.clone());
        self.undecided(plugin.span, what, coverage, &reason);
    }

    /// Begins the chain of an input.
    fn input(&mut self, plugin: &Plugin, pipeline: &Pipeline) {
        let name = &*plugin.name.text;
        self.page.comments_until(plugin.span, plugin.span.end);
        let (what, place) = (format!("input {name}"), self.page.place(plugin.span));
        let mut diagnostics = Vec::new();
        let Some(made) = input::compile((name, plugin), &pipeline.settings, &mut diagnostics)
        else {
            self.page.begin("in");
            return self.undecided_edge(plugin, &what, &diagnostics);
        };
        if let Some(reason) = not_convertible(&made.origin) {
            self.page.begin("in");
            return self.undecided(plugin.span, &what, Coverage::NeedsHand, reason);
        }
        let options = self.intake_options(plugin, pipeline);
        let start = match &made.origin {
            Origin::Address(address) => self.page.shared_stream(&link(address)),
            Origin::Source(config, _) => {
                let source = self.page.name(&format!("{name}_{}", self.page.line(plugin.span)));
                let statements = source_text(&source, config);
                self.page.note_head(&statements.replace("{place}", &place));
                source
            }
            Origin::Network(_) => self.network_sources(plugin, &made, pipeline),
        };
        let remark = match &made.origin {
            Origin::Source(config, _) => source_remark(config),
            Origin::Address(_) | Origin::Network(_) => None,
        };
        let coverage = remark.map_or(Coverage::Exact, |_| Coverage::Remarks);
        self.page.note(plugin.span, &what, coverage, remark.unwrap_or_default());
        self.page.begin(&start);
        if name == "pipeline" && options.is_empty() {
            return;
        }
        self.page.place_remark(&format!("{place}: {name}"));
        self.page.step(&step_text(&format!("logstash::input {}", text(name)), &options));
    }

    /// The options of an input that its step takes.
    fn intake_options(&self, plugin: &Plugin, pipeline: &Pipeline) -> Vec<(String, Setting)> {
        if let Some(row) = network::here(plugin, Ends::Source, &pipeline.settings) {
            let declared = network::declared(row);
            let all = self.options(plugin, (declared, input::COMMON), |_| true, pipeline);
            return intake_options(row, all);
        }
        let name = &*plugin.name.text;
        let declared = input::INPUTS.iter().find(|one| one.name == name).map(|one| one.options);
        self.kept(plugin, (declared.unwrap_or(&[]), input::COMMON), INTAKE, pipeline)
    }

    /// The options of a plugin that are named, with codecs as records.
    pub(super) fn kept(
        &self,
        plugin: &Plugin,
        lists: (&[OptionSpec], &[OptionSpec]),
        names: &[&str],
        pipeline: &Pipeline,
    ) -> Vec<(String, Setting)> {
        self.options(plugin, lists, |name| names.contains(&name), pipeline)
    }

    pub(super) fn options(
        &self,
        plugin: &Plugin,
        (declared, common): (&[OptionSpec], &[OptionSpec]),
        is_wanted: impl Fn(&str) -> bool,
        pipeline: &Pipeline,
    ) -> Vec<(String, Setting)> {
        let open = Settings { keeps_variables: true, ..pipeline.settings.clone() };
        let mut diagnostics = Vec::new();
        let arguments = Arguments::new(plugin, declared, common, &open, &mut diagnostics);
        let mut options: Vec<(String, Setting)> = arguments
            .entries()
            .filter(|(name, _)| is_wanted(name))
            .map(|(name, setting)| (name.to_string(), codec_record(setting, &open)))
            .collect();
        if let Some(word) = super::filters::mode_word(pipeline.settings.ecs)
            && !options.iter().any(|(name, _)| name == "ecs_compatibility")
            && common.len() == input::COMMON.len()
        {
            let kind = SettingKind::Text(word.to_string());
            options.push(("ecs_compatibility".to_string(), Setting { span: plugin.span, kind }));
        }
        options
    }

    /// The outputs of a pipeline, behind the chain of its filters.
    pub(super) fn outputs(&mut self, pipeline: &Pipeline, stdout: bool, name: &str) {
        let plugins = pipeline.plugins(SectionKind::Output);
        let is_link = |plugin: &Plugin| self.is_link(plugin);
        let links = plugins.iter().filter(|plugin| is_link(plugin)).count();
        let own = links < plugins.len() || plugins.is_empty();
        let to_stdout = own && (stdout || plugins.is_empty());
        if to_stdout && (links == 0 || plugins.is_empty()) {
            return self.page.end_into("out");
        }
        let context = (pipeline, stdout);
        let mut body = pipeline.sections(SectionKind::Output).flat_map(|section| &section.body);
        if let (Some(only), None, false) = (body.next(), body.next(), to_stdout) {
            match only {
                Statement::Plugin(plugin) => return self.output(plugin, None, pipeline),
                Statement::Branch(branch) if self.is_one_way(branch, stdout) => {
                    return self.output_choice(branch, context);
                }
                Statement::Branch(_) => {}
            }
        }
        let stream = self.page.stream(name);
        self.page.end_into(&stream);
        if to_stdout {
            self.page.begin(&stream);
            self.page.end_into("out");
        }
        for section in pipeline.sections(SectionKind::Output) {
            self.output_statements(&section.body, &stream, context);
        }
    }

    fn output_statements(&mut self, body: &[Statement], from: &str, context: (&Pipeline, bool)) {
        for statement in body {
            match statement {
                Statement::Plugin(plugin) if context.1 && !self.is_link(plugin) => {}
                Statement::Plugin(plugin) => self.output(plugin, Some(from), context.0),
                Statement::Branch(branch) => self.output_branch(branch, from, context),
            }
        }
    }

    /// The statements of an arm that say where events go.
    fn ways<'b>(&self, body: &'b [Statement], stdout: bool) -> Vec<&'b Statement> {
        let leads = |one: &&Statement| match one {
            Statement::Plugin(plugin) => !stdout || self.is_link(plugin),
            Statement::Branch(_) => true,
        };
        body.iter().filter(leads).collect()
    }

    /// Whether each event of a branch goes to one place at the most.
    fn is_one_way(&self, branch: &Branch, stdout: bool) -> bool {
        let bodies = branch.arms.iter().map(|(_, body)| body).chain(&branch.otherwise);
        bodies.map(|body| self.ways(body, stdout)).all(|ways| match ways.as_slice() {
            [] => true,
            [Statement::Plugin(plugin)] => !self.is_link(plugin),
            [Statement::Branch(inner)] => self.is_one_way(inner, stdout),
            _ => false,
        })
    }

    /// A branch of outputs as the last step of a chain.
    fn output_choice(&mut self, branch: &Branch, context: (&Pipeline, bool)) {
        self.page.comments_until(branch.span, branch.span.start);
        let Some(tests) = self.tests(branch, &context.0.settings) else {
            return self.page.end_into("out");
        };
        let place = self.page.place(branch.span);
        self.page.place_remark(&format!("{place}: if"));
        for (number, ((condition, body), test)) in branch.arms.iter().zip(&tests).enumerate() {
            self.page.note(condition.span, "if", Coverage::Exact, "");
            match number {
                0 => self.page.step(&format!("when {test} do")),
                _ => self.page.between(&format!("elif {test} do")),
            }
            self.output_arm(body, context);
        }
        self.page.between("else");
        self.output_arm(branch.otherwise.as_deref().unwrap_or(&[]), context);
        self.page.between("end");
        self.page.finish_chain();
    }

    fn output_arm(&mut self, body: &[Statement], context: (&Pipeline, bool)) {
        self.page.open();
        match self.ways(body, context.1).as_slice() {
            [Statement::Plugin(plugin)] => self.output(plugin, None, context.0),
            [Statement::Branch(branch)] => self.output_choice(branch, context),
            _ => self.page.step("drop"),
        }
        self.page.close();
    }

    fn output_branch(&mut self, branch: &Branch, from: &str, context: (&Pipeline, bool)) {
        let mut inside = Vec::new();
        crate::load::gather(
            std::slice::from_ref(&Statement::Branch(branch.clone())),
            &mut |plugin| inside.push(plugin.clone()),
        );
        if context.1 && !inside.iter().any(|plugin| self.is_link(plugin)) {
            return;
        }
        if self.is_one_way(branch, context.1) {
            self.page.begin(from);
            return self.output_choice(branch, context);
        }
        self.page.comments_until(branch.span, branch.span.start);
        let place = self.page.place(branch.span);
        let Some(tests) = self.output_tests(branch, from, context.0) else { return };
        let mut route = String::from("route\n");
        let mut streams = Vec::new();
        for ((condition, _), test) in branch.arms.iter().zip(&tests) {
            let stream = self.page.stream(&format!("if_{}", self.page.line(condition.span)));
            self.page.note(condition.span, "if", Coverage::Exact, "");
            let _ = writeln!(route, "  case {test} => {stream}");
            streams.push(stream);
        }
        let rest = branch.otherwise.as_ref().filter(|body| !body.is_empty()).map(|_| {
            let line = self.page.line(branch.span);
            self.page.stream(&format!("else_{line}"))
        });
        if let Some(rest) = &rest {
            let _ = writeln!(route, "  default => {rest}");
        }
        route.push_str("end");
        self.page.begin(from);
        self.page.place_remark(&format!("{place}: if"));
        self.page.end(&route);
        for ((_, body), stream) in branch.arms.iter().zip(&streams) {
            self.output_statements(body, stream, context);
        }
        if let (Some(body), Some(rest)) = (&branch.otherwise, rest) {
            self.output_statements(body, &rest, context);
        }
    }

    /// The conditions of a branch of outputs; where one cannot be said, its events go to `out`.
    fn output_tests(
        &mut self,
        branch: &Branch,
        from: &str,
        pipeline: &Pipeline,
    ) -> Option<Vec<String>> {
        let tests = |condition| condition::expression(condition, &pipeline.settings);
        if branch.arms.iter().all(|(condition, _)| tests(condition).is_ok()) {
            return self.tests(branch, &pipeline.settings);
        }
        self.page.begin(from);
        let _ = self.tests(branch, &pipeline.settings);
        self.page.end_into("out");
        None
    }

    /// An output behind the stream `from`, or at the end of the chain that is open.
    fn output(&mut self, plugin: &Plugin, from: Option<&str>, pipeline: &Pipeline) {
        let name = &*plugin.name.text;
        self.page.comments_until(plugin.span, plugin.span.end);
        let (what, place) = (format!("output {name}"), self.page.place(plugin.span));
        let mut diagnostics = Vec::new();
        let made = output::compile((name, plugin), &pipeline.settings, &mut diagnostics);
        let Some((outlet, destination)) = made else {
            self.begin_at(from);
            self.undecided_edge(plugin, &what, &diagnostics);
            return self.page.end_into("out");
        };
        self.page.note(plugin.span, &what, Coverage::Exact, "");
        match destination {
            Destination::Network(_) => self.network_sink(plugin, &outlet, (from, pipeline)),
            Destination::Addresses(addresses) => {
                let all = self.page.several(from, addresses.len());
                for address in addresses {
                    let stream = self.page.shared_stream(&link(&address));
                    self.begin_at(all.as_deref());
                    self.page.place_remark(&format!("{place}: pipeline"));
                    self.page.end_into(&stream);
                }
            }
            Destination::Sink(config, _) => {
                let sink = self.page.name(&format!("{name}_{}", self.page.line(plugin.span)));
                let gzip = plugin.options.iter().any(|(word, value)| {
                    word.text == "gzip"
                        && matches!(&value.kind, ValueKind::Bare(one) | ValueKind::Text(one) if one == "true")
                });
                let statement = sink_text(
                    &sink,
                    &config,
                    outlet.encoder.is_some(),
                    outlet.place.is_some(),
                    gzip,
                );
                self.page.note_head(&statement.replace("{place}", &place));
                self.begin_at(from);
                self.page.place_remark(&format!("{place}: {name}"));
                let step = self.outlet_step(plugin, &outlet, pipeline);
                if let Some(step) = step {
                    self.page.step(&step);
                }
                self.page.end_into(&sink);
            }
        }
    }

    /// `logstash::output with codec = … end`, when the sink cannot write the event by itself.
    fn outlet_step(
        &self,
        plugin: &Plugin,
        outlet: &output::Outlet,
        pipeline: &Pipeline,
    ) -> Option<String> {
        if outlet.encoder.is_none() && outlet.place.is_none() {
            return None;
        }
        let name = &*plugin.name.text;
        let declared = output::OUTPUTS.iter().find(|one| one.name == name).map(|one| one.options);
        let lists = (declared.unwrap_or(&[]), output::COMMON);
        let mut given = self.kept(plugin, lists, &["codec"], pipeline);
        let span = plugin.span;
        let word = |text: &str| Setting { span, kind: SettingKind::Text(text.to_string()) };
        let line = |format: &str| {
            let format = vec![("format".to_string(), word(format))];
            let inner = Setting { span, kind: SettingKind::Hash(format) };
            Setting { span, kind: SettingKind::Hash(vec![("line".to_string(), inner)]) }
        };
        let option = |wanted: &str| {
            let found = self.kept(plugin, lists, &[wanted], pipeline);
            found.into_iter().next().and_then(|(_, value)| value.text().map(str::to_string))
        };
        if let (true, Some(_)) = (name == "stdout" && given.is_empty(), &outlet.encoder) {
            given.push(("codec".to_string(), word("rubydebug")));
        }
        match name {
            "exec" => given = self.kept(plugin, lists, &["command"], pipeline),
            "pipe" => {
                if let Some(format) = option("message_format") {
                    given = vec![("codec".to_string(), line(&format))];
                }
            }
            _ => {}
        }
        if outlet.encoder.is_none() {
            given.clear();
        }
        if let Some(place) = &outlet.place {
            given.push(("place".to_string(), word(place.source())));
            if !outlet.otherwise.is_empty() {
                given.push(("otherwise".to_string(), word(&outlet.otherwise)));
            }
        }
        Some(step_text("logstash::output", &given))
    }
}

/// The stream of an address.
fn link(address: &str) -> String {
    let fits = |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '_' };
    format!("link_{}", address.chars().map(fits).collect::<String>())
}

/// A codec with options as a record: `{ "line": { "format": … } }`.
fn codec_record(setting: &Setting, settings: &Settings) -> Setting {
    let SettingKind::Codec(plugin) = &setting.kind else { return setting.clone() };
    let span = setting.span;
    if plugin.options.is_empty() {
        return Setting { span, kind: SettingKind::Text(plugin.name.text.clone()) };
    }
    let options = plugin.options.iter();
    let options = options.map(|(name, value)| (name.text.clone(), plain(value, settings)));
    let inner = Setting { span, kind: SettingKind::Hash(options.collect()) };
    Setting { span, kind: SettingKind::Hash(vec![(plugin.name.text.clone(), inner)]) }
}

fn plain(value: &Value, settings: &Settings) -> Setting {
    let kind = match &value.kind {
        ValueKind::Bare(text) => SettingKind::Text(text.clone()),
        ValueKind::Text(text) => SettingKind::Text(settings.unescape(text)),
        ValueKind::Number(number) => SettingKind::Number(number.clone()),
        ValueKind::Array(items) => {
            SettingKind::List(items.iter().map(|item| plain(item, settings)).collect())
        }
        ValueKind::Hash(entries) => SettingKind::Hash(
            entries
                .iter()
                .map(|(key, value)| (settings.unescape(&key.text), plain(value, settings)))
                .collect(),
        ),
        ValueKind::Plugin(plugin) => SettingKind::Text(plugin.name.text.clone()),
    };
    Setting { span: value.span, kind }
}
