//! A conversion: reads and joins files, applies steps, writes and optionally compares.

use std::io;
use std::path::{Path, PathBuf};

use super::action::Action;
use super::concat::concatenate;
use super::converted::{Converted, ConvertedFile, ConvertedOutput, StepResult};
use super::decimate::{Amount, coarser_levels};
use super::host::ConversionHost;
use super::judge::Judge;
use super::prune::prune;
use super::report::ConversionLoss;
use super::step::{Change, Step};
use quadrille_base::{Error, Result, Task};
use quadrille_scene::{
    Camera, LoadOptions, OutputFormat, Scene, SceneInput, SplatTable, WriteOptions, load_table,
    write_levels_if,
};

/// Default number of levels of detail of a streamed SOG (assumed): the coarsest has an eighth of the splats.
pub const LOD_LEVELS: usize = 4;
/// Maximum number of levels of detail: the coarsest has less than a hundredth of the splats.
pub const MAX_LOD_LEVELS: usize = 8;
/// Number of splats of a level of detail, relative to the next finer one.
const LOD_SHARE: f64 = 0.5;
/// A count below this share of the splats was probably meant as a percentage.
const SMALL_SHARE: f64 = 0.01;

/// A conversion: its inputs, steps and output.
#[derive(Debug, Clone)]
pub struct Conversion {
    /// Scene files, which are joined in this order.
    pub inputs: Vec<PathBuf>,
    /// Options for reading the inputs.
    pub reading: LoadOptions,
    /// Changes of the splats, in order of application.
    pub steps: Vec<Step>,
    /// Text of the step that drops splats outside the range of the format; `None` makes such splats an error.
    pub drop_outside: Option<String>,
    /// Path of the output file or folder.
    pub output: PathBuf,
    /// Format of the output.
    pub format: OutputFormat,
    /// Level of compression, as [`WriteOptions::compression_level`].
    pub compression_level: Option<u8>,
    /// Number of levels of detail for formats that support them, 1 to [`MAX_LOD_LEVELS`].
    pub lod_levels: usize,
    /// Whether views of the output are compared with views of the input.
    pub is_compared: bool,
    /// Near plane of the views that splats are pruned with and compared from, in world units; `None` for the near planes of
    /// the profiles.
    pub near: Option<f64>,
    /// Whether [`Converted::cameras`] has the views, moved with the first input.
    pub keeps_cameras: bool,
}

impl Conversion {
    /// Runs the conversion. On failure, an existing output file stays unchanged.
    ///
    /// # Errors
    /// Errors of reading and writing, of a step that drops every splat, and of splats that the format cannot hold;
    /// [`Error::Argument`] without inputs, and [`Error::Cancelled`].
    pub fn run(&self, host: &mut dyn ConversionHost) -> Result<Converted> {
        let (mut inputs, mut tables) = (Vec::new(), Vec::new());
        for path in &self.inputs {
            let table = load_table(
                SceneInput::file(path).options(self.reading).task(&host.begin("splats")),
            )?;
            let file = ConvertedFile {
                path: path.display().to_string(),
                format: table.format.name(),
                splats: table.rows(),
                sh_degree: table.sh_degree(),
                file_bytes: Some(table.file_bytes),
            };
            host.has_read(path, &table, &file)?;
            inputs.push(file);
            tables.push(table);
        }
        let placed = self.place(&mut tables, host)?;
        note_of_degrees(&inputs, host);
        warn_of_models(&inputs, &tables, host);
        let joined = concatenate(tables, &host.begin("steps"))?;
        let table = joined.ok_or_else(|| Error::argument("inputs", "at least one file", "none"))?;
        let mut run = self.run_of(table, host);
        run.actions = placed;
        run.follow_first_input()?;
        run.apply_all()?;
        // A host that cannot keep a camera says so before anything is written.
        let cameras = match self.keeps_cameras {
            true => run.cameras()?,
            false => Vec::new(),
        };
        let (output, loss) = run.write()?;
        let pruned_by = run.judge.as_ref().and_then(|judge| judge.pruned_by(run.host));
        Ok(Converted { inputs, actions: run.actions, pruned_by, output, loss, cameras })
    }

