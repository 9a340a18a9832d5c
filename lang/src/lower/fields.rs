//! Fields that are read although nothing ever writes them. What may be written is only ever
//! overestimated: the order of statements does not count, and whatever is not seen through may
//! hold any field. So a field that is reported is never there.

use super::inference::{Origin, Origins};
use super::names::Names;
use super::{Compiler, complain};
use crate::program::{Block, Expr, Key, Patch, PatchOp, Root, Segment, TargetRoot};
use crate::span::Span;
use crate::syntax::tree::BinaryOp;
use crate::value::{Frozen, Kind, Value};
use std::collections::{BTreeMap, HashSet};

/// A value with more fields than this, inner ones included, may hold any field: the analysis must
/// not copy large tables.
const FIELDS_MAX: usize = 256;

/// The fields that a value may have.
#[derive(Clone, Debug, Default)]
struct Shape {
    /// It may have any field.
    open: bool,
    fields: BTreeMap<Box<str>, Shape>,
    /// Where it comes from as a whole.
    origins: Origins,
}

impl Shape {
    fn any() -> Self {
        Self { open: true, fields: BTreeMap::new(), origins: Origins::any() }
    }

    /// The shape of a value; `room` is how many fields may still be taken in.
    fn of_value(value: Value<'_>, room: &mut usize) -> Self {
        let mut shape = Self::default();
        shape.origins.add(Origin::Kind(value.kind()));
        let Value::Record(record) = value else {
            // Null is what a local or `state` often starts with: it has no field.
            shape.open = !matches!(value, Value::Null);
            return shape;
        };
        if record.len() > *room {
            return Self::any();
        }
        *room -= record.len();
        let fields = record.iter().map(|(name, value)| (name.into(), Self::of_value(value, room)));
        shape.fields = fields.collect();
        shape
    }

    /// The shape of what `expr` gives when it is assigned to all of `holder`.
    fn of(expr: &Expr, holder: Holder) -> Self {
        let mut shape = Self { origins: Origins::of(expr), ..Self::default() };
        shape.take_in(expr, holder);
        shape
    }

    /// All that `expr` may hold is added.
    fn take_in(&mut self, expr: &Expr, holder: Holder) {
        match expr {
            Expr::Const(value) => self.join(Self::of_value(value.get(), &mut { FIELDS_MAX })),
            Expr::Record(fields) => {
                for (key, value) in fields {
                    self.write_key(key, Self::of(value, Holder::Other));
                }
            }
            Expr::Let(_, value) => self.take_in(value, holder),
            Expr::Match(one) => self.take_in_all(one.arms.iter().map(|arm| &arm.body), holder),
            Expr::If(arms, otherwise) => {
                let blocks = arms.iter().map(|(_, block)| block).chain(otherwise);
                self.take_in_all(blocks, holder);
            }
            Expr::Patch(patch) => self.take_in_patch(patch, holder),
            Expr::Merge(target, with, _) | Expr::Coalesce(target, with) => {
                self.take_in(target, holder);
                self.take_in(with, holder);
            }
            Expr::Binary(sum) if sum.op == BinaryOp::Add => {
                self.take_in(&sum.left, holder);
                self.take_in(&sum.right, holder);
            }
            Expr::Drop | Expr::Emit(..) => {}
            other if holder.is(other) => {}
            _ => self.open = true,
        }
    }

