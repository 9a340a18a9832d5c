//! Who sent an event, as connectors tell it in the metadata. What came from no connection came from this host.

use temblor_lang::value::{Arena, Value};

/// The address of what was sent on this host.
const LOCAL_ADDRESS: &str = "127.0.0.1";

/// Who sent a message.
#[derive(Debug)]
pub(crate) struct Sender<'a> {
    /// The address, or the name of this host.
    pub name: &'a str,
    /// The address.
    pub address: &'a str,
    /// Whether a connection over a network brought it.
    pub is_remote: bool,
}

impl<'a> Sender<'a> {
    /// The sender that the metadata of a connector such as `$tcp.peer.host` names.
    pub(crate) fn of(meta: Value<'a>, arena: &'a Arena, local: &'a str) -> Self {
        let address = meta.as_record(arena).and_then(|connectors| {
            connectors.iter().find_map(|(_, connector)| {
                let peer = connector.as_record(arena)?.get("peer")?.as_record(arena)?;
                peer.get("host")?.as_str()
            })
        });
        match address {
            Some(address) => {
                let address = address.strip_prefix("::ffff:").unwrap_or(address);
                Self { name: address, address, is_remote: true }
            }
            None => Self { name: local, address: LOCAL_ADDRESS, is_remote: false },
        }
    }
}

/// The name of this host.
pub(crate) fn local_name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}
