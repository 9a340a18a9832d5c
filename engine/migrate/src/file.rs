//! Files of configurations as text. Bytes that are no UTF-8 are shown as U+FFFD: a name in another encoding must not
//! hide the rest of a file.

use std::io::Read;
use std::path::Path;

/// Bytes of one file, at the most.
pub(crate) const FILE_BYTES_MAX: u64 = 16 << 20;

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it has more than {FILE_BYTES_MAX} bytes"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
