//! Order of the triangles of a mesh.
//!
//! Both merging units keep a quad for a bounded time, so they find the neighbours of a triangle only if these
//! come soon after it. Games ship index buffers ordered for the vertex cache; files of scans and of modelling
//! programs may have any order.

use std::collections::HashMap;

use quadrille_base::choice;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

choice! {
    /// Order in which the triangles of a mesh are submitted, within each draw and material.
    #[derive(Default)]
    pub enum TriangleOrder {
        /// Order of the file
        #[default]
        File = "file",
        /// Random order, from the seed
        Random = "random",
        /// Order for a cache of 32 vertices, by the greedy algorithm of Forsyth
        VertexCache = "vertex-cache",
    }
}

impl TriangleOrder {
    pub(super) fn permutation(self, triangles: &[[u32; 3]], seed: u64) -> Vec<usize> {
        match self {
            Self::File => (0..triangles.len()).collect(),
            Self::Random => {
                let mut order: Vec<usize> = (0..triangles.len()).collect();
                let mut rng = Pcg32::seed_from_u64(seed);
                for last in (1..order.len()).rev() {
                    order.swap(last, rng.random_range(0..=last));
                }
                order
            }
            Self::VertexCache => GreedyOrder::new(triangles).run(),
        }
    }
}

/// LRU cache size in vertices (Forsyth).
const CACHE_SIZE: usize = 32;
/// Score of the vertices of the last triangle: lower than of slightly older ones, so that strips stay short (Forsyth).
const LAST_TRIANGLE_SCORE: f32 = 0.75;
/// Exponent of the decline of scores with the position in the cache (Forsyth).
const DECAY_POWER: f32 = 1.5;
/// Scale and exponent of the preference for vertices with few triangles left (Forsyth).
const VALENCE_BOOST: (f32, f32) = (2.0, -0.5);

/// Algorithm of Tom Forsyth, "Linear-Speed Vertex Cache Optimisation" (2006): the next triangle is the one with the
/// greatest sum of vertex scores among the triangles with a vertex in the cache. If there is none, it is the first
/// triangle left (the description leaves this choice open).
struct GreedyOrder {
    triangles: Vec<[usize; 3]>,
    vertices: Vec<CachedVertex>,
    is_placed: Vec<bool>,
    cache: Vec<usize>,
}

#[derive(Debug, Clone, Default)]
struct CachedVertex {
    triangles: Vec<usize>,
    score: f32,
}

impl GreedyOrder {
    fn new(triangles: &[[u32; 3]]) -> Self {
        let mut numbers = HashMap::new();
        let mut number = |vertex: u32| {
            let next = numbers.len();
            *numbers.entry(vertex).or_insert(next)
        };
        let triangles: Vec<_> = triangles.iter().map(|t| t.map(&mut number)).collect();
        let mut vertices = vec![CachedVertex::default(); numbers.len()];
        for (at, triangle) in triangles.iter().enumerate() {
            for &vertex in triangle {
                vertices[vertex].triangles.push(at);
            }
        }
        for vertex in &mut vertices {
            vertex.score = score(None, vertex.triangles.len());
        }
        Self {
            is_placed: vec![false; triangles.len()],
            triangles,
            vertices,
            cache: Vec::with_capacity(CACHE_SIZE + 3),
        }
    }

