//! Measurements on hardware, and the emulator's predictions of the same quantities.
//!
//! The file is CSV with a header. A row measures a kernel of the software renderer in a view of a scene or, without a
//! scene and view, a rate of the hardware, whose width and height may be empty:
//!
//! ```text
//! item,scene,view,width,height,value,unit,device
//! raster,truck,view_00,980,545,0.373,ms,NVIDIA H200
//! blend-rgba16f,,,,,7.02,Gpixel/s,NVIDIA H200
//! ```

use std::path::Path;

use serde::Deserialize;

use super::mesh_suite::MeshSuite;
use super::plan::Plan;
use super::program::Program;
use super::rows::MethodRow;
use super::suite_file::Suite;
use super::{Configuration, JobKey};
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;
use quadrille_base::words::nearest;
use quadrille_gpu::compute::stream::KernelName;
use quadrille_gpu::config::Config;
use quadrille_microbench::{RateDraw, WarpDraw};
use quadrille_scene::cameras::PictureSize;

/// Method that predicts the kernels of views: tile lists by square, as in the reference renderer.
pub const KERNELS_METHOD: &str = "compute-aabb";

/// Physical quantity of a measurement, with its SI unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Duration in seconds.
    Time,
    /// Number of items.
    Count,
    /// Pixels per second.
    Pixels,
    /// Rectangles per second.
    Rectangles,
    /// Bytes per second.
    Bytes,
}

impl Quantity {
    /// Whether the quantity is a rate of draws, which is compared relative to another rate.
    pub fn is_of_draws(self) -> bool {
        matches!(self, Self::Pixels | Self::Rectangles)
    }

    /// Unit in tables and charts, and its factor to SI units.
    pub fn unit(self) -> (&'static str, f64) {
        match self {
            Self::Time => ("us", 1e-6),
            Self::Count => ("", 1.0),
            Self::Pixels => ("Gpixel/s", 1e9),
            Self::Rectangles => ("Mrectangle/s", 1e6),
            Self::Bytes => ("GB/s", 1e9),
        }
    }
}

/// Units that files may use: name, quantity, and factor to SI units.
const UNITS: [(&str, Quantity, f64); 11] = [
    ("s", Quantity::Time, 1.0),
    ("ms", Quantity::Time, 1e-3),
    ("us", Quantity::Time, 1e-6),
    ("ns", Quantity::Time, 1e-9),
    ("count", Quantity::Count, 1.0),
    ("pixel/s", Quantity::Pixels, 1.0),
    ("Mpixel/s", Quantity::Pixels, 1e6),
    ("Gpixel/s", Quantity::Pixels, 1e9),
    ("rectangle/s", Quantity::Rectangles, 1.0),
    ("Mrectangle/s", Quantity::Rectangles, 1e6),
    ("GB/s", Quantity::Bytes, 1e9),
];

/// Counts of a view.
const COUNTS: [&str; 2] = ["pairs", "fragments"];
/// Sum of the times of all kernels.
const FRAME: &str = "frame";
/// Rates of memory with their quantities.
const MEMORY: [(&str, Quantity); 3] =
    [("copy", Quantity::Bytes), ("l2-latency", Quantity::Time), ("dram-latency", Quantity::Time)];
/// Rates that `benches/hardware` measures and that have no model.
const UNMODELLED: [&str; 4] = ["write-rgba8", "write-rgba16f", "write-rgba32f", "stencil-write"];
/// Start of the names of further items without a model.
const OTHER: &str = "other-";

/// Quantities that the unit of an item may measure: of an item without a model any, of an unknown one `None`.
fn quantities(item: &str, has_view: bool) -> Option<Vec<Quantity>> {
    if item.starts_with(OTHER) || (!has_view && UNMODELLED.contains(&item)) {
        return Some(Vec::new());
    }
    let quantity = if has_view {
        let is_kernel = item == FRAME || KernelName::ALL.iter().any(|k| k.name() == item);
        let is_count = COUNTS.contains(&item).then_some(Quantity::Count);
        is_count.or(is_kernel.then_some(Quantity::Time))
    } else {
        let of_memory = MEMORY.iter().find(|(name, _)| *name == item);
        let of_draw = |draw: RateDraw| match draw.is_of_pixels() {
            true => Quantity::Pixels,
            false => Quantity::Rectangles,
        };
        let warps = WarpDraw::named(item).map(|_| Quantity::Count);
        let of_draws = warps.or_else(|| RateDraw::named(item).map(of_draw));
        of_memory.map(|(_, quantity)| *quantity).or(of_draws)
    };
    quantity.map(|quantity| vec![quantity])
}

