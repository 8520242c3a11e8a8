//! Codebooks of few and of many values.

use super::*;

#[test]
fn few_values_are_kept_exactly() {
    let values: Vec<f32> = (0..1000u16).map(|i| f32::from(i % 200) * 0.37 - 20.0).collect();
    let entries = codebook([&values].into_iter(), &Task::NEVER).unwrap();
    let found = indices(&entries, &values);
    assert!(values.iter().zip(found).all(|(v, i)| entries[usize::from(i)] == *v));
}

#[test]
fn many_values_are_near_an_entry() {
    // Quadratically more small values than large ones.
    let values: Vec<f32> = (0..20_000u16).map(|i| (f32::from(i) / 2e4).powi(3)).collect();
    let entries = codebook([&values].into_iter(), &Task::NEVER).unwrap();
    let found = indices(&entries, &values);
    let square = |(v, i): (&f32, &u8)| f64::from(v - entries[usize::from(*i)]).powi(2);
    let mse = values.iter().zip(&found).map(square).sum::<f64>() / 2e4;
    // Uniform steps of 1/256 have an error of 1.27e-6.
    assert!(mse < 1.0e-6, "{mse:e}");
    assert!(entries.is_sorted());
}
