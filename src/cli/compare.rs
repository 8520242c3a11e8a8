//! `compare`: compares pictures, films, scenes, or a scene and photos.

mod args;
mod layers;
mod observer;
mod opened;
mod outputs;

use anyhow::Context;
use indicatif::ProgressBar;
use serde_json::{Value, json};

pub(super) use self::args::Args;
use self::layers::ComparedLayers;
use self::observer::Console;
use self::opened::{Kind, Opened, kind_of, missing_pictures, warn_unmatched};
use self::outputs::PageFacts;
use super::console::{Exit, fail, print, print_json};
use super::limits::sort_by_psnr;
use super::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_evaluation::pairing::{self, Pairs};
use quadrille_evaluation::{
    Conditions, Evaluated, Evaluator, Limits, LpipsMetrics, Masks, MetricColumn, PairRow,
    PairSource, Summary, TextRows,
};
use quadrille_scene::LoadOptions;
use quadrille_scene::cameras::ViewSpec;

pub(super) fn run(args: &Args, session: &Session) -> anyhow::Result<Exit> {
    args.views.check()?;
    let kind = kind_of(&args.a, &args.b)?;
    check_flags(args, kind)?;
    if args.layers {
        return compare_layers(args, &pairing::find(&args.a, &args.b)?, session);
    }
    let compared = Compared {
        args,
        kind,
        session,
        lpips: LpipsMetrics::load(&args.lpips, args.lpips_weights.as_deref())?,
        masks: args.masks.as_deref().map(Masks::parse).transpose()?,
    };
    opened::with(args, kind, session, |source, opened| compared.run(source, opened))
}

struct Compared<'a> {
    args: &'a Args,
    kind: Kind,
    session: &'a Session,
    lpips: LpipsMetrics,
    masks: Option<Masks>,
}

