//! Layers of a view: depth, normals, identifiers and counts per pixel.

use crate::choice;

choice! {
    /// A kind of picture beside the colours: an arbitrary output variable, or AOV, in the words of film renderers.
    ///
    /// Each is defined per pixel over the fragments that the pixel blends, with their weights `w = T alpha`, where `T` is
    /// the transmittance in front of a fragment, and with the depth `z` of the splat's centre.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum Layer {
        /// Mean depth, weighted by transmittance times alpha; 0 where nothing is blended
        Depth = "depth",
        /// Sum of weight times depth
        DepthSum = "depth-sum",
        /// Sum of weight over depth
        DepthInverse = "depth-inverse",
        /// Depth of the last fragment with a transmittance above one half in front of it
        DepthMedian = "depth-median",
        /// Alpha: 1 minus the transmittance behind all fragments
        Alpha = "alpha",
        /// Sum of weight times normal in camera space (x right, y down, z forward); the normal of a splat is its
        /// shortest axis, turned towards the camera
        Normal = "normal",
        /// Index in the scene of the splat with the largest weight; 4294967295 where nothing is blended
        Id = "id",
        /// Number of fragments blended
        Count = "count";
        /// Scene indices of the splats with the largest weights, in descending order of weight. The list
        /// has [`TopCount`] entries; 4294967295 fills it where fewer splats are blended.
        TopId(TopCount) = "top-id",
        /// The weights of the splats of [`Self::TopId`]; 0 where fewer are blended.
        TopWeight(TopCount) = "top-weight",
    }
}

/// Number of splats that a layer names for each pixel: 1 to [`Self::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopCount(u8);

impl TopCount {
    /// Largest number of splats: each takes 8 bytes per pixel.
    pub const MAX: u8 = 32;

    /// A number of splats; `None` if it is out of range.
    pub fn new(count: u8) -> Option<Self> {
        (1..=Self::MAX).contains(&count).then_some(Self(count))
    }

    /// Returns the number of splats per pixel.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Layer {
    /// Names of the layer's channels in an `OpenEXR` file. Blender and Nuke read the text before the dot as the name of a
    /// layer and the letter after it as the channel; `Z` alone is depth.
    pub fn exr_channels(self) -> Vec<String> {
        let one = |name: &str| vec![name.to_owned()];
        let ranked = |name: &str, count: TopCount| {
            let ranks = 1..=count.get();
            ranks.map(|rank| format!("{name}{rank}.X")).collect()
        };
        match self {
            Self::Depth => one("Z"),
            Self::DepthSum => one("DepthSum.Z"),
            Self::DepthInverse => one("DepthInverse.Z"),
            Self::DepthMedian => one("DepthMedian.Z"),
            Self::Alpha => one("Alpha.A"),
            Self::Normal => ["N.X", "N.Y", "N.Z"].map(str::to_owned).to_vec(),
            Self::Id => one("Id.X"),
            Self::Count => one("Count.X"),
            Self::TopId(count) => ranked("TopId", count),
            Self::TopWeight(count) => ranked("TopWeight", count),
        }
    }

    /// Number of planes: 3 for normals, the count of splats for `TopId` and `TopWeight`, else 1.
    pub fn planes(self) -> usize {
        match self {
            Self::Normal => 3,
            Self::TopId(count) | Self::TopWeight(count) => count.get().into(),
            _ => 1,
        }
    }

    /// Whether the values are whole numbers: ids or counts.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Id | Self::Count | Self::TopId(_))
    }
}

/// The picture of a layer: one or more planes of f32 or u32, each row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerPicture {
    /// Layer that the picture shows.
    pub layer: Layer,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    bits: Vec<u32>,
}

impl LayerPicture {
    /// Creates a picture of `layer` from the bits of its planes.
    ///
    /// # Panics
    /// When there are not width x height x [`Layer::planes`] values.
    pub fn from_bits(layer: Layer, [width, height]: [u32; 2], bits: Vec<u32>) -> Self {
        let pixels = width as usize * height as usize;
        assert_eq!(bits.len(), pixels * layer.planes(), "values of {layer}");
        Self { layer, width, height, bits }
    }

    /// Values of a plane. Layers of whole numbers store the bits of a `u32` in each f32.
    pub fn plane(&self, plane: usize) -> &[f32] {
        bytemuck::cast_slice(self.plane_bits(plane))
    }

    /// Values of the first plane of whole numbers: `id` or `count`.
    pub fn integers(&self) -> &[u32] {
        self.plane_bits(0)
    }

    /// Values of a plane of identifiers or counts; `None` for other layers, and for a plane that the layer lacks.
    pub fn whole_plane(&self, plane: usize) -> Option<&[u32]> {
        let is_there = self.layer.is_whole() && plane < self.layer.planes();
        is_there.then(|| self.plane_bits(plane))
    }

    /// Bit patterns of a plane's values.
    pub fn plane_bits(&self, plane: usize) -> &[u32] {
        let pixels = self.width as usize * self.height as usize;
        &self.bits[plane * pixels..][..pixels]
    }
}
