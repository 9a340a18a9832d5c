//! What a name in a chain stands for. A name that nothing declares is never taken for anything: only
//! behind `else`, and in the arms of `route`, where nothing but a port can stand, a new name makes one.

use super::build::{Instance, Level};
use crate::operator::{ERR, IN, OUT};
use crate::registry::Registry;
use std::collections::{HashMap, HashSet};
use temblor_lang::syntax::tree::{
    CreateKind, EndpointDef, EndpointRole, Expr, ExprKind, Ident, PathRoot, PipelineDef, Program,
    Query, Statement, Step, StepKind,
};

/// Steps that are no operators.
pub(super) const STEP_WORDS: [&str; 10] =
    ["where", "set", "script", "route", "select", "when", "match", "drop", "pass", "lookup"];

/// What a declared name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// `create stream a`: what goes in comes out.
    Stream,
    /// A script, operator or pipeline that was created: a step with a memory of its own.
    Node,
    /// Events come from here: `in`, or a source.
    Input,
    /// Events leave here: `out`, `err`, or a sink.
    Output,
    /// An output that nothing declares, but an `else` or a `route` names.
    Port,
}

/// The names that a chain can use.
pub trait Names {
    /// What a name stands for; `None` when nothing declares it.
    fn meaning(&self, name: &str) -> Option<Meaning>;
    /// Whether a `create` behind the chain makes a node of this name.
    fn is_created_later(&self, name: &str) -> bool;
    /// All names that are declared.
    fn declared(&self) -> Vec<&str>;
    /// Ports that are named, but not declared.
    fn ports(&self) -> Vec<&str>;
}

impl Names for Level {
    fn meaning(&self, name: &str) -> Option<Meaning> {
        if self.ports.contains(name) {
            return Some(Meaning::Port);
        }
        Some(match self.instance(name)? {
            Instance::Node(_) if self.streams.contains(name) => Meaning::Stream,
            Instance::Node(_) | Instance::Pipeline(..) => Meaning::Node,
            Instance::Input(_) => Meaning::Input,
            Instance::Output(_) => Meaning::Output,
        })
    }

    fn is_created_later(&self, name: &str) -> bool {
        self.later.contains(name) && self.instance(name).is_none()
    }

    fn declared(&self) -> Vec<&str> {
        let names = self.instances.iter().map(|(name, _)| name.as_str());
        names.filter(|name| !self.ports.contains(*name)).collect()
    }

    fn ports(&self) -> Vec<&str> {
        self.ports.iter().map(String::as_str).collect()
    }
}

/// The names of a text that is not compiled, such as for `check --expand`.
#[derive(Debug, Default)]
pub struct Declared {
    names: HashMap<String, Meaning>,
    /// Names that `else` or `route` sends events to and a chain begins with: they need no `create`.
    pub streams: Vec<Ident>,
}

impl Declared {
    /// Those of a query file.
    #[must_use]
    pub fn of_query(query: &Query, registry: &Registry) -> Self {
        let ends = [(IN, Meaning::Input), (OUT, Meaning::Output), (ERR, Meaning::Output)];
        Self::new(ends.map(|(name, meaning)| (name.to_string(), meaning)), query, registry)
    }

    /// Those of a Temblor file.
    #[must_use]
    pub fn of_program(program: &Program, registry: &Registry) -> Self {
        let endpoint = |one: &EndpointDef| {
            let meaning = match one.role {
                EndpointRole::Source => Meaning::Input,
                EndpointRole::Sink => Meaning::Output,
                EndpointRole::Table => return None,
            };
            Some((one.name.text.clone(), meaning))
        };
        let ends = [(IN, Meaning::Input), (OUT, Meaning::Output), (ERR, Meaning::Output)];
        let ends = ends.map(|(name, meaning)| (name.to_string(), meaning));
        let ends = ends.into_iter().chain(program.endpoints.iter().filter_map(endpoint));
        Self::new(ends, &program.query, registry)
    }

    /// Those of the body of a pipeline.
    #[must_use]
    pub fn of_pipeline(def: &PipelineDef, registry: &Registry) -> Self {
        let ports = |written: Option<&[Ident]>, default: &[&str], meaning: Meaning| {
            super::build::port_names(written, default)
                .into_iter()
                .map(move |name| (name, meaning))
                .collect::<Vec<_>>()
        };
        let inputs = ports(def.from.as_deref(), &[IN], Meaning::Input);
        let outputs = ports(def.into.as_deref(), &[OUT, ERR], Meaning::Output);
        Self::new(inputs.into_iter().chain(outputs), &def.body, registry)
    }

