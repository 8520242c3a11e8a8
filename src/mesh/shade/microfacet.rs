//! Reflection of a microfacet surface according to the specification of glTF 2.0 (appendix B).
//!
//! With unit vectors n (normal), v (to the eye), l (to the light), h (half-way), and alpha the square of the roughness:
//!
//! ```text
//! f0 = mix(0.04, base colour, metalness)          diffuse = base colour (1 - metalness)
//! F  = f0 + (1 - f0) (1 - v.h)^5                  Fresnel (Schlick)
//! D  = alpha^2 / (pi ((n.h)^2 (alpha^2 - 1) + 1)^2)      distribution of normals (GGX)
//! V  = g(n.l) g(n.v),  g(x) = 1 / (|x| + sqrt(alpha^2 + (1 - alpha^2) x^2))    visibility (Smith)
//! reflected = (1 - F) diffuse / pi + F D V
//! ```
//!
//! Shadowing and masking are independent (separable Smith), and light that is reflected several times between microfacets
//! is lost. The model of `KHR_materials_pbrSpecularGlossiness` specifies f0 instead of the metalness, and has
//! diffuse = diffuse colour (1 - max(f0)).

use super::lanes::{Lanes, Vectors, dot, normalized};
use quadrille_base::math::unfused::exp2;

/// Reflectance along the normal, for a refractive index of 1.5.
const DIELECTRIC: f32 = 0.04;
/// Minimum roughness: below it, the highlight of a point light would be lost between pixels. An assumption.
const LEAST_ROUGHNESS: f32 = 0.045;

#[derive(Debug, Clone, Copy)]
pub(super) struct Microfacet {
    diffuse: Vectors,
    f0: Vectors,
    roughness: Lanes,
    /// Square of the roughness.
    pub(super) alpha: Lanes,
}

impl Microfacet {
    /// Creates a mixture of a dielectric and a metal.
    #[inline]
    pub(super) fn metallic(base: &Vectors, metalness: &Lanes, roughness: Lanes) -> Self {
        let metalness = metalness.map(|m| m.clamp(0.0, 1.0));
        let each = |f: fn(f32, f32) -> f32| {
            [0, 1, 2].map(|c| std::array::from_fn(|k| f(base[c][k], metalness[k])))
        };
        Self::of(
            each(|base, metal| base * (1.0 - metal)),
            each(|base, metal| DIELECTRIC + metal * (base - DIELECTRIC)),
            roughness,
        )
    }

    /// Creates a surface with a diffuse colour and the reflectance `f0` along the normal.
    #[inline]
    pub(super) fn specular(colour: &Vectors, f0: Vectors, roughness: Lanes) -> Self {
        let rest = |k: usize| 1.0 - f0[0][k].max(f0[1][k]).max(f0[2][k]);
        Self::of(colour.map(|c| std::array::from_fn(|k| c[k] * rest(k))), f0, roughness)
    }

    #[inline]
    fn of(diffuse: Vectors, f0: Vectors, roughness: Lanes) -> Self {
        let roughness = roughness.map(|r| r.clamp(LEAST_ROUGHNESS, 1.0));
        Self { diffuse, f0, roughness, alpha: roughness.map(|r| r * r) }
    }

    /// Radiance towards `view` of light from `towards`, with irradiance pi on a facing surface.
    #[inline]
    pub(super) fn reflected(&self, normal: &Vectors, view: &Vectors, towards: &Vectors) -> Vectors {
        let sum = [0, 1, 2].map(|c| std::array::from_fn(|k| view[c][k] + towards[c][k]));
        let half = normalized(&sum);
        let (n_l, n_v) = (dot(normal, towards), dot(normal, view));
        let (n_h, v_h) = (dot(normal, &half), dot(view, &half));
        let mut out = [[0.0; 4]; 3];
        for k in 0..4 {
            let is_lit = n_l[k] > 0.0;
            if !is_lit {
                continue;
            }
            let square = self.alpha[k] * self.alpha[k];
            let visible = |x: f32| 1.0 / (x.abs() + (square + (1.0 - square) * x * x).sqrt());
            let peak = n_h[k] * n_h[k] * (square - 1.0) + 1.0;
            let facing = if n_h[k] > 0.0 { 1.0 } else { 0.0 };
            // Pi times D times V.
            let lobe = facing * square / (peak * peak) * visible(n_l[k]) * visible(n_v[k]);
            let away = (1.0 - v_h[k].abs()).clamp(0.0, 1.0);
            let fifth = away * away * away * away * away;
            for (c, out) in out.iter_mut().enumerate() {
                let fresnel = self.f0[c][k] + (1.0 - self.f0[c][k]) * fifth;
                out[k] = n_l[k] * ((1.0 - fresnel) * self.diffuse[c][k] + fresnel * lobe);
            }
        }
        out
    }

    /// Radiance towards `view` of ambient light, from its `irradiance` over pi and the radiance `mirrored` from the
    /// reflected direction, with Karis's fit to the lobe's integral ("Physically Based Shading on Mobile", 2014).
    #[inline]
    pub(super) fn ambient(
        &self,
        normal: &Vectors,
        view: &Vectors,
        irradiance: &Vectors,
        mirrored: &Vectors,
    ) -> Vectors {
        let n_v = dot(normal, view).map(f32::abs);
        let fit: [[f32; 2]; 4] = std::array::from_fn(|k| {
            let rough = self.roughness[k];
            let [x, y, z, w] =
                [1.0 - rough, 0.0425 - 0.0275 * rough, 1.04 - 0.572 * rough, 0.022 * rough - 0.04];
            let fall = (x * x).min(exp2(-9.28 * n_v[k])) * x + y;
            [z - 1.04 * fall, w + 1.04 * fall]
        });
        [0, 1, 2].map(|c| {
            std::array::from_fn(|k| {
                let [scale, bias] = fit[k];
                let mirror = self.f0[c][k] * scale + bias;
                self.diffuse[c][k] * irradiance[c][k] + mirror * mirrored[c][k]
            })
        })
    }
}
