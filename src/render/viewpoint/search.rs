//! Search for views of a scene without cameras: candidates are scored on small pictures, the best of them again on
//! larger ones, and the winners are refined.

use std::borrow::Borrow;
use std::path::Path;

use nalgebra::Vector3;
use rayon::prelude::*;

use super::candidates::{Candidate, Extent};
use super::sample::SplatSample;
use super::score::{Score, Scorer, Scoring};
use crate::cpu::RenderSettings;
use quadrille_base::math::{SimdLevel, whole};
use quadrille_base::shading::{Profile, StopRule};
use quadrille_base::{Result, Task};
use quadrille_scene::cameras::{EyeRule, Framing, FramingTarget, ViewSpec, Views};
use quadrille_scene::{Camera, Intrinsics, Splats};

/// Numbers of splats and pixels per picture in the first scoring, of all candidates.
const FIRST_LOOK: Look = Look { splats: 20_000, pixels: 64.0 * 36.0 };
const SECOND_LOOK: Look = Look { splats: 80_000, pixels: 96.0 * 54.0 };
const SECOND_LOOKS: usize = 24;
const IMPROVED: usize = 4;
/// Refinement rounds; each tries all neighbours of a view.
const ROUNDS: usize = 3;
/// First step as a share of the content's radius, and first turn in degrees.
const FIRST_STEP: (f64, f64) = (0.2, 12.0);
/// Accumulated alpha at which a pixel takes no more fragments.
const OPAQUE: f64 = 0.97;
/// Distance within which content obstructs the view, as a share of the content's radius.
const NEAR: f64 = 0.08;
/// Angle in degrees, or eye distance as a share of the content's radius, above which two views differ.
const DIFFERENT: (f64, f64) = (35.0, 0.7);
/// Radius of the circle of a camera that looks around, as a share of the content's radius.
const LOOK_AROUND: f64 = 0.02;
/// A circle inside must beat a circle around the content by this factor, because a circle usually shows a
/// subject from all sides.
const INSIDE_CIRCLE: f64 = 2.0;
/// Significant digits of positions: few enough to give cameras as flags.
const DIGITS: i32 = 5;

#[derive(Debug, Clone, Copy)]
struct Look {
    splats: usize,
    pixels: f64,
}

#[derive(Debug, Clone)]
struct Request {
    target: Option<Vector3<f64>>,
    up: Option<Vector3<f64>>,
    intrinsics: Intrinsics,
}

#[derive(Debug, Clone)]
struct ChosenView {
    eye: Vector3<f64>,
    target: Vector3<f64>,
    up: Vector3<f64>,
}

type Scored = (Candidate, Score);

/// Returns the views of a scene: views that a search proposes, or the views that `described` specifies. If it selects views
/// and gives no source of them, they come from the camera file beside `scene`. `splats` reads the scene; it is called only
/// if the views depend on the content of the scene.
///
/// # Errors
/// Errors of [`ViewSpec::views`] and `splats`, and [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
pub fn views<S: Borrow<Splats>>(
    described: &ViewSpec,
    scene: Option<&Path>,
    splats: impl FnOnce() -> Result<S>,
    task: &Task,
) -> Result<Views> {
    described.check()?;
    if let Some(count) = described.propose_views {
        let mut views = Views::default();
        let found = proposals(splats()?.borrow(), described, count as usize, task)?;
        for (view, camera) in found {
            views.remarks.push(format!("view {}: {}", camera.name, view.flags()));
            let target = view.target.map(Vector3::from).unwrap_or_default();
            views.cameras.push(described.with_model(camera, target)?);
        }
        views.cameras = described.select(views.cameras)?;
        return Ok(views);
    }
    let complete = scene.map_or_else(|| described.clone(), |scene| described.beside(scene));
    let mut views = complete.views(scene, || match complete.is_fixed() {
        true => Ok(Framing::of(&Splats::from_splats(0, []))),
        false => framing(splats()?.borrow(), &complete, task),
    })?;
    if let (None, Some(file)) = (&described.cameras, &complete.cameras) {
        views.remarks.push(format!("cameras of {}", file.display()));
    }
    Ok(views)
}

