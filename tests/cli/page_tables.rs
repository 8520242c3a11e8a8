//! Tables of the pages in docs/.

/// A table of a page, without the marks of code and of bold text. An empty first cell stands for the one above it.
pub(crate) struct Table {
    head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// Table `number` of the section of `page` whose heading starts with `heading`, or of its beginning for none.
    pub(crate) fn new(page: &str, heading: &str, number: usize) -> Self {
        let mut sections = page.split("\n## ");
        let section = sections.find(|s| s.starts_with(heading)).unwrap();
        let mut tables = section.split("\n\n").filter(|part| part.starts_with("| "));
        let mut lines = tables.nth(number).unwrap().lines().map(|line| {
            let cells = line.trim_matches('|').split('|');
            let cells = cells.map(|cell| cell.trim().replace(['`', '*'], ""));
            cells.collect::<Vec<_>>()
        });
        let head = lines.next().unwrap();
        let mut rows: Vec<Vec<String>> = lines.skip(1).collect();
        for n in 1..rows.len() {
            if rows[n][0].is_empty() {
                rows[n][0] = rows[n - 1][0].clone();
            }
        }
        Self { head, rows }
    }

    pub(crate) fn row(&self, name: &str) -> &[String] {
        self.rows.iter().find(|row| row[0] == name).unwrap()
    }

    /// Checks the numbers of a cell, with the digits that it has.
    pub(crate) fn expect(&self, row: &[String], column: &str, numbers: &[f64]) {
        let at = self.head.iter().position(|head| head == column).unwrap();
        let shown: Vec<_> = row[at].trim_end_matches([' ', '%', 'M']).split(", ").collect();
        assert_eq!(shown.len(), numbers.len(), "{row:?}, {column}");
        for (shown, number) in shown.into_iter().zip(numbers) {
            let digits = shown.split_once('.').map_or(0, |(_, digits)| digits.len());
            assert_eq!(shown, format!("{number:.digits$}"), "{row:?}, {column}");
        }
    }
}
