//! Small files of every packed format that is read, which fuzzing starts from.

use std::collections::BTreeMap;

use crate::lcc;
use crate::packed_hostile::small_files;
use crate::packed_values::{small_ksplat, small_spz};
use crate::support::packing::{Packed, Part, packed_zip};
use crate::usd_stages::fixture;

/// A streamed SOG in a zip: two levels, each the files of `sog`.
fn streamed(sog: &[Part]) -> Vec<Part> {
    let leaf = serde_json::json!({"0": {"file": 0, "offset": 0, "count": 40},
        "1": {"file": 1, "offset": 0, "count": 40}});
    let meta = serde_json::json!({"lodLevels": 2, "counts": [40, 40],
        "filenames": ["a/meta.json", "b/meta.json"],
        "tree": {"bound": {"min": [-9, -9, -9], "max": [9, 9, 9]}, "lods": leaf}});
    let mut parts = vec![("lod-meta.json".to_owned(), meta.to_string().into_bytes())];
    for folder in ["a", "b"] {
        let inside = |(name, bytes): &Part| (format!("{folder}/{name}"), bytes.clone());
        parts.extend(sog.iter().map(inside));
    }
    parts
}

/// Text of a PLY with colours in place of coefficients, in doubles.
const COLOURED_PLY: &str = "ply\nformat ascii 1.0\nelement vertex 2\nproperty double x\nproperty double y\n\
    property double z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty float opacity\n\
    property float scale_0\nproperty float scale_1\nproperty float scale_2\nproperty float rot_0\n\
    property float rot_1\nproperty float rot_2\nproperty float rot_3\nelement extra 1\n\
    property list uchar int numbers\nend_header\n1e6 2 3 255 0 128 0.5 -3 -3 -inf 1 0 0 0\n\
    1000001.25 2 3 1 2 3 -1 -4 -5 -6 0.5 0.5 0.5 0.5\n3 1 2 3\n";

/// Names and bytes of small files of every format of splats that is read.
pub(crate) fn seeds() -> BTreeMap<String, Vec<u8>> {
    let mut seeds = BTreeMap::from([("coloured.ply".to_owned(), COLOURED_PLY.into())]);
    for (name, bytes) in small_files() {
        if name.ends_with(".sog") {
            let zip = Packed::open(&bytes).unwrap();
            seeds.insert("streamed.ssog".to_owned(), (zip.pack)(&streamed(&zip.parts)));
        }
        seeds.insert(name, bytes);
    }
    for name in ["placed.usda", "placed.usdc", "package.usdz"] {
        seeds.insert(name.to_owned(), std::fs::read(fixture(name)).unwrap());
    }
    for (name, folder) in
        [("quality.lcc", "quality"), ("portable.lcc", "portable"), ("tree.lcc2", "tree")]
    {
        seeds.insert(name.to_owned(), packed_zip(&lcc::files(folder)));
    }
    for version in [1, 2] {
        let extension = (version == 2).then_some(6);
        seeds.insert(format!("version-{version}.spz"), small_spz(version, extension));
    }
    for level in 0..3 {
        seeds.insert(format!("level-{level}.ksplat"), small_ksplat(level));
    }
    seeds
}