    fn run(mut self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.triangles.len());
        let mut first_left = 0;
        while order.len() < self.triangles.len() {
            let next = self.best_of_cache().unwrap_or_else(|| {
                while self.is_placed[first_left] {
                    first_left += 1;
                }
                first_left
            });
            self.emit(next);
            order.push(next);
        }
        order
    }

    /// Triangle with the greatest score among those with a vertex in the cache; the first one of equal scores.
    fn best_of_cache(&self) -> Option<usize> {
        let score_of = |t: usize| -> f32 {
            self.triangles[t].map(|vertex| self.vertices[vertex].score).iter().sum()
        };
        let mut best: Option<(f32, usize)> = None;
        for &vertex in &self.cache {
            for &triangle in &self.vertices[vertex].triangles {
                let score = score_of(triangle);
                if best.is_none_or(|(most, _)| score > most) {
                    best = Some((score, triangle));
                }
            }
        }
        best.map(|(_, triangle)| triangle)
    }

    fn emit(&mut self, triangle: usize) {
        self.is_placed[triangle] = true;
        let own = self.triangles[triangle];
        for vertex in own {
            self.vertices[vertex].triangles.retain(|&t| t != triangle);
            self.cache.retain(|&v| v != vertex);
        }
        self.cache.splice(0..0, own);
        for place in 0..self.cache.len() {
            let vertex = &mut self.vertices[self.cache[place]];
            vertex.score = score((place < CACHE_SIZE).then_some(place), vertex.triangles.len());
        }
        self.cache.truncate(CACHE_SIZE);
    }
}

/// Score of a vertex by its cache position and the number of its triangles left.
fn score(place: Option<usize>, left: usize) -> f32 {
    if left == 0 {
        return 0.0;
    }
    let by_place = match place {
        None => 0.0,
        Some(0..3) => LAST_TRIANGLE_SCORE,
        Some(place) => {
            let share = (place - 3) as f32 / (CACHE_SIZE - 3) as f32;
            (1.0 - share).powf(DECAY_POWER)
        }
    };
    let (boost, power) = VALENCE_BOOST;
    by_place + boost * (left as f32).powf(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet of `side` by `side` squares of two triangles.
    fn sheet(side: u32) -> Vec<[u32; 3]> {
        let squares = (0..side).flat_map(|y| (0..side).map(move |x| y * (side + 1) + x));
        squares
            .flat_map(|a| {
                let (b, c, d) = (a + 1, a + side + 2, a + side + 1);
                [[a, b, c], [a, c, d]]
            })
            .collect()
    }

    /// Vertices shaded per triangle with a first-in first-out cache of 16 vertices.
    fn misses(triangles: &[[u32; 3]], order: &[usize]) -> f32 {
        let (mut cache, mut misses) = (std::collections::VecDeque::new(), 0.0);
        for vertex in order.iter().flat_map(|&t| triangles[t]) {
            if !cache.contains(&vertex) {
                misses += 1.0;
                cache.push_front(vertex);
                cache.truncate(16);
            }
        }
        misses / triangles.len() as f32
    }

    #[test]
    fn every_order_holds_each_triangle_once() {
        let triangles = sheet(20);
        for order in [TriangleOrder::File, TriangleOrder::Random, TriangleOrder::VertexCache] {
            let mut found = order.permutation(&triangles, 3);
            assert_eq!(found, order.permutation(&triangles, 3));
            found.sort_unstable();
            assert!(found.into_iter().eq(0..triangles.len()), "{order:?}");
        }
        assert!(TriangleOrder::VertexCache.permutation(&[], 1).is_empty());
        // A triangle with a single vertex, and a triangle that occurs twice.
        let odd = [[7, 7, 7], [1, 2, 3], [1, 2, 3]];
        assert_eq!(TriangleOrder::VertexCache.permutation(&odd, 1).len(), 3);
    }

    /// Forsyth reports 0.7 vertices per triangle or fewer on meshes of this kind; the lower bound of any order is 0.5.
    #[test]
    fn vertices_are_shaded_rarely_in_cache_order() {
        let triangles = sheet(60);
        let misses = |order: TriangleOrder| misses(&triangles, &order.permutation(&triangles, 1));
        let [file, random, cache] =
            [TriangleOrder::File, TriangleOrder::Random, TriangleOrder::VertexCache].map(misses);
        assert!(random > 2.9, "{random}");
        assert!(file > 0.95, "{file}");
        assert!((0.5..0.75).contains(&cache), "{cache}");
    }
}