/// Returns the framing of a scene for `described` views: the best view of a search or, for an orbit, the best
/// circle of views. There is no search if the description gives the eye or a camera file.
pub fn framing(splats: &Splats, described: &ViewSpec, task: &Task) -> Result<Framing> {
    let mut framing = Framing::of_splats(FramingTarget::find(splats, task)?);
    if described.eye.is_some() || described.cameras.is_some() || splats.is_empty() {
        return Ok(framing);
    }
    // The caller gets the same error when it creates the cameras.
    let Ok(request) = Request::of(described, &framing) else { return Ok(framing) };
    let search = Search::new(splats, &request, &framing, task)?;
    let chosen =
        if described.orbit.is_some() { search.best_circle()? } else { search.best_views(1)?.pop() };
    if let Some(view) = chosen {
        framing.subject.centre = view.target;
        framing.eye = EyeRule::At(view.eye);
        framing.up = view.up.into();
    }
    Ok(framing)
}

/// Proposes up to `count` different views named `auto_00` onwards, the best first, each as a complete
/// description and as a camera.
///
/// # Errors
/// [`Error::Argument`](quadrille_base::error::Error::Argument) for sizes out of range, and
/// [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
pub fn proposals(
    splats: &Splats,
    described: &ViewSpec,
    count: usize,
    task: &Task,
) -> Result<Vec<(ViewSpec, Camera)>> {
    let framing = Framing::of_splats(FramingTarget::find(splats, task)?);
    let request = Request::of(described, &framing)?;
    if splats.is_empty() {
        let views = described.views(None, || Ok(framing))?;
        let completed = views.completed.unwrap_or_default();
        return Ok(views.cameras.into_iter().map(|c| (completed.clone(), c)).collect());
    }
    let views = Search::new(splats, &request, &framing, task)?.best_views(count)?;
    let digits = (count - 1).to_string().len().max(2);
    let camera = |(i, view): (usize, &ChosenView)| {
        let name = format!("auto_{i:0digits$}");
        let lens = request.intrinsics;
        let mut camera = Camera::look_at(name, lens, view.eye, view.target, view.up)?;
        let distance = (view.eye - view.target).norm();
        camera.near_limit = Some(framing.subject.near_limit(distance));
        Ok((described.placed([view.eye, view.target, view.up], &framing), camera))
    };
    views.iter().enumerate().map(camera).collect()
}

/// Returns a camera named `auto` with a good view of `splats` on a picture of 1280 x 720 pixels: of several
/// hundred views around the main content and inside the scene, the one whose picture shows most detail.
///
/// # Errors
/// [`Error::Argument`](quadrille_base::error::Error::Argument) when the scene is too far from the origin for its size, and
/// [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
pub fn default_camera(splats: &Splats, task: &Task) -> Result<Camera> {
    let described = ViewSpec::default();
    let mut views = described.views(None, || framing(splats, &described, task))?;
    Ok(views.cameras.remove(0))
}

impl Request {
    fn of(described: &ViewSpec, framing: &Framing) -> Result<Self> {
        Ok(Self {
            target: described.target.map(Vector3::from),
            up: described.up.map(Vector3::from),
            intrinsics: described.intrinsics(framing)?,
        })
    }

    /// Scales the lens to a picture of about `pixels` pixels.
    fn small(&self, pixels: f64) -> Intrinsics {
        let Intrinsics { width, height, focal_px, .. } = self.intrinsics;
        let size = [f64::from(width), f64::from(height)];
        let factor = (pixels / (size[0] * size[1])).sqrt();
        let sides = size.map(|px| whole((px * factor).round().clamp(4.0, 1024.0)));
        let scaled = sides.map(f64::from);
        Intrinsics {
            width: sides[0],
            height: sides[1],
            focal_px: [0, 1].map(|axis| focal_px[axis] * scaled[axis] / size[axis]),
            principal_px: scaled.map(|px| px / 2.0),
        }
    }
}

