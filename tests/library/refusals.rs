//! Errors about arguments of the library.

use quadrille::{SplatSlices, Splats};

#[test]
fn slices_that_do_not_fit_are_refused_by_name() {
    let slices = SplatSlices {
        means: &[[0.0; 3]],
        scales: &[[1.0; 3]],
        rotations: &[[1.0, 0.0, 0.0, 0.0]],
        opacities: &[1.5],
        sh: &[[0.0; 3]],
    };
    let error = |slices| Splats::from_slices(&slices).unwrap_err().to_string();
    assert!(error(slices).starts_with("opacities[0]: expected a number from 0 to 1, found 1.5"));
    let longer = [[0.0; 3]; 2];
    assert!(error(SplatSlices { sh: &longer, ..slices }).starts_with("sh: expected 1, 4"));
    assert!(error(SplatSlices { scales: &[], ..slices }).starts_with("scales: expected 1 el"));
}
