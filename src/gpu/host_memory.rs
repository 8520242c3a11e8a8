//! Estimate of the host memory that runs of methods take.

use super::method::Method;
use super::warp::shader_blend::ShaderOrder;
use quadrille_base::Result;
use quadrille_base::image::check_memory_beside;
use quadrille_machine::{MapKind, Primitive};

/// Bytes per splat of a view to project and sort: measured on 1.2 million splats and rounded up.
const SPLAT_BYTES: u64 = 160;
/// Bytes per splat of the lists of a tile-based GPU: two primitives, and their entries in six tiles in growing vectors.
const LIST_BYTES: u64 = 2 * (size_of::<Primitive>() as u64 + 6 * 2 * size_of::<u32>() as u64);
/// Bytes per pixel of the counts that a run on the pipeline keeps for maps.
const MAP_BYTES: u64 = size_of::<[u32; MapKind::ALL.len()]>() as u64;
/// Bytes per pixel of a heat map, and of the file that is made of it.
const HEAT_BYTES: u64 = 8;

/// Host memory of the runs of a view.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostMemory {
    /// Number of methods that run at the same time.
    pub threads: usize,
    /// Bytes per pixel to copy, compare and write the picture of one method.
    pub pictures: u64,
    /// Whether runs keep counts per pixel.
    pub maps: bool,
    /// Whether results are kept until the next view has been drawn.
    pub sequence: bool,
}

impl HostMemory {
    /// Bytes per pixel to run `methods` and keep all results, without splats.
    pub fn bytes_per_pixel(self, methods: &[Method]) -> u64 {
        let of_maps = |method: &&Method| self.maps && method.is_pipeline();
        let mapped = methods.iter().filter(of_maps).count() as u64;
        let views = if self.sequence { 2 } else { 1 };
        let kept = methods.iter().map(|method| kept_bytes(*method)).sum::<u64>() * views;
        let mut more: Vec<_> = methods.iter().map(|m| run_bytes(*m) - kept_bytes(*m)).collect();
        more.sort_unstable_by(|a, b| b.cmp(a));
        let running = more.into_iter().take(self.threads).sum::<u64>();
        // A map has one scale for all methods, so that all its counts are held until it is written.
        let counts = mapped * size_of::<u32>() as u64;
        let heat = if mapped > 0 { counts + HEAT_BYTES } else { 0 };
        kept + mapped * MAP_BYTES + running.max(self.pictures).max(heat)
    }

    /// Returns the bytes that runs of `methods` on a picture of `size` take.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) if they are not available.
    pub fn check(self, methods: &[Method], size: [u32; 2], splats: usize) -> Result<u64> {
        let pixel = self.bytes_per_pixel(methods);
        let tiled = methods.iter().filter(|method| method.has_tiles()).count();
        let splat = SPLAT_BYTES + LIST_BYTES * tiled.min(self.threads) as u64;
        check_memory_beside(size, pixel, splats as u64 * splat)
    }
}

/// Bytes per pixel of a run: measured on covered pictures and rounded up.
fn run_bytes(method: Method) -> u64 {
    match method {
        Method::InShader(ShaderOrder::Unordered) => 92,
        Method::Compute(_) | Method::Gscore => 50,
        _ => 36,
    }
}

/// Bytes per pixel of the result of a run: measured on covered pictures and rounded up.
fn kept_bytes(method: Method) -> u64 {
    match method {
        Method::Compute(_) | Method::Gscore => 17,
        _ => 28,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_base::shading::QuadColour;
    use quadrille_machine::Cycle;

    fn methods(names: &str) -> Vec<Method> {
        Method::parse_all(&names.split(',').map(str::to_owned).collect::<Vec<_>>()).unwrap()
    }

    /// Two runs at once take 92 and 50 bytes per pixel, and the results of the other two 28 and 17.
    #[test]
    fn results_take_memory_while_other_methods_run() {
        let all = methods("baseline,compute,shader-blend,gscore");
        let two = HostMemory { threads: 2, pictures: 9, ..HostMemory::default() };
        assert_eq!(two.bytes_per_pixel(&all), 92 + 50 + 28 + 17);
        let writing = HostMemory { threads: 8, pictures: 21, ..two };
        assert_eq!(writing.bytes_per_pixel(&all[..1]), 28 + 21);
        let warm = HostMemory { sequence: true, ..two };
        assert_eq!(warm.bytes_per_pixel(&all[..1]), 28 + 28 + 9);
    }

    /// A quad has its colours, the cycle of its last blend, its termination bits and their cycles; the shader's race adds
    /// colours in order, ages and counts.
    #[test]
    fn estimates_cover_the_structures() {
        let quad = size_of::<QuadColour>() + size_of::<Cycle>() + 1 + size_of::<[Cycle; 4]>();
        let race = size_of::<QuadColour>() + size_of::<[u32; 4]>() + size_of::<[u64; 4]>();
        for (method, kept, run) in [
            ("het", quad, quad),
            ("interlock", quad, quad),
            ("shader-blend", quad, quad + race),
            ("compute", size_of::<QuadColour>(), 2 * size_of::<QuadColour>()),
        ] {
            let of = methods(method)[0];
            let [kept, run] = [kept, run].map(|quad| quad.div_ceil(4) as u64);
            assert!((kept..kept + 4).contains(&kept_bytes(of)), "{method}: {kept}");
            assert!((run..run + 40).contains(&run_bytes(of)), "{method}: {run}");
        }
    }

    /// Three runs keep five counts per pixel each, and hold one map of each at a time.
    #[test]
    fn maps_take_memory_of_pipelines_only() {
        let maps = HostMemory { threads: 1, maps: true, ..HostMemory::default() };
        let all = methods("baseline,het,het+qm");
        assert_eq!(maps.bytes_per_pixel(&all), 3 * (28 + 20) + 3 * 4 + 8);
        assert_eq!(maps.bytes_per_pixel(&methods("compute")), 50);
    }
}