/// The items that a row may name, beginning with the one nearest to `item`.
fn known_items(item: &str, has_view: bool) -> String {
    let (noun, names) = if has_view {
        let kernels = KernelName::ALL.iter().map(|kernel| kernel.name());
        let names = kernels.chain([FRAME]).chain(COUNTS);
        ("an item of a view", names.map(str::to_owned).collect::<Vec<_>>())
    } else {
        let others = MEMORY.iter().map(|(name, _)| *name).chain(UNMODELLED);
        let draws = RateDraw::names().into_iter().chain(WarpDraw::names());
        let names = draws.chain(others.map(str::to_owned)).collect();
        ("a rate", names)
    };
    match nearest(item, names.iter().map(String::as_str)) {
        Some(name) => format!("{noun} such as {name}, or {OTHER}NAME for one without a model"),
        None if has_view => {
            format!("{noun} ({}), or {OTHER}NAME for one without a model", names.join(", "))
        }
        None => format!("{noun} such as {}, or {OTHER}NAME for one without a model", names[0]),
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct RawMeasurement {
    item: String,
    #[serde(default)]
    scene: String,
    #[serde(default)]
    view: String,
    width: Option<u32>,
    height: Option<u32>,
    value: f64,
    unit: String,
    #[serde(default)]
    device: String,
}

/// A measured number.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Name of the kernel, the count or the rate.
    pub item: String,
    /// Scene of the suite and name of the view; `None` for a rate of the hardware.
    pub view: Option<[String; 2]>,
    /// Width and height of the picture in pixels; zeros for a rate without them.
    pub size: [u32; 2],
    /// Measured number in SI units.
    pub value: f64,
    /// Quantity and thereby SI unit of `value`.
    pub quantity: Quantity,
    /// Name of the hardware.
    pub device: String,
    /// Line of the file, from 1.
    pub line: u64,
}

impl Measurement {
    /// Reads the text of a file of measured numbers at `path`.
    ///
    /// # Errors
    /// [`Error::Malformed`] naming the line and the column that does not fit.
    pub fn read_all(text: &str, path: &Path) -> Result<Vec<Self>> {
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header = "columns item, scene, view, width, height, value and unit";
        let headers = reader.headers().cloned();
        let headers = headers.map_err(|e| Error::malformed(path, "line 1", header, e))?;
        let mut all = Vec::new();
        for record in reader.records() {
            let at = |line: Option<&csv::Position>| {
                format!("line {}", line.map_or(0, csv::Position::line))
            };
            let record = record.map_err(|e| Error::malformed(path, at(e.position()), header, e))?;
            let place = at(record.position());
            let raw: RawMeasurement = record
                .deserialize(Some(&headers))
                .map_err(|e| Error::malformed(path, place.as_str(), header, e))?;
            let line = record.position().map_or(0, csv::Position::line);
            all.push(Self::check(raw, line, &|expected: &str, found: &str| {
                Error::malformed(path, place.as_str(), expected, found)
            })?);
        }
        Error::malformed_if(all.is_empty(), path, "line 2", "a measured number", "none")?;
        Ok(all)
    }

    fn check(
        raw: RawMeasurement,
        line: u64,
        malformed: &dyn Fn(&str, &str) -> Error,
    ) -> Result<Self> {
        let unit = UNITS.iter().find(|(name, ..)| *name == raw.unit);
        let Some((_, quantity, factor)) = unit else {
            let names = UNITS.map(|(name, ..)| name).join(", ");
            return Err(malformed(&format!("one of the units {names}"), &raw.unit));
        };
        if !(raw.value > 0.0 && raw.value.is_finite()) {
            return Err(malformed("a positive number in the column value", &raw.value.to_string()));
        }
        let size = [raw.width, raw.height];
        if size.contains(&Some(0)) {
            let found = size.map(Option::unwrap_or_default).map(|n| n.to_string()).join("x");
            return Err(malformed("a size of at least 1x1 pixels", &found));
        }
        let view = match (raw.scene.is_empty(), raw.view.is_empty()) {
            (true, true) => None,
            (false, false) => Some([raw.scene, raw.view]),
            _ => {
                return Err(malformed("both a scene and a view, or neither", "one of them"));
            }
        };
        if view.is_some() && size.contains(&None) {
            let expected = "a width and a height, which only rates (no scene, no view) may lack";
            return Err(malformed(expected, "none"));
        }
        match quantities(&raw.item, view.is_some()) {
            None => return Err(malformed(&known_items(&raw.item, view.is_some()), &raw.item)),
            Some(known) if !known.is_empty() && !known.contains(quantity) => {
                let units = UNITS.iter().filter(|(_, of, _)| known.contains(of));
                let names: Vec<&str> = units.map(|(name, ..)| *name).collect();
                let expected = format!("a unit of {}: {}", raw.item, names.join(", "));
                return Err(malformed(&expected, &raw.unit));
            }
            Some(_) => {}
        }
        Ok(Self {
            item: raw.item,
            view,
            size: size.map(Option::unwrap_or_default),
            value: raw.value * factor,
            quantity: *quantity,
            device: raw.device,
            line,
        })
    }

    /// Predicts a rate of the hardware in SI units; `None` for an item without a model.
    pub fn modelled_rate(&self, config: &Config) -> Option<f64> {
        let hz = config.gpu.clock_mhz * 1e6;
        match (self.quantity, &*self.item) {
            (Quantity::Bytes, "copy") => {
                Some(config.dram.gb_per_s * 1e9 * config.kernels.bandwidth_share)
            }
            (Quantity::Time, "l2-latency") => Some(config.l2.latency_ns * 1e-9),
            (Quantity::Time, "dram-latency") => {
                Some((config.l2.latency_ns + config.dram.latency_ns) * 1e-9)
            }
            (Quantity::Count, item) => WarpDraw::named(item)?.warps(config),
            (_, item) => Some(RateDraw::named(item)?.rate(config)? * hz),
        }
    }

    /// Predicts an item of a view in SI units, from the result of [`KERNELS_METHOD`] at `clock_mhz`; `None` for an item
    /// without a model.
    pub fn modelled_by(&self, row: &MethodRow, clock_mhz: f64) -> Option<f64> {
        match (self.quantity, &*self.item) {
            (Quantity::Count, "pairs") => Some(row.counts.compute()?.pairs as f64),
            (Quantity::Count, "fragments") => Some(row.counts.fragments_blended() as f64),
            (Quantity::Time, item) => {
                let kernels = row.counts.compute()?.kernels.iter();
                let counted = kernels.filter(|k| item == "frame" || k.name.name() == item);
                let cycles = counted.map(|kernel| kernel.cycles).reduce(|a, b| a + b)?;
                Some(cycles as f64 / (clock_mhz * 1e6))
            }
            _ => None,
        }
    }

    /// Fields that decide the time of a kernel of [`KERNELS_METHOD`]; empty for other items.
    pub fn deciding_fields(&self, row: &MethodRow) -> String {
        let kernels = row.counts.compute().into_iter().flat_map(|counts| &counts.kernels);
        let mut named = kernels.filter(|kernel| kernel.name.name() == self.item);
        named.next().map_or_else(String::new, |kernel| kernel.deciding_fields().join(", "))
    }

    /// Whether a job draws the scene, view and size of this measurement.
    pub fn is_of(&self, key: &JobKey) -> bool {
        let [width, height] = self.size;
        let view = &key.view;
        self.view.as_ref().is_some_and(|[scene, name]| *scene == key.scene && *name == view.name)
            && (width, height) == (view.width, view.height)
    }
}

impl Suite {
    /// Names of the scenes.
    pub fn scenes(&self) -> impl Iterator<Item = &str> {
        self.scenes.iter().map(|entry| &*entry.name)
    }

    /// Plans all views of a scene of the suite, with pictures of this size, in one configuration.
    pub fn plan_scene(
        &self,
        scene: &str,
        [width, height]: [u32; 2],
        configuration: &Configuration,
        program: Program,
        task: &Task,
    ) -> Result<Plan> {
        let Some(entry) = self.scenes.iter().find(|entry| entry.name == scene) else {
            let names: Vec<&str> = self.scenes().collect();
            return Err(Error::unknown_name(
                "scene",
                format!("one of {}", names.join(", ")),
                scene,
                names,
            ));
        };
        let size = PictureSize { width: Some(width), height: Some(height), scale: None };
        let (scenes, meshes) = (vec![entry.sized(size)], MeshSuite::default());
        let suite = Self { scenes, meshes, ..self.clone() };
        suite.plan(std::slice::from_ref(configuration), program, task, &mut |_| {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "item,scene,view,width,height,value,unit,device\n";

    fn read(rows: &str) -> Result<Vec<Measurement>> {
        Measurement::read_all(&format!("{HEADER}{rows}"), Path::new("gpu.csv"))
    }

    #[test]
    fn numbers_are_read_in_si_units() {
        let all =
            read("raster,truck,v,8,4,0.25,ms,A\nblend-rgba8,,,,,2,Gpixel/s,\"B, C\"\n").unwrap();
        assert_eq!(all[0].view, Some(["truck".to_owned(), "v".to_owned()]));
        assert_eq!((all[0].value, all[0].quantity), (0.25e-3, Quantity::Time));
        assert_eq!((all[1].value, all[1].quantity), (2e9, Quantity::Pixels));
        assert_eq!((all[1].line, &*all[1].device, &all[1].view), (3, "B, C", &None));
    }

    #[test]
    fn rows_that_do_not_fit_are_named() {
        for (row, place, expected) in [
            ("raster,truck,v,8,4,1,hours,A", "line 2", "one of the units"),
            ("raster,truck,v,8,4,0,ms,A", "line 2", "a positive number"),
            ("raster,truck,v,8,4,nan,ms,A", "line 2", "a positive number"),
            ("raster,truck,,8,4,1,ms,A", "line 2", "both a scene and a view"),
            ("raster,truck,v,0,4,1,ms,A", "line 2", "a size"),
            ("raster,truck,v,-1,4,1,ms,A", "line 2", "columns item"),
            ("raster,truck,v,,4,1,ms,A", "line 2", "a width and a height"),
            ("blend-rgba16,,,,,1,Gpixel/s,A", "line 2", "such as blend-rgba16f, or other-NAME"),
            ("stencil-kil,,,,,1,Gpixel/s,A", "line 2", "such as stencil-kill,"),
            ("rastr,truck,v,8,4,1,ms,A", "line 2", "such as raster,"),
            ("warps,truck,v,8,4,1,count,A", "line 2", "(preprocess, scan,"),
            ("blend-rgba16f,,,,,1,ms,A", "line 2", "a unit of blend-rgba16f: pixel/s, Mpixel/s"),
            ("raster,truck,v,8,4,1,ms,A\nraster", "line 3", "columns item"),
            ("", "line 2", "a measured number"),
        ] {
            let error = read(row).unwrap_err().to_string();
            assert!(error.starts_with(&format!("gpu.csv: {place}")), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        let error = Measurement::read_all("item,value\nraster,1\n", Path::new("gpu.csv"));
        assert!(error.unwrap_err().to_string().contains("columns item"));
    }

    /// A copy reads and writes at the share of DRAM's rate that streams reach: 0.9 of 102.4 GB/s.
    #[test]
    fn rates_are_of_the_configuration() {
        let config = Config::default();
        let all =
            read("copy,,,,,1,GB/s,A\nwrite-rgba8,,,1,1,1,Gpixel/s,A\nother-clears,,,,,1,ms,A\n");
        let modelled: Vec<_> = all.unwrap().iter().map(|one| one.modelled_rate(&config)).collect();
        assert!((modelled[0].unwrap() - 0.9 * 102.4e9).abs() < 1.0);
        assert_eq!(modelled[1..], [None, None]);
    }
}
