//! `figures --correlate`: compares measurements on hardware with the emulator's predictions.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::args::Args;
use super::{jobs, report};
use crate::cli::console::Exit;
use crate::cli::outputs::Outputs;
use crate::cli::session::Session;
use quadrille_base::text_file::read_text;
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::method::Method;
use quadrille_papers::correlation::{Correlation, Pair};
use quadrille_papers::report::Inputs;
use quadrille_suite::measured::{KERNELS_METHOD, Measurement};
use quadrille_suite::moving_fields::moving_fields;
use quadrille_suite::{
    Configuration, Event, JobKey, MethodChoice, Plan, Run, RunOptions, RunRow, Suite, ViewWork,
};

const PAPER: &str = "hardware";

pub(super) fn run(measured: &Path, args: &Args, session: &Session) -> Result<Exit> {
    args.check_figures(&[PAPER])?;
    let measurements = Measurement::read_all(&read_text(measured, "measured numbers")?, measured)?;
    let suites = args.suites.iter().map(|path| Ok(Suite::read(path)?.without_configurations()));
    let suites: Vec<Suite> = suites.collect::<Result<_>>()?;
    let configurations = args.gpu.configurations(session)?;
    let [configuration] = &configurations[..] else {
        let found = configurations.len().to_string();
        return Err(Error::argument("--preset, --config and --set", "one configuration", found));
    };
    let inputs = args.suites.iter().map(PathBuf::as_path).chain([measured]);
    Outputs::beside(inputs).add("-o", &args.results())?;
    session.install(|| {
        let _lock = report::folder(args)?;
        let progress = session.progress_in_lines("views");
        let views = Views {
            file: measured,
            suites: &suites,
            measurements: &measurements,
            configuration,
            args,
            session,
        };
        let pairs = views.pairs(&progress.task)?;
        drop(progress);
        let mut correlation = Correlation { pairs, configuration: configuration.label() };
        name_fields(&mut correlation, configuration, session)?;
        let inputs = Inputs {
            splats: None,
            deferred: None,
            merging: None,
            hardware: Some(correlation),
            command: args.command(),
            choice: args.choice(),
            program: quadrille::PROGRAM,
        };
        Ok(report::exit(&report::publish(args, &inputs, &|_| Vec::new())?))
    })
}

/// Adds the fields that move the rates which deviate.
fn name_fields(
    correlation: &mut Correlation,
    configuration: &Configuration,
    session: &Session,
) -> Result<()> {
    let reference = correlation.reference().cloned();
    let of_rates = |pair: &&mut Pair| pair.measured.view.is_none();
    let rates: Vec<_> = correlation.deviating().into_iter().filter(of_rates).collect();
    let items: Vec<_> = rates.iter().map(|pair| pair.measured.clone()).collect();
    let items: Vec<&Measurement> = items.iter().collect();
    let progress = session.progress_in_lines("fields");
    let effects = moving_fields(&items, reference.as_ref(), &configuration.config, &progress.task)?;
    for (pair, effects) in rates.into_iter().zip(effects) {
        let named = effects.iter().map(|of| format!("{} {:+.0} %", of.change, of.effect * 100.0));
        pair.fields = named.collect::<Vec<_>>().join(", ");
    }
    // Fields of kernels stand where their number was taken; only deviating ones are told.
    let deviating: Vec<u64> = correlation.deviating().iter().map(|p| p.measured.line).collect();
    for pair in correlation.pairs.iter_mut().filter(|p| !deviating.contains(&p.measured.line)) {
        pair.fields.clear();
    }
    Ok(())
}

struct Views<'a> {
    file: &'a Path,
    suites: &'a [Suite],
    measurements: &'a [Measurement],
    configuration: &'a Configuration,
    args: &'a Args,
    session: &'a Session,
}

