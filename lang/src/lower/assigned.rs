//! What a script knows of the event's fields because it has assigned them itself. Only assignments that
//! are surely made count: a later one to the same place, wherever it stands, ends what is known.

use super::kinds::kind;
use super::names::Names;
use crate::program::{Block, Expr, Path, Root, Segment, Target, TargetRoot};
use crate::value::Kind;

impl Names {
    /// The kind of a field that the script has assigned.
    pub(crate) fn assigned_kind(&self, path: &Path) -> Option<Kind> {
        let fields =
            matches!(path.root, Root::Event).then(|| constant(&path.segments)).flatten()?;
        let known = self.event_kinds.iter().find(|(place, _)| *place == fields);
        known.map(|(_, kind)| *kind)
    }

    /// The last statement of a script's own block was lowered: when it assigns a field, its kind is
    /// known from here on.
    pub(crate) fn know_assigned(&mut self, body: &Block) {
        let statement = body.last.as_deref().or(body.effects.last());
        let Some(Expr::Let(target, value)) = statement else { return };
        let kind = kind(value);
        if let (TargetRoot::Event, Some(fields)) = (&target.root, constant(&target.segments))
            && kind != Kind::Any
            && !fields.is_empty()
        {
            self.event_kinds.push((fields, kind));
        }
    }

    /// Something is assigned: what was known of that place, or inside or around it, is no longer.
    pub(crate) fn forget_assigned(&mut self, target: &Target) {
        if !matches!(target.root, TargetRoot::Event) {
            return;
        }
        let constant: Vec<_> = target.segments.iter().map_while(field).collect();
        self.event_kinds.retain(|(place, _)| {
            !place.iter().zip(&constant).all(|(known, assigned)| known == assigned)
        });
    }
}

/// The names of a path that has nothing else.
fn constant(segments: &[Segment]) -> Option<Vec<Box<str>>> {
    segments.iter().map(field).collect()
}

fn field(segment: &Segment) -> Option<Box<str>> {
    match segment {
        Segment::Field(name, ..) => Some(name.clone()),
        _ => None,
    }
}
