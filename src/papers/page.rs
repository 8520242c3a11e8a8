//! The page of the figures: one HTML file without scripts and external resources.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::content::{Chart, Claim, Compared, Content, Picture};
use crate::paper::{Figure, NumberSource};
use crate::report::{Chapter, Report, Section};
use crate::table::{Cell, Table};
use quadrille_base::units::percent;
use quadrille_charts::{escaped, measured, style};
use quadrille_machine::spec::{Field, Source};

const STYLE: &str = include_str!("page.css");
/// Largest number of missing results that a section lists.
const LISTED: usize = 8;
const ROWS_AT_ONCE: usize = 16;
/// A table with at least this many columns takes the whole width.
const WIDE: usize = 7;

pub(crate) fn html(report: &Report<'_>) -> String {
    let title = escaped(&report.title());
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n",
        style::of_page()
    );
    for chapter in report.chapters.iter().filter(|chapter| !chapter.summary.is_empty()) {
        let _ = writeln!(html, "<p class=\"summary\">{}</p>", escaped(&chapter.summary));
    }
    if report.compared().next().is_some() {
        let compared = report.compared();
        let table = comparison(compared.map(|(_, section, one)| (Some(section.figure), one)));
        let _ = writeln!(
            html,
            "<details><summary>Measured and published numbers</summary>\n{table}</details>"
        );
    }
    html.push_str("</header>\n");
    html.push_str("<nav aria-label=\"Figures and tables\">\n");
    for chapter in &report.chapters {
        if report.chapters.len() > 1 {
            let _ = writeln!(html, "<p>{}</p>", escaped(&chapter.paper.title));
        }
        html.push_str(&contents(&chapter.sections));
    }
    html.push_str("</nav>\n<main>\n");
    let splats = report.inputs.splats.as_ref();
    let fields = splats.map_or(Vec::new(), |results| results.config.fields());
    for chapter in &report.chapters {
        html.push_str(&chapter_html(chapter, &fields));
    }
    let program = &report.inputs.program;
    let words = [std::slice::from_ref(&report.inputs.command), &report.inputs.choice].concat();
    let command = words.join(" ");
    let _ = write!(
        html,
        "</main>\n<footer>\n<p>Made by Quadrille {} (commit {}) with <code>quadrille figures {}</code>. The numbers of every figure \
         lie beside this page as CSV and JSON.</p>\n</footer>\n</body>\n</html>\n",
        program.version,
        escaped(program.commit),
        escaped(&command)
    );
    html
}

fn contents(sections: &[Section]) -> String {
    let items = sections.iter().map(|section| {
        let figure = section.figure;
        let gap =
            if section.missing.is_empty() { "" } else { " <span class=\"gap\">incomplete</span>" };
        format!(
            "<li><a href=\"#{}\">{}</a> {}{gap}</li>\n",
            figure.id,
            figure.number,
            escaped(&figure.title)
        )
    });
    let items: String = items.collect();
    format!("<ul>\n{items}</ul>\n")
}

fn chapter_html(chapter: &Chapter, fields: &[Field]) -> String {
    let paper = chapter.paper;
    let introduction =
        if chapter.is_whole { block("columns", &paper.introduction) } else { String::new() };
    let mut html = format!("<h2>{}</h2>\n{introduction}", escaped(&paper.title));
    let mut part = "";
    for section in &chapter.sections {
        if section.figure.part != part {
            part = &section.figure.part;
            let _ = writeln!(html, "<h3>{}</h3>", escaped(part));
        }
        html.push_str(&figure_html(section, fields));
    }
    html
}

fn figure_html(section: &Section, fields: &[Field]) -> String {
    let Section { figure, content, missing, command } = section;
    let class = match figure.basis {
        NumberSource::Modelled => "tag modelled",
        _ => "tag",
    };
    let mut html = format!(
        "<section class=\"figure\" id=\"{}\">\n<h4><span class=\"number\">{}</span> {} <span class=\"{class}\">{}</span></h4>\n",
        figure.id,
        figure.number,
        escaped(&figure.title),
        figure.basis.name()
    );
    html.push_str(&body(content, missing));
    html.push_str(&assumptions(&figure.assumptions, fields));
    let _ =
        write!(html, "<p class=\"command\"><code>{}</code></p>\n</section>\n", escaped(command));
    html
}

