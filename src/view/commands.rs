//! What a page shows as commands of the program, and as a camera file that they read.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::camera_request::CameraRequest;
use super::film;
use super::look::Look;
use super::message::{FlagsRequest, Shot};
use super::source::{Drawn, RendererName};
use super::stage::{ListedView, camera_of, description};
use quadrille_base::error::Result;
use quadrille_base::shading::Profile;
use quadrille_scene::Camera;
use quadrille_scene::cameras::write_inria_json;
use quadrille_suite::report::cameras::{shell_path, shell_quoted, transforms_json};

/// Folder in which the copied command writes maps.
const MAPS: &str = "maps";

/// Parts of the commands of one scene that do not depend on what a page shows, as words without quotes.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// Path of the scene.
    pub scene: String,
    /// Path of the sequence that films show in place of the scene.
    pub filmed: Option<String>,
    /// Whether the scene is a mesh.
    pub is_mesh: bool,
    /// Whether the scene is only in the memory of this process, so that no command reads it; `scene` is then its name.
    pub is_in_memory: bool,
    /// Profile that the scene has without a flag.
    pub profile: Profile,
    /// Flags of reading and filters, which pictures and maps have.
    pub shared: Vec<String>,
    /// The flag for the profile, unless a page chooses one.
    pub profile_flag: Vec<String>,
    /// Flags that pictures of the emulated pipeline do not have.
    pub render: Vec<String>,
    /// Flags that pictures and maps of the emulated pipeline alone have.
    pub sim: Vec<String>,
    /// The flag for the background, unless a page chooses one.
    pub background: Vec<String>,
    /// Flags `--transform`, `--fov` and `--camera-model` of the listed views.
    pub cameras: Vec<String>,
    /// The file of the listed views, if they have one that gives the same cameras for this scene.
    pub camera_file: Option<PathBuf>,
}

/// Name and content of a camera file that a page saves.
type CameraFile = (String, String);

impl Commands {
    pub(crate) fn flags(&self, request: &FlagsRequest, look: &Look) -> Result<Value> {
        let (shot, drawn) = (&request.shot, request.shot.drawn()?);
        let camera = camera_of(&shot.cam, shot.size(), &look.views)?;
        let file = self.camera_file_of(&camera);
        let place = self.place(shot, &look.views);
        let needs_file = place.is_none() && !self.is_in_memory;
        let place = place.or_else(|| Some(place_in(&file.as_ref()?.0, shot)));
        let place = place.filter(|_| !self.is_in_memory);
        let render = place.as_ref().map(|place| self.drawing(&drawn, place, &camera, look));
        let sim = place.as_ref().map(|place| {
            let method = request.map.map(|variant| format!("--method={}", variant.0));
            let maps = method.into_iter().chain([format!("--maps={MAPS}")]);
            let maps: Vec<_> = maps.filter(|_| request.map.is_some()).collect();
            self.simulating(&drawn, place, &camera, look, &maps)
        });
        let file = file.map(|(name, text)| json!({"name": name, "text": text}));
        let [path, film] = ["camera_path.json", film::extension()];
        let [path, film] = [path, film].map(|extension| format!("{}.{extension}", self.stem()));
        let flown = [&[format!("--path={path}")], &*sides(shot)].concat();
        let filmed = self.filmed.clone().unwrap_or_else(|| self.scene.clone());
        let of_film = Self { scene: filmed, ..self.clone() };
        let draw = || of_film.drawing_to(&film, &drawn, &flown, &camera, look);
        let command = (!self.is_in_memory).then(draw);
        Ok(json!({
            "t": "flags",
            "id": request.id,
            "render": render,
            "sim": sim,
            "file": file,
            "needs_file": needs_file,
            "film": {"name": film, "path": path, "command": command},
        }))
    }

    /// Flags of the camera; `None` if it needs a file of its own.
    fn place(&self, shot: &Shot, views: &[ListedView]) -> Option<Vec<String>> {
        match &shot.cam {
            CameraRequest::Listed(view) => {
                let file = self.camera_file.as_ref()?.display().to_string();
                let selector = format!("--view={}", views[*view].selector.as_ref()?);
                let file = [format!("--cameras={file}")];
                Some([&file, &*self.cameras, &[selector], &sides(shot)].concat())
            }
            CameraRequest::Placed(placed) => {
                let flags = description(placed, shot.size(), views)?.flags();
                let flags: Vec<_> = flags.split(' ').map(str::to_owned).collect();
                Some([flags, sides(shot)].concat())
            }
        }
    }

