//! All tolerances of the picture tests.

/// A named bound with its reason.
pub(crate) struct Tolerance {
    name: &'static str,
    bound: f64,
    /// The reason, printed when the bound is exceeded.
    why: &'static str,
}

/// All bounds. The values of pictures are of the order of 1.
const TOLERANCES: [Tolerance; 15] = [
    Tolerance {
        name: "stray",
        bound: 1e-3,
        why: "a pixel that is further off is a stray: one fragment fell on the other side of the \
              cut, which adds up to 1/255 times its colour; rounding adds less than 1e-5",
    },
    Tolerance {
        name: "p99.9",
        bound: 1e-5,
        why: "rounding in f32 of some hundred blended fragments; measured 6e-7 to 1.7e-6",
    },
    Tolerance {
        name: "strays",
        bound: 1e-4,
        why: "share of the pixels; the exponent is off by less than 1e-5, so one fragment in 1e5 \
              may fall on the other side of the cut; measured 8e-6",
    },
    Tolerance {
        name: "max",
        bound: 0.02,
        why: "two fragments on the other side of the cut, of colours up to 2.5; the stop rules of \
              the profiles add at most 1e-4 times a colour, the hardware's 4e-3",
    },
    Tolerance {
        name: "fragments",
        bound: 2e-5,
        why: "share of the fragments that may fall on the other side of the cut or of the stop \
              rule; measured 2e-6",
    },
    Tolerance {
        name: "poison strays",
        bound: 0.01,
        why: "share of the pixels, and one more: a huge splat whose opacity is 1/255 in f32, 6e-8 \
              of itself above the cut, is over it for the oracle in a whole stretch of pixels at once",
    },
    Tolerance {
        name: "poison far off",
        bound: 1.0,
        why: "pixels beyond \"max\" in one picture: a fragment on the other side of the cut adds \
              1/255 of a colour that may be infinite",
    },
    Tolerance {
        name: "reference p99.9",
        bound: 1e-3,
        why: "the fast renderer against pictures of an independent one: strays above, rounding below",
    },
    Tolerance {
        name: "reference fragments",
        bound: 1e-3,
        why: "share of the fragments of a trained scene, as above; published counts may round \
              their cut otherwise",
    },
    Tolerance {
        name: "reference oracle fragments",
        bound: 2.0,
        why: "two double-precision programs differ by their last bits only",
    },
    Tolerance {
        name: "emulated",
        bound: 1e-5,
        why: "alphas in f32, of the same fragments: some 1e-6 of a pixel; measured 3.1e-6 in random \
              scenes, 7.3e-6 in trained ones but for the strays below",
    },
    Tolerance {
        name: "emulated max",
        bound: 2e-5,
        why: "a narrow splat far from the picture's centre: u = u_at_centre + u_per_x x is the \
              difference of numbers of 210 pixels times 1.5, each rounded to 1.5e-5, and moves alpha \
              by 2 ln 2 u times that; measured 4.9e-5 of an alpha of 0.27, 1.2e-5 of the pixel, in \
              view truck_1",
    },
    Tolerance {
        name: "emulated strays",
        bound: 1e-4,
        why: "share of the pixels of a view that lie beyond \"emulated\"; measured 2 of 57,000, in one \
              view of 14",
    },
    Tolerance {
        name: "golden of oracle",
        bound: 1e-6,
        why: "goldens hold f32; the mathematics library's exponential may differ in its last bit",
    },
    Tolerance {
        name: "golden of fast",
        bound: 1e-5,
        why: "as \"p99.9\"; one pixel per golden may be further off, as by the stop rule in \
              storm_hardware_stop, where AVX2 is by 1.5e-4",
    },
];

/// Minimum PSNR in dB (protocol float) against the reference pictures. For the fast renderer, the mean
/// squared error comes from a few strays per picture (each at most (1/255)^2; 60 strays in 57,000
/// pixels give 78 dB). The oracle only rounds to f32.
pub(crate) const LEAST_PSNR_DB: [f64; 2] = [80.0, 110.0];

/// The bound called `name`.
pub(crate) fn bound(name: &str) -> f64 {
    find(name).bound
}

/// Fails with the reason when `value` is above the bound called `name`, or is not a number.
pub(crate) fn hold(name: &str, value: f64, what: &str) {
    let Tolerance { bound, why, .. } = find(name);
    assert!(value <= *bound, "{what}: {value:e} is above {bound:e}, the bound \"{name}\": {why}");
}

fn find(name: &str) -> &'static Tolerance {
    let found = TOLERANCES.iter().find(|t| t.name == name);
    found.unwrap_or_else(|| unreachable!("no tolerance is called {name}"))
}