fn body(content: &Content, missing: &[String]) -> String {
    let text = content.text.iter();
    let text = text.map(|text| format!("<p>{}</p>\n", escaped(text)));
    let text = text.collect::<String>() + &gaps(missing);
    let charts: String = content.charts.iter().map(chart).collect();
    let pictures: String = content.pictures.iter().map(picture).collect();
    let judged =
        comparison(content.compared.iter().map(|one| (None, one))) + &claims(&content.claims);
    let table = numbers(&content.table);
    let is_wide = content.table.columns.iter().filter(|c| c.heading.is_some()).count() >= WIDE;
    // The blocks fill two columns: a block of text makes an odd number of charts even.
    let (left, right, below) = match (is_wide, content.charts.len() % 2 == 1) {
        (true, true) => (text + &judged, String::new(), table),
        (true, false) => (text, judged, table),
        (false, true) => (text + &judged + &table, String::new(), String::new()),
        (false, false) => (text, judged + &table, String::new()),
    };
    let class = if charts.is_empty() && right.is_empty() { "columns" } else { "grid" };
    let cells = block("block", &left) + &charts + &block("block", &right);
    block(class, &cells) + &block("grid", &pictures) + &below
}

fn block(class: &str, inner: &str) -> String {
    match inner {
        "" => String::new(),
        inner => format!("<div class=\"{class}\">\n{inner}</div>\n"),
    }
}

fn gaps(missing: &[String]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let listed = missing.iter().take(LISTED);
    let listed: String = listed.map(|text| format!("<li>{}</li>\n", escaped(text))).collect();
    let more = match missing.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("<li>and {more} more</li>\n"),
    };
    format!(
        "<div class=\"missing\"><strong>Incomplete.</strong> These results are missing:\n<ul>\n{listed}{more}</ul></div>\n"
    )
}

fn chart(chart: &Chart) -> String {
    format!(
        "<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n",
        chart.drawings.inline(),
        escaped(&chart.caption)
    )
}

fn picture(picture: &Picture) -> String {
    let caption = escaped(&picture.caption);
    format!(
        "<figure>\n<img alt=\"{caption}\" src=\"data:image/png;base64,{}\"/>\n<figcaption>{caption}</figcaption>\n</figure>\n",
        STANDARD.encode(&picture.png)
    )
}

fn comparison<'a>(compared: impl Iterator<Item = (Option<&'a Figure>, &'a Compared)>) -> String {
    let mut is_linked = false;
    let rows = compared.map(|(figure, one)| {
        is_linked = figure.is_some();
        let published = one.published;
        let value = |n: f64| match &*published.unit {
            "share" => percent(n),
            "times" | "" => measured(n),
            unit => format!("{} {unit}", measured(n)),
        };
        let ours = one.ours.filter(|n| n.is_finite());
        let ours = ours.map_or("<span class=\"gap\">missing</span>".to_owned(), |n| escaped(&value(n)));
        let mark = match one.holds() {
            Some(true) => " <b class=\"yes\">✓</b>",
            Some(false) => " <b class=\"no\">✗</b>",
            None => "",
        };
        let link = figure.map_or(String::new(), |figure| {
            let (id, number) = (&figure.id, &figure.number);
            format!("<td class=\"word\" data-heading=\"figure\"><a href=\"#{id}\">{number}</a></td>")
        });
        let deviation = one.deviation().map_or(String::new(), |d| format!("{:+.0} %", d * 100.0));
        let reason = one.reason().map_or(String::new(), |reason| {
            let columns = 6 + usize::from(is_linked);
            format!("<tr><td class=\"word whole reason\" colspan=\"{columns}\">{}</td></tr>\n", escaped(reason))
        });
        format!(
            "<tr><td class=\"word whole\">{}</td>{link}<td class=\"word\" data-heading=\"statistic\">{}</td>\
             <td data-heading=\"published\">{}</td><td data-heading=\"ours\">{ours}{mark}</td>\
             <td data-heading=\"deviation\">{deviation}</td>\
             <td class=\"word\" data-heading=\"place\">{}</td></tr>\n{reason}",
            escaped(&published.quantity),
            published.statistic.name(),
            escaped(&value(published.value)),
            escaped(&published.place)
        )
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    let link = if is_linked { "<th class=\"word\">figure</th>" } else { "" };
    scrolling(&format!(
        "<table>\n<thead><tr><th class=\"word\">quantity</th>{link}<th class=\"word\">statistic</th><th>published</th>\
         <th>ours</th><th>deviation</th><th class=\"word\">place</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"
    ))
}

/// A table that scrolls where it is wider than the window, also by keys.
fn scrolling(table: &str) -> String {
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\">{table}</div>\n"
    )
}

