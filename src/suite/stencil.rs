//! The stencil test of an application, beside early termination.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use quadrille_base::error::{Error, Result};
use quadrille_base::image::files::read;
use quadrille_base::shading::{CompareOp, StencilOperation, StencilTest};
use quadrille_gpu::method::Method;
use quadrille_gpu::variant::Variant;
use quadrille_gpu::view::PreparedView;

/// Distance of a level of a picture from a whole number, from the rounding of its conversion to f32.
const ROUNDING: f32 = 1e-3;

/// Settings of a stencil test: flags of `sim`, and keys of the scenes of a suite.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Stencil test"))]
pub struct StencilSettings {
    /// Draw only fragments that pass: FUNC (never, less, less-or-equal, greater, greater-or-equal, equal, not-equal or
    /// always) compares REF, on its left, with the stencil value of the pixel, both under MASK [default: all bits]. Numbers
    /// are 0 to 255, also as 0xff, or 0 to 127 with early termination, which takes the top bit
    #[cfg_attr(feature = "cli", arg(long, value_name = "FUNC:REF[:MASK]"))]
    pub stencil_test: Option<String>,
    /// Stencil values before the draw: a grey PNG of the size of the picture, whose levels of 8 bits are the values
    /// [default: 0 in all pixels]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE.png"))]
    pub stencil_buffer: Option<PathBuf>,
    /// Updates of the stencil value by a fragment that fails the stencil test, fails the depth test, or passes both: keep,
    /// zero, replace (by REF), increment-clamp, decrement-clamp, increment-wrap, decrement-wrap or invert [default:
    /// keep,keep,keep]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FAIL,DEPTH_FAIL,PASS"))]
    pub stencil_ops: Option<String>,
    /// Bits of the stencil values that --stencil-ops may change [default: all bits]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MASK"))]
    pub stencil_write_mask: Option<String>,
}

/// Largest stencil value, and its reason.
struct Greatest(u8, String);

impl Greatest {
    fn of(methods: &[Method]) -> Self {
        let is_het = |method: &&Method| method.variant().is_some_and(Variant::het);
        match methods.iter().find(is_het) {
            Some(method) => {
                Self(127, format!(", since early termination of {method} takes the top bit"))
            }
            None => Self(255, String::new()),
        }
    }

    fn parse(&self, text: &str) -> Option<u8> {
        let number = match text.strip_prefix("0x") {
            Some(digits) => u8::from_str_radix(digits, 16),
            None => text.parse(),
        };
        number.ok().filter(|number| *number <= self.0 && !text.contains('+'))
    }
}