    /// Applies the steps for single inputs to their tables.
    fn place(
        &self,
        tables: &mut [SplatTable],
        host: &mut dyn ConversionHost,
    ) -> Result<Vec<StepResult>> {
        let mut done = Vec::new();
        for step in &self.steps {
            let Some(number) = step.input else { continue };
            let count = tables.len();
            let what = format!("--input {}", number + 1);
            let table = tables.get_mut(number).ok_or_else(|| {
                Error::argument(
                    "--input",
                    format!("a number from 1 to {count}, or all"),
                    number + 1,
                )
            })?;
            let Change::Action(action) = &step.change else {
                return Err(Error::conflict(what, format!("{}, which needs views", step.text)));
            };
            if !action.is_intended() {
                let expected = "moves and crops; other actions apply to all inputs together";
                return Err(Error::argument(what, expected, &step.text));
            }
            let (path, task) = (&self.inputs[number], host.begin("steps"));
            apply_step(action, &step.text, table, path, &task)?;
            let text = format!("{what} {}", step.text);
            warn_of_rounding(action, &text, table, host);
            let result =
                StepResult { action: text, splats: table.rows(), sh_degree: table.sh_degree() };
            host.has_applied(&result)?;
            done.push(result);
        }
        Ok(done)
    }

    /// Applies the steps to a table in memory, without inputs and output.
    ///
    /// # Errors
    /// As [`Self::run`], of its steps.
    pub fn apply(&self, table: SplatTable, host: &mut dyn ConversionHost) -> Result<SplatTable> {
        let mut run = self.run_of(table, host);
        for step in &self.steps {
            run.apply(step)?;
        }
        Ok(run.table)
    }

    fn run_of<'a>(&'a self, table: SplatTable, host: &'a mut dyn ConversionHost) -> Run<'a> {
        let is_pruned = self.steps.iter().any(|s| matches!(s.change, Change::Prune(_)));
        let profile = table.profile();
        Run {
            of: self,
            table,
            reference: None,
            judge: (self.is_compared || is_pruned || self.keeps_cameras)
                .then(|| Judge::new(self.near, &profile)),
            scene: self.inputs.first().map_or(Path::new("-"), PathBuf::as_path),
            actions: Vec::new(),
            host,
        }
    }
}

struct Run<'a> {
    of: &'a Conversion,
    table: SplatTable,
    /// For a comparison: the splats with only the intended actions applied, kept from the first lossy action on.
    reference: Option<SplatTable>,
    /// Present if splats are pruned or views compared.
    judge: Option<Judge>,
    scene: &'a Path,
    actions: Vec<StepResult>,
    host: &'a mut dyn ConversionHost,
}

