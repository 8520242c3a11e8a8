//! The server as pages and hostile clients meet it, in process, on a port of the system's choice.

mod admission;
mod client;
mod hostile;
mod maps;
mod pictures;
mod reload;
