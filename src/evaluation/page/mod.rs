//! The page of a comparison: one HTML file with all pictures in it, worst pair first.
//!
//! The page works without scripts: radio buttons choose the order of the pairs by CSS, and the edge between two pictures
//! is dragged by the handle of a resizable box. A script replaces the handle by a slider.

use std::fmt::Write;

use quadrille_base::image::difference::heat_colour;

use super::columns::MetricColumn;
use super::conditions::Conditions;
use super::documents::escaped_html;
use super::evaluated::Evaluated;
use super::pair_pictures::{MOST_SHOWN, PairPictures};
use super::row::PairRow;
use super::summary::Summary;

/// Largest page: small enough to be mailed or attached to a report (assumed).
const MAX_PAGE_BYTES: usize = 36 << 20;
/// Bytes of a pair's text (assumed): its numbers, three times its name, its elements.
const TEXT_BYTES: usize = 4 << 10;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Content of a page beside its pairs.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// Title of the page.
    pub title: &'a str,
    /// Names of the first and the second picture of every pair, such as "render" and "photo".
    pub sides: [&'a str; 2],
    /// Command that makes the page.
    pub command: &'a str,
    /// Version of the program.
    pub program: &'a str,
    /// Columns of the tables.
    pub columns: &'a [MetricColumn],
    /// Conditions of the comparison.
    pub conditions: &'a Conditions,
}

/// Size limit in bytes of the three pictures of a pair on a page of `pairs` pairs.
pub fn bytes_per_pair(pairs: usize) -> usize {
    let shown = pairs.clamp(1, MOST_SHOWN);
    // Base64 has four characters for three bytes.
    (MAX_PAGE_BYTES / shown).saturating_sub(TEXT_BYTES) / 4 * 3
}

