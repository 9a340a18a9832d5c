//! `group by`: the groups that an event belongs to. A group is the array of its dimensions; its
//! identity is the compact JSON text of that array with sorted keys.

use super::Clauses;
use crate::event::Event;
use crate::operator::Surroundings;
use crate::store::footprint;
use std::sync::LazyLock;
use temblor_lang::error::EvalError;
use temblor_lang::program::Formula;
use temblor_lang::value::{Arena, Frozen, Owned, Value, canonical_key};

/// Groups that one event may belong to, at the most: `each` inside `set` multiplies.
pub const MAX_GROUPS_PER_EVENT: usize = 65_536;

/// The dimensions as written.
#[derive(Debug)]
pub enum Dimension {
    /// `event.a`
    Value(Formula),
    /// `each(event.list)`
    Each(Formula),
    /// `set(a, b)`
    Set(Vec<Dimension>),
}

/// `group` where nothing is grouped.
pub(super) static UNGROUPED: LazyLock<Frozen> =
    LazyLock::new(|| Frozen::new(Value::Array(&[Value::Null, Value::Str("[null]")])));

/// The dimensions of a group that is open. There may be millions of them.
#[derive(Debug)]
pub(super) enum Identity {
    /// Text, numbers and the like, each in its own memory.
    Scalars(Box<[Owned]>),
    /// With arrays or records, whose fields stay in their order.
    Any(Box<Frozen>),
}

impl Identity {
    /// A copy of the dimensions.
    pub(super) fn of(dimensions: &[Value<'_>]) -> Self {
        if dimensions.iter().all(|value| value.size().is_none()) {
            Self::Scalars(dimensions.iter().map(|value| Owned::from(*value)).collect())
        } else {
            Self::Any(Box::new(Frozen::new(Value::Array(dimensions))))
        }
    }

    /// From the value of `group`, whose last element is text.
    pub(super) fn restore(group: &[Value<'_>]) -> Self {
        Self::of(group.split_last().map_or(&[], |(_, dimensions)| dimensions))
    }

    /// The value of `group`.
    pub(super) fn value<'a>(&self, arena: &'a Arena) -> Value<'a> {
        let dimensions = match self {
            Self::Scalars(scalars) => arena.slice(scalars.iter().map(|one| one.read(arena))),
            Self::Any(frozen) => frozen.get().copy_into(arena).as_array(arena).unwrap_or_default(),
        };
        value(dimensions, arena)
    }

    /// Bytes that it takes beside itself, near enough.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Scalars(scalars) => {
                let text = |one: &Owned| if let Owned::Str(text) = one { text.len() } else { 0 };
                size_of_val(&**scalars) + scalars.iter().map(text).sum::<usize>()
            }
            Self::Any(frozen) => size_of::<Frozen>() + footprint(frozen.get()),
        }
    }
}

/// The value of `group`: the dimensions and, last, their text.
pub(super) fn value<'a>(dimensions: &'a [Value<'a>], arena: &'a Arena) -> Value<'a> {
    let text = canonical_key(Value::Array(dimensions));
    let mut items = arena.array_builder(dimensions.len() + 1);
    items.extend(dimensions);
    items.push(Value::Str(arena.str(&text)));
    items.finish()
}

/// The dimensions of a group without their text; one dimension stands for itself.
pub(super) fn key_of<'a>(group: Value<'a>, arena: &'a Arena) -> Option<Value<'a>> {
    let (_, dimensions) = group.as_array(arena)?.split_last()?;
    match dimensions {
        [one] => Some(*one),
        several => Some(Value::Array(several)),
    }
}

impl Clauses {
    /// The dimensions of each group of the event, the leftmost dimension outermost.
    pub(super) fn groups<'a>(
        &'a self,
        dimension: &'a Dimension,
        event: Event<'a>,
        around: &Surroundings<'a>,
    ) -> Result<Vec<&'a [Value<'a>]>, EvalError> {
        let mut nothing = Owned::Null;
        let mut context = self.context(event, around, &mut nothing);
        let mut groups: Vec<Vec<Value<'a>>> = vec![Vec::new()];
        expand(dimension, &mut context, &mut groups, around.arena())?;
        let arena = around.arena();
        Ok(groups.into_iter().map(|group| arena.slice(group)).collect())
    }
}

fn expand<'a>(
    dimension: &'a Dimension,
    context: &mut temblor_lang::run::Context<'a, '_>,
    groups: &mut Vec<Vec<Value<'a>>>,
    arena: &'a Arena,
) -> Result<(), EvalError> {
    match dimension {
        Dimension::Value(formula) => {
            let value = formula.eval(context)?;
            groups.iter_mut().for_each(|group| group.push(value));
        }
        Dimension::Each(formula) => {
            let value = formula.eval(context)?;
            let Some(items) = value.as_array(arena) else {
                let kind = value.kind().name();
                let message = format!("`each` wants an array, got {kind}");
                return Err(EvalError::new("E0428", message).at(formula.span));
            };
            if groups.len().saturating_mul(items.len()) > MAX_GROUPS_PER_EVENT {
                return Err(EvalError::new(
                    "E0429",
                    format!("the event is in more than {MAX_GROUPS_PER_EVENT} groups"),
                )
                .at(formula.span));
            }
            let with = |group: &Vec<Value<'a>>, item: &Value<'a>| {
                let mut group = group.clone();
                group.push(*item);
                group
            };
            *groups = groups
                .iter()
                .flat_map(|group| items.iter().map(move |item| with(group, item)))
                .collect();
        }
        Dimension::Set(dimensions) => {
            for dimension in dimensions {
                expand(dimension, context, groups, arena)?;
            }
        }
    }
    Ok(())
}
