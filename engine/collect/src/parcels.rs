//! What waits for a sink, taken together: several small parcels go out as one.
//!
//! Invariant: a lone parcel is never held back, and each parcel is confirmed or has failed as a whole but for
//! the events that were refused for good.

use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_wire::retry::{self, Retry};

/// Parcels that go out together.
pub(crate) struct Parcels {
    parcels: Vec<Parcel>,
    refused: Vec<Vec<Refusal>>,
}

impl Parcels {
    /// Takes the next parcel, waiting for it, and those behind it that are there, up to about so many events
    /// and bytes. `None` at the end.
    pub(crate) async fn take(outlet: &Outlet, events_max: u64, bytes_max: usize) -> Option<Self> {
        let first = outlet.take().await?;
        let (mut events, mut bytes) = (first.count(), first.bytes().len());
        let mut parcels = vec![first];
        while events < events_max && bytes < bytes_max {
            let Some(next) = outlet.take_now() else { break };
            events += next.count();
            bytes += next.bytes().len();
            parcels.push(next);
        }
        let refused = parcels.iter().map(|_| Vec::new()).collect();
        Some(Self { parcels, refused })
    }

    /// Every event, by the index of its parcel and its own.
    pub(crate) fn indices(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let parcels = self.parcels.iter().enumerate();
        parcels.flat_map(|(parcel, one)| (0..one.events().len()).map(move |event| (parcel, event)))
    }

    /// An event without its line end.
    #[must_use]
    pub(crate) fn event(&self, (parcel, event): (usize, usize)) -> &[u8] {
        self.parcels[parcel].event(event).trim_ascii_end()
    }

    /// An attribute of an event.
    #[must_use]
    pub(crate) fn attribute(
        &self,
        (parcel, event): (usize, usize),
        attribute: usize,
    ) -> Option<&str> {
        self.parcels[parcel].attribute(event, attribute)
    }

    /// An event is refused for good.
    pub(crate) fn refuse(&mut self, (parcel, event): (usize, usize), reason: impl Into<String>) {
        let refusal = Refusal { event, reason: reason.into(), details: String::new() };
        self.refused[parcel].push(refusal);
    }

    /// The other side has all but what was refused.
    pub(crate) async fn confirm(self, errors: &Feedback) {
        for (parcel, refused) in self.parcels.into_iter().zip(self.refused) {
            parcel.confirm_except(&refused, errors);
        }
    }

    /// They are given up.
    pub(crate) fn fail(self, error: &Error) {
        self.parcels.into_iter().for_each(|parcel| parcel.fail(error.clone()));
    }
}

/// Says that an attempt failed, and waits until the next. False when there is to be none: then `retry`
/// begins anew, for the next parcels.
pub(crate) async fn wait(retry: &mut Retry, desk: &Desk, error: &Error) -> bool {
    match retry.fail(retry::chance()) {
        Some(wait) => {
            desk.warn_attempt(error);
            tokio::time::sleep(wait).await;
            true
        }
        None => {
            retry.succeed();
            false
        }
    }
}
