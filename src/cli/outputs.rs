//! Outputs: names of files with placeholders, checks before the work, pictures.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use super::console::{print_bytes, take_stdout};
use quadrille_base::image::files::{self, JpegQuality, PictureFormat};
use quadrille_base::image::film::FilmFormat;
use quadrille_base::image::{FRAME_BYTES, Frame};
use quadrille_base::output::{STDOUT, make_folder_of, refuse_input};
use quadrille_base::parse::{numbers, whole_number};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::Camera;

pub(super) const VIEW: &str = "{view}";
/// Placeholder of the name of a method or of a combination of settings.
pub(super) const METHOD: &str = "{method}";
/// Placeholder of earlier releases in place of [`METHOD`].
pub(super) const OLD_METHOD: &str = "{variant}";
pub(super) const AOV: &str = "{aov}";
pub(super) const NAME: &str = "{name}";

#[derive(Debug, Clone)]
pub(super) struct Template {
    flag: &'static str,
    path: PathBuf,
}

impl Template {
    pub(super) fn parse(flag: &'static str, path: &Path, placeholders: &[&str]) -> Result<Self> {
        if placeholders.contains(&METHOD)
            && let Some(text) = path.to_str().filter(|text| text.contains(OLD_METHOD))
        {
            return Self::parse(flag, Path::new(&text.replace(OLD_METHOD, METHOD)), placeholders);
        }
        let text = path.to_string_lossy();
        let is_word = |text: &str| text.len() > 2 && text[1..].chars().all(|c| c.is_alphabetic());
        for (start, _) in text.match_indices('{') {
            let Some(length) = text[start..].find('}') else { break };
            let found = &text[start..=start + length];
            if is_word(&found[..length]) && !placeholders.contains(&found) {
                let expected = match placeholders {
                    [] => "a name without placeholders".to_owned(),
                    some => format!("no placeholder but {}", some.join(" and ")),
                };
                return Err(Error::argument(flag, expected, found));
            }
        }
        Ok(Self { flag, path: path.to_owned() })
    }

    /// Parses the name of PNG files.
    pub(super) fn png(flag: &'static str, path: &Path, placeholders: &[&str]) -> Result<Self> {
        let is_wrong = PictureFormat::of_name(path) != Some(PictureFormat::Png);
        Error::refuse_if(is_wrong, flag, "a name that ends in .png", path.display())?;
        Self::parse(flag, path, placeholders)
    }

    /// Refuses a name that lacks `placeholder` when `count` files need different names. `remedy` describes the
    /// files and may suggest another flag.
    pub(super) fn require(&self, placeholder: &str, count: usize, remedy: &str) -> Result<()> {
        if count < 2 || self.path.to_string_lossy().contains(placeholder) {
            return Ok(());
        }
        let expected = format!("{placeholder} in the name, since there are {count} {remedy}");
        Err(Error::argument(self.flag, expected, self.path.display()))
    }

    pub(super) fn filled(&self, values: &[(&str, &str)]) -> PathBuf {
        let Some(text) = self.path.to_str() else { return self.path.clone() };
        let fill =
            |text: String, (placeholder, value): &(&str, &str)| text.replace(placeholder, value);
        values.iter().fold(text.to_owned(), fill).into()
    }

    pub(super) fn path(&self, view: &str, method: &str) -> PathBuf {
        self.filled(&[(METHOD, method), (VIEW, view)])
    }

    pub(super) fn prepare(
        &self,
        outputs: &mut Outputs<'_>,
        cameras: &[Camera],
        methods: &[String],
    ) -> Result<()> {
        let remedy = match self.flag {
            "-o" => {
                "views (or choose one with --view; `render`, `mesh` and `deferred` also write films: .y4m, .apng, .mp4)"
            }
            _ => "views, each with a file of its own (or choose one with --view)",
        };
        self.require(VIEW, cameras.len(), remedy)?;
        for camera in cameras {
            for method in methods {
                outputs.add(self.flag, &self.path(&camera.name, method))?;
            }
        }
        Ok(())
    }
}

/// Stands for any file of a folder.
const OF_FOLDER: &str = "file";

#[derive(Debug, Default)]
pub(super) struct Outputs<'a> {
    inputs: Vec<&'a Path>,
    flags: HashMap<PathBuf, &'static str>,
}