    fn new(
        ends: impl IntoIterator<Item = (String, Meaning)>,
        query: &Query,
        registry: &Registry,
    ) -> Self {
        let mut names: HashMap<_, _> = ends.into_iter().collect();
        for statement in &query.statements {
            if let Statement::Create(create) = statement {
                let meaning = match create.kind {
                    CreateKind::Stream => Meaning::Stream,
                    _ => Meaning::Node,
                };
                names.insert(create.name.text.clone(), meaning);
            }
        }
        let (streams, ports) = undeclared(query, registry, |name| names.contains_key(name));
        let streamed = streams.iter().map(|one| (one.text.clone(), Meaning::Stream));
        let ported = ports.into_iter().map(|name| (name, Meaning::Port));
        names.extend(streamed.chain(ported).collect::<Vec<_>>());
        Self { names, streams }
    }
}

impl Names for Declared {
    fn meaning(&self, name: &str) -> Option<Meaning> {
        self.names.get(name).copied()
    }

    fn is_created_later(&self, _: &str) -> bool {
        false
    }

    fn declared(&self) -> Vec<&str> {
        let declared = self.names.iter().filter(|(_, meaning)| **meaning != Meaning::Port);
        declared.map(|(name, _)| name.as_str()).collect()
    }

    fn ports(&self) -> Vec<&str> {
        let ports = self.names.iter().filter(|(_, meaning)| **meaning == Meaning::Port);
        ports.map(|(name, _)| name.as_str()).collect()
    }
}

/// The names behind `else` and in the arms of `route` that nothing declares: streams where a chain
/// begins with them, in the order of writing, and else ports.
pub(super) fn undeclared(
    query: &Query,
    registry: &Registry,
    is_declared: impl Fn(&str) -> bool,
) -> (Vec<Ident>, HashSet<String>) {
    let chains = || {
        query.statements.iter().filter_map(|statement| match statement {
            Statement::Chain(chain) => Some(chain),
            _ => None,
        })
    };
    let starts: HashSet<&str> =
        chains().filter_map(|chain| Some(chain.from.as_ref()?.node.text.as_str())).collect();
    let mut named = Vec::new();
    chains().for_each(|chain| gather(&chain.steps, &mut named));
    let (mut streams, mut ports) = (Vec::<Ident>::new(), HashSet::new());
    for name in named.into_iter().filter(|name| !is_declared(&name.text)) {
        if is_step(registry, &name.text) {
            continue;
        }
        if !starts.contains(name.text.as_str()) {
            ports.insert(name.text);
        } else if !streams.iter().any(|stream| stream.text == name.text) {
            streams.push(name);
        }
    }
    (streams, ports)
}

/// Whether a word is that of a step.
pub(super) fn is_step(registry: &Registry, word: &str) -> bool {
    STEP_WORDS.contains(&word) || registry.operator(word).is_some()
}

fn gather(steps: &[Step], named: &mut Vec<Ident>) {
    for step in steps {
        match &step.kind {
            StepKind::Route { arms, default, .. } => {
                named.extend(arms.iter().map(|(_, port)| port).chain(default).cloned());
            }
            StepKind::Operator { clauses, .. } => {
                let others = clauses.iter().filter(|(word, _)| word.text == super::chain::ELSE);
                named.extend(others.filter_map(|(_, value)| name_of(value.as_ref()?)));
            }
            StepKind::When { arms, otherwise } => {
                arms.iter().for_each(|(_, steps)| gather(steps, named));
                otherwise.iter().for_each(|steps| gather(steps, named));
            }
            StepKind::Match(matching) => {
                matching.arms.iter().for_each(|arm| gather(&arm.steps, named));
                matching.default.iter().for_each(|steps| gather(steps, named));
            }
            StepKind::Select(select) => named.extend(select.late.clone()),
            StepKind::Into(_) | StepKind::Script(_) | StepKind::Set(_) => {}
        }
    }
}

/// The name of a bare local, such as a port or a word.
pub(super) fn name_of(value: &Expr) -> Option<Ident> {
    match &value.kind {
        ExprKind::Path(path) if path.segments.is_empty() => match &path.root {
            PathRoot::Local(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}
