//! Outputs: names of files with placeholders, checks before the work, pictures.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use super::console::print_bytes;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{Frame, files};
use quadrille_base::output::{make_folder_of, refuse_input};
use quadrille_scene::Camera;

/// Placeholder of the name of a view.
pub(super) const VIEW: &str = "{view}";
/// Placeholder of the name of a variant.
pub(super) const VARIANT: &str = "{variant}";
/// Placeholder of the name of a layer.
pub(super) const AOV: &str = "{aov}";
/// Placeholder of the name of a pair of pictures.
pub(super) const NAME: &str = "{name}";

/// The name of an output file, with placeholders.
#[derive(Debug, Clone)]
pub(super) struct Template {
    flag: &'static str,
    path: PathBuf,
}

impl Template {
    /// Refuses a name with placeholders other than `placeholders`.
    pub(super) fn parse(flag: &'static str, path: &Path, placeholders: &[&str]) -> Result<Self> {
        let text = path.to_string_lossy();
        let is_word = |text: &str| text.len() > 2 && text[1..].chars().all(|c| c.is_alphabetic());
        for (start, _) in text.match_indices('{') {
            let Some(length) = text[start..].find('}') else {
                break;
            };
            let found = &text[start..=start + length];
            if is_word(&found[..length]) && !placeholders.contains(&found) {
                let expected = match placeholders {
                    [] => "a name without placeholders".to_owned(),
                    some => format!("no placeholder but {}", some.join(" and ")),
                };
                return Err(Error::argument(flag, expected, found));
            }
        }
        Ok(Self {
            flag,
            path: path.to_owned(),
        })
    }

    /// Refuses a name without `placeholder` for `count` files of different names. `remedy` describes the
    /// files and, if there is one, another remedy.
    pub(super) fn require(&self, placeholder: &str, count: usize, remedy: &str) -> Result<()> {
        if count < 2 || self.path.to_string_lossy().contains(placeholder) {
            return Ok(());
        }
        let expected = format!("{placeholder} in the name, since there are {count} {remedy}");
        let found = self.path.display().to_string();
        Err(Error::argument(self.flag, expected, found))
    }

    /// Replaces placeholders by their values.
    pub(super) fn filled(&self, values: &[(&str, &str)]) -> PathBuf {
        let Some(text) = self.path.to_str() else {
            return self.path.clone();
        };
        let fill =
            |text: String, (placeholder, value): &(&str, &str)| text.replace(placeholder, value);
        values.iter().fold(text.to_owned(), fill).into()
    }

    /// The name for a view and a variant.
    pub(super) fn path(&self, view: &str, variant: &str) -> PathBuf {
        self.filled(&[(VARIANT, variant), (VIEW, view)])
    }

    /// Checks the names for all views and variants, and makes their folders.
    pub(super) fn prepare(
        &self,
        outputs: &mut Outputs<'_>,
        cameras: &[Camera],
        variants: &[String],
    ) -> Result<()> {
        let remedy = "views (or choose one with --view)";
        self.require(VIEW, cameras.len(), remedy)?;
        if self.path == Path::new("-") {
            return Ok(());
        }
        for camera in cameras {
            for variant in variants {
                outputs.add(self.flag, &self.path(&camera.name, variant))?;
            }
        }
        Ok(())
    }
}

/// Files that a command is about to write, checked before its work.
#[derive(Debug, Default)]
pub(super) struct Outputs<'a> {
    inputs: Vec<&'a Path>,
    /// Flag of every output so far.
    flags: HashMap<PathBuf, &'static str>,
}

impl<'a> Outputs<'a> {
    /// The outputs of a command that reads `inputs`.
    pub(super) fn beside(inputs: impl IntoIterator<Item = &'a Path>) -> Self {
        Self {
            inputs: inputs.into_iter().collect(),
            flags: HashMap::new(),
        }
    }

    /// Makes the folder of `path`, and refuses a path that is a folder, an input or another output.
    /// Several flags may write to the same device or pipe.
    pub(super) fn add(&mut self, flag: &'static str, path: &Path) -> Result<()> {
        make_folder_of(path)?;
        refuse_input(path, &self.inputs).map_err(|error| error.about(flag))?;
        match path.metadata() {
            Ok(found) if found.is_dir() => {
                let reason = std::io::Error::other("a folder has this name");
                return Err(Error::write(path, reason));
            }
            Ok(found) if !found.is_file() => return Ok(()),
            _ => {}
        }
        let real = path.canonicalize().or_else(|_| std::path::absolute(path));
        let real = real.unwrap_or_else(|_| path.to_owned());
        match self.flags.insert(real, flag) {
            None => Ok(()),
            Some(other) => {
                let found = format!("{}, as for {other}", path.display());
                Err(Error::argument(flag, "a file of its own", found))
            }
        }
    }
}

