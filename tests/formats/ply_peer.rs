//! PLY files of `ply-rs-bw`, an independent reader and writer: both programs read what the other one writes.

use std::path::Path;

use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{
    Addable, DefaultElement, ElementDef, Encoding, Ply, Property, PropertyDef, PropertyType,
    ScalarType,
};
use ply_rs_bw::writer::Writer;
use quadrille::{OutputFormat, SplatTable, load, write_table};

use crate::conversion::{synthetic, table};
use crate::support::scenes::Random;

/// A number of the peer, exactly.
fn number(property: &Property) -> f64 {
    match property {
        Property::Char(v) => f64::from(*v),
        Property::UChar(v) => f64::from(*v),
        Property::Short(v) => f64::from(*v),
        Property::UShort(v) => f64::from(*v),
        Property::Int(v) => f64::from(*v),
        Property::UInt(v) => f64::from(*v),
        Property::Float(v) => f64::from(*v),
        Property::Double(v) => *v,
        list => panic!("{list:?}"),
    }
}

/// Checks that the peer's vertices hold the numbers of a table.
fn assert_equal(peer: &Ply<DefaultElement>, table: &SplatTable) {
    let vertices = &peer.payload["vertex"];
    assert_eq!(vertices.len(), table.rows());
    let properties = &peer.header.elements["vertex"].properties;
    assert_eq!(table.names().count(), properties.len());
    for name in table.names() {
        let values = table.values(name).unwrap();
        for (row, vertex) in vertices.iter().enumerate() {
            let theirs = number(&vertex[name]);
            assert_eq!(values.get(row).to_bits(), theirs.to_bits(), "{name} {row}");
        }
    }
}

fn parsed(path: &Path) -> Ply<DefaultElement> {
    let mut file = std::fs::File::open(path).unwrap();
    Parser::new().read_ply(&mut file).unwrap()
}

#[test]
fn the_peer_reads_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let scene = table(&synthetic(folder.path(), 60));
    let path = folder.path().join("written.ply");
    write_table(&path, &scene, OutputFormat::Ply).unwrap();
    assert_equal(&parsed(&path), &table(&path));
    assert_equal(&parsed(&path), &scene);

    // The words of compressed PLY are numbers of its two or three elements.
    let path = folder.path().join("written.compressed.ply");
    write_table(&path, &scene, OutputFormat::CompressedPly).unwrap();
    let packed = parsed(&path);
    let counts = ["chunk", "vertex", "sh"].map(|name| packed.payload[name].len());
    assert_eq!(counts, [1, 60, 60]);
}

/// The numbers of a vertex that hold a splat, with a name and a type.
fn columns() -> Vec<(String, ScalarType)> {
    let mut columns = vec![
        ("x".to_owned(), ScalarType::Double),
        ("y".to_owned(), ScalarType::Float),
        ("z".to_owned(), ScalarType::Double),
        ("opacity".to_owned(), ScalarType::Float),
        ("rot_0".to_owned(), ScalarType::Char),
        ("label".to_owned(), ScalarType::UShort),
        ("mark".to_owned(), ScalarType::UInt),
        ("level".to_owned(), ScalarType::Short),
        ("place".to_owned(), ScalarType::Int),
        ("kind".to_owned(), ScalarType::UChar),
    ];
    let floats =
        ["f_dc", "scale"].into_iter().flat_map(|stem| (0..3).map(move |at| format!("{stem}_{at}")));
    let floats = floats.chain((1..4).map(|at| format!("rot_{at}")));
    let floats = floats.chain((0..9).map(|at| format!("f_rest_{at}")));
    columns.extend(floats.map(|name| (name, ScalarType::Float)));
    columns
}

/// A random number of a type. Integers are at least 1, so that no rotation is zero.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "random numbers")]
fn random_number(kind: &ScalarType, random: &mut Random) -> Property {
    let float = random.between(-3.0, 3.0);
    let whole = random.between(1.0, 100.0);
    match kind {
        ScalarType::Char => Property::Char(whole as i8),
        ScalarType::UChar => Property::UChar(whole as u8),
        ScalarType::Short => Property::Short(-whole as i16),
        ScalarType::UShort => Property::UShort(whole as u16 + 65_000),
        ScalarType::Int => Property::Int(-whole as i32),
        ScalarType::UInt => Property::UInt(whole as u32 + 4_294_967_000),
        ScalarType::Float => Property::Float(float as f32),
        ScalarType::Double => Property::Double(float + 1e-12),
    }
}

/// A file of 30 splats, with or without a list each, after an element with lists.
fn peer_file(encoding: Encoding, has_lists: bool) -> Ply<DefaultElement> {
    let mut random = Random::new(3);
    let mut ply = Ply::new();
    ply.header.encoding = encoding;
    ply.header.comments.push("of another program".to_owned());
    ply.header.obj_infos.push("num_cols 30".to_owned());
    let list = PropertyType::List(ScalarType::UShort, ScalarType::Double);
    let mut before = ElementDef::new("before".to_owned());
    before.properties.add(PropertyDef::new("numbers".to_owned(), list));
    ply.header.elements.add(before);
    let row = |at: usize| {
        let numbers = Property::ListDouble(vec![0.5; at]);
        DefaultElement::from_iter([("numbers".to_owned(), numbers)])
    };
    ply.payload.insert("before".to_owned(), (0..3).map(row).collect());
    let mut vertex = ElementDef::new("vertex".to_owned());
    let columns = columns();
    for (name, kind) in &columns {
        let kind = PropertyType::Scalar(kind.clone());
        vertex.properties.add(PropertyDef::new(name.clone(), kind));
    }
    if has_lists {
        let list = PropertyType::List(ScalarType::UChar, ScalarType::Short);
        vertex.properties.add(PropertyDef::new("list".to_owned(), list));
    }
    ply.header.elements.add(vertex);
    let row = |at: usize| {
        let mut row = DefaultElement::new();
        for (name, kind) in &columns {
            row.insert(name.clone(), random_number(kind, &mut random));
        }
        if has_lists {
            row.insert("list".to_owned(), Property::ListShort(vec![-7; at % 4]));
        }
        row
    };
    ply.payload.insert("vertex".to_owned(), (0..30).map(row).collect());
    ply
}

#[test]
fn what_the_peer_writes_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for encoding in [Encoding::Ascii, Encoding::BinaryBigEndian, Encoding::BinaryLittleEndian] {
        let path = folder.path().join("peer.ply");
        let write = |has_lists: bool| {
            let mut ply = peer_file(encoding, has_lists);
            let mut bytes = Vec::new();
            Writer::new().write_ply(&mut bytes, &mut ply).unwrap();
            std::fs::write(&path, &bytes).unwrap();
            ply
        };
        let plain = write(false);
        let read = table(&path);
        assert_equal(&plain, &read);
        assert_eq!(read.comments, ["of another program", "num_cols 30"]);
        let (splats, dropped) = read.splats().unwrap();
        assert_eq!((splats.len(), dropped.total()), (30, 0));
        // A splat with a list is drawn, and has no columns.
        write(true);
        assert_eq!(load(&path).unwrap().splats, splats);
    }
}