    fn take_in_all<'b>(&mut self, blocks: impl Iterator<Item = &'b Block>, holder: Holder) {
        for block in blocks {
            match &block.last {
                Some(last) => self.take_in(last, holder),
                None => self.open = true,
            }
        }
    }

    fn take_in_patch(&mut self, patch: &Patch, holder: Holder) {
        self.take_in(&patch.target, holder);
        for (op, _) in &patch.ops {
            match op {
                PatchOp::Insert(key, value)
                | PatchOp::Upsert(key, value)
                | PatchOp::Update(key, value)
                | PatchOp::Default(key, value) => {
                    self.write_key(key, Self::of(value, Holder::Other));
                }
                PatchOp::Merge(key, _) | PatchOp::Move(_, key) | PatchOp::Copy(_, key) => {
                    self.write_key(key, Self::any());
                }
                PatchOp::MergeAll(value) | PatchOp::DefaultAll(value) => {
                    self.take_in(value, Holder::Other);
                }
                PatchOp::Erase(_) => {}
            }
        }
    }

    fn write_key(&mut self, key: &Key, value: Shape) {
        match key {
            Key::Const(name, _) => self.fields.entry(name.clone()).or_default().join(value),
            Key::Text(_) => self.open = true,
        }
    }

    /// Something of this shape is assigned to the end of the segments.
    fn write(&mut self, segments: &[Segment], value: Shape) {
        match segments {
            [] => self.join(value),
            [Segment::Field(name, ..), rest @ ..] => {
                let field = self.fields.entry(name.clone()).or_default();
                if !rest.is_empty() {
                    field.origins.add(Origin::Kind(Kind::Record));
                }
                field.write(rest, value);
            }
            _ => self.open = true,
        }
    }

    fn join(&mut self, other: Shape) {
        self.open |= other.open;
        self.origins.extend(&other.origins);
        for (name, shape) in other.fields {
            self.fields.entry(name).or_default().join(shape);
        }
    }

    /// The first field of a path that is never there, and the record that it is missed in.
    fn missing<'s, 'p>(
        &'s self,
        path: &'p [(Box<str>, Span)],
    ) -> Option<(&'p (Box<str>, Span), &'s Shape)> {
        let mut here = self;
        for step in path {
            if here.open {
                return None;
            }
            match here.fields.get(&step.0) {
                Some(inner) => here = inner,
                None => return Some((step, here)),
            }
        }
        None
    }
}

/// What is assigned to: its own old value adds no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    Local(usize),
    State,
    Other,
}

impl Holder {
    fn is(self, expr: &Expr) -> bool {
        match (self, expr) {
            (Holder::Local(slot), Expr::Local(other, _)) => slot == *other,
            (Holder::State, Expr::Path(path)) => {
                path.segments.is_empty() && matches!(path.root, Root::State)
            }
            _ => false,
        }
    }
}

/// What is written to one place and read from it.
#[derive(Debug, Default)]
pub(super) struct Fields {
    shape: Shape,
    /// As written, for messages.
    name: String,
    reads: Vec<Vec<(Box<str>, Span)>>,
}

impl Fields {
    fn named(name: &str) -> Self {
        Self { name: name.to_string(), ..Self::default() }
    }

    /// Something that is not looked at may write any field.
    pub(super) fn open(&mut self) {
        self.shape.open = true;
    }

    /// Something that is not looked at writes this field.
    pub(crate) fn write_any(&mut self, name: &str) {
        self.shape.fields.entry(name.into()).or_default().join(Shape::any());
    }

    fn read(&mut self, segments: &[Segment]) {
        let path: Vec<_> = segments
            .iter()
            .map_while(|segment| match segment {
                Segment::Field(name, _, span) => Some((name.clone(), *span)),
                _ => None,
            })
            .collect();
        if !path.is_empty() {
            self.reads.push(path);
        }
    }

    fn absorb(&mut self, other: Fields) {
        self.shape.join(other.shape);
        self.reads.extend(other.reads);
    }

    /// Warns of what is read and never written, once for each field and text. What stands in a
    /// statement with errors may be missing here, so that nothing is known then.
    fn check(&self, compiler: &mut Compiler<'_>) {
        if compiler.has_errors() {
            return;
        }
        let mut told = HashSet::new();
        for path in &self.reads {
            let Some(((name, span), within)) = self.shape.missing(path) else { continue };
            let at = path.iter().position(|(_, other)| other == span).unwrap_or(0);
            let steps: Vec<&str> = path[..at].iter().map(|(name, _)| &**name).collect();
            if told.insert((steps.join("."), name)) {
                let dot = if self.name == "$" { "" } else { "." };
                let steps: String = steps.iter().flat_map(|step| [*step, "."]).collect();
                let place = format!("{}{dot}{steps}{name}", self.name);
                let known = within.fields.keys().map(|name| &**name);
                compiler.diagnostics.push(complain::unwritten(&place, name, *span, known));
            }
        }
    }
}