    /// The camera in the format that holds its lens; `None` for lenses without one.
    fn camera_file_of(&self, camera: &Camera) -> Option<CameraFile> {
        let text = match camera.projection.is_pinhole() {
            true => write_inria_json(std::slice::from_ref(camera)),
            false => transforms_json(camera)?,
        };
        Some((format!("{}.view.json", self.stem()), text))
    }

    /// The name of the scene without its extension, in characters that every file system and shell takes.
    fn stem(&self) -> String {
        let path = PathBuf::from(&self.scene);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let plain = |c: char| if c.is_alphanumeric() || "._".contains(c) { c } else { '_' };
        stem.chars().map(plain).collect()
    }

    /// The command that draws the picture.
    fn drawing(&self, drawn: &Drawn, place: &[String], camera: &Camera, look: &Look) -> String {
        let is_layer =
            drawn.renderer == RendererName::Cpu && drawn.layer.is_some() && !self.is_mesh;
        let output = if is_layer { "picture.{aov}.png" } else { "picture.png" };
        self.drawing_to(output, drawn, place, camera, look)
    }

    fn drawing_to(
        &self,
        output: &str,
        drawn: &Drawn,
        place: &[String],
        camera: &Camera,
        look: &Look,
    ) -> String {
        let own = |flag: String| vec![flag];
        let (name, flags) = match (self.is_mesh, drawn.renderer, drawn.layer) {
            (true, ..) => ("mesh", vec![]),
            (_, RendererName::Emulated(variant), _) => {
                ("sim", [&*self.sim, &own(format!("--method={variant}"))].concat())
            }
            (_, RendererName::Reference, _) => {
                ("render", [&*self.render, &own("--backend=reference".to_owned())].concat())
            }
            (_, RendererName::Cpu, None) => ("render", self.render.clone()),
            (_, RendererName::Cpu, Some(layer)) => {
                let layer =
                    ["--aov".to_owned(), layer.name().to_owned(), "--aov-colours".to_owned()];
                ("render", [&*self.render, &layer].concat())
            }
        };
        let output = ["-o".to_owned(), output.to_owned()];
        let background = match drawn.background {
            Some([r, g, b]) => vec![format!("--background={r},{g},{b}")],
            None => self.background.clone(),
        };
        let flags = [flags, background, place.to_vec(), output.to_vec()].concat();
        self.command(name, drawn, camera, look, &flags)
    }

    /// The command that simulates the draw.
    fn simulating(
        &self,
        drawn: &Drawn,
        place: &[String],
        camera: &Camera,
        look: &Look,
        maps: &[String],
    ) -> String {
        let (name, flags) = match self.is_mesh {
            true => ("mesh", vec!["--cycles".to_owned()]),
            false => ("sim", [&*self.sim, maps].concat()),
        };
        self.command(name, drawn, camera, look, &[place, &flags].concat())
    }

    fn command(
        &self,
        name: &str,
        drawn: &Drawn,
        camera: &Camera,
        look: &Look,
        flags: &[String],
    ) -> String {
        let of_splats = match self.is_mesh {
            true => Vec::new(),
            false => self.flags_of_splats(drawn, camera, look),
        };
        let words = [&self.shared, &drawn.filters.words(), &of_splats, flags].concat();
        let words: Vec<_> = words.iter().map(|word| shell_quoted(word)).collect();
        format!("quadrille {name} {} {}", shell_path(self.scene.as_ref()), words.join(" "))
    }

    /// Profile, near plane and order of the splats.
    fn flags_of_splats(&self, drawn: &Drawn, camera: &Camera, look: &Look) -> Vec<String> {
        let profile = drawn.profile.unwrap_or(self.profile);
        let near = camera.near(&look.ruled(profile));
        let near = (near != profile.near).then(|| format!("--near={near}"));
        let order = look.order.map(|order| format!("--order={order}"));
        let flag = match drawn.profile {
            Some(profile) => vec![format!("--profile={}", profile.name)],
            None => self.profile_flag.clone(),
        };
        flag.into_iter().chain(near).chain(order).collect()
    }
}

/// Flags of the camera in a file that a page has saved.
fn place_in(name: &str, shot: &Shot) -> Vec<String> {
    // A transform beside the scene does not apply to cameras that are in its world.
    let file = [format!("--cameras={name}"), "--transform=none".to_owned()];
    [file.to_vec(), sides(shot)].concat()
}

fn sides(shot: &Shot) -> Vec<String> {
    ["--width".to_owned(), shot.w.to_string(), "--height".to_owned(), shot.h.to_string()].into()
}

#[cfg(test)]
#[path = "tests/units/commands.rs"]
mod tests;
