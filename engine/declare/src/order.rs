//! `order`: which events of a sink reach its peer in the order in which they came.
//!
//! Invariant: what keeps no order may send events at the same time, and loses none.

use crate::connector::Wrong;
use crate::setting::{Setting, Takes};
use crate::settings::Settings;

/// The order of a sink that has several requests under way.
pub const OF_REQUESTS: Setting = Setting::new(
    "order",
    Takes::PerEvent,
    "`none`: requests go at the same time, and events may arrive in another order. `source`: one request at a time, \
     in the order of the input, over retries too. An expression such as `\"key #{event.host}\"`: events with the same \
     value keep their order, others go beside them.",
)
.or("none");

/// The order of a sink that writes one after another, whatever is asked for.
pub const OF_STREAMS: Setting = Setting::new(
    "order",
    Takes::PerEvent,
    "`source`, `none`, or an expression such as `\"key #{event.host}\"`: which events must keep their order. A sink \
     without requests at the same time keeps the order of the input in any case.",
);

/// Which events keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// None has to.
    None,
    /// All do.
    Source,
    /// Those with the same value of this attribute.
    Key(usize),
}

impl Order {
    /// As the setting says; the attribute is found by the rows that the settings were read by.
    ///
    /// # Errors
    /// A word that is no order.
    pub fn of_settings(settings: &Settings, rows: &[Setting]) -> Result<Self, Wrong> {
        let Some(given) = settings.per_event("order") else { return Ok(Self::None) };
        let attributes = rows.iter().filter(|row| row.takes.is_per_event());
        let at = attributes.take_while(|row| row.name != "order").count();
        match given.constant() {
            Some("none") => Ok(Self::None),
            Some("source") => Ok(Self::Source),
            Some(word) => {
                let message = format!("`order` cannot be `{word}`");
                let help = "write \"source\", \"none\", or what names the events that belong together, such as \
                            \"key #{event.host}\"";
                Err(Wrong::at("order", message, help))
            }
            None => Ok(Self::Key(at)),
        }
    }
}
