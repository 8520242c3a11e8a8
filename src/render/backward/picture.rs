//! A picture of channels in f64, and the two phases of its gradients.

use quadrille_base::{Error, Result, Task};
use quadrille_scene::Camera;

use super::fragments::{self, BlendedPixel, Fragment};
use super::gradients::{CameraGradients, Gradients, PlaneGradient, RasterGradients};
use super::plane_splat::{PlaneSplat, PoseGradient};
use super::scene::ScalarScene;
use crate::cpu::channels::{ChannelDepth, check_length};
use crate::cpu::{LEAST_ALPHA, PictureCotangents, RenderSettings};
use crate::preprocess::ViewTransform;

/// A picture of channels in f64, and the fragments of its pixels.
#[derive(Debug, Clone)]
pub struct ScalarPicture<'a> {
    scene: &'a ScalarScene,
    view: ViewTransform,
    alpha_cap: f64,
    /// Drawn splats in drawing order.
    pub(super) splats: Vec<PlaneSplat>,
    /// Fragments of every pixel, row by row, nearest first.
    pub(super) fragments: Vec<Vec<Fragment>>,
    values: Vec<f64>,
    alphas: Vec<f64>,
}

impl<'a> ScalarPicture<'a> {
    /// Draws a picture by the scalar definition of
    /// [`render_channels`](crate::cpu::Renderer::render_channels). The vector level of the settings is ignored.
    ///
    /// ```
    /// use quadrille_base::Task;
    /// use quadrille_render::backward::{Gradients, PictureCotangents, ScalarPicture, ScalarScene};
    /// use quadrille_render::cpu::RenderSettings;
    /// use quadrille_render::cpu::channels::{ChannelSettings, ChannelValues};
    /// use quadrille_render::synth::{Recipe, Synthetic};
    ///
    /// let scene = Synthetic::new(Recipe::Object, 1, 200, 0)?;
    /// let (arrays, camera) = (scene.splats().to_arrays(), scene.cameras()[0].resized(32, 18)?);
    /// let values = ChannelValues::Colours;
    /// let channels = ChannelSettings { values, depth: None, background: None, has_spread: false };
    /// let scene = ScalarScene::new(arrays.as_slices(), 0, &channels)?;
    /// let task = Task::NEVER;
    /// let picture = ScalarPicture::draw(&scene, &camera, &RenderSettings::default(), &task)?;
    /// // The loss is half the sum of the squared values.
    /// let cotangents =
    ///     PictureCotangents { values: picture.values(), alphas: &vec![0.0; 32 * 18] };
    /// let plane = picture.raster_gradients(&cotangents, &task)?;
    /// let mut gradients = Gradients::zeros(&scene);
    /// let pose = picture.project_gradients(&plane, &mut gradients, &task)?;
    /// assert!(gradients.means.iter().any(|mean| mean[0] != 0.0));
    /// assert_eq!(pose.view_from_world[3], [0.0; 4]);
    /// # Ok::<(), quadrille_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of an array is wrong or the camera is no pinhole, orthographic camera or fisheye; [`Error::Cancelled`].
    pub fn draw(
        scene: &'a ScalarScene,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
    ) -> Result<Self> {
        let mut picture = Self::project(scene, camera, settings, task)?;
        picture.fragments =
            fragments::list(&picture.splats, &picture.view, &settings.profile, task)?;
        picture.blend(task)?;
        Ok(picture)
    }

    /// Projects the splats of a picture, which stays without pixels, for [`Self::project_gradients`] alone.
    ///
    /// # Errors
    /// As for [`Self::draw`].
    pub fn project(
        scene: &'a ScalarScene,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
    ) -> Result<Self> {
        scene.check()?;
        let is_other = !camera.projection.has_derivatives();
        let expected = "a pinhole, an orthographic camera or a fisheye";
        Error::refuse_if(is_other, "camera", expected, "another projection")?;
        settings.profile.require_derivative()?;
        let view = ViewTransform::of_camera(camera, &settings.profile, None);
        let splats = fragments::drawn_splats(scene, &view, task)?;
        Ok(Self {
            scene,
            view,
            alpha_cap: settings.profile.alpha_cap,
            splats,
            fragments: Vec::new(),
            values: Vec::new(),
            alphas: Vec::new(),
        })
    }

