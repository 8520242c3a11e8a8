//! Maps of runs of the emulated pipeline.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::camera_request::CameraRequest;
use super::message::ProbeRequest;
use quadrille_base::image::Frame;
use quadrille_gpu::variant::Variant;
use quadrille_suite::report::maps::PixelMap;

/// The input of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunKey {
    pub(crate) generation: u32,
    pub(crate) cam: CameraRequest,
    pub(crate) size: [u32; 2],
    pub(crate) variant: Variant,
}

/// The maps of a run.
#[derive(Debug)]
pub(crate) struct RunMaps {
    pub(crate) cycles: u64,
    /// The maps that the variant keeps, with their counts per pixel.
    pub(crate) maps: Vec<(PixelMap, Vec<u32>)>,
}

/// A map that a page shows.
#[derive(Debug)]
pub(crate) struct ShownMap {
    pub(crate) frame: Frame,
    pub(crate) key: RunKey,
    pub(crate) run: Arc<RunMaps>,
}

impl ShownMap {
    /// The counts of all maps of the run at a pixel, if it belongs to the same picture.
    pub(crate) fn values(&self, probe: &ProbeRequest) -> Map<String, Value> {
        if self.key.cam != probe.cam || self.key.size != [probe.w, probe.h] {
            return Map::new();
        }
        let pixel = probe.y as usize * probe.w as usize + probe.x as usize;
        let values = self.run.maps.iter();
        let values = values.map(|(map, counts)| (map.name.to_owned(), counts[pixel].into()));
        values.collect()
    }
}
