//! Names of output files, with placeholders for what the outputs differ in.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::image::files;

use super::render_options::Background;

/// A file name with placeholders.
#[derive(Debug, Clone)]
pub(super) struct Template(PathBuf);

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// `{view}`: a view's name.
    View,
    /// `{variant}`: a variant's name.
    Variant,
}

impl Placeholder {
    fn text(self) -> &'static str {
        match self {
            Self::View => "{view}",
            Self::Variant => "{variant}",
        }
    }
}

impl Template {
    /// A name, taken as it is.
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Several views, or variants, need a name each. `mend` says what else would help.
    ///
    /// # Errors
    /// [`Error::Caller`] about `flag`.
    pub(super) fn require(
        &self,
        flag: &str,
        placeholder: Placeholder,
        count: usize,
        mend: &str,
    ) -> Result<()> {
        if count < 2 || self.0.to_string_lossy().contains(placeholder.text()) {
            return Ok(());
        }
        let what = placeholder.text();
        Err(Error::caller(
            flag,
            format!("{what} in the name, since there are {count} {mend}"),
            self.0.display().to_string(),
        ))
    }

    /// The name for a view and a variant.
    pub(super) fn path(&self, view: &str, variant: &str) -> PathBuf {
        match self.0.to_str() {
            Some(text) => text
                .replace(Placeholder::Variant.text(), variant)
                .replace(Placeholder::View.text(), view)
                .into(),
            None => self.0.clone(),
        }
    }
}

/// Where pictures go.
#[derive(Debug, Clone)]
pub(super) struct Output {
    template: Template,
    format: Option<files::Format>,
}

impl Output {
    /// Checks an `-o`: a known extension, or `-`.
    pub(super) fn parse(template: &Path) -> Result<Self> {
        let format = files::Format::of_name(template);
        if format.is_none() && template != Path::new("-") {
            return Err(Error::caller(
                "-o",
                "a name that ends in .png, .exr or .npy, or -",
                template.display().to_string(),
            ));
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
        self.template.require("-o", Placeholder::View, views, mend)
    }

    /// Several variants need several names.
    pub(super) fn check_variants(&self, variants: usize) -> Result<()> {
        let mend = "variants (or choose one with --variant)";
        self.template
            .require("-o", Placeholder::Variant, variants, mend)
    }

    /// The file of a view's picture, by a variant where there are such.
    pub(super) fn path(&self, view: &str, variant: &str) -> PathBuf {
        self.template.path(view, variant)
    }

    /// The background where no flag chooses one.
    pub(super) fn default_background(&self) -> Background {
        match self.format {
            Some(files::Format::Exr | files::Format::Npy) => Background::Transparent,
            _ => Background::Opaque([0.0; 3]),
        }
    }
}