    /// Draws `scene` with the splats, fragments and limits of this picture, whether they are still the right ones or not.
    #[cfg(test)]
    pub(super) fn redraw<'b>(
        &self,
        scene: &'b ScalarScene,
        camera: &Camera,
        settings: &RenderSettings,
    ) -> Result<ScalarPicture<'b>> {
        let view = ViewTransform::of_camera(camera, &settings.profile, None);
        let splats = self.splats.iter();
        let splats = splats.map(|s| PlaneSplat::project(scene, &view, s.index, Some(&s.limits)));
        let mut picture = ScalarPicture {
            scene,
            splats: splats.collect(),
            view,
            fragments: self.fragments.clone(),
            values: Vec::new(),
            alphas: Vec::new(),
            ..*self
        };
        picture.blend(&Task::NEVER)?;
        Ok(picture)
    }

    fn blend(&mut self, task: &Task) -> Result<()> {
        let floor = f64::from(LEAST_ALPHA);
        for at in 0..self.fragments.len() {
            task.check()?;
            let BlendedPixel { mut sums, transmittance } = self.blended(at);
            for (sum, background) in sums.iter_mut().zip(&self.scene.background) {
                *sum += transmittance * background;
            }
            let alpha = 1.0 - transmittance;
            if let (Some(ChannelDepth::Mean), Some(depth)) = (self.scene.depth, sums.last_mut()) {
                *depth /= alpha.max(floor);
            }
            self.values.extend(sums);
            self.alphas.push(alpha);
        }
        Ok(())
    }

    fn pixel(&self, at: usize) -> [usize; 2] {
        let width = self.view.width as usize;
        [at % width, at / width]
    }

    fn blended(&self, at: usize) -> BlendedPixel {
        let (fragments, channels) = (&self.fragments[at], self.scene.channels());
        fragments::blend(&self.splats, fragments, self.pixel(at), self.alpha_cap, channels)
    }

    /// Channels of every pixel, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Alpha of every pixel, row by row.
    pub fn alphas(&self) -> &[f64] {
        &self.alphas
    }

    /// First phase: the derivatives of a loss by the drawn splats in the picture plane, given those by the picture.
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of an array is wrong; [`Error::Cancelled`].
    pub fn raster_gradients(
        &self,
        cotangents: &PictureCotangents<'_, f64>,
        task: &Task,
    ) -> Result<RasterGradients> {
        check_length("cotangents of values", self.values.len(), cotangents.values.len())?;
        check_length("cotangents of alphas", self.alphas.len(), cotangents.alphas.len())?;
        let channels = self.scene.channels();
        let plane = |splat: &PlaneSplat| PlaneGradient { index: splat.index, ..Default::default() };
        let mut gradients = RasterGradients {
            splats: self.splats.iter().map(plane).collect(),
            channels: vec![0.0; self.splats.len() * channels],
            background: vec![0.0; self.scene.background.len()],
        };
        let by_pixel = cotangents.values.chunks_exact(channels).zip(cotangents.alphas);
        for (at, (by_values, by_alpha)) in by_pixel.enumerate() {
            task.check()?;
            self.add_pixel(at, by_values, *by_alpha, &mut gradients);
        }
        Ok(gradients)
    }

    /// Adds the derivatives through one pixel, front to back.
    fn add_pixel(
        &self,
        at: usize,
        by_values: &[f64],
        by_alpha: f64,
        gradients: &mut RasterGradients,
    ) {
        let BlendedPixel { sums, transmittance: last } = self.blended(at);
        let (mut by_sums, mut by_alpha) = (by_values.to_vec(), by_alpha);
        if let (Some(ChannelDepth::Mean), [.., by_depth], [.., sum]) =
            (self.scene.depth, &mut by_sums[..], &sums[..])
        {
            let (alpha, floor) = (1.0 - last, f64::from(LEAST_ALPHA));
            *by_depth /= alpha.max(floor);
            if alpha > floor {
                by_alpha -= *by_depth * sum / alpha;
            }
        }
        let background = &self.scene.background;
        for (sum, by_value) in gradients.background.iter_mut().zip(&by_sums) {
            *sum += last * by_value;
        }
        // Derivative of the loss by the light that the next fragments would leave unattenuated.
        let mut remaining = dot(&by_sums, &sums) + last * (dot(&by_sums, background) - by_alpha);
        let mut transmittance = 1.0;
        for fragment in &self.fragments[at] {
            let splat = &self.splats[fragment.rank];
            let falloff = fragment.falloff(splat, self.pixel(at), self.alpha_cap);
            let along = dot(&by_sums, &splat.channels);
            let weight = falloff.alpha * transmittance;
            let row = &mut gradients.channels[fragment.rank * by_sums.len()..];
            for (sum, by_value) in row.iter_mut().zip(&by_sums) {
                *sum += weight * by_value;
            }
            remaining -= weight * along;
            if !fragment.is_capped {
                let by_alpha = transmittance * along - remaining / (1.0 - falloff.alpha);
                let plane = &mut gradients.splats[fragment.rank];
                plane.opacity += by_alpha * falloff.falloff;
                let by_exponent = by_alpha * falloff.alpha;
                let [x, y] = falloff.offset;
                plane.conic[0] -= by_exponent * x * x / 2.0;
                plane.conic[1] -= by_exponent * x * y;
                plane.conic[2] -= by_exponent * y * y / 2.0;
                let by_centre = splat.by_centre(falloff.offset, by_exponent);
                for (axis, by) in by_centre.into_iter().enumerate() {
                    plane.mean2d[axis] += by;
                    plane.absolute_mean2d[axis] += by.abs();
                }
            }
            transmittance *= 1.0 - falloff.alpha;
        }
    }

    /// Second phase: adds the derivatives of a loss by the splats in world space to `gradients`, given those by the drawn
    /// splats in the picture plane; returns those by the camera. Absolute values and the background are not used.
    ///
    /// # Errors
    /// [`Error::Argument`] if an argument belongs to another picture or scene; [`Error::Cancelled`].
    pub fn project_gradients(
        &self,
        plane: &RasterGradients,
        gradients: &mut Gradients,
        task: &Task,
    ) -> Result<CameraGradients> {
        let channels = self.scene.channels();
        check_length("channels", self.splats.len() * channels, plane.channels.len())?;
        let indices = plane.splats.iter().map(|splat| splat.index);
        let is_other = !self.splats.iter().map(|splat| splat.index).eq(indices);
        Error::refuse_if(is_other, "splats", "the drawn splats of the picture", "others")?;
        let is_other = !gradients.fits(self.scene);
        Error::refuse_if(is_other, "gradients", "arrays in the shape of the scene", "others")?;
        let mut pose = PoseGradient::default();
        let rows = plane.channels.chunks_exact(channels);
        for ((splat, plane), row) in self.splats.iter().zip(&plane.splats).zip(rows) {
            task.check()?;
            splat.add_gradients(self.scene, &self.view, plane, row, gradients, &mut pose);
        }
        let mut view_from_world = [[0.0; 4]; 4];
        for (r, row) in view_from_world[..3].iter_mut().enumerate() {
            let [x, y, z] = [0, 1, 2].map(|c| pose.rotation[(r, c)]);
            *row = [x, y, z, pose.translation[r]];
        }
        Ok(CameraGradients { view_from_world })
    }
}

/// Sum of products; the longer list is cut.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