struct Search<'a> {
    splats: &'a Splats,
    request: &'a Request,
    extent: Extent,
    task: &'a Task,
}

impl<'a> Search<'a> {
    fn new(
        splats: &'a Splats,
        request: &'a Request,
        framing: &Framing,
        task: &'a Task,
    ) -> Result<Self> {
        task.check()?;
        let (content, up) = (framing.subject, framing.up.into());
        let extent = Extent::of(splats, content, request.up, up, request.target, task)?;
        Ok(Self { splats, request, extent, task })
    }

    fn target(&self) -> &FramingTarget {
        &self.extent.target
    }

    fn is_fixed(&self) -> bool {
        self.request.target.is_some()
    }

    fn scoring(&self, sample: SplatSample, look: Look) -> Scoring<'_> {
        let profile = Profile::named("inria-aa").unwrap_or_default();
        let near = profile.near.min(self.target().near_limit(0.0));
        let profile = Profile { stop: StopRule::After(OPAQUE), near, ..profile };
        Scoring {
            task: self.task,
            sample,
            intrinsics: self.request.small(look.pixels),
            settings: RenderSettings { profile, level: SimdLevel::default() },
            up: self.extent.up,
            radius: self.target().radius,
            near: NEAR * self.target().radius,
        }
    }

    /// All candidates with the scores of their first pictures, in order.
    fn first_look(&self) -> Result<Vec<Scored>> {
        self.task.check()?;
        let distance = self.target().distance(&self.request.intrinsics);
        let candidates = self.extent.candidates(distance, self.is_fixed());
        let sample = SplatSample::of(self.splats, FIRST_LOOK.splats);
        score_all(&self.scoring(sample, FIRST_LOOK), candidates)
    }

    fn best_views(&self, count: usize) -> Result<Vec<ChosenView>> {
        let (first, sample) =
            rayon::join(|| self.first_look(), || SplatSample::of(self.splats, SECOND_LOOK.splats));
        let mut first = first?;
        sort(&mut first);
        let looked = self.different(&first, SECOND_LOOKS.max(2 * count));
        let scoring = self.scoring(sample, SECOND_LOOK);
        let mut second = score_all(&scoring, looked.iter().map(|(c, _)| *c).collect())?;
        sort(&mut second);
        let mut improved: Vec<Scored> = self
            .different(&second, IMPROVED.max(count))
            .into_par_iter()
            .map_init(Scorer::default, |scorer, start| self.improve(scorer, &scoring, start))
            .collect();
        self.task.check()?;
        sort(&mut improved);
        Ok(self.different(&improved, count).iter().map(|scored| self.chosen(scored)).collect())
    }

    /// Returns the circle of views whose worse half has the best mean: around the content, or around an eye inside.
    fn best_circle(&self) -> Result<Option<ChosenView>> {
        let scored = self.first_look()?;
        let groups = scored.chunk_by(|a, b| a.0.group == b.0.group);
        let of_group = |group: &[Scored]| {
            let mut totals: Vec<f64> = group.iter().map(|(_, score)| score.total).collect();
            totals.sort_by(f64::total_cmp);
            let worse = totals.len().div_ceil(2);
            totals[..worse].iter().sum::<f64>() / worse as f64
        };
        let best = groups.fold(None, |best: Option<(f64, &[Scored])>, group| {
            let total = match group.first() {
                Some((candidate, _)) if candidate.is_inside => of_group(group) / INSIDE_CIRCLE,
                _ => of_group(group),
            };
            let is_better = best.is_none_or(|(least, _)| total > least);
            if is_better { Some((total, group)) } else { best }
        });
        let mut group = best.map_or_else(Vec::new, |(_, group)| group.to_vec());
        sort(&mut group);
        let Some((candidate, _)) = group.first() else { return Ok(None) };
        let view = if candidate.is_inside && !self.is_fixed() {
            let step = candidate.forward * (LOOK_AROUND * self.target().radius);
            ChosenView { eye: candidate.eye - step, target: candidate.eye, up: self.extent.up }
        } else {
            ChosenView { eye: candidate.eye, target: self.target().centre, up: self.extent.up }
        };
        Ok(Some(self.rounded(&view)))
    }

    /// Moves and turns a view while its score improves, with smaller steps if it does not.
    fn improve(&self, scorer: &mut Scorer, scoring: &Scoring<'_>, start: Scored) -> Scored {
        let mut best = start;
        let (share, mut degrees) = FIRST_STEP;
        let mut step = share * self.target().radius;
        for _ in 0..ROUNDS {
            let before = best.1.total;
            for candidate in self.extent.beside(&best.0, step, degrees, self.is_fixed()) {
                let score = scorer.score(scoring, &candidate);
                if score.total > best.1.total {
                    best = (candidate, score);
                }
            }
            if best.1.total <= before {
                step /= 2.0;
                degrees /= 2.0;
            }
        }
        best
    }

    /// Returns `count` of `scored`: first the views that differ from all chosen before, then others, each in order.
    fn different(&self, scored: &[Scored], count: usize) -> Vec<Scored> {
        let (degrees, share) = DIFFERENT;
        let differ = |a: &Candidate, b: &Candidate| {
            let apart = (a.eye - b.eye).norm() > share * self.target().radius;
            apart || a.forward.angle(&b.forward) > degrees.to_radians()
        };
        let (mut chosen, mut rest) = (Vec::<Scored>::new(), Vec::new());
        for one in scored {
            let is_new = chosen.iter().all(|other| differ(&other.0, &one.0));
            if is_new && chosen.len() < count {
                chosen.push(*one);
            } else {
                rest.push(*one);
            }
        }
        chosen.extend(rest.into_iter().take(count - chosen.len()));
        chosen
    }

    fn chosen(&self, (candidate, score): &Scored) -> ChosenView {
        let depth = if score.depth > 0.0 { score.depth } else { self.target().radius };
        let ahead = candidate.eye + candidate.forward * depth;
        self.rounded(&ChosenView {
            eye: candidate.eye,
            target: self.request.target.unwrap_or(ahead),
            up: self.extent.up,
        })
    }

    fn rounded(&self, view: &ChosenView) -> ChosenView {
        let radius = self.target().radius;
        let position = |v: Vector3<f64>| v.map(|c| rounded(c, radius));
        ChosenView {
            eye: position(view.eye),
            target: self.request.target.unwrap_or(position(view.target)),
            up: self.request.up.unwrap_or(view.up.map(|c| rounded(c, 1.0))),
        }
    }
}

/// Rounds to [`DIGITS`] decimal digits at the magnitude of `scale`.
fn rounded(value: f64, scale: f64) -> f64 {
    let exponent: i32 = whole(scale.log10().floor());
    let decimals = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0).min(300);
    // Formatting and parsing gives the f64 nearest to the decimal number.
    let value = format!("{value:.decimals$}").parse().unwrap_or(value);
    if value == 0.0 { 0.0 } else { value }
}

fn score_all(scoring: &Scoring<'_>, candidates: Vec<Candidate>) -> Result<Vec<Scored>> {
    let scored = candidates
        .into_par_iter()
        .map_init(Scorer::default, |scorer, candidate| {
            (candidate, scorer.score(scoring, &candidate))
        })
        .collect();
    scoring.task.check()?;
    Ok(scored)
}

fn sort(scored: &mut [Scored]) {
    scored.sort_by(|a, b| b.1.total.total_cmp(&a.1.total));
}

#[cfg(test)]
#[path = "tests/search.rs"]
mod tests;
