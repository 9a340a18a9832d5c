//! The commands of the REPL: a table of name, arguments, help and code. Help and completion come
//! from the table; the code of each group stands in a file of its own.

mod bench;
mod documentation;
mod files;
mod measure;
mod memory;
mod reasons;
mod samples;

pub(crate) use documentation::doc;

pub(crate) use documentation::signature;
pub(crate) use files::Watched;
pub(crate) use files::program_of;

pub(crate) use samples::take as take_samples;

use super::Session;
use super::evaluate::Evaluator;
use super::pipeline::Pipeline;
use super::view::Mode;
use temblor_lang::syntax::tree::Item;
use temblor_pipeline::load::Directories;

/// A command.
pub(crate) struct Command {
    /// Its name, without the colon.
    pub name: &'static str,
    /// What is typed behind it.
    pub arguments: &'static str,
    /// A line of help.
    pub help: &'static str,
    run: fn(&mut Session, &str) -> Result<String, String>,
}

const fn command(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    run: fn(&mut Session, &str) -> Result<String, String>,
) -> Command {
    Command { name, arguments, help, run }
}

/// All commands, as `:help` lists them.
pub(crate) const COMMANDS: &[Command] = &[
    command("help", "[NAME]", "list the commands", |_, name| help(name)),
    command("load", "FILE", "take samples, or a program, from a file", files::load),
    command("sample", "TEXT", "add a sample a line and go to the last", samples::add),
    command("paste", "", "take all lines up to `:end` as samples", samples::paste),
    command("event", "", "show the current sample", samples::show),
    command("next", "", "go to the next sample", samples::next),
    command("prev", "", "go to the sample before", samples::previous),
    command("goto", "N", "go to the sample with this number, from 1", samples::go_to),
    command("find", "EXPR", "go to the next sample for which this is true", samples::find),
    command("suggest", "[EXPR]", "propose patterns for samples of text", samples::suggest),
    command(
        "explain",
        "[EXPR | grok|dissect|regex \"PATTERN\" [EXPR]]",
        "say why: each operand, arm and pattern; of the pipeline without more",
        reasons::explain,
    ),
    command("diff", "", "show what the assignments so far change", reasons::diff),
    command("steps", "", "show what each step changes", reasons::steps),
    command("on", "N", "put a step on again", |session, text| bench::switch(session, text, true)),
    command("off", "N", "leave a step out", |session, text| bench::switch(session, text, false)),
    command("run", "", "send all samples through from a fresh start", bench::run),
    command("send", "", "send the current sample, as things stand", bench::send),
    command(
        "compare",
        "[OLD NEW]",
        "two programs over all samples: FILE, `.` or `-`",
        bench::compare,
    ),
    command("clock", "[TIME]", "show the clock, or put it", bench::clock),
    command("advance", "TIME", "move the clock, such as 10s; timers run", bench::advance),
    command(
        "state",
        "[STEP = EXPR | STEP set KEY = EXPR | STEP forget KEY | clear]",
        "show or change what steps remember",
        memory::state,
    ),
    command("time", "[EXPR [N]]", "measure an expression, or each step", measure::time),
    command(
        "type",
        "[EXPR]",
        "kinds of a value, or of the fields behind each step",
        measure::kinds,
    ),
    command("coverage", "", "arms, patterns and ports that no sample reached", measure::coverage),
    command("doc", "NAME", "what a function, aggregate, step or pattern does", |_, text| doc(text)),
    command("mode", "json|pretty|logfmt|table|changes", "choose how events are shown", mode),
    command("list", "", "list what was entered so far", list),
    command("undo", "", "take back the last definition or assignment", undo),
    command("reset", "", "forget all that was entered; samples stay", reset),
    command("edit", "[FILE]", "open $EDITOR, then enter what was written", files::edit),
    command("watch", "FILE | off", "run a program again when its file is saved", files::watch),
    command("save", "test NAME [FILE] | session FILE", "write a test, or all entries", files::save),
    command("source", "FILE", "enter the lines of a file, such as a saved session", files::source),
    command("quit", "", "end", |_, _| Ok(String::new())),
];

