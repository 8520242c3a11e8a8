//! The header of an NPY file: a Python dictionary in text.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NpyHeader {
    pub(super) descr: String,
    /// Whether the first index varies fastest.
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) at: usize,
    pub(super) expected: &'static str,
}

const MAX_DIMENSIONS: usize = 64;

/// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }`, keys in any order.
///
/// Accepts the subset of Python's literals that `numpy.save` writes for plain arrays (`numpy/lib/_format_impl.py`).
pub(super) fn parse(text: &str) -> Result<NpyHeader, Refusal> {
    let mut cursor = Cursor { text, at: 0 };
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    cursor.take("{", "'{'")?;
    while !cursor.took("}") {
        let key = cursor.string("a key in quotes, or '}'")?;
        cursor.take(":", "':'")?;
        match key {
            "descr" => descr = Some(cursor.string("one element type in quotes")?.to_owned()),
            "fortran_order" => fortran_order = Some(cursor.boolean()?),
            "shape" => shape = Some(cursor.tuple()?),
            _ => return Err(cursor.refusal("the key descr, fortran_order or shape")),
        }
        if !cursor.took(",") {
            cursor.take("}", "',' or '}'")?;
            break;
        }
    }
    if !cursor.rest().trim().is_empty() {
        return Err(cursor.refusal("nothing but blanks after '}'"));
    }
    match (descr, fortran_order, shape) {
        (Some(descr), Some(fortran_order), Some(shape)) => {
            Ok(NpyHeader { descr, fortran_order, shape })
        }
        _ => Err(cursor.refusal("the keys descr, fortran_order and shape")),
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn refusal(&self, expected: &'static str) -> Refusal {
        Refusal { at: self.at, expected }
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn took(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let next = self.rest().starts_with(token);
        if next {
            self.at += token.len();
        }
        next
    }

    fn take(&mut self, token: &str, expected: &'static str) -> Result<(), Refusal> {
        if self.took(token) { Ok(()) } else { Err(self.refusal(expected)) }
    }

    fn string(&mut self, expected: &'static str) -> Result<&'a str, Refusal> {
        let quote = if self.took("'") {
            '\''
        } else if self.took("\"") {
            '"'
        } else {
            return Err(self.refusal(expected));
        };
        let rest = self.rest();
        let length = rest.find(quote).ok_or_else(|| self.refusal("a closing quote"))?;
        self.at += length + quote.len_utf8();
        Ok(&rest[..length])
    }

    fn boolean(&mut self) -> Result<bool, Refusal> {
        if self.took("True") {
            Ok(true)
        } else if self.took("False") {
            Ok(false)
        } else {
            Err(self.refusal("True or False"))
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, Refusal> {
        let mut lengths = Vec::new();
        self.take("(", "'('")?;
        while !self.took(")") {
            if lengths.len() == MAX_DIMENSIONS {
                return Err(self.refusal("at most 64 lengths"));
            }
            lengths.push(self.number()?);
            if !self.took(",") {
                self.take(")", "',' or ')'")?;
                break;
            }
        }
        Ok(lengths)
    }

    /// Parses a non-negative integer, with or without the `L` that Python 2 appends to long ones.
    fn number(&mut self) -> Result<u64, Refusal> {
        self.skip_blanks();
        let rest = self.rest();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let value = rest[..digits].parse().map_err(|_| self.refusal("a length below 2^64"))?;
        self.at += digits;
        self.took("L");
        Ok(value)
    }
}
