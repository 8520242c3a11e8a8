//! Lines of a PLY file, with any line terminator.

const QUOTE_BYTES: usize = 60;

/// Iterator over lines without terminators. The first line sets the terminator, so that a header never consumes the first
/// byte of a binary body.
#[derive(Debug, Clone)]
pub(crate) struct PlyLines<'a> {
    bytes: &'a [u8],
    pub(super) offset: usize,
    pub(super) number: usize,
    /// Line terminator: `\n`, optionally after `\r`, or `\r` alone, as on the classic Macintosh.
    end: u8,
    /// True in a header, where a last line without a terminator is truncated, unless it is `end_header`.
    is_header: bool,
}

impl<'a> PlyLines<'a> {
    pub(crate) fn header(bytes: &'a [u8]) -> Self {
        let end = match bytes.iter().position(|b| *b == b'\n' || *b == b'\r') {
            Some(at) if bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n') => b'\r',
            _ => b'\n',
        };
        Self { bytes, offset: 0, number: 0, end, is_header: true }
    }

    pub(crate) fn body(bytes: &'a [u8], offset: usize) -> Self {
        Self { offset, is_header: false, ..Self::header(bytes) }
    }

    pub(crate) fn next_filled(&mut self) -> Option<&'a [u8]> {
        self.find(|line| !line.trim_ascii().is_empty())
    }
}

impl<'a> Iterator for PlyLines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.offset..).filter(|r| !r.is_empty())?;
        let (line, next) = match rest.iter().position(|b| *b == self.end) {
            Some(at) => (&rest[..at], at + 1),
            None if self.is_header && rest.trim_ascii() != b"end_header" => return None,
            None => (rest, rest.len()),
        };
        self.offset += next;
        self.number += 1;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Quotes a part of a file in an error, escaped and truncated.
pub fn quoted(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(QUOTE_BYTES)];
    let dots = if cut.len() < bytes.len() { "..." } else { "" };
    if bytes.is_empty() {
        return "nothing".into();
    }
    format!("\"{}\"{dots}", cut.escape_ascii())
}
