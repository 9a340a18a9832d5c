//! `partition by event.user using "kafka://HOST:PORT"` in a chain: a sink into a topic by key, a source that
//! reads the topic as a member of a group, and a chain that goes on from there. Events with one key come
//! together in one process, whichever process they came to.
//!
//! Invariant: what the step says is what the sink and the source are told; a step that lacks something stays a
//! step, and is complained about as one.

use super::through::{free_name, into, taken_apart};
use crate::graph::{PARTITION as WORD, PARTITION_SOURCE as SOURCE};
use std::borrow::Cow;
use temblor_lang::span::Span;
use temblor_lang::syntax::tree::{
    Binding, Chain, EndpointDef, EndpointRole, Expr, ExprKind, Ident, Program, Statement, Step,
    StepKind, StreamRef, StringForm, StringLit, StringPart,
};

/// What an address begins with.
const SCHEME: &str = "kafka://";
/// Settings that say which topic it is.
const TOPIC: &str = "topic";
const PARTITIONS: &str = "partitions";
const REPLICATION: &str = "replication";
/// Settings of the sink alone.
const OF_SINK: [&str; 7] =
    ["acks", "idempotence", "compression", "linger", "batch_bytes", "message_bytes", "timeout"];
/// Settings of both.
const OF_BOTH: [&str; 4] = ["sasl", "tls", "retry", "options"];

/// The program without such steps, each of them a sink, a source and the chains around them.
pub fn expanded(program: &Program) -> Cow<'_, Program> {
    taken_apart(program, |step| Asked::of(step).is_some(), split)
}

/// What a step says.
struct Asked<'s> {
    /// What must meet.
    key: &'s Expr,
    /// Where the topic is.
    brokers: StringLit,
    topic: &'s Expr,
    with: &'s [Binding],
    span: Span,
}

impl<'s> Asked<'s> {
    /// Only a step that says all it has to is one.
    fn of(step: &'s Step) -> Option<Self> {
        let StepKind::Operator { name, positional, clauses, with } = &step.kind else {
            return None;
        };
        if name.text() != WORD || !positional.is_empty() || clauses.len() != 2 {
            return None;
        }
        let clause = |word: &str| {
            clauses.iter().find(|(one, _)| one.text == word).and_then(|(_, value)| value.as_ref())
        };
        let ExprKind::String(address) = &clause("using")?.kind else { return None };
        let brokers = address.constant()?.strip_prefix(SCHEME)?;
        let setting = |name: &str| with.iter().find(|one| one.name.text == name);
        setting("group")?;
        Some(Self {
            key: clause("by")?,
            brokers: literal(brokers, address.span),
            topic: &setting(TOPIC)?.value,
            with,
            span: step.span,
        })
    }

    /// The topic, with its number of partitions, as both ends make and check it.
    fn create(&self) -> Binding {
        let mut fields = vec![(literal(TOPIC, self.span), self.topic.clone())];
        for name in [PARTITIONS, REPLICATION] {
            let given = self.with.iter().filter(|one| one.name.text == name);
            fields.extend(given.map(|one| (literal(name, self.span), one.value.clone())));
        }
        self.setting("create", Expr { kind: ExprKind::Record(fields), span: self.span })
    }

    fn setting(&self, name: &str, value: Expr) -> Binding {
        Binding { name: Ident { text: name.to_string(), span: self.span }, value }
    }

    /// What the sink is told. A key is an array, so that `null` has a partition, too.
    fn sink(&self, name: Ident) -> EndpointDef {
        let key = Expr { kind: ExprKind::List(vec![self.key.clone()]), span: self.key.span };
        let mut with =
            vec![self.setting(TOPIC, self.topic.clone()), self.setting("key", key), self.create()];
        with.extend(self.further(|name| OF_SINK.contains(&name) || OF_BOTH.contains(&name)));
        self.endpoint(EndpointRole::Sink, name, with)
    }

    /// What the source is told. Settings that nothing knows are complained about there.
    fn source(&self, name: Ident) -> EndpointDef {
        let mut with = vec![self.setting("topics", self.topic.clone()), self.create()];
        with.extend(self.further(|name| {
            !OF_SINK.contains(&name) && ![TOPIC, PARTITIONS, REPLICATION].contains(&name)
        }));
        self.endpoint(EndpointRole::Source, name, with)
    }

    fn further(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = Binding> {
        self.with.iter().filter(move |one| is_wanted(&one.name.text)).cloned()
    }

    fn endpoint(&self, role: EndpointRole, name: Ident, with: Vec<Binding>) -> EndpointDef {
        let kind = Ident { text: "kafka".to_string(), span: self.brokers.span };
        EndpointDef {
            role,
            name,
            kind,
            argument: Some(self.brokers.clone()),
            with,
            span: self.span,
        }
    }
}

/// A chain as those around its topics.
fn split(chain: Chain, program: &mut Program) {
    let Chain { mut from, steps, span } = chain;
    let mut before: Vec<Step> = Vec::new();
    for step in steps {
        let Some(asked) = Asked::of(&step) else {
            before.push(step);
            continue;
        };
        let name = free_name(program, "partition_into", step.span);
        program.endpoints.push(asked.sink(name.clone()));
        before.push(into(StreamRef { node: name, port: None, span: step.span }));
        let steps = std::mem::take(&mut before);
        program.query.statements.push(Statement::Chain(Chain { from, steps, span }));
        let name = free_name(program, SOURCE, step.span);
        program.endpoints.push(asked.source(name.clone()));
        from = Some(StreamRef { node: name, port: None, span: step.span });
    }
    if before.is_empty() {
        let out = Ident { text: "out".to_string(), span };
        before.push(into(StreamRef { node: out, port: None, span }));
    }
    program.query.statements.push(Statement::Chain(Chain { from, steps: before, span }));
}

fn literal(text: &str, span: Span) -> StringLit {
    let parts = vec![StringPart::Text(text.to_string())];
    StringLit { parts, form: StringForm::Quoted, span }
}
