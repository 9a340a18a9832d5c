//! A proxy for TCP that does what networks do on bad days: it delays, stalls, slows, corrupts, cuts and resets.
//!
//! Invariant: what it does to a connection is what it was told last; connections that were broken stay broken.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

/// What a proxy does to what passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Each block comes so much later.
    Delay(Duration),
    /// Nothing passes, and connections stay open.
    Stall,
    /// So many bytes pass in a second, in each direction.
    Slow(usize),
    /// One bit of each block is another.
    Corrupt,
    /// Connections end in the middle of a block, as when a process ends.
    Cut,
    /// Connections are reset, and new ones, too.
    Reset,
}

/// Bytes that are passed on at a time.
const BLOCK_BYTES: usize = 16 << 10;
/// Time between two looks at what is to be done.
const LOOK: Duration = Duration::from_millis(5);

/// A proxy that lives as long as this value.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    fault: Arc<Mutex<Told>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    fault: Fault,
    over: bool,
}

impl Proxy {
    /// A proxy in front of an address.
    pub fn start(target: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let address = listener.local_addr().expect("it has an address");
        let fault = Arc::<Mutex<Told>>::default();
        let (told, target) = (Arc::clone(&fault), target.to_string());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if look(&told).over {
                    return;
                }
                if look(&told).fault == Fault::Reset {
                    reset(&stream);
                    continue;
                }
                let Ok(there) = TcpStream::connect(&target) else { continue };
                join(stream, there, &told);
            }
        });
        Proxy { address, fault }
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// What it does from now on.
    pub fn set(&self, fault: Fault) {
        self.fault.lock().expect("nobody panics with it").fault = fault;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.fault.lock().expect("nobody panics with it").over = true;
        // Wakes the one that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

fn look(told: &Arc<Mutex<Told>>) -> Told {
    *told.lock().expect("nobody panics with it")
}

fn reset(stream: &TcpStream) {
    let _ = set_socket_linger(stream, Some(Duration::ZERO));
}

fn join(here: TcpStream, there: TcpStream, told: &Arc<Mutex<Told>>) {
    for (from, to) in [(&here, &there), (&there, &here)] {
        let (from, to) = (from.try_clone(), to.try_clone());
        let (Ok(from), Ok(to)) = (from, to) else { return };
        let told = Arc::clone(told);
        std::thread::spawn(move || pass(from, to, &told));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, told: &Arc<Mutex<Told>>) {
    let mut block = vec![0; BLOCK_BYTES];
    let _ = from.set_read_timeout(Some(LOOK));
    loop {
        let Told { fault, over } = look(told);
        if over || fault == Fault::Reset {
            reset(&from);
            reset(&to);
            return;
        }
        if fault == Fault::Stall {
            std::thread::sleep(LOOK);
            continue;
        }
        let wanted = match fault {
            Fault::Slow(rate) => (rate / 50).clamp(1, BLOCK_BYTES),
            _ => BLOCK_BYTES,
        };
        let count = match from.read(&mut block[..wanted]) {
            Ok(0) => {
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            Ok(count) => count,
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) =>
            {
                continue;
            }
            Err(_) => {
                let _ = to.shutdown(Shutdown::Both);
                return;
            }
        };
        match fault {
            Fault::Delay(time) => std::thread::sleep(time),
            Fault::Slow(_) => std::thread::sleep(Duration::from_millis(20)),
            Fault::Corrupt => block[count / 2] ^= 0x10,
            Fault::Cut => {
                let _ = to.write_all(&block[..count / 2]);
                let _ = to.shutdown(Shutdown::Both);
                let _ = from.shutdown(Shutdown::Both);
                return;
            }
            Fault::None | Fault::Stall | Fault::Reset => {}
        }
        if to.write_all(&block[..count]).is_err() {
            let _ = from.shutdown(Shutdown::Both);
            return;
        }
    }
}
