use std::borrow::Borrow;

use super::console::{Exit, fail};
use quadrille_base::image::metrics::Comparison;
use quadrille_evaluation::PairRow;

/// Sorts rows by PSNR, the lowest first. Identical pictures have no PSNR and come last.
pub(super) fn sort_by_psnr<R: Borrow<PairRow>>(rows: &mut [R]) {
    let psnr = |row: &R| row.borrow().comparison.psnr_db.unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| psnr(a).total_cmp(&psnr(b)));
}

/// Checks that all views reach a PSNR. A view that shows nothing fails the check, since nothing was compared.
pub(super) fn check_psnr<'a>(
    compared: impl IntoIterator<Item = (&'a str, &'a Comparison)>,
    blank: &[&str],
    what: &str,
    least_db: Option<f64>,
) -> Exit {
    let Some(least_db) = least_db else { return Exit::Done };
    if let Some(name) = blank.first() {
        let others = match blank.len() {
            1 => String::new(),
            count => format!("; {count} {what}s are blank"),
        };
        fail(&format!(
            "{what} \"{name}\": expected a PSNR of at least {least_db} dB, found no splat to compare{others}"
        ));
        return Exit::CheckFailed;
    }
    let all: Vec<_> = compared.into_iter().collect();
    let psnr = all.iter().filter_map(|(name, c)| Some((*name, c.psnr_db?)));
    let below: Vec<_> = psnr.filter(|(_, db)| *db < least_db).collect();
    let Some((name, worst_db)) = below.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Exit::Done;
    };
    let others = match below.len() {
        1 => String::new(),
        count => format!("; {count} of {} are below it", all.len()),
    };
    fail(&format!(
        "{what} \"{name}\": expected a PSNR of at least {least_db} dB, found {worst_db:.3} dB{others}"
    ));
    Exit::CheckFailed
}
