//! Requests to DRAM as a trace that Ramulator 2 replays.
//!
//! A line of its front end `LoadStoreTrace` is `LD` or `ST`, a blank, and an address; it has neither cycles nor comments.
//! The cycles therefore stand in a second file, a table with a row for each line of the trace.

use std::io::{self, Write};

use quadrille_base::math::index;
use quadrille_machine::{Client, DramRequest, SECTOR_BYTES};

/// Address of a sector, bytes of the request in it, and the request.
fn sectors(requests: &[DramRequest]) -> impl Iterator<Item = (u64, u64, &DramRequest)> {
    requests.iter().flat_map(|request| {
        let end = request.address + request.bytes;
        let first = request.address / SECTOR_BYTES * SECTOR_BYTES;
        (first..end).step_by(index(SECTOR_BYTES)).map(move |sector| {
            (sector, end.min(sector + SECTOR_BYTES) - request.address.max(sector), request)
        })
    })
}

/// Writes the trace: a line for each sector of 32 bytes of each request, in the order of the requests.
pub fn write(out: &mut dyn Write, requests: &[DramRequest]) -> io::Result<()> {
    for (sector, _, request) in sectors(requests) {
        let operation = if request.is_write { "ST" } else { "LD" };
        writeln!(out, "{operation} {sector:#x}")?;
    }
    Ok(())
}

/// Writes the cycle of the draw, the bytes and the client of each line of the trace, below a line of titles.
pub fn write_cycles(out: &mut dyn Write, requests: &[DramRequest]) -> io::Result<()> {
    writeln!(out, "cycle,bytes,client")?;
    for (_, bytes, request) in sectors(requests) {
        let client = match request.client {
            Client::Vertex => "vertex",
            Client::VertexResults => "vertex_results",
            Client::Depth => "depth",
            Client::Colour => "colour",
        };
        writeln!(out, "{},{bytes},{client}", request.at)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes 40 to 99 lie in the sectors at 32, 64 and 96.
    #[test]
    fn a_request_is_a_line_for_each_of_its_sectors() {
        let request =
            DramRequest { at: 7, address: 40, bytes: 60, is_write: false, client: Client::Vertex };
        let write_back = DramRequest {
            at: 9,
            address: 0x100,
            bytes: 32,
            is_write: true,
            client: Client::Colour,
        };
        let requests = [request, write_back];
        let (mut trace, mut cycles) = (Vec::new(), Vec::new());
        write(&mut trace, &requests).unwrap();
        write_cycles(&mut cycles, &requests).unwrap();
        assert_eq!(trace, b"LD 0x20\nLD 0x40\nLD 0x60\nST 0x100\n");
        let expected = "cycle,bytes,client\n7,24,vertex\n7,32,vertex\n7,4,vertex\n9,32,colour\n";
        assert_eq!(String::from_utf8(cycles).unwrap(), expected);
    }
}
