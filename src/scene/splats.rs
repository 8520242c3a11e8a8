//! Splats of a scene, in arrays of blocks of 16.

use bytemuck::{Pod, Zeroable};

use quadrille_base::math::buffer::Buffer;
use quadrille_base::shading::SplatOrder;

/// Splats per block, one per lane. Every vector width in use divides it.
pub const BLOCK: usize = 16;

/// One value per splat of a block.
pub type Lanes = [f32; BLOCK];

/// Maximum number of splats in a scene. Indices stay below 2^32 even if a frame rounds their number up to whole chunks.
pub const MAX_SPLATS: usize = u32::MAX as usize - 0xffff;

pub(crate) const MAX_SH_DEGREE: u8 = 4;

/// Number of spherical-harmonics coefficients per channel without the constant one: 0, 3, 8, 15, 24 for `degree` 0 to 4.
pub const fn rest_coefficients(degree: u8) -> usize {
    (degree as usize + 1) * (degree as usize + 1) - 1
}

/// [`BLOCK`] splats, each quantity an array of lanes.
///
/// All values are activated and finite. Padding lanes, beyond the last splat, are zero: invisible, by opacity 0.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct SplatBlock {
    /// Centre relative to the scene's origin: x, y, z.
    pub mean: [Lanes; 3],
    /// Standard deviation along each axis of the splat, linear, in world units, >= 0.
    pub scale: [Lanes; 3],
    /// Unit quaternion w, x, y, z that rotates the splat's axes to world space.
    pub rotation: [Lanes; 4],
    /// Opacity after the sigmoid, 0 to 1.
    pub opacity: Lanes,
    /// Constant coefficient of the spherical harmonics: red, green, blue.
    pub sh_constant: [Lanes; 3],
}

/// Attributes of one splat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Splat {
    /// Centre relative to the scene's origin.
    pub mean: [f32; 3],
    /// Standard deviation along each axis, linear, >= 0.
    pub scale: [f32; 3],
    /// Unit quaternion w, x, y, z.
    pub rotation: [f32; 4],
    /// Opacity after the sigmoid, 0 to 1.
    pub opacity: f32,
    /// SH coefficients `[red, green, blue]`, the constant one first; zero beyond the degree of the scene.
    pub sh: [[f32; 3]; 25],
}

/// The splats of a scene, whose centres are relative to an [origin](Self::origin).
///
/// `sh_rest` holds the coefficients beyond the constant one, in the same blocks of lanes: with
/// `K = rest_coefficients(sh_degree)`, block `b` owns entries `b * 3K .. (b + 1) * 3K`, channel
/// major (K of red, then green, then blue).
#[derive(Debug, Clone, PartialEq)]
pub struct Splats {
    len: usize,
    sh_degree: u8,
    origin: [f64; 3],
    order: Option<SplatOrder>,
    blocks: Buffer<SplatBlock>,
    sh_rest: Buffer<Lanes>,
}

impl Splats {
    pub(super) fn from_buffers(
        len: usize,
        sh_degree: u8,
        blocks: Buffer<SplatBlock>,
        sh_rest: Buffer<Lanes>,
    ) -> Self {
        assert!(len <= MAX_SPLATS, "{len} splats");
        assert!(sh_degree <= MAX_SH_DEGREE, "SH degree {sh_degree}");
        assert_eq!(blocks.len(), len.div_ceil(BLOCK), "blocks of {len} splats");
        assert_eq!(
            sh_rest.len(),
            blocks.len() * 3 * rest_coefficients(sh_degree),
            "SH entries of {} blocks of degree {sh_degree}",
            blocks.len()
        );
        Self { len, sh_degree, origin: [0.0; 3], order: None, blocks, sh_rest }
    }

    /// Replaces the origin without changing the centres, which moves all splats by the difference of the origins.
    #[must_use]
    pub fn with_origin(self, origin: [f64; 3]) -> Self {
        Self { origin, ..self }
    }

    /// Replaces the order that the scene's file states.
    #[must_use]
    pub fn with_order(self, order: Option<SplatOrder>) -> Self {
        Self { order, ..self }
    }

    /// Order in which the scene's file asks for the splats to be blended; `None` if it does not say.
    pub fn order(&self) -> Option<SplatOrder> {
        self.order
    }

    /// Point in world space that the centres are relative to. It is zero, except for files in double precision
    /// whose splats are so far from zero that single precision does not resolve them.
    pub fn origin(&self) -> [f64; 3] {
        self.origin
    }