impl Run<'_> {
    /// Moves the views with the first input, in whose world they are.
    fn follow_first_input(&mut self) -> Result<()> {
        let Some(judge) = &mut self.judge else { return Ok(()) };
        for step in self.of.steps.iter().filter(|step| step.input == Some(0)) {
            if let Change::Action(action) = &step.change {
                judge.follow(action, &step.text, self.host)?;
            }
        }
        Ok(())
    }

    fn cameras(&mut self) -> Result<Vec<Camera>> {
        let Some(judge) = &mut self.judge else { return Ok(Vec::new()) };
        judge.moved_cameras(&self.table, self.host)
    }

    /// Applies the steps in order. The check of the format's limits runs once no later step drops or moves splats.
    fn apply_all(&mut self) -> Result<()> {
        let of = self.of;
        let keeps = |step: &Step| matches!(&step.change, Change::Action(a) if a.keeps_positions());
        // The steps for single inputs have been applied.
        let steps: Vec<&Step> = of.steps.iter().filter(|step| step.input.is_none()).collect();
        let moving = steps.iter().rposition(|step| !keeps(step));
        let (moving, others) = steps.split_at(moving.map_or(0, |last| last + 1));
        for step in moving {
            self.apply(step)?;
        }
        if let Some(text) = &of.drop_outside {
            self.keep_reference();
            let (task, before) = (self.host.begin("steps"), self.table.rows());
            let rows = of.format.rows_inside(&self.table, &task)?;
            check_left(text, before, rows.len())?;
            self.table.select(&rows, &task)?;
            self.has_applied(text.clone())?;
        }
        of.format.check(&self.table, &of.output, &self.host.begin("steps"))?;
        for step in others {
            self.apply(step)?;
        }
        Ok(())
    }

    fn has_applied(&mut self, action: String) -> Result<()> {
        let step =
            StepResult { action, splats: self.table.rows(), sh_degree: self.table.sh_degree() };
        self.host.has_applied(&step)?;
        self.actions.push(step);
        Ok(())
    }

    fn apply(&mut self, step: &Step) -> Result<()> {
        let (path, text) = (self.scene, step.text.as_str());
        match &step.change {
            Change::Action(action) => {
                let is_intended = action.is_intended();
                if !is_intended {
                    self.keep_reference();
                    self.warn_of_amount(action, text);
                }
                if action.turns() {
                    self.warn_of_directions(text);
                }
                if action.mirrors() {
                    self.host.warn(&format!("{text}: these axes mirror the scene"));
                }
                let task = self.host.begin("steps");
                apply_step(action, text, &mut self.table, path, &task)?;
                warn_of_rounding(action, text, &self.table, self.host);
                if is_intended {
                    if let Some(reference) = &mut self.reference {
                        apply_step(action, text, reference, path, &task)?;
                    }
                    if let Some(judge) = &mut self.judge {
                        judge.follow(action, text, self.host)?;
                    }
                }
            }
            Change::Prune(threshold) => {
                self.keep_reference();
                let before = self.table.rows();
                if let Some(judge) = &mut self.judge {
                    let cameras = judge.pruning(&self.table, self.host)?;
                    let (profile, warning) = judge.profile(&self.table).of_ellipsoids();
                    warning.into_iter().for_each(|text| self.host.warn(text));
                    let task = self.host.begin("views");
                    let warnings =
                        prune(&mut self.table, *threshold, &cameras, &profile, path, &task)?;
                    warnings.iter().for_each(|text| self.host.warn(text));
                }
                check_left(text, before, self.table.rows())?;
            }
        }
        self.has_applied(step.text.clone())?;
        Ok(())
    }

    fn keep_reference(&mut self) {
        if self.of.is_compared && self.reference.is_none() {
            self.reference = Some(self.table.clone());
        }
    }

    /// Warns of columns that depend on the axes of the world and stay as they are.
    fn warn_of_directions(&mut self, text: &str) {
        let names: Vec<&str> = self.table.names_not_turned().collect();
        if !names.is_empty() {
            let warning = format!(
                "{text}: the columns {} depend on the axes of the world and are not turned; the splats are",
                names.join(", ")
            );
            self.host.warn(&warning);
        }
    }

    /// Warns of a count that was probably meant as a percentage; notes a decimation that has no effect.
    fn warn_of_amount(&mut self, action: &Action, text: &str) {
        let rows = self.table.rows();
        if let Action::Decimate(amount) = action
            && amount.of(rows) >= rows
        {
            let hint = match amount {
                Amount::Splats(count @ ..=100) => format!("; {count} percent is written {count}%"),
                _ => String::new(),
            };
            self.host.note(&format!(
                "{text}: all {rows} splats are kept, since the step keeps up to {} splats{hint}",
                amount.of(rows)
            ));
            return;
        }
        if let Action::Decimate(Amount::Splats(count)) = action {
            let share = *count as f64 / rows.max(1) as f64;
            if share < SMALL_SHARE {
                self.host.warn(&format!(
                    "{text}: {count} of {rows} splats are left, since a number without % is a count; {count} percent \
                     is written {count}%"
                ));
            }
        }
    }

    fn coarser_levels(&mut self) -> Result<Vec<SplatTable>> {
        let count = if self.of.format.has_levels() { self.of.lod_levels } else { 1 };
        let task = self.host.begin("steps of levels of detail");
        let coarser = count.saturating_sub(1);
        let levels = coarser_levels(&self.table, coarser, LOD_SHARE, self.scene, &task)?;
        for (number, level) in (1..).zip(&levels) {
            let step = StepResult {
                action: format!("level of detail {number}"),
                splats: level.rows(),
                sh_degree: level.sh_degree(),
            };
            self.host.has_applied(&step)?;
            self.actions.push(step);
        }
        Ok(levels)
    }

    fn write(&mut self) -> Result<(ConvertedOutput, Option<ConversionLoss>)> {
        let (of, format) = (self.of, self.of.format);
        let output = of.output.display();
        for loss in format.losses(&self.table) {
            self.host.warn(&format!("{output}: {loss}"));
        }
        let (mut loss, mut bytes) = (None, None);
        let coarser = self.coarser_levels()?;
        let levels: Vec<&SplatTable> = [&self.table].into_iter().chain(&coarser).collect();
        let task = self.host.begin("steps of writing");
        let (table, host) = (&self.table, &mut *self.host);
        let (judge, reference) = (&mut self.judge, self.reference.take());
        let accept = |new: &Path| {
            bytes = written_bytes(new, format).ok();
            let Some(judge) = judge.as_mut().filter(|_| of.is_compared) else { return Ok(true) };
            let before = reference.as_ref().unwrap_or(table);
            let found = judge.measure(before, &levels, new, format, self.scene, host)?;
            let is_accepted = host.accepts(&found);
            loss = Some(found);
            Ok(is_accepted)
        };
        let options = WriteOptions::new(format).compression_level(of.compression_level).task(&task);
        let written = write_levels_if(&of.output, &levels, options, accept)?;
        let file = ConvertedFile {
            path: output.to_string(),
            format: format.name(),
            splats: self.table.rows(),
            sh_degree: self.table.sh_degree(),
            file_bytes: bytes,
        };
        Ok((ConvertedOutput { file, written }, loss))
    }
}