impl Compared<'_> {
    fn run(&self, source: &mut dyn PairSource, opened: &Opened) -> anyhow::Result<Exit> {
        let args = self.args;
        let mut keys: Vec<_> = self.lpips.kinds().iter().map(|kind| kind.key()).collect();
        keys.extend(args.ssimulacra2.then_some("ssimulacra2"));
        let columns = MetricColumn::shown(&keys, self.kind != Kind::Photos);
        let conditions = self.conditions(opened, source.original());
        let text = TextRows::new(&columns, source.pairs());
        let text = (!args.json).then_some(&text);
        let (mut evaluated, last_error) = self.evaluate(source, opened, &conditions, text)?;
        evaluated.missing.clone_from(&opened.missing);
        let summary = Summary::of(&evaluated.rows, &columns);
        if let Some(text) = text {
            print(text.end(&summary, &evaluated, &conditions))?;
        }
        let facts = PageFacts {
            title: format!("{} and {}", args.a.display(), args.b.display()),
            sides: opened.sides,
            columns: &columns,
            conditions: &conditions,
        };
        args.outputs.write(&facts, &evaluated, &summary, self.session)?;
        let limits = limits(args);
        let Evaluated { rows, unmeasured, .. } = &evaluated;
        let verdict = limits.verdict(opened.one, rows, unmeasured, &opened.missing);
        if args.json {
            let mut document = self.document(&evaluated, &summary, &conditions, opened);
            if limits.are_set() {
                verdict.add_to(&mut document, limits);
            }
            print_json(document)?;
        }
        let exit = args.limits.conclude(&verdict, limits.are_set() && !args.json)?;
        match last_error {
            Some(error) => Err(error),
            None => Ok(exit),
        }
    }

    fn evaluate(
        &self,
        source: &mut dyn PairSource,
        opened: &Opened,
        conditions: &Conditions,
        text: Option<&TextRows>,
    ) -> anyhow::Result<(Evaluated, Option<anyhow::Error>)> {
        let (args, pairs) = (self.args, source.pairs());
        let (outputs, count) = (&args.outputs, pairs.len());
        let first = pairs.first().cloned().unwrap_or_default();
        let mut console = Console {
            session: self.session,
            diff: outputs.prepare(
                pairs,
                opened.counted,
                args.a.is_dir() && args.b.is_dir(),
                args.views.files().chain(args.exposures.file()),
                |others| args.limits.prepare(1, limits(args).are_set(), others),
            )?,
            bar: ProgressBar::hidden(),
            text,
            has_begun: false,
            last_error: None,
        };
        let mut evaluator = Evaluator {
            protocol: args.protocol,
            background: args.background.0,
            colour_correction: args.colour_correction,
            masks: self.masks.as_ref(),
            lpips: &self.lpips,
            ssimulacra2: args.ssimulacra2,
            journal: outputs.journal(conditions, count)?,
            page_bytes: outputs.page_bytes(count),
        };
        let progress = self.session.progress(opened.counted);
        console.bar = progress.bar.clone();
        let evaluated = evaluator.run(source, &mut console, &progress.task);
        drop(progress);
        match evaluated {
            Ok(evaluated) if evaluated.rows.is_empty() => {
                let is_checked = limits(args).are_set() && !evaluated.unmeasured.is_empty();
                match console.last_error {
                    Some(error) => Err(error),
                    None if is_checked => Ok((evaluated, None)),
                    None => Err(nothing(opened)),
                }
            }
            Ok(evaluated) => Ok((evaluated, console.last_error)),
            // Two pictures are the only pair, so the message names them.
            Err(error) if self.kind == Kind::Pictures => {
                let context = format!("comparing {} and {}", first.a, first.b);
                Err(anyhow::Error::new(error).context(context))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn conditions(&self, opened: &Opened, original: usize) -> Conditions {
        let mut clauses = opened.clauses.clone();
        match &self.masks {
            Some(Masks::Folder(pictures)) => clauses.push(format!(
                "means over the pixels that count in {}, black elsewhere",
                pictures.path().display()
            )),
            Some(Masks::Alpha) => clauses.push(
                "means over the pixels that are opaque in the second picture, black elsewhere"
                    .to_owned(),
            ),
            None => {}
        }
        if let Some(correction) = self.args.colour_correction {
            let name = correction.name();
            clauses.push(format!(
                "colours of the first picture corrected to those of the second by the {name} map"
            ));
        }
        clauses.extend(self.lpips.kinds().iter().map(|kind| kind.clause().to_owned()));
        if self.args.ssimulacra2 {
            let picture = if self.kind == Kind::Photos { "" } else { " picture" };
            let original = opened.sides[original];
            clauses.push(format!("SSIMULACRA 2.1 with the {original}{picture} as the original"));
        }
        Conditions { protocol: self.args.protocol, background: self.args.background.0, clauses }
    }

    fn document(
        &self,
        evaluated: &Evaluated,
        summary: &Summary,
        conditions: &Conditions,
        opened: &Opened,
    ) -> Value {
        let mut rows: Vec<&PairRow> = evaluated.rows.iter().collect();
        if self.kind == Kind::Scenes {
            sort_by_psnr(&mut rows);
        }
        let mut document = json!({
            "protocol": conditions.protocol,
            "background": conditions.background,
            "conditions": conditions.sentence(summary),
            "pairs": rows,
            "missing": opened.missing,
        });
        summary.add_to(&mut document);
        if !evaluated.unmeasured.is_empty() {
            document["not_compared"] = json!(evaluated.unmeasured);
        }
        if let Some(source) = &opened.views_from {
            document["views_from"] = source.as_str().into();
            document["profiles"] = opened.profiles.clone().into();
        }
        document
    }
}

fn limits(args: &Args) -> Limits {
    Limits {
        lpips: args.fail_over_lpips,
        ssimulacra2: args.fail_under_ssimulacra2,
        allow_missing: args.allow_missing,
        ..args.limits.of_level(0)
    }
}

fn nothing(opened: &Opened) -> anyhow::Error {
    let expected = format!("at least one {} that can be compared", opened.one);
    Error::argument(opened.counted, expected, "none").into()
}

fn check_flags(args: &Args, kind: Kind) -> Result<()> {
    let refused =
        |flag: &str, expected: &str| Err(Error::argument(flag, expected, kind.in_words()));
    if args.layers && kind != Kind::Pictures {
        return refused("--layers", "pictures with layers (render writes them with --aov)");
    }
    if args.fail_over_share.is_some() && !args.layers {
        return Err(Error::needs("--fail-over-share", "--layers, whose pixels it counts"));
    }
    if args.allow_missing && !limits(args).are_set() && args.fail_over_share.is_none() {
        return Err(Error::needs("--allow-missing", "a limit, such as --fail-under-psnr 30"));
    }
    let has_scenes = !matches!(kind, Kind::Pictures | Kind::Films);
    let scenes = "scenes, or a scene and photos";
    let (has_photos, photos) = (kind == Kind::Photos, "a scene and a folder of photos");
    let has_sizes = has_photos || kind == Kind::Pictures;
    let (resumes, resumed) =
        (kind != Kind::Films, "pictures or scenes, which can be read from the middle");
    let flags = [
        ("flags that choose views", args.views != ViewSpec::default(), has_scenes, scenes),
        ("--axes or --lod", args.reading != LoadOptions::default(), has_scenes, scenes),
        ("--profile", args.profile.is_some(), has_scenes, scenes),
        ("--near", args.depth.near.near.is_some(), has_scenes, scenes),
        ("--order", args.depth.order.is_some(), has_scenes, scenes),
        ("--photo-size", args.sizes.photo_size, has_photos, photos),
        ("--resize", args.sizes.resize, has_sizes, "pictures, or a scene and a folder of photos"),
        ("--exposures", args.exposures.file().is_some(), has_photos, photos),
        ("--resume", args.outputs.resume, resumes, resumed),
    ];
    match flags.iter().find(|(_, is_given, fits, _)| *is_given && !fits) {
        Some((flag, _, _, expected)) => refused(flag, expected),
        None => Ok(()),
    }
}

fn compare_layers(args: &Args, found: &Pairs, session: &Session) -> anyhow::Result<Exit> {
    warn_unmatched(found, session);
    let mut compared = ComparedLayers::default();
    let mut failed = None;
    for pair in &found.pairs {
        let (a, b) = (pair.a.display(), pair.b.display());
        if let Err(error) = compared.add(pair).with_context(|| format!("comparing {a} and {b}")) {
            failed.iter().for_each(|e| fail(&format!("{e:#}")));
            failed = Some(error);
        }
    }
    if let Some(error) = failed.take_if(|_| compared.is_empty()) {
        return Err(error);
    }
    let missing = missing_pictures(found);
    let failures = match args.fail_over_share {
        Some(most) => compared.failures(most, if args.allow_missing { &[] } else { &missing }),
        None => Vec::new(),
    };
    if args.json {
        let mut document = compared.json();
        document["missing"] = json!(missing);
        if let Some(most) = args.fail_over_share {
            document["limit"] = json!({ "differing_share": most });
            document["passed"] = (failures.is_empty() && failed.is_none()).into();
        }
        print_json(document)?;
    } else {
        print(compared.table())?;
    }
    failures.iter().for_each(|text| fail(text));
    match failed {
        Some(error) => Err(error),
        None => Ok(Exit::of(failures.is_empty())),
    }
}
