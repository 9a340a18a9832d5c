//! Finding what a `create` or a window reference names: a definition of this level, or one of a
//! module.

use super::build::{Builder, Definition, Level};
use temblor_lang::syntax::tree::{CreateKind, DefineKind, ModPath};

/// The namespaces of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Namespace {
    Window,
    Operator,
    Script,
    Pipeline,
    Connector,
    Flow,
}

impl Namespace {
    pub(super) fn of(kind: &DefineKind) -> Self {
        match kind {
            DefineKind::Window(_) => Namespace::Window,
            DefineKind::Operator(_) => Namespace::Operator,
            DefineKind::Script(_) => Namespace::Script,
            DefineKind::Pipeline(_) => Namespace::Pipeline,
            DefineKind::Connector(_) => Namespace::Connector,
            DefineKind::Flow(_) => Namespace::Flow,
        }
    }

    pub(super) fn created(kind: CreateKind) -> Option<Self> {
        match kind {
            CreateKind::Stream => None,
            CreateKind::Script => Some(Namespace::Script),
            CreateKind::Operator => Some(Namespace::Operator),
            CreateKind::Pipeline => Some(Namespace::Pipeline),
            CreateKind::Connector => Some(Namespace::Connector),
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Namespace::Window => "window",
            Namespace::Operator => "operator",
            Namespace::Script => "script",
            Namespace::Pipeline => "pipeline",
            Namespace::Connector => "connector",
            Namespace::Flow => "flow",
        }
    }
}

impl Builder<'_, '_> {
    /// The definition that `path` names, or nothing after a complaint.
    pub(super) fn definition(
        &mut self,
        namespace: Namespace,
        path: &ModPath,
        level: &Level,
    ) -> Option<Definition> {
        let found = match path.segments.as_slice() {
            [name] => level.definition(namespace, &name.text).cloned(),
            _ => {
                let wanted = |kind: &DefineKind| Namespace::of(kind) == namespace;
                self.compiler.definition(path, &level.scope, wanted).map(|(define, module)| {
                    Definition { define, scope: self.compiler.module_scope(module).clone() }
                })
            }
        };
        if found.is_none() {
            let known: Vec<_> = level.names(namespace).collect();
            let complaint =
                super::complain::not_defined(namespace.word(), &path.text(), path.span, known);
            self.complain(complaint);
        }
        if let Some(found) = &found {
            self.used.insert(found.define.span);
        }
        found
    }
}