impl StencilSettings {
    /// Files that are read.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.stencil_buffer.iter_mut()
    }

    /// Files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.stencil_buffer.as_deref().into_iter()
    }

    /// Returns the test of draws by `methods`; `None` without one.
    ///
    /// # Errors
    /// [`Error::Argument`] for other words and numbers, and [`Error::Combination`] for a setting without a test, a mask
    /// without updates, and a method that has no such test.
    pub fn test(&self, methods: &[Method]) -> Result<Option<StencilTest>> {
        let Some(text) = &self.stencil_test else {
            let others = [
                ("stencil_buffer", self.stencil_buffer.is_some()),
                ("stencil_ops", self.stencil_ops.is_some()),
                ("stencil_write_mask", self.stencil_write_mask.is_some()),
            ];
            let given = others.into_iter().find(|(_, is_given)| *is_given);
            return given.map_or(Ok(None), |(name, _)| Err(Error::needs(name, "stencil_test")));
        };
        if let Some(other) = methods.iter().find(|method| !method.has_tests()) {
            let other = format!("method {other}, which makes no use of a stencil buffer");
            return Err(Error::conflict("stencil_test", other));
        }
        if self.stencil_write_mask.is_some() && self.stencil_ops.is_none() {
            return Err(Error::needs("stencil_write_mask", "stencil_ops"));
        }
        let greatest = Greatest::of(methods);
        let Greatest(most, reason) = &greatest;
        let refused = |name: &str, form: &str, found: &str| {
            Error::argument(name, format!("{form} from 0 to {most}{reason}"), found)
        };
        let mut parts = text.split(':');
        let compare = parts.next().unwrap_or_default().parse::<CompareOp>();
        let compare = compare.map_err(|error| error.about("stencil_test"))?;
        let numbers: Option<Vec<u8>> = parts.map(|part| greatest.parse(part)).collect();
        let (reference, read_mask) = match numbers.as_deref() {
            Some([reference]) => (*reference, u8::MAX),
            Some([reference, mask]) => (*reference, *mask),
            _ => return Err(refused("stencil_test", "FUNC:REF or FUNC:REF:MASK, numbers", text)),
        };
        let [fail, depth_fail, pass] = self.updates()?;
        let write_mask = self.stencil_write_mask.as_ref().map(|mask| {
            greatest.parse(mask).ok_or_else(|| refused("stencil_write_mask", "a mask", mask))
        });
        let write_mask = write_mask.transpose()?.unwrap_or(u8::MAX);
        let test = StencilTest {
            compare,
            reference,
            read_mask,
            write_mask,
            fail,
            depth_fail,
            pass,
            ..StencilTest::default()
        };
        Ok(Some(test))
    }

    fn updates(&self) -> Result<[StencilOperation; 3]> {
        let Some(text) = &self.stencil_ops else { return Ok([StencilOperation::Keep; 3]) };
        let updates = text.split(',').map(|name| name.trim().parse::<StencilOperation>());
        let updates: Vec<_> =
            updates.collect::<Result<_>>().map_err(|error| error.about("stencil_ops"))?;
        let expected = "three updates, FAIL,DEPTH_FAIL,PASS";
        <[_; 3]>::try_from(updates).map_err(|_| Error::argument("stencil_ops", expected, text))
    }

    /// Adds the test, with the stencil values before the draw, to a view that `methods` draw.
    ///
    /// # Errors
    /// As for [`Self::test`]; errors of reading the picture of the values, and [`Error::Malformed`] if it has another size
    /// than the view, or a pixel that is no stencil value.
    pub fn applied<'a>(
        &self,
        view: PreparedView<'a>,
        methods: &[Method],
    ) -> Result<PreparedView<'a>> {
        let Some(test) = self.test(methods)? else { return Ok(view) };
        let size = [view.draw().width, view.draw().height];
        let values = match &self.stencil_buffer {
            Some(path) => stencil_values(path, size, &Greatest::of(methods))?,
            None => vec![0; size[0] as usize * size[1] as usize],
        };
        view.with_stencil(test, values)
    }
}

fn stencil_values(
    path: &Path,
    [width, height]: [u32; 2],
    Greatest(most, reason): &Greatest,
) -> Result<Vec<u8>> {
    let picture = read(path)?;
    let [found, expected] = [[picture.width(), picture.height()], [width, height]]
        .map(|[width, height]| format!("{width}x{height} pixels"));
    let is_wrong = found != expected;
    Error::malformed_if(is_wrong, path, "size", format!("{expected}, as in the view"), found)?;
    let value = |(&[red, green, blue, alpha], at): (&[f32; 4], usize)| {
        let level = red * 255.0;
        let whole = level.round();
        let is_grey = red == green && red == blue && alpha == 1.0;
        let is_level = is_grey && (level - whole).abs() < ROUNDING && whole <= f32::from(*most);
        // Levels are checked to be whole numbers of a byte.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        is_level.then_some(whole as u8).ok_or_else(|| {
            let place = format!("pixel {}, {}", at % width as usize, at / width as usize);
            let expected = format!("an opaque grey of a level from 0 to {most}{reason}");
            let levels = [red, green, blue, alpha].map(|value| value * 255.0);
            Error::malformed(path, place, expected, format!("the levels {levels:.1?}"))
        })
    };
    picture.pixels().iter().zip(0..).map(value).collect()
}
