//! Tests of the trees of streamed SOGs.

use std::collections::BTreeMap;

use super::*;
use crate::slices::SplatSlices;

fn table(means: &[[f32; 3]]) -> SplatTable {
    let rows = means.len();
    let slices = SplatSlices {
        means,
        scales: &vec![[-3.0; 3]; rows],
        rotations: &vec![[1.0, 0.0, 0.0, 0.0]; rows],
        opacities: &vec![0.0; rows],
        sh: &vec![[0.0; 3]; rows],
    };
    SplatTable::from_raw_slices(&slices).unwrap()
}

fn described(files: &[(String, Vec<u8>)], name: &str) -> Value {
    let file = files.iter().find(|(own, _)| own == name).unwrap();
    serde_json::from_slice(&file.1).unwrap()
}

fn collect<'a>(node: &'a Value, leaves: &mut Vec<&'a Value>) {
    match node["children"].as_array() {
        Some(children) => children.iter().for_each(|child| collect(child, leaves)),
        None => leaves.push(node),
    }
}

/// Writes 1000 splats on a line in leaves of at most 64 and files of at most 200. In each file, the leaves of its level
/// follow each other without gaps and cover all splats.
#[test]
fn files_hold_their_leaves_one_behind_the_other() {
    let at = |i: u16, step: f32| [f32::from(i) * step, 0.0, 1.0];
    let levels = [(1000, 1.0), (250, 4.0)].map(|(count, step)| {
        let line: Vec<_> = (0..count).map(|i| at(i, step)).collect();
        table(&line)
    });
    let sizes = Sizes { leaf: 64, file: 200 };
    let path = Path::new("a.ssog");
    let files =
        write_streamed_files(&[&levels[0], &levels[1]], &sizes, path, &Task::NEVER).unwrap();
    let meta = described(&files, LOD_META);
    let mut leaves = Vec::new();
    collect(&meta["tree"], &mut leaves);
    assert_eq!(leaves.len(), 16);
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    for level in ["0", "1"] {
        for leaf in &leaves {
            let number = |name: &str| leaf["lods"][level][name].as_u64().unwrap();
            let end = ends.entry(number("file")).or_default();
            assert_eq!(number("offset"), *end);
            *end += number("count");
        }
    }
    let names = meta["filenames"].as_array().unwrap();
    assert_eq!((names.len(), ends.len()), (8, 8));
    for (file, end) in ends {
        let name = names[usize::try_from(file).unwrap()].as_str().unwrap();
        assert_eq!(described(&files, name)["count"], end, "{name}");
        assert!(end <= 200);
    }
}