impl<'a> Outputs<'a> {
    pub(super) fn beside(inputs: impl IntoIterator<Item = &'a Path>) -> Self {
        Self { inputs: inputs.into_iter().collect(), flags: HashMap::new() }
    }

    /// Creates a folder of outputs.
    pub(super) fn add_folder(&self, flag: &'static str, folder: &Path) -> Result<()> {
        refuse_dash(flag, folder)?;
        make_folder_of(&folder.join(OF_FOLDER))
    }

    /// Creates the folder of `path`. Refuses a `path` that is a folder, an input or another output; several flags
    /// may name the same device. `-` is standard output, for one flag, and no folder.
    pub(super) fn add(&mut self, flag: &'static str, path: &Path) -> Result<()> {
        if path == Path::new(STDOUT) {
            return take_stdout(&format!("{flag} {STDOUT}"));
        }
        refuse_dash(flag, path)?;
        make_folder_of(path)?;
        refuse_input(path, &self.inputs).map_err(|error| error.about(flag))?;
        match path.metadata() {
            Ok(found) if found.is_dir() => {
                return Err(Error::write(path, std::io::Error::other("a folder has this name")));
            }
            Ok(found) if !found.is_file() => return Ok(()),
            _ => {}
        }
        let real = path.canonicalize().or_else(|_| std::path::absolute(path));
        let real = real.unwrap_or_else(|_| path.to_owned());
        match self.flags.insert(real, flag) {
            None => Ok(()),
            Some(other) => {
                let found = format!("{}, which is also the file of {other}", path.display());
                Err(Error::argument(flag, "a file of its own", found))
            }
        }
    }
}

/// Refuses `-`, which is standard output, as a folder.
fn refuse_dash(flag: &str, path: &Path) -> Result<()> {
    let expected = "a file or a folder (./- for one that is called -)";
    Error::refuse_if(path.starts_with(STDOUT), flag, expected, path.display())
}

/// Whether a path is standard output with the extension of a format, such as `-.y4m`.
pub(super) fn is_stdout_name(path: &Path) -> bool {
    let is_bare = path.parent() == Some(Path::new(""));
    is_bare && path.file_stem().is_some_and(|stem| stem == STDOUT)
}

/// Returns the name of the first flag in the list that is set.
pub(super) fn first_given<'f>(flags: impl IntoIterator<Item = (&'f str, bool)>) -> Option<&'f str> {
    flags.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// Fails with an error about the first flag in the list that is set, if any.
pub(super) fn refuse_given<'f>(
    flags: impl IntoIterator<Item = (&'f str, bool)>,
    error: impl FnOnce(&str) -> Error,
) -> Result<()> {
    first_given(flags).map_or(Ok(()), |flag| Err(error(flag)))
}

/// Conflict of `-o -` with `--json`, as error messages word it, and the remedy.
pub(super) const JSON_ON_STDOUT: &str =
    "--json, which also writes to standard output (name a file)";

pub(super) fn refuse_terminal(what: &str) -> Result<()> {
    let expected = format_args!("a file or a pipe for {what}");
    Error::refuse_if(std::io::stdout().is_terminal(), "-o -", expected, "a terminal")?;
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Background {
    Transparent,
    Opaque([f32; 3]),
}

pub(super) fn colour_behind(
    background: Option<Background>,
    output: Option<&Output>,
) -> Option<[f32; 3]> {
    match background.or_else(|| output.map(Output::default_background)) {
        Some(Background::Transparent) => None,
        Some(Background::Opaque(rgb)) => Some(rgb),
        None => Some([0.0; 3]),
    }
}

pub(super) fn parse_background(text: &str) -> std::result::Result<Background, String> {
    if text == "transparent" {
        return Ok(Background::Transparent);
    }
    let expected = "expected three numbers from 0 to 1 as in 0.1,0.2,0.3, or transparent";
    match numbers(text) {
        Some(rgb) if rgb.iter().all(|c| (0.0..=1.0).contains(c)) => Ok(Background::Opaque(rgb)),
        Some(rgb) if rgb.iter().all(|c| (0.0..=255.0).contains(c)) => {
            let [r, g, b] = rgb.map(|c| (c / 255.0 * 1e4).round() / 1e4);
            Err(format!("{expected} (for values up to 255, {r},{g},{b})"))
        }
        _ => Err(expected.to_owned()),
    }
}

/// Flag for the quality of JPEG pictures.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(super) struct QualityFlag {
    /// Quality of a .jpg, 1 to 100 [default: 90]
    #[arg(long, value_name = "N", requires = "output", value_parser = parse_quality)]
    quality: Option<JpegQuality>,
}

