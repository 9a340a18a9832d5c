//! What connections hold that say nothing.

use super::server::{Server, free_port};
use super::{Options, Row};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// Opens connections and looks at the memory of the program.
pub(super) fn connections(options: &Options, folder: &Path, row: Row<'_>) -> Result<(), String> {
    let case = format!("{} idle connections", options.idle);
    for kind in ["tcp", "http"] {
        let port = free_port()?;
        let settings = match kind {
            "http" => " with header_timeout = \"10m\" end",
            _ => "",
        };
        let program = format!("source in from {kind} \"127.0.0.1:{port}\"{settings}; in |> out");
        let server = Server::temblor(folder, &program, Some(port))?;
        let before = server.resident_bytes();
        let mut held = Vec::with_capacity(options.idle);
        for _ in 0..options.idle {
            let stream = TcpStream::connect(("127.0.0.1", port));
            let mut stream = stream.map_err(|error| format!("{error}: raise `ulimit -n`"))?;
            if kind == "http" {
                // One request, so that the connection is one that is kept, and not one that has never spoken.
                let request = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
                stream.write_all(request).map_err(|error| error.to_string())?;
            }
            held.push(stream);
        }
        std::thread::sleep(Duration::from_secs(3));
        let after = server.resident_bytes();
        let each = after.saturating_sub(before) / options.idle.max(1) as u64;
        let figure = format!("{:.0} MiB in all, {each} bytes each", after as f64 / 1048576.0);
        row(&case, &format!("temblor, {kind}"), figure);
        drop(held);
        server.stop()?;
    }
    Ok(())
}