/// Refuses to write binary data to a terminal.
pub(super) fn refuse_terminal(what: &str) -> Result<()> {
    if std::io::stdout().is_terminal() {
        let expected = format!("a file or a pipe for {what}");
        return Err(Error::argument("-o -", expected, "a terminal"));
    }
    Ok(())
}

/// Background of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Background {
    /// None: the picture keeps its alpha.
    Transparent,
    /// Red, green and blue.
    Opaque([f32; 3]),
}

/// Parses a `--background`.
pub(super) fn parse_background(text: &str) -> std::result::Result<Background, String> {
    if text == "transparent" {
        return Ok(Background::Transparent);
    }
    let expected = "expected three numbers from 0 to 1 as in 0.1,0.2,0.3, or transparent";
    match parse_numbers(text) {
        Some(rgb) if rgb.iter().all(|c| (0.0..=1.0).contains(c)) => Ok(Background::Opaque(rgb)),
        Some(rgb) if rgb.iter().all(|c| (0.0..=255.0).contains(c)) => {
            let [r, g, b] = rgb.map(|c| (c / 255.0 * 1e4).round() / 1e4);
            Err(format!("{expected} (for values up to 255, {r},{g},{b})"))
        }
        _ => Err(expected.to_owned()),
    }
}

/// Parses `N` numbers separated by commas; blanks around them are ignored.
pub(super) fn parse_numbers<T: std::str::FromStr, const N: usize>(text: &str) -> Option<[T; N]> {
    let numbers: Option<Vec<T>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

/// The pictures that `-o` names.
#[derive(Debug, Clone)]
pub(super) struct Output {
    pub(super) template: Template,
    /// `None` for standard output.
    pub(super) format: Option<files::PictureFormat>,
}

impl Output {
    /// Checks an `-o`: a known extension, or `-`, which excludes `--json`.
    pub(super) fn parse(
        path: Option<&Path>,
        placeholders: &[&str],
        json: bool,
    ) -> Result<Option<Self>> {
        let Some(path) = path else {
            return Ok(None);
        };
        let template = Template::parse("-o", path, placeholders)?;
        let format = files::PictureFormat::of_name(path);
        if format.is_none() {
            if path != Path::new("-") {
                let expected = "a name that ends in .png, .exr or .npy, or -";
                return Err(Error::argument("-o", expected, path.display().to_string()));
            }
            if json {
                let found = "-, which is standard output";
                return Err(Error::argument(
                    "-o",
                    "a file, since --json writes to standard output",
                    found,
                ));
            }
            refuse_terminal("a picture")?;
        }
        Ok(Some(Self { template, format }))
    }

    pub(super) fn is_stdout(&self) -> bool {
        self.format.is_none()
    }

    /// The background if no flag chooses one.
    pub(super) fn default_background(&self) -> Background {
        match self.format {
            Some(files::PictureFormat::Exr | files::PictureFormat::Npy) => Background::Transparent,
            _ => Background::Opaque([0.0; 3]),
        }
    }

    /// Writes the picture of a view and variant; returns its path.
    pub(super) fn save(
        &self,
        frame: &Frame,
        names: [&str; 2],
        background: Option<Background>,
    ) -> Result<String> {
        self.write(&self.composed(frame, background), names)
    }

    /// The picture over its background.
    pub(super) fn composed<'a>(
        &self,
        frame: &'a Frame,
        background: Option<Background>,
    ) -> Cow<'a, Frame> {
        match background.unwrap_or_else(|| self.default_background()) {
            Background::Transparent => Cow::Borrowed(frame),
            Background::Opaque(rgb) => Cow::Owned(frame.over(rgb)),
        }
    }

    /// Writes the picture of a view and variant as it is; returns its path.
    pub(super) fn write(&self, frame: &Frame, [view, variant]: [&str; 2]) -> Result<String> {
        if self.is_stdout() {
            let mut bytes = Vec::new();
            files::write_to(&mut bytes, files::PictureFormat::Png, frame)
                .map_err(|e| Error::write(Path::new("<stdout>"), e))?;
            print_bytes(bytes)?;
            return Ok("-".to_owned());
        }
        let path = self.template.path(view, variant);
        files::write(&path, frame)?;
        Ok(path.display().to_string())
    }
}