/// Applies an action, named `text` in errors, to the table of the file `path`.
///
/// # Errors
/// The errors of [`Action::apply`], and [`Error::Argument`] if no splat is left.
pub fn apply_step(
    action: &Action,
    text: &str,
    table: &mut SplatTable,
    path: &Path,
    task: &Task,
) -> Result<()> {
    quadrille_base::span!("step");
    let before = table.rows();
    action.apply(table, path, task).map_err(|error| match action {
        // The condition may name a column that the table does not have.
        Action::Where(_) => error.about(text.split(' ').next().unwrap_or(text)),
        _ => error.about(text),
    })?;
    check_left(text, before, table.rows())
}

/// The scene of a table after the actions of `steps`, in order.
///
/// # Errors
/// The errors of [`apply_step`] and of [`SplatTable::into_scene`].
pub fn filtered(mut table: SplatTable, steps: &[Step], path: &Path, task: &Task) -> Result<Scene> {
    for step in steps {
        if let Change::Action(action) = &step.change {
            apply_step(action, &step.text, &mut table, path, task)?;
        }
    }
    table.into_scene()
}

/// Notes that the output has spherical harmonics that some inputs lack.
fn note_of_degrees(inputs: &[ConvertedFile], host: &mut dyn ConversionHost) {
    let highest = inputs.iter().map(|file| file.sh_degree).max().unwrap_or(0);
    let lower = inputs.iter().filter(|file| file.sh_degree < highest);
    let lower: Vec<_> = lower.map(|file| format!("{} ({})", file.path, file.sh_degree)).collect();
    if !lower.is_empty() {
        host.note(&format!(
            "joined splats have spherical harmonics of degree {highest}, with zeros for {}; --sh 0 leaves them out, for a \
             smaller file",
            lower.join(", ")
        ));
    }
}

/// Warns that discs among the inputs become ellipsoids, since other inputs are ellipsoids.
fn warn_of_models(inputs: &[ConvertedFile], tables: &[SplatTable], host: &mut dyn ConversionHost) {
    let discs = inputs.iter().zip(tables).filter(|(_, table)| table.profile().is_disc);
    let discs: Vec<_> = discs.map(|(file, _)| file.path.as_str()).collect();
    if !discs.is_empty() && discs.len() < inputs.len() {
        host.warn(&format!(
            "the discs (2DGS) of {} become flat 3D Gaussians, as the splats that they are joined with; the pictures differ",
            discs.join(", ")
        ));
    }
}

/// Warns of a move that rounds positions: a comparison does not show its loss, since it moves both sides.
fn warn_of_rounding(
    action: &Action,
    text: &str,
    table: &SplatTable,
    host: &mut dyn ConversionHost,
) {
    let rounding = action.moves().then(|| table.double_rounding()).flatten();
    rounding.iter().for_each(|rounding| host.warn(&format!("{text}: {rounding}")));
}

fn check_left(text: &str, before: usize, left: usize) -> Result<()> {
    let is_wrong = left == 0 && before > 0;
    Error::refuse_if(
        is_wrong,
        text,
        "at least one splat that stays",
        format_args!("none of {before}"),
    )?;
    Ok(())
}

fn written_bytes(path: &Path, format: OutputFormat) -> io::Result<u64> {
    let path = format.main_file(path);
    match format.is_folder() {
        true => bytes_below(path.parent().unwrap_or(Path::new(""))),
        false => Ok(path.metadata()?.len()),
    }
}

fn bytes_below(folder: &Path) -> io::Result<u64> {
    let size = |entry: io::Result<std::fs::DirEntry>| {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => bytes_below(&entry.path()),
            false => Ok(entry.metadata()?.len()),
        }
    };
    std::fs::read_dir(folder)?.map(size).sum()
}
