use std::path::{Path, PathBuf};

use super::outputs::{Background, colour_behind};
use super::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::exposure::exposed;
use quadrille_scene::cameras::Exposures;

/// Flag for exposures that a trainer learned.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct ExposureFlags {
    /// Apply the exposures that the 3DGS trainer learned for its pictures (exposure.json): the colours of
    /// each view, over the background, are transformed by the matrix with the name of the view and clamped;
    /// views without a matrix do not change
    #[arg(long, value_name = "FILE.json")]
    exposures: Option<PathBuf>,
}

pub(super) struct ViewExposures {
    exposures: Exposures,
    background: [f32; 3],
}

impl ExposureFlags {
    pub(super) fn file(&self) -> Option<&Path> {
        self.exposures.as_deref()
    }

    pub(super) fn read(&self) -> Result<Option<Exposures>> {
        self.exposures.as_ref().map(Exposures::load).transpose()
    }

    pub(super) fn load(
        &self,
        background: Option<Background>,
        makes_film: bool,
    ) -> Result<Option<ViewExposures>> {
        let Some(path) = &self.exposures else { return Ok(None) };
        if makes_film {
            return Err(Error::conflict("--exposures", "a film (name pictures with -o)"));
        }
        let Some(background) = colour_behind(background, None) else {
            let other = "--background transparent (choose an opaque colour)";
            return Err(Error::conflict("--exposures", other));
        };
        let exposures = Exposures::load(path)?;
        Ok(Some(ViewExposures { exposures, background }))
    }
}

impl ViewExposures {
    #[cfg(feature = "view")]
    pub(super) fn into_exposures(self) -> Exposures {
        self.exposures
    }

    pub(super) fn apply(&self, frame: &Frame, view: &str, session: &Session) -> Option<Frame> {
        let Some(rows) = self.exposures.of(view) else {
            let file = quadrille_base::error::shown(self.exposures.file());
            session.warn(&format!("view \"{view}\": {file} has no exposure for it"));
            return None;
        };
        Some(exposed(&frame.over(self.background), rows))
    }
}
