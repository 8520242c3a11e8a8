//! Folders of photos and masks, whose pictures are found by the names of views.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use quadrille_base::error::{Error, Result};
use quadrille_scene::cameras::{Views, last_component_of_picture, view_of_picture};

use super::pairing::picture_paths;

/// Pictures of a folder and of the folders below it.
#[derive(Debug, Clone, Default)]
pub struct PictureFolder {
    path: PathBuf,
    /// Paths in the folder by the names of their views, sorted.
    by_view: HashMap<String, Vec<String>>,
}

impl PictureFolder {
    /// Lists the pictures of the folder `path`.
    ///
    /// # Errors
    /// [`Error::Read`] for a folder that cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let mut by_view: HashMap<String, Vec<String>> = HashMap::new();
        for picture in picture_paths(path)? {
            by_view.entry(view_of_picture(&picture)).or_default().push(picture);
        }
        Ok(Self { path: path.to_owned(), by_view })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of views that have a picture.
    pub fn view_count(&self) -> usize {
        self.by_view.len()
    }

    /// First of the names of all views with a picture.
    pub fn first_view(&self) -> Option<&str> {
        self.by_view.keys().min().map(String::as_str)
    }

    /// Finds the picture of the first of the names in `views` that has one. Of several pictures of a view, such as
    /// `a.jpg` and `a.png`, the one called `own` is taken.
    ///
    /// # Errors
    /// [`Error::Malformed`] if several pictures have the name of the view, and none is called `own`.
    pub fn find(&self, views: &[&str], own: Option<&str>) -> Result<Option<PathBuf>> {
        let Some(files) = views.iter().find_map(|view| self.by_view.get(*view)) else {
            return Ok(None);
        };
        let own = own.map(last_component_of_picture);
        let is_own = |file: &&String| own == Some(last_component_of_picture(file));
        match (files.as_slice(), files.iter().find(is_own)) {
            ([file], _) | (_, Some(file)) => Ok(Some(self.path.join(file))),
            (several, None) => Err(Error::malformed(
                &self.path,
                "folder",
                format!("one picture with the name of the view \"{}\"", view_of_picture(&files[0])),
                several.join(", "),
            )),
        }
    }

    /// Finds the picture of each view: by its name in the camera file, else by its own name, else by the last part of the
    /// name in the file, if no other view has it (`r_0.png` in the folder of the test views for `./test/r_0`).
    ///
    /// # Errors
    /// Errors of [`Self::find`].
    pub fn of_views(&self, views: &Views) -> Result<Vec<Option<PathBuf>>> {
        let in_file = |index: usize| views.names_in_file.get(index).map(String::as_str);
        let last = |index| in_file(index).map(last_component_of_picture);
        let mut seen = HashSet::new();
        let all: Vec<_> = (0..views.cameras.len()).map(last).collect();
        let are_distinct = all.iter().flatten().all(|name| seen.insert(name));
        let find = |(index, camera): (usize, &quadrille_scene::Camera)| {
            let path = in_file(index).map(|name| view_of_picture(name.trim_start_matches("./")));
            let last = all[index].filter(|_| are_distinct).map(view_of_picture);
            let names = [path.as_deref(), Some(camera.name.as_str()), last.as_deref()];
            let names: Vec<&str> = names.into_iter().flatten().collect();
            self.find(&names, in_file(index))
        };
        views.cameras.iter().enumerate().map(find).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"").unwrap();
        }
        folder
    }

    #[test]
    fn of_several_pictures_the_one_with_the_own_name_is_taken() {
        let folder = folder(&["a.jpg", "a.png", "b.PNG", "c/d.jpg", "c/d.png"]);
        let pictures = PictureFolder::open(folder.path()).unwrap();
        let find = |views: &[&str], own| {
            let found = pictures.find(views, own).map_err(|error| error.to_string())?;
            Ok(found.map(|file| file.strip_prefix(folder.path()).unwrap().display().to_string()))
        };
        let found = |name: &str| Ok::<_, String>(Some(name.to_owned()));
        assert_eq!(find(&["a"], Some("a.jpg")), found("a.jpg"));
        assert_eq!(find(&["a"], Some("images/a.png")), found("a.png"));
        assert_eq!(find(&["x", "b"], Some("b.jpg")), found("b.PNG"));
        assert_eq!(find(&["c_d"], Some("d.png")), found("c/d.png"));
        assert_eq!(find(&["x"], None), Ok(None));
        let error = find(&["a"], Some("a")).unwrap_err();
        assert!(error.contains("view \"a\"") && error.contains("a.jpg, a.png"), "{error}");
    }
}
