//! Bytes that memory moves, by client.

use serde::{Deserialize, Serialize};

use crate::statistics::statistics;

/// Client of memory: the kind of data that a request moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Client {
    /// Input of vertex shading.
    #[default]
    Vertex,
    /// Results of vertex shading: positions and attributes.
    VertexResults,
    /// Stencil and depth buffers.
    Depth,
    /// Colour buffer.
    Colour,
}

statistics! {
    /// Bytes moved by one client.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct Traffic {
        /// Bytes read from the L2.
        pub l2_read_bytes: u64,
        /// Bytes written to the L2.
        pub l2_written_bytes: u64,
        /// Bytes read from DRAM.
        pub dram_read_bytes: u64,
        /// Bytes of the client that were written back to DRAM, whichever client's data replaced them.
        pub dram_written_bytes: u64,
    }
}

impl Traffic {
    /// Bytes read from and written to DRAM.
    pub fn dram_bytes(&self) -> u64 {
        self.dram_read_bytes + self.dram_written_bytes
    }
}

statistics! {
    /// Bytes moved by client.
    #[derive(Copy, Serialize, Deserialize)]
    pub struct TrafficByClient {
        /// Traffic of vertex shading.
        pub vertex: Traffic,
        /// Traffic of the results of vertex shading, which never leave the L2.
        pub vertex_results: Traffic,
        /// Traffic of stencil and depth values.
        pub depth: Traffic,
        /// Traffic of colours.
        pub colour: Traffic,
    }
}

impl TrafficByClient {
    /// Traffic of every client, in the order of [`Client`].
    pub fn clients(&self) -> [&Traffic; 4] {
        [&self.vertex, &self.vertex_results, &self.depth, &self.colour]
    }

    /// Traffic of one client.
    #[inline(always)]
    pub fn of(&mut self, client: Client) -> &mut Traffic {
        match client {
            Client::Vertex => &mut self.vertex,
            Client::VertexResults => &mut self.vertex_results,
            Client::Depth => &mut self.depth,
            Client::Colour => &mut self.colour,
        }
    }
}
