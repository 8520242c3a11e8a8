//! Pictures and the names of their files, with placeholders for what the files differ in.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use super::console::print;
use crate::error::{Error, Result};
use crate::image::{Frame, files};
use crate::output::{make_folder_of, refuse_input};
use crate::scene::Camera;

/// The placeholder of a view's name.
pub(super) const VIEW: &str = "{view}";
/// The placeholder of a variant's name.
pub(super) const VARIANT: &str = "{variant}";
/// The placeholder of the name of a pair of pictures.
pub(super) const NAME: &str = "{name}";

/// The name of an output file, with placeholders.
#[derive(Debug, Clone)]
pub(super) struct Template {
    flag: &'static str,
    path: PathBuf,
}

impl Template {
    /// Checks that a name holds no placeholders but these.
    ///
    /// # Errors
    /// [`Error::Argument`] about `flag`.
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

    /// Several views, or variants, need a name each. `mend` says what else would help.
    ///
    /// # Errors
    /// [`Error::Argument`] about the flag.
    pub(super) fn require(&self, placeholder: &str, count: usize, mend: &str) -> Result<()> {
        if count < 2 || self.path.to_string_lossy().contains(placeholder) {
            return Ok(());
        }
        let expected = format!("{placeholder} in the name, since there are {count} {mend}");
        let found = self.path.display().to_string();
        Err(Error::argument(self.flag, expected, found))
    }

    /// The name with `values` in the place of their placeholders.
    pub(super) fn filled(&self, values: &[(&str, &str)]) -> PathBuf {
        let Some(text) = self.path.to_str() else {
            return self.path.clone();
        };
        let fill = |text: String, (place, value): &(&str, &str)| text.replace(place, value);
        values.iter().fold(text.to_owned(), fill).into()
    }

    /// The name for a view and a variant.
    pub(super) fn path(&self, view: &str, variant: &str) -> PathBuf {
        self.filled(&[(VARIANT, variant), (VIEW, view)])
    }
}

/// Files that a command is about to write, checked before its work.
#[derive(Debug, Default)]
pub(super) struct Outputs<'a> {
    inputs: Vec<&'a Path>,
    /// The flag of every output so far.
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

    /// Makes the folder of `path`, and makes sure that it is neither a folder nor an input nor
    /// another output. Devices and pipes may be written to by several flags.
    pub(super) fn add(&mut self, flag: &'static str, path: &Path) -> Result<()> {
        make_folder_of(path)?;
        refuse_input(path, &self.inputs).map_err(|error| match error {
            Error::Argument {
                expected, found, ..
            } => Error::argument(flag, expected, found),
            other => other,
        })?;
        match path.metadata() {
            Ok(there) if there.is_dir() => {
                let reason = std::io::Error::other("a folder of this name is there");
                return Err(Error::write(path, reason));
            }
            Ok(there) if !there.is_file() => return Ok(()),
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
///
/// # Errors
/// [`Error::Argument`] when standard output is one.
pub(super) fn refuse_terminal(what: &str) -> Result<()> {
    if std::io::stdout().is_terminal() {
        let expected = format!("{what} to go to a file or a pipe");
        return Err(Error::argument("-o -", expected, "a terminal"));
    }
    Ok(())
}

impl Template {
    /// Checks the names for all views, by variants where there are such, and makes their folders.
    ///
    /// # Errors
    /// As [`Self::require`] and [`Outputs::add`].
    pub(super) fn prepare(
        &self,
        outputs: &mut Outputs<'_>,
        cameras: &[Camera],
        variants: &[String],
    ) -> Result<()> {
        let mend = "views (or choose one with --view)";
        self.require(VIEW, cameras.len(), mend)?;
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

/// What shows where nothing covers a pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Background {
    /// Nothing: the picture keeps its alpha.
    Transparent,
    /// A colour: red, green, blue.
    Opaque([f32; 3]),
}

/// Reads a `--background`.
pub(super) fn parse_background(text: &str) -> std::result::Result<Background, String> {
    if text == "transparent" {
        return Ok(Background::Transparent);
    }
    let expected = "expected three numbers from 0 to 1 as in 0.1,0.2,0.3, or transparent";
    match parse_numbers(text) {
        Some(rgb) if rgb.iter().all(|c| (0.0..=1.0).contains(c)) => Ok(Background::Opaque(rgb)),
        Some(rgb) if rgb.iter().all(|c| (0.0..=255.0).contains(c)) => {
            let [r, g, b] = rgb.map(|c| (c / 255.0 * 1e4).round() / 1e4);
            Err(format!("{expected} (colours of 255 are {r},{g},{b})"))
        }
        _ => Err(expected.to_owned()),
    }
}

/// `N` numbers separated by commas; blanks around them are let go.
pub(super) fn parse_numbers<T: std::str::FromStr, const N: usize>(text: &str) -> Option<[T; N]> {
    let numbers: Option<Vec<T>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

/// Where pictures go.
#[derive(Debug, Clone)]
pub(super) struct Output {
    template: Template,
    format: Option<files::PictureFormat>,
}

impl Output {
    /// Checks an `-o`: a known extension, or `-`, which `--json` cannot share.
    pub(super) fn parse(path: &Path, placeholders: &[&str], json: bool) -> Result<Self> {
        let template = Template::parse("-o", path, placeholders)?;
        let format = files::PictureFormat::of_name(path);
        if format.is_none() && path != Path::new("-") {
            let expected = "a name that ends in .png, .exr or .npy, or -";
            return Err(Error::argument("-o", expected, path.display().to_string()));
        }
        if format.is_none() && json {
            let found = "the picture on stdout as well";
            return Err(Error::argument("-o -", "a file beside --json", found));
        }
        if format.is_none() {
            refuse_terminal("a picture")?;
        }
        Ok(Self { template, format })
    }

    /// Whether the picture goes to standard output.
    pub(super) fn is_stdout(&self) -> bool {
        self.format.is_none()
    }

    /// Several variants need several names.
    pub(super) fn check_variants(&self, variants: usize, mend: &str) -> Result<()> {
        self.template.require(VARIANT, variants, mend)
    }

    /// Checks the names for all views, by variants where there are such, and makes their folders.
    pub(super) fn prepare(
        &self,
        outputs: &mut Outputs<'_>,
        cameras: &[Camera],
        variants: &[String],
    ) -> Result<()> {
        self.template.prepare(outputs, cameras, variants)
    }

    /// The background where no flag chooses one.
    pub(super) fn default_background(&self) -> Background {
        match self.format {
            Some(files::PictureFormat::Exr | files::PictureFormat::Npy) => Background::Transparent,
            _ => Background::Opaque([0.0; 3]),
        }
    }

    /// Writes the picture of a view, by a variant where there are such; returns where.
    pub(super) fn save(
        &self,
        frame: &Frame,
        [view, variant]: [&str; 2],
        background: Option<Background>,
    ) -> Result<String> {
        let over;
        let frame = match background.unwrap_or_else(|| self.default_background()) {
            Background::Transparent => frame,
            Background::Opaque(rgb) => {
                over = frame.over(rgb);
                &over
            }
        };
        if self.is_stdout() {
            let mut bytes = Vec::new();
            files::write_to(&mut bytes, files::PictureFormat::Png, frame)
                .map_err(|e| Error::write(Path::new("<stdout>"), e))?;
            print(bytes)?;
            return Ok("-".to_owned());
        }
        let path = self.template.path(view, variant);
        files::write(&path, frame)?;
        Ok(path.display().to_string())
    }
}
