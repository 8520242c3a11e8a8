//! Pictures and the names of their files, with placeholders for what the files differ in.

use std::path::{Path, PathBuf};

use super::console::print;
use crate::error::{Error, Result};
use crate::image::{Frame, files};

/// A file name with placeholders.
#[derive(Debug, Clone)]
pub(super) struct Template(PathBuf);

/// The placeholder of a view's name.
pub(super) const VIEW: &str = "{view}";
/// The placeholder of a variant's name.
pub(super) const VARIANT: &str = "{variant}";
/// The placeholder of the name of a pair of pictures.
pub(super) const NAME: &str = "{name}";

impl Template {
    /// A name, taken as it is.
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Several views, or variants, need a name each. `mend` says what else would help.
    pub(super) fn require(
        &self,
        flag: &str,
        placeholder: &str,
        count: usize,
        mend: &str,
    ) -> Result<()> {
        if count < 2 || self.0.to_string_lossy().contains(placeholder) {
            return Ok(());
        }
        let expected = format!("{placeholder} in the name, since there are {count} {mend}");
        Err(Error::caller(flag, expected, self.0.display().to_string()))
    }

    /// The name with `values` in the place of their placeholders.
    pub(super) fn filled(&self, values: &[(&str, &str)]) -> PathBuf {
        let Some(text) = self.0.to_str() else {
            return self.0.clone();
        };
        let fill = |text: String, (place, value): &(&str, &str)| text.replace(place, value);
        values.iter().fold(text.to_owned(), fill).into()
    }

    /// The name for a view and a variant.
    pub(super) fn path(&self, view: &str, variant: &str) -> PathBuf {
        self.filled(&[(VARIANT, variant), (VIEW, view)])
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
    pub(super) fn parse(template: &Path, json: bool) -> Result<Self> {
        let format = files::PictureFormat::of_name(template);
        if format.is_none() && template != Path::new("-") {
            let expected = "a name that ends in .png, .exr or .npy, or -";
            return Err(Error::caller(
                "-o",
                expected,
                template.display().to_string(),
            ));
        }
        if json && format.is_none() {
            let found = "the picture on stdout as well";
            return Err(Error::caller("-o -", "a file beside --json", found));
        }
        Ok(Self {
            template: Template::new(template),
            format,
        })
    }

    /// Whether the picture goes to standard output.
    pub(super) fn is_stdout(&self) -> bool {
        self.format.is_none()
    }

    /// Several views need several names.
    pub(super) fn check_views(&self, views: usize) -> Result<()> {
        let mend = "views (or choose one with --view)";
        self.template.require("-o", VIEW, views, mend)
    }

    /// Several variants need several names.
    pub(super) fn check_variants(&self, variants: usize) -> Result<()> {
        let mend = "variants (or choose one with --variant)";
        self.template.require("-o", VARIANT, variants, mend)
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