    /// Centre in world space of a splat of this scene.
    pub fn position(&self, splat: &Splat) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.origin[axis] + f64::from(splat.mean[axis]))
    }

    /// Creates a scene from single splats; coefficients beyond `sh_degree` are ignored.
    pub fn from_splats(sh_degree: u8, splats: impl IntoIterator<Item = Splat>) -> Self {
        let rest = 3 * rest_coefficients(sh_degree);
        let (mut blocks, mut sh_rest, mut len) = (Vec::new(), Vec::new(), 0);
        for splat in splats {
            let lane = len % BLOCK;
            if lane == 0 {
                blocks.push(SplatBlock::zeroed());
                sh_rest.resize(sh_rest.len() + rest, [0.0; BLOCK]);
            }
            len += 1;
            let (b, r) = (blocks.len() - 1, sh_rest.len() - rest);
            splat.store(&mut blocks[b], &mut sh_rest[r..], lane);
        }
        Self::from_buffers(len, sh_degree, blocks.into(), sh_rest.into())
    }

    /// Number of splats.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the scene has no splats.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Degree of the spherical harmonics, 0 to 4.
    #[inline]
    pub fn sh_degree(&self) -> u8 {
        self.sh_degree
    }

    /// Blocks of 16 splats. The last block is padded with zeros.
    #[inline]
    pub fn blocks(&self) -> &[SplatBlock] {
        &self.blocks
    }

    /// Higher coefficients of block `block`: `3K` entries, channel-major.
    #[inline]
    pub fn sh_rest(&self, block: usize) -> &[Lanes] {
        let rest = 3 * rest_coefficients(self.sh_degree);
        &self.sh_rest[block * rest..(block + 1) * rest]
    }

    /// Size in bytes of the arrays of the scene.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.blocks) + size_of_val(&*self.sh_rest)
    }

    /// Returns splat `index`.
    ///
    /// # Panics
    /// If `index` is not below [`Splats::len`].
    pub fn splat(&self, index: usize) -> Splat {
        assert!(index < self.len, "splat {index} of {}", self.len);
        let (b, lane) = (index / BLOCK, index % BLOCK);
        Splat::load(&self.blocks[b], self.sh_rest(b), lane)
    }

    /// Returns splat `index` without its spherical harmonics above degree 0.
    pub fn geometry(&self, index: usize) -> Splat {
        Splat::load(&self.blocks[index / BLOCK], &[], index % BLOCK)
    }

    /// At most `most` splats at even steps in the order of the scene, without higher SH coefficients.
    pub fn sampled(&self, most: usize) -> impl Iterator<Item = Splat> + '_ {
        (0..self.len).step_by(self.len.div_ceil(most).max(1)).map(|i| self.geometry(i))
    }

    /// Iterates over all splats in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Splat> + '_ {
        (0..self.len).map(|i| self.splat(i))
    }
}

impl Splat {
    /// Reads lane `lane` of a block and of its higher coefficients.
    pub fn load(block: &SplatBlock, sh_rest: &[Lanes], lane: usize) -> Self {
        let per_channel = sh_rest.len() / 3;
        let mut sh = [[0.0; 3]; 25];
        sh[0] = block.sh_constant.map(|lanes| lanes[lane]);
        for (k, rgb) in sh[1..=per_channel].iter_mut().enumerate() {
            for (channel, value) in rgb.iter_mut().enumerate() {
                *value = sh_rest[channel * per_channel + k][lane];
            }
        }
        Self {
            mean: block.mean.map(|lanes| lanes[lane]),
            scale: block.scale.map(|lanes| lanes[lane]),
            rotation: block.rotation.map(|lanes| lanes[lane]),
            opacity: block.opacity[lane],
            sh,
        }
    }

    /// Writes this splat to lane `lane` of a block and of its higher coefficients.
    pub fn store(&self, block: &mut SplatBlock, sh_rest: &mut [Lanes], lane: usize) {
        let per_channel = sh_rest.len() / 3;
        for axis in 0..3 {
            block.mean[axis][lane] = self.mean[axis];
            block.scale[axis][lane] = self.scale[axis];
            block.sh_constant[axis][lane] = self.sh[0][axis];
        }
        for (lanes, value) in block.rotation.iter_mut().zip(self.rotation) {
            lanes[lane] = value;
        }
        block.opacity[lane] = self.opacity;
        for (k, rgb) in self.sh[1..=per_channel].iter().enumerate() {
            for (channel, &value) in rgb.iter().enumerate() {
                sh_rest[channel * per_channel + k][lane] = value;
            }
        }
    }
}