fn help(name: &str) -> Result<String, String> {
    let head = |one: &Command| format!(":{} {}", one.name, one.arguments);
    if !name.is_empty() {
        let one = find(name.trim_start_matches(':'))?;
        return Ok(format!("{}\n{}\n", head(one), one.help));
    }
    let line = |one: &Command| match head(one) {
        short if short.len() <= 28 => format!("{short:28}  {}\n", one.help),
        long => format!("{long}\n{:28}  {}\n", "", one.help),
    };
    let mut text: String = COMMANDS.iter().map(line).collect();
    text.push_str("anything else is an expression, a definition, a chain or a pipeline\n");
    Ok(text)
}

fn find(name: &str) -> Result<&'static Command, String> {
    COMMANDS.iter().find(|one| one.name == name).ok_or_else(|| {
        let names = COMMANDS.iter().map(|one| one.name);
        let near = temblor_lang::diagnostic::nearest(name, names);
        let help =
            near.map_or(":help lists all".to_string(), |near| format!("did you mean `:{near}`?"));
        format!("error: there is no command `:{name}`; {help}")
    })
}

fn mode(session: &mut Session, text: &str) -> Result<String, String> {
    let wrong = || format!("error: `{text}` is no mode; json, pretty, logfmt, table or changes");
    session.mode = Mode::named(text).ok_or_else(wrong)?;
    Ok(String::new())
}

fn list(session: &mut Session, _: &str) -> Result<String, String> {
    let off = |on: bool| if on { "" } else { "  # off" };
    let line = |kept: &super::Kept| format!("{};{}\n", kept.text, off(kept.on));
    let mut text: String = session.kept.iter().map(line).collect();
    if let Some(pipeline) = &session.pipeline {
        text.push_str(&format!("{}\n", pipeline.program.text.trim_end()));
    }
    Ok(text)
}

fn undo(session: &mut Session, _: &str) -> Result<String, String> {
    let last = session.kept.pop().ok_or("error: there is nothing to take back")?;
    Ok(format!("took back {}\n", last.text))
}

fn reset(session: &mut Session, _: &str) -> Result<String, String> {
    session.kept.clear();
    (session.pipeline, session.before, session.last) = (None, None, None);
    Ok(String::new())
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("error: `{text}` is no number"))
}

fn pipeline(pipeline: &mut Option<Pipeline>) -> Result<&mut Pipeline, String> {
    pipeline.as_mut().ok_or_else(|| {
        "error: there is no pipeline: enter a chain such as `where event.a > 1`".to_string()
    })
}

impl Session {
    /// Runs a command, which is given without its colon.
    pub(super) fn command(&mut self, text: &str) -> Result<String, String> {
        let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        (find(name)?.run)(self, arguments.trim())
    }

    /// The time of the next event.
    fn clock_ns(&self) -> u64 {
        self.pipeline.as_ref().map_or(self.now_ns, Pipeline::now_ns)
    }

    /// Reads an expression and gives it to `act`, with what was entered before.
    fn with_expression<T>(
        &mut self,
        text: &str,
        act: impl FnOnce(&mut Evaluator<'_>, Vec<Item>, &mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        let setup = self.setup.clone();
        let directories = Directories::new(&setup.path, None);
        let mut evaluator = Evaluator::new(&directories, &self.live(), &setup);
        let items = evaluator.parse(text).map_err(|unreadable| unreadable.text)?;
        act(&mut evaluator, items, self)
    }
}

/// A line about a name that can be completed to.
pub(crate) fn hint(word: &str) -> Option<String> {
    if let Some(name) = word.strip_prefix(':') {
        let command = COMMANDS.iter().find(|one| one.name == name)?;
        return Some(command.help.to_string());
    }
    signature(word)
}
