//! Scenes that pages of the viewer open in place of the given one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::inputs::has_mesh_extension;
use quadrille_base::error::{Error, Result};
use quadrille_scene::SceneFormat;
use quadrille_view::{OpenScene, Show};

/// Reads the scene at a path, or the one of the command line for `None`. Its pages open further scenes by the opener.
pub(super) type ShowScene =
    dyn Fn(Option<&Path>, Option<Arc<dyn OpenScene>>) -> Result<Show> + Send + Sync;

/// Opens the scenes of the folder of the given scene, and files that pages send.
#[derive(Clone)]
pub(super) struct Opener {
    pub(super) given: PathBuf,
    pub(super) show: Arc<ShowScene>,
}

impl std::fmt::Debug for Opener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opener").field("given", &self.given).finish_non_exhaustive()
    }
}

impl Opener {
    fn read(&self, scene: Option<&Path>) -> Result<Show> {
        (self.show)(scene, Some(Arc::new(self.clone())))
    }

    fn folder(&self) -> PathBuf {
        match self.given.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }
}

fn is_scene(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_splats = extension.is_some_and(|e| SceneFormat::of_extension(e).is_some());
    path.is_file() && (is_splats || has_mesh_extension(path))
}

impl OpenScene for Opener {
    fn names(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let scenes = files.map(|file| file.path()).filter(|path| is_scene(path));
        let names = scenes.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn open(&self, name: &str) -> Result<Show> {
        let names = self.names();
        if !names.iter().any(|known| known == name) {
            let known = names.iter().map(String::as_str);
            return Err(Error::unknown_name("scene", "a scene of the folder", name, known));
        }
        let path = self.folder().join(name);
        let path = path.strip_prefix(".").map_or(path.clone(), Path::to_owned);
        self.read(Some(&*path).filter(|path| *path != self.given))
    }

    fn open_file(&self, path: &Path) -> Result<Show> {
        let mut show = self.read(Some(path))?;
        // The user knows the file by its name alone.
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        show.commands.iter_mut().for_each(|commands| commands.scene = name.clone().into_owned());
        Ok(show)
    }
}
