//! Parsing of method names.

use quadrille_gpu::config::Config;
use quadrille_gpu::extension::Extension;
use quadrille_gpu::method::Method;
use quadrille_gpu::variant::Variant;
use quadrille_machine::spec;

#[test]
fn lists_of_names_hold_each_method_once() {
    let parsed = |names: &[&str]| {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let methods = Method::parse_all(&names)?.into_iter();
        Ok::<_, quadrille_base::error::Error>(methods.map(|m| m.to_string()).collect::<Vec<_>>())
    };
    let all = ["baseline", "qru", "qm", "het", "het+qru", "het+qm", "tgc"];
    assert_eq!(parsed(&["all"]).unwrap(), all);
    let paper = [
        &all[..],
        &["imitated:het", "imitated:qm", "imitated:het+qm", "shader-blend", "interlock"],
        &["compute", "compute:none", "compute-aabb", "gscore"],
    ]
    .concat();
    assert_eq!(parsed(&["paper", "het"]).unwrap(), paper);
    let some = ["compute:hw", "het+qru"];
    assert_eq!(parsed(&["compute:hw", "qru+het", "compute:hw"]).unwrap(), some);
    assert!(parsed(&["software"]).is_err());
    for wrong in ["", "tgc", "het+qru", "qm+het"] {
        let error = parsed(&[&format!("imitated:{wrong}")]).unwrap_err();
        assert!(error.to_string().contains("imitated:het+qm"), "{error}");
    }
    let passes = ["multipass:1", "multipass:65536"];
    assert_eq!(parsed(&passes).unwrap(), passes);
    for wrong in ["0", "65537", "-1", "", "x", "4294967296"] {
        let error = parsed(&[&format!("multipass:{wrong}")]).unwrap_err();
        assert!(error.to_string().contains("from 1 to 65536"), "{error}");
    }
}

spec! {
    /// Configuration of a unit of another crate.
    OwnSpec in "own" {
        /// Latency in cycles.
        latency_cycles: u64 = 0, 0..=8, Assumed "a test";
    }
}

#[test]
fn an_unknown_method_is_told_those_of_extensions_too() {
    let own = Extension::new::<OwnSpec>().as_method("own-method", Variant::HET);
    let config = Config::default().with_extension(own).unwrap();
    assert_eq!(Method::parse_of("own-method", &config).unwrap().to_string(), "own-method");
    let error = Method::parse_of("own-methd", &config).unwrap_err().to_string();
    assert!(error.contains("gscore, paper, own-method)"), "{error}");
    assert!(error.contains("did you mean") && error.contains("own-method"), "{error}");
}