impl Views<'_> {
    fn pairs(&self, task: &Task) -> Result<Vec<Pair>> {
        let measurements = self.measurements;
        let mut modelled: Vec<(Option<f64>, String)> = vec![Default::default(); measurements.len()];
        let mut scenes: Vec<(&Measurement, &str)> = Vec::new();
        for one in measurements {
            let Some([scene, _]) = &one.view else { continue };
            let is_same =
                |other: &(&Measurement, &str)| (other.0.size, other.1) == (one.size, scene);
            if !scenes.iter().any(is_same) {
                scenes.push((one, scene));
            }
        }
        let steps = task.steps(scenes.len() as u64);
        for (first, scene) in scenes {
            self.run(first, scene, &mut modelled, steps.task())?;
            steps.advance(1)?;
        }
        let (config, all) = (self.configuration.config.clone(), measurements.to_vec());
        // A draw takes at most a second, so a cancelled call does not wait: the draw ends on its own thread.
        let rates: Vec<Option<f64>> = task.uninterrupted(move || {
            let rate = |one: &Measurement| match one.view {
                Some(_) => None,
                None => one.modelled_rate(&config),
            };
            all.par_iter().map(rate).collect()
        })?;
        let numbers = modelled.into_iter().zip(rates);
        let pairs = measurements.iter().cloned().zip(numbers);
        let pairs = pairs.map(|(measured, ((kernel, fields), rate))| Pair {
            measured,
            modelled: kernel.or(rate),
            fields,
        });
        Ok(pairs.collect())
    }

    /// Runs the measured views of a scene at one size, except those with a row in the results files, and stores
    /// the emulator's numbers.
    fn run(
        &self,
        first: &Measurement,
        scene: &str,
        modelled: &mut [(Option<f64>, String)],
        task: &Task,
    ) -> Result<()> {
        let plan = self.plan(first, scene, task)?;
        let results = self.args.results();
        let mut watch = |event: Event<'_>| {
            if let Event::Warning(text) = event {
                self.session.warn(&text);
            }
        };
        let options = RunOptions {
            results: Some(&results),
            others: &jobs::results_files(&self.args.output)?,
            level: self.session.level,
            task: &task.without_progress(),
        };
        let (rows, _) = RunRow::split(plan.run(&options, &mut watch)?);
        let clock_mhz = self.configuration.config.gpu.clock_mhz;
        for (one, number) in self.measurements.iter().zip(modelled) {
            let row = rows.iter().find(|row| one.is_of(&row.key));
            if let Some(method) = row.and_then(|row| row.method(KERNELS_METHOD)) {
                *number = (one.modelled_by(method, clock_mhz), one.deciding_fields(method));
            }
        }
        Ok(())
    }

    fn plan(&self, first: &Measurement, scene: &str, task: &Task) -> Result<Plan> {
        let method = Method::parse(KERNELS_METHOD)?;
        let place = |one: &Measurement| format!("line {}", one.line);
        let suite = self.suites.iter().find(|suite| suite.scenes().any(|name| name == scene));
        let Some(suite) = suite else {
            let names: Vec<&str> = self.suites.iter().flat_map(Suite::scenes).collect();
            let expected = match names.is_empty() {
                true => "a suite with the scenes of the file as an argument".to_owned(),
                false => format!("one of the scenes {}", names.join(", ")),
            };
            return Err(Error::malformed(self.file, place(first), expected, scene));
        };
        let part = task.without_progress();
        let plan =
            suite.plan_scene(scene, first.size, self.configuration, quadrille::PROGRAM, &part)?;
        let of_scene = self.measurements.iter().filter(|one| {
            one.size == first.size && one.view.as_ref().is_some_and(|[name, _]| name == scene)
        });
        let keys = || plan.runs().iter().filter_map(Run::view).map(|(key, _)| key);
        for one in of_scene {
            if !keys().any(|key| one.is_of(key)) {
                let names: Vec<&str> = keys().map(|key| &*key.view.name).collect();
                let expected = format!("one of the views {}", names.join(", "));
                let found = one.view.as_ref().map_or("", |[_, view]| view);
                return Err(Error::malformed(self.file, place(one), expected, found));
            }
        }
        let choose = |key: &JobKey, _: &ViewWork| MethodChoice {
            methods: match self.measurements.iter().any(|one| one.is_of(key)) {
                true => vec![method],
                false => Vec::new(),
            },
            has_details: false,
        };
        Ok(plan.by_method(choose))
    }
}