/// Reads and writes of one piece of code.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    /// Of locals, by their slots.
    locals: BTreeMap<usize, Fields>,
    state: Fields,
}

impl Accesses {
    /// A slot that a pattern, a loop or a call fills may have any field.
    pub(super) fn open(&mut self, slot: usize) {
        self.locals.entry(slot).or_default().open();
    }

    /// Where the values of a field of a local come from; `None` when it may be anywhere.
    pub(super) fn origins(&self, slot: usize, path: &[Box<str>]) -> Option<&Origins> {
        let mut here = &self.locals.get(&slot)?.shape;
        for name in path {
            here = here.fields.get(name).filter(|_| !here.open)?;
        }
        Some(&here.origins)
    }
}

impl Compiler<'_> {
    /// Takes notice of a path that is read.
    pub(super) fn note_read(&mut self, root: &Root, segments: &[Segment], names: &mut Names) {
        if segments.is_empty() || names.rules.function && !matches!(root, Root::Local(..)) {
            return;
        }
        match root {
            Root::Local(slot, place) => {
                let fields = names.accesses.locals.entry(*slot);
                let fields = fields.or_insert_with(|| Fields::named(&place.name));
                fields.name = place.name.to_string();
                fields.read(segments);
            }
            Root::State => names.accesses.state.read(segments),
            Root::Meta => self.metadata.read(segments),
            _ => {}
        }
    }

    /// Takes notice of `let path = value`.
    pub(super) fn note_write(
        &mut self,
        root: TargetRoot,
        segments: &[Segment],
        value: &Expr,
        names: &mut Names,
    ) {
        let holder = match root {
            _ if !segments.is_empty() => Holder::Other,
            TargetRoot::Local(slot) => Holder::Local(slot),
            TargetRoot::State => Holder::State,
            _ => Holder::Other,
        };
        let shape = Shape::of(value, holder);
        match root {
            TargetRoot::Local(slot) => {
                names.accesses.locals.entry(slot).or_default().shape.write(segments, shape);
            }
            TargetRoot::State => names.accesses.state.shape.write(segments, shape),
            TargetRoot::Meta => self.metadata.shape.write(segments, shape),
            TargetRoot::Event | TargetRoot::Invalid(_) => {}
        }
    }

    /// Warns of fields of locals that nothing in the code writes.
    pub(super) fn check_fields_of_locals(&mut self, names: &Names) {
        for (slot, fields) in &names.accesses.locals {
            // A local that nothing assigns has its own warning.
            if names.is_assigned(*slot) {
                fields.check(self);
            }
        }
    }

    /// Adds what a script does with `state` to what is known of it.
    pub(super) fn gather_state(&mut self, names: &mut Names) {
        if let Some(state) = &mut self.state {
            state.absorb(std::mem::take(&mut names.accesses.state));
        }
    }

    /// The scripts that are lowered from here on share one state, which is `initial` at first and
    /// which nothing else writes.
    pub fn begin_state(&mut self, initial: &Frozen) {
        let mut state = Fields::named("state");
        state.shape = Shape::of_value(initial.get(), &mut { FIELDS_MAX });
        self.state = Some(state);
    }

    /// Warns of fields of the state that none of the scripts since [`Compiler::begin_state`] writes.
    pub fn end_state(&mut self) {
        if let Some(state) = self.state.take() {
            state.check(self);
        }
    }

    /// Something besides the program's own code writes this key of the metadata; any key when it
    /// is not known which.
    pub fn metadata_is_written(&mut self, key: Option<&str>) {
        match key {
            Some(key) => self.metadata.write_any(key),
            None => self.metadata.open(),
        }
    }

    /// Warns of metadata that nothing writes. Only for a whole program, in which events begin
    /// without metadata.
    pub fn end_metadata(&mut self) {
        let mut metadata = std::mem::take(&mut self.metadata);
        metadata.name = "$".to_string();
        metadata.check(self);
    }
}