impl Page<'_> {
    /// Returns the page as HTML.
    pub fn html(&self, evaluated: &Evaluated, summary: &Summary) -> String {
        let mut order: Vec<usize> = (0..evaluated.rows.len()).collect();
        let psnr = |at: &usize| evaluated.rows[*at].comparison.psnr_db.unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| psnr(a).total_cmp(&psnr(b)));
        let title = escaped_html(self.title);
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}{}</style>\n<main>\n<h1>{title}</h1>\n",
            self.order_style()
        );
        let sentence = escaped_html(&self.conditions.sentence(summary));
        let _ =
            write!(html, "<p class=\"conditions\">{sentence}.</p>\n{}", self.statistics(summary));
        let others = evaluated.without_row().map(|(pair, reason)| (pair.name, reason.to_owned()));
        html += &list("Not compared", others);
        html +=
            &list("Not finite", evaluated.marks().map(|(row, mark)| (row.pair.name.clone(), mark)));
        html += &self.orders();
        html += "<section class=\"pairs\">\n";
        for (rank, &at) in order.iter().take(MOST_SHOWN).enumerate() {
            let ranks = self.ranks(evaluated, at, rank);
            html += &self.pair(&evaluated.rows[at], &evaluated.pictures[at], &ranks);
        }
        html += "</section>\n";
        if order.len() > MOST_SHOWN {
            let _ =
                writeln!(html, "<p>The {MOST_SHOWN} worst of {} pairs are shown.</p>", order.len());
        }
        html += &self.all_rows(evaluated, &order);
        let _ = write!(
            html,
            "<footer><p>Made by <code>{}</code></p><p>{}</p></footer>\n</main>\n<script>\n{SCRIPT}</script>\n</html>\n",
            escaped_html(self.command),
            escaped_html(self.program)
        );
        html
    }

    fn sorted_columns(&self) -> impl Iterator<Item = &MetricColumn> {
        self.columns.iter().filter(|column| column.is_in_papers || column.key == "flip")
    }

    /// CSS rules that sort pairs by the chosen radio button.
    fn order_style(&self) -> String {
        let rule = |key: &str| format!("main:has(#by-{key}:checked) .pair{{order:var(--{key})}}\n");
        self.sorted_columns().map(|column| rule(column.key)).chain([rule("name")]).collect()
    }

    fn orders(&self) -> String {
        let button = |key: &str, label: &str, is_first: bool| {
            let checked = if is_first { " checked" } else { "" };
            format!(
                "<label><input type=\"radio\" name=\"by\" id=\"by-{key}\"{checked}> {label}</label>\n"
            )
        };
        let columns = self.sorted_columns().enumerate();
        let columns: String =
            columns.map(|(at, column)| button(column.key, column.heading, at == 0)).collect();
        let name = button("name", "name", false);
        format!(
            "<fieldset class=\"orders\"><legend>Worst first, by</legend>\n{columns}{name}</fieldset>\n"
        )
    }

    /// Ranks of row `at` in all orders, as CSS variables. `rank` is its rank by PSNR.
    fn ranks(&self, evaluated: &Evaluated, at: usize, rank: usize) -> String {
        let mut style = format!("--psnr_db:{rank};--name:{at}");
        for column in self.sorted_columns().filter(|column| !column.is_psnr()) {
            let own = (column.value)(&evaluated.rows[at]).unwrap_or(0.0);
            let is_worse = |row: &&PairRow| {
                let other = (column.value)(row).unwrap_or(0.0);
                if column.is_higher_better { other < own } else { other > own }
            };
            let worse = evaluated.rows.iter().filter(is_worse).count();
            let _ = write!(style, ";--{}:{worse}", column.key);
        }
        style
    }

    fn pair(&self, row: &PairRow, pictures: &PairPictures, ranks: &str) -> String {
        let name = escaped_html(&row.pair.name);
        let [a, b] = self.sides.map(escaped_html);
        let numbers: String = (self.columns.iter())
            .map(|column| {
                let text = column.short_text((column.value)(row));
                format!("<div><dt>{}</dt><dd>{text}</dd></div>", column.heading)
            })
            .collect();
        let share = row
            .mask_share
            .map(|share| format!("<div><dt>counted</dt><dd>{:.1} %</dd></div>", 100.0 * share));
        let share = share.unwrap_or_default();
        let files = [&row.pair.a, &row.pair.b].map(|file| escaped_html(file));
        let shown = match pictures.size {
            [0, _] | [_, 0] => {
                "<p>No pictures: an earlier run compared them without a page.</p>".to_owned()
            }
            [width, height] => format!(
                "<div class=\"pictures\">\n\
                 <figure><div class=\"both\" style=\"aspect-ratio:{width}/{height}\"><div class=\"b\" role=\"img\" aria-label=\"{b} of {name}\"></div>\
                 <div class=\"over\"><div class=\"a\" role=\"img\" aria-label=\"{a} of {name}\"></div></div></div>\
                 <figcaption><span>{a}</span><span>{b}</span></figcaption></figure>\n\
                 <figure><div class=\"a one\" style=\"aspect-ratio:{width}/{height}\" role=\"img\" aria-label=\"{a} of {name}\"></div><figcaption>{a}</figcaption></figure>\n\
                 <figure><div class=\"b one\" style=\"aspect-ratio:{width}/{height}\" role=\"img\" aria-label=\"{b} of {name}\"></div><figcaption>{b}</figcaption></figure>\n\
                 <figure><div class=\"e one\" style=\"aspect-ratio:{width}/{height}\" role=\"img\" aria-label=\"FLIP error of {name}\"></div>{}</figure>\n</div>\n",
                legend()
            ),
        };
        format!(
            "<article class=\"pair\" style=\"{ranks};{}\">\n<h2>{name}</h2>\n<dl>{numbers}{share}</dl>\n{shown}\
             <p class=\"files\">{} <span>and</span> {}</p>\n</article>\n",
            pictures.variables(),
            files[0],
            files[1]
        )
    }

    fn statistics(&self, summary: &Summary) -> String {
        if summary.count < 2 {
            return String::new();
        }
        let headings = cells("th", self.columns.iter().map(|column| column.heading.to_owned()));
        let rows: String = (summary.lines().into_iter())
            .map(|(name, numbers)| {
                let numbers = self.columns.iter().zip(numbers);
                let numbers = numbers.map(|(column, number)| column.short_text(*number));
                format!("<tr><th scope=\"row\">{name}</th>{}</tr>\n", cells("td", numbers))
            })
            .collect();
        format!(
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"means of all pairs\"><table><thead><tr><th>{} pairs</th>{headings}</tr></thead><tbody>\n{rows}</tbody></table></div>\n",
            summary.count
        )
    }

    fn all_rows(&self, evaluated: &Evaluated, order: &[usize]) -> String {
        let headings = cells("th", self.columns.iter().map(|column| column.heading.to_owned()));
        let rows: String = (order.iter().map(|&at| &evaluated.rows[at]))
            .map(|row| {
                let numbers = self.columns.iter().map(|column| column.text((column.value)(row)));
                let name = escaped_html(&row.pair.name);
                format!("<tr><th scope=\"row\">{name}</th>{}</tr>\n", cells("td", numbers))
            })
            .collect();
        format!(
            "<details><summary>All numbers</summary><div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"all numbers\"><table><thead><tr><th>pair</th>{headings}</tr></thead><tbody>\n{rows}</tbody></table></div></details>\n"
        )
    }
}

/// List of pairs with reasons below a heading; empty without pairs.
fn list(heading: &str, pairs: impl Iterator<Item = (String, String)>) -> String {
    let items = pairs.map(|(name, reason)| {
        format!("<li><b>{}</b>: {}</li>\n", escaped_html(&name), escaped_html(&reason))
    });
    let items: String = items.collect();
    match items.is_empty() {
        true => items,
        false => format!("<h2>{heading}</h2>\n<ul>\n{items}</ul>\n"),
    }
}

fn cells(element: &str, texts: impl Iterator<Item = String>) -> String {
    texts.map(|text| format!("<{element}>{text}</{element}>")).collect()
}

fn legend() -> String {
    let stops = (0..=8_u8).map(|step| {
        let [r, g, b] = heat_colour(f32::from(step) / 8.0).map(quadrille_base::image::to_8_bit);
        format!("rgb({r} {g} {b})")
    });
    let stops = stops.collect::<Vec<_>>().join(",");
    format!(
        "<figcaption class=\"legend\"><span>FLIP error</span><span class=\"scale\"><i style=\"background:linear-gradient(90deg,{stops})\"></i>\
         <span><b>0</b><b>0.25</b><b>0.5</b><b>0.75</b><b>1</b></span></span></figcaption>"
    )
}
