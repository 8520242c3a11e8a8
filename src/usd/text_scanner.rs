//! Words, numbers and texts of a layer in text.

use crate::layer::Fault;

/// Scanner over the bytes of a text, which skips spaces and comments in front of what it reads.
#[derive(Clone, Copy)]
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Error at the current line.
    pub(crate) fn error(&self, expected: impl std::fmt::Display) -> Fault {
        let before = &self.text[..self.at.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let left = self.text.get(self.at..).unwrap_or_default();
        let found: String = String::from_utf8_lossy(&left[..left.len().min(20)])
            .chars()
            .take_while(|c| *c != '\n' && *c != '\r')
            .collect();
        let found = match left.is_empty() {
            true => "the end of the text".to_owned(),
            false => format!("\"{found}\""),
        };
        Fault::new(format!("line {line}"), expected, found)
    }

    /// Next byte that is neither space nor comment; 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => self.skip_line(),
                _ => return *byte,
            }
        }
        0
    }

    /// Skips to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        let left = &self.text[self.at..];
        self.at += left.iter().position(|byte| *byte == b'\n').unwrap_or(left.len());
    }

    pub(crate) fn is_at_end(&mut self) -> bool {
        self.peek() == 0 && self.at >= self.text.len()
    }

    /// Takes `byte` if it is next.
    #[inline]
    pub(crate) fn takes(&mut self, byte: u8) -> bool {
        let takes = self.peek() == byte;
        self.at += usize::from(takes);
        takes
    }

    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        match self.takes(byte) {
            true => Ok(()),
            false => Err(self.error(format!("'{}'", char::from(byte)))),
        }
    }

    /// Name with namespaces and a suffix, such as `xformOp:translate` and `positions.timeSamples`; empty if none is next.
    pub(crate) fn word(&mut self) -> &'a str {
        self.peek();
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.|".contains(byte) || *byte >= 0x80;
        let left = &self.text[self.at..];
        let length = left.iter().take_while(|byte| is_part(byte)).count();
        self.at += length;
        std::str::from_utf8(&left[..length]).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Result<T, Fault> {
        self.peek();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let left = &self.text[self.at..];
        let length = left.iter().take_while(|byte| is_part(byte)).count();
        let number = std::str::from_utf8(&left[..length]).unwrap_or_default().parse();
        let number = number.map_err(|_| self.error("a number"))?;
        self.at += length;
        Ok(number)
    }

    /// Text in quotes: one or three, double or single.
    pub(crate) fn quoted(&mut self) -> Result<String, Fault> {
        let quote = self.peek();
        if quote != b'"' && quote != b'\'' {
            return Err(self.error("a text in quotes"));
        }
        let triple = [quote; 3];
        let ends: &[u8] = match self.text[self.at..].starts_with(&triple) {
            true => &triple,
            false => &triple[..1],
        };
        let start = self.at + ends.len();
        let mut text = Vec::new();
        let mut at = start;
        loop {
            let left = self.text.get(at..).unwrap_or_default();
            match left {
                _ if left.starts_with(ends) => break,
                [b'\\', byte, ..] => {
                    text.push(match byte {
                        b'n' => b'\n',
                        b't' => b'\t',
                        byte => *byte,
                    });
                    at += 2;
                }
                [byte, ..] => {
                    text.push(*byte);
                    at += 1;
                }
                [] => return Err(self.error("a text that ends with its quote")),
            }
        }
        self.at = at + ends.len();
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Text between two marks, such as `@file@` and `</path>`.
    pub(crate) fn between(&mut self, start: &str, end: &str) -> Result<String, Fault> {
        self.peek();
        let left = &self.text[self.at..];
        let inner = left.strip_prefix(start.as_bytes()).unwrap_or_default();
        let length = inner.windows(end.len()).position(|window| window == end.as_bytes());
        let length = length.ok_or_else(|| self.error(format!("a text from {start} to {end}")))?;
        self.at += start.len() + length + end.len();
        Ok(String::from_utf8_lossy(&inner[..length]).into_owned())
    }

    pub(crate) fn asset(&mut self) -> Result<String, Fault> {
        self.peek();
        match self.text[self.at..].starts_with(b"@@@") {
            true => self.between("@@@", "@@@"),
            false => self.between("@", "@"),
        }
    }

    /// Skips a group in brackets with the groups in it.
    pub(crate) fn skip_group(&mut self) -> Result<(), Fault> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'"' | b'\'' => {
                    self.quoted()?;
                    continue;
                }
                b'@' => {
                    self.asset()?;
                    continue;
                }
                0 if self.is_at_end() => return Err(self.error("a closing bracket")),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}
