//! What keyed operators remember. Everything here has a bound, finds its entries by a 128-bit hash
//! in constant time, and never looks at all entries because of one event.

mod kept;
mod queue;
mod recency;
mod saving;
mod table;

pub use kept::{Kept, footprint};
pub use queue::KeptQueue;
pub use recency::{Recency, Seen};
pub use saving::{Reader, Writer};
pub use table::Table;