impl QualityFlag {
    pub(super) fn applied(self, output: Option<Output>) -> Result<Option<Output>> {
        let Some(quality) = self.quality else { return Ok(output) };
        match output {
            Some(Output { template, format: Some(PictureFormat::Jpeg(_)) }) => {
                Ok(Some(Output { template, format: Some(PictureFormat::Jpeg(quality)) }))
            }
            _ => Err(Error::needs("--quality", "-o with a name that ends in .jpg")),
        }
    }
}

fn parse_quality(text: &str) -> std::result::Result<JpegQuality, String> {
    let quality = whole_number(text).ok().and_then(JpegQuality::new);
    quality.ok_or_else(|| "expected a whole number from 1 to 100".to_owned())
}

/// Largest picture in pixels that is drawn as a whole: 8192 x 8192, 2.5 GB with the copies made for writing.
const WHOLE_PIXELS: u64 = 1 << 26;

const OTHER_FILMS: [&str; 6] = ["gif", "webm", "mov", "mkv", "avi", "m4v"];

/// Error about a name that ends in no picture format, with a way to the films that other programs make.
fn unknown_picture(path: &Path) -> Error {
    let expected = "a name that ends in .png, .jpg, .webp, .exr or .npy, or -";
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_other =
        OTHER_FILMS.iter().any(|own| extension.is_some_and(|e| own.eq_ignore_ascii_case(e)));
    let file = path.display();
    if !is_other && FilmFormat::of_name(path).is_none() {
        return Error::argument("-o", expected, file);
    }
    let found = format!(
        "{file}. `render`, `mesh` and `deferred` write films (.y4m, .apng, .mp4), and ffmpeg makes any film of pictures: \
         -o 'frames/{{view}}.png', then ffmpeg -framerate 30 -pattern_type glob -i 'frames/*.png' {file}"
    );
    Error::argument("-o", expected, found)
}

/// Refuses lossy picture formats for `flag`: comparing needs the exact values.
pub(super) fn require_values(flag: &str, path: &Path) -> Result<()> {
    if PictureFormat::of_name(path).is_some_and(PictureFormat::reads_back) {
        return Ok(());
    }
    let expected = "a name that ends in .png, .exr or .npy, whose numbers can be compared";
    Err(Error::argument(flag, expected, path.display()))
}

#[derive(Debug, Clone)]
pub(super) struct Output {
    pub(super) template: Template,
    pub(super) format: Option<PictureFormat>,
}

