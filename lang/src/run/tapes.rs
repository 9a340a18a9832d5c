//! Containers on the tape that a program looks into again and again. To find a field or an element
//! there takes a walk over those before it, so that the third look puts all of them in reach. Tapes
//! stay where they are while a program runs, so that their places stand for them.

use crate::value::{Arena, Lazy, Value};

/// Looks into one container that walk it.
const WALKS_MAX: u32 = 2;
/// Containers with fewer elements or fields are walked every time.
const SIZE_MIN: usize = 32;
/// Containers that are remembered.
const REMEMBERED_MAX: usize = 4;

/// The containers that were looked into last.
#[derive(Debug, Default)]
pub(crate) struct Tapes<'a> {
    seen: Vec<Seen<'a>>,
    next: usize,
}

#[derive(Debug)]
struct Seen<'a> {
    address: usize,
    walks: u32,
    opened: Option<Value<'a>>,
}

impl<'a> Tapes<'a> {
    /// The value itself, or the same with its elements in reach, for a look at one of them.
    #[inline]
    pub(crate) fn near(&mut self, value: Value<'a>, arena: &'a Arena) -> Value<'a> {
        match value {
            Value::Lazy(lazy) if lazy.raw_len() >= SIZE_MIN => self.walked(lazy, arena),
            value => value,
        }
    }

    #[cold]
    fn walked(&mut self, lazy: Lazy<'a>, arena: &'a Arena) -> Value<'a> {
        let seen = self.seen(lazy);
        if let Some(opened) = seen.opened {
            return opened;
        }
        if seen.walks < WALKS_MAX {
            seen.walks += 1;
            arena.step(lazy.raw_len());
            return Value::Lazy(lazy);
        }
        *seen.opened.insert(open(lazy, arena))
    }

    /// The container with its elements in reach, for a walk over all of them.
    pub(crate) fn opened(&mut self, value: Value<'a>, arena: &'a Arena) -> Value<'a> {
        match value {
            Value::Lazy(lazy) => *self.seen(lazy).opened.get_or_insert_with(|| open(lazy, arena)),
            value => value,
        }
    }

    fn seen(&mut self, lazy: Lazy<'a>) -> &mut Seen<'a> {
        let address = lazy.address();
        let at = match self.seen.iter().position(|one| one.address == address) {
            Some(at) => at,
            None => {
                let seen = Seen { address, walks: 0, opened: None };
                let at = self.next % REMEMBERED_MAX;
                self.next += 1;
                match self.seen.get_mut(at) {
                    Some(oldest) => *oldest = seen,
                    None => self.seen.push(seen),
                }
                at
            }
        };
        &mut self.seen[at]
    }
}

fn open<'a>(lazy: Lazy<'a>, arena: &'a Arena) -> Value<'a> {
    if lazy.is_record() {
        Value::Record(lazy.unfold_record(arena))
    } else {
        Value::Array(lazy.unfold_array(arena))
    }
}