fn claims(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let items = claims.iter().map(|claim| {
        let (class, mark) = match claim {
            Claim { of: 0, .. } => ("gap", "?"),
            Claim { holds: 0, .. } => ("no", "✗"),
            Claim { holds, of, .. } if holds == of => ("yes", "✓"),
            _ => ("part", "◐"),
        };
        let Claim {
            holds, of, cases, ..
        } = claim;
        let outcome = match of {
            0 => format!("No {cases} decide it: it applies to none, or results are missing."),
            1 if *holds == 1 => "Holds in the only case.".to_owned(),
            1 => "Does not hold in the only case.".to_owned(),
            of => format!("Holds in {holds} of {of} {cases}."),
        };
        format!(
            "<li><span class=\"{class}\">{mark}</span> {} <span class=\"small\">{outcome}</span></li>\n",
            escaped(&claim.statement)
        )
    });
    let items: String = items.collect();
    format!("<ul class=\"claims\">\n{items}</ul>\n")
}

fn numbers(table: &Table) -> String {
    let shown = table.shown();
    if shown.is_empty() || table.rows.is_empty() {
        return String::new();
    }
    let is_word =
        |at: usize| table.rows.iter().map(|row| &row[at]).any(|cell| matches!(cell, Cell::Text(_)));
    let class = |at: usize| match (is_word(at), shown.first() == Some(&at)) {
        (true, true) => " class=\"word whole\"",
        (true, false) => " class=\"word\"",
        (false, _) => "",
    };
    let heading = shown.iter().map(|at| {
        let heading = table.columns[*at].heading.as_deref().unwrap_or_default();
        format!("<th{}>{}</th>", class(*at), escaped(heading))
    });
    let heading: String = heading.collect();
    let rows = table.rows.iter().map(|row| {
        let cells = shown.iter().map(|at| {
            let column = &table.columns[*at];
            let heading = column.heading.as_deref().unwrap_or_default();
            format!(
                "<td{} data-heading=\"{}\">{}</td>",
                class(*at),
                escaped(heading),
                escaped(&column.shown(&row[*at]))
            )
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    });
    let rows: String = rows.collect();
    let table_html = scrolling(&format!(
        "<table class=\"numbers\">\n<thead><tr>{heading}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"
    ));
    if table.rows.len() <= ROWS_AT_ONCE {
        return table_html;
    }
    format!("<details><summary>All {} rows</summary>\n{table_html}</details>\n", table.rows.len())
}

/// Configuration fields that affect a figure, with values and sources.
fn assumptions(names: &[String], fields: &[Field]) -> String {
    let found = names.iter().filter_map(|name| fields.iter().find(|f| f.name == *name));
    let items = found.map(|field| {
        let (kind, why) = match field.source {
            Source::Published(why) => ("published", why),
            Source::Assumed(why) => ("assumed", why),
            Source::Calibrated(why) => ("calibrated against", why),
        };
        format!(
            "<li><code>{} = {}</code>: {} <span class=\"small\">({kind}: {})</span></li>\n",
            escaped(&field.name),
            escaped(&field.value),
            escaped(field.meaning),
            escaped(why)
        )
    });
    let items: String = items.collect();
    if items.is_empty() {
        return String::new();
    }
    format!(
        "<details><summary>Assumptions that affect the numbers</summary>\n<ul>\n{items}</ul></details>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;
    use quadrille_gpu::config::Config;

    fn fields() -> Vec<Field> {
        Config::default().fields()
    }

    #[test]
    fn hostile_names_stay_text() {
        let mut table = Table::default();
        let hostile = ["<script>alert(1)</script>".into()];
        table.push(Column::new("scene", "<b>scene</b>"), hostile);
        table.push(Column::hidden("secret"), ["hidden".into()]);
        let html = numbers(&table);
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("hidden"));
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        let gaps = gaps(&["<i>".to_owned()]);
        assert!(gaps.contains("&lt;i&gt;"), "{gaps}");
    }

    /// On a narrow screen, where rows are blocks, each cell but the first shows the heading of its column.
    #[test]
    fn cells_know_their_headings() {
        let mut table = Table::default();
        table.push(Column::new("scene", "scene"), ["truck".into()]);
        table.push(Column::new("qm", "QM & co"), [1.5.into()]);
        let html = numbers(&table);
        assert!(html.contains("<td data-heading=\"QM &amp; co\">1.50</td>"), "{html}");
        let published = crate::paper::figures().flat_map(|figure| &figure.published);
        let one = Compared { published: published.into_iter().next().unwrap(), ours: Some(1.0) };
        let html = comparison([(None, &one)].into_iter());
        for heading in ["published", "ours", "deviation", "place"] {
            assert!(html.contains(&format!("data-heading=\"{heading}\"")), "{html}");
        }
    }

    #[test]
    fn assumptions_have_their_reasons() {
        let html = assumptions(&["crop.blend_cycles".to_owned()], &fields());
        assert!(html.contains("crop.blend_cycles = 2") && html.contains("assumed: "), "{html}");
        assert_eq!(assumptions(&[], &fields()), "");
    }
}
