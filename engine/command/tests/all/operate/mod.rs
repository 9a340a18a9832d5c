//! Watching and steering a run: metrics and health, the control socket, shutdown and reload.

mod asking;
mod watching;
mod shutdown;
mod reload;
