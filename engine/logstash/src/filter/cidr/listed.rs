//! The networks of a file, which is looked at from the first event on: a configuration that is only checked
//! watches nothing. A file that cannot be read any more changes nothing.

use super::Network;
use std::path::Path;
use std::sync::{Arc, Once, PoisonError, RwLock};
use std::time::Duration;
use temblor_pipeline::lookup::{Reloaded, Watch};
use temblor_runtime::console::warn;

/// Larger files are refused.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A file of networks.
#[derive(Debug)]
pub(super) struct Listed {
    path: String,
    /// What stands between two networks.
    separator: String,
    every: Duration,
    /// The file before it was read.
    watch: Watch,
    networks: RwLock<Arc<Vec<Network>>>,
    first_event: Once,
}

impl Listed {
    /// Reads the file. The error is a sentence about it.
    pub(super) fn open(
        path: &str,
        separator: String,
        every: Duration,
    ) -> Result<Arc<Self>, String> {
        let watch = Watch::of(Path::new(path));
        let networks = RwLock::new(Arc::new(read(path, &separator)?));
        let path = path.to_string();
        Ok(Arc::new(Self { path, separator, every, watch, networks, first_event: Once::new() }))
    }

    /// The networks as they were read last.
    pub(super) fn newest(self: &Arc<Self>) -> Arc<Vec<Network>> {
        self.first_event.call_once(|| {
            if let Err(reason) = self.watch.start(self, self.every) {
                warn(&format!("{} is not read again: {reason}", self.path));
            }
        });
        self.networks.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn read(path: &str, separator: &str) -> Result<Vec<Network>, String> {
    let failed = |error: std::io::Error| format!("{path}: {error}");
    if std::fs::metadata(path).map_err(failed)?.len() > FILE_BYTES_MAX {
        return Err(format!("{path}: larger than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::fs::read_to_string(path).map_err(failed)?;
    // An empty separator separates nothing.
    let parts: Vec<&str> = match separator {
        "" => vec![&text],
        separator => text.split(separator).collect(),
    };
    Ok(parts.into_iter().flat_map(|part| Network::all(part.trim())).collect())
}

impl Reloaded for Listed {
    fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    fn called(&self) -> &'static str {
        "the networks of `cidr`"
    }

    fn reload(&self) -> Result<(), String> {
        let networks = Arc::new(read(&self.path, &self.separator)?);
        *self.networks.write().unwrap_or_else(PoisonError::into_inner) = networks;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_again_when_it_has_changed() {
        let name = format!("temblor-networks-{}.txt", std::process::id());
        let path = std::env::temp_dir().join(name).display().to_string();
        std::fs::write(&path, "10.0.0.0/8\nno network\n").unwrap();
        let listed = Listed::open(&path, "\n".to_string(), Duration::from_millis(10)).unwrap();
        assert_eq!(listed.newest().len(), 1);
        std::fs::write(&path, "10.0.0.0/8\n192.0.2.0/24\n::1\n").unwrap();
        let start = std::time::Instant::now();
        while listed.newest().len() != 3 {
            assert!(start.elapsed() < Duration::from_secs(20), "the change was never seen");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::fs::remove_file(&path).unwrap();
        assert!(listed.reload().unwrap_err().contains("temblor-networks"));
        assert_eq!(listed.newest().len(), 3);
    }
}