impl Output {
    pub(super) fn parse(
        path: Option<&Path>,
        placeholders: &[&str],
        json: bool,
    ) -> Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        let format = PictureFormat::of_name(path);
        let path = if format.is_some() && is_stdout_name(path) { Path::new(STDOUT) } else { path };
        let template = Template::parse("-o", path, placeholders)?;
        let output = Self { template, format };
        if output.is_stdout() {
            if json {
                return Err(Error::conflict("-o -", JSON_ON_STDOUT));
            }
            refuse_terminal("a picture")?;
        } else if format.is_none() {
            return Err(unknown_picture(path));
        }
        Ok(Some(output))
    }

    pub(super) fn require_values(&self) -> Result<()> {
        match self.format {
            None | Some(PictureFormat::Png | PictureFormat::Exr | PictureFormat::Npy) => Ok(()),
            Some(_) => require_values("-o", &self.template.path),
        }
    }

    /// Refuses views whose pictures the format cannot hold, and a transparent background where it has no alpha.
    /// `in_bands` tells whether the command can draw in bands.
    pub(super) fn check_pictures(
        &self,
        cameras: &[Camera],
        background: Option<Background>,
        in_bands: bool,
    ) -> Result<()> {
        let Some(format) = self.format else { return Ok(()) };
        if background == Some(Background::Transparent) && !format.has_alpha() {
            let other = "a .jpg, which has no alpha (a .png or .webp has one)";
            return Err(Error::conflict("--background transparent", other));
        }
        let whole =
            cameras.iter().filter(|camera| !(in_bands && self.is_in_bands(camera, background)));
        let mut sizes = whole.map(|camera| [camera.width, camera.height]);
        sizes.try_for_each(|size| format.check_size(size))
    }

    pub(super) fn is_in_bands(&self, camera: &Camera, background: Option<Background>) -> bool {
        let background = background.unwrap_or_else(|| self.default_background());
        let is_opaque = background != Background::Transparent;
        let has_bands = |format: PictureFormat| format.has_bands(is_opaque);
        let pixels = u64::from(camera.width) * u64::from(camera.height);
        pixels > WHOLE_PIXELS && !self.is_stdout() && self.format.is_some_and(has_bands)
    }

    /// Bytes of memory for each pixel of a picture that is drawn and written: measured on pictures of 8192 x 8192 pixels
    /// and rounded up.
    pub(super) fn bytes_per_pixel(&self) -> u64 {
        match self.format {
            // Rows are written without a copy.
            Some(PictureFormat::Npy) => FRAME_BYTES + 1,
            // One converted copy (background or linear light), the encoded file, and the compressor's buffers.
            Some(PictureFormat::Exr) => 2 * FRAME_BYTES + 9,
            Some(PictureFormat::WebP) => 3 * FRAME_BYTES + 4,
            Some(PictureFormat::Png | PictureFormat::Jpeg(_)) | None => 2 * FRAME_BYTES + 5,
        }
    }

    pub(super) fn is_stdout(&self) -> bool {
        self.template.path == Path::new(STDOUT)
    }

    pub(super) fn default_background(&self) -> Background {
        match self.format {
            Some(PictureFormat::Exr | PictureFormat::Npy) => Background::Transparent,
            _ => Background::Opaque([0.0; 3]),
        }
    }

    pub(super) fn save(
        &self,
        frame: &Frame,
        names: [&str; 2],
        background: Option<Background>,
    ) -> Result<String> {
        self.write_over(frame, colour_behind(background, Some(self)), names)
    }

    pub(super) fn composed<'a>(
        &self,
        frame: &'a Frame,
        background: Option<Background>,
    ) -> Cow<'a, Frame> {
        match colour_behind(background, Some(self)) {
            None => Cow::Borrowed(frame),
            Some(rgb) => Cow::Owned(frame.over(rgb)),
        }
    }

    pub(super) fn write_bands<T>(
        &self,
        camera: &Camera,
        task: &Task,
        draw: impl FnOnce(&mut dyn FnMut(&Frame) -> Result<()>) -> Result<T>,
    ) -> Result<(String, T)> {
        let path = self.template.path(&camera.name, "");
        let size = [camera.width, camera.height];
        let format = self.format.unwrap_or(PictureFormat::Png);
        Ok((path.display().to_string(), files::write_bands(&path, format, size, task, draw)?))
    }

    pub(super) fn write(&self, frame: &Frame, names: [&str; 2]) -> Result<String> {
        self.write_over(frame, None, names)
    }

    fn write_over(
        &self,
        frame: &Frame,
        background: Option<[f32; 3]>,
        [view, variant]: [&str; 2],
    ) -> Result<String> {
        let format = self.format.unwrap_or(PictureFormat::Png);
        if self.is_stdout() {
            let mut bytes = Vec::new();
            files::write_over_to(&mut bytes, format, frame, background)
                .map_err(|e| Error::write(Path::new("<stdout>"), e))?;
            print_bytes(bytes)?;
            return Ok(STDOUT.to_owned());
        }
        let path = self.template.path(view, variant);
        files::write_over(&path, format, frame, background)?;
        Ok(path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_placeholder_of_earlier_releases_is_read() {
        for name in ["{view}.{method}.png", "{view}.{variant}.png"] {
            let template = Template::parse("-o", Path::new(name), &[VIEW, METHOD]).unwrap();
            template.require(METHOD, 2, "methods").unwrap();
            assert_eq!(template.path("0", "het"), Path::new("0.het.png"));
        }
        assert!(Template::parse("-o", Path::new("{variant}.png"), &[VIEW]).is_err());
    }
}
