//! Layers in text (`.usda`).

use crate::TEXT_MARK;
use crate::layer::{Arc, Fault, Layer, NumberArray, Numbers, Prim, Specifier, Value};
use crate::text_scanner::Scanner;
use quadrille_base::Task;

/// Most prims inside each other (assumed; deeper ones are an error, so that reading needs little stack).
const MAX_DEPTH: usize = 100;

/// Words in front of the type of a property.
const MODIFIERS: [&str; 9] =
    ["custom", "uniform", "varying", "config", "prepend", "append", "add", "delete", "reorder"];

/// Reads a layer in text.
pub(crate) fn read(text: &[u8], task: &Task) -> Result<Layer<'static>, Fault> {
    let mut scanner = Scanner::new(text);
    if !text.starts_with(TEXT_MARK) {
        return Err(scanner.error("#usda"));
    }
    scanner.skip_line();
    let mut reader = TextReader { scanner, prims: vec![Prim::default()], task };
    if reader.scanner.peek() == b'(' {
        reader.metadata(0)?;
    }
    while !reader.scanner.is_at_end() {
        let word = reader.scanner.word();
        match specifier(word) {
            Some(specifier) => reader.prim(specifier, 0, 0)?,
            None if MODIFIERS.contains(&word) => reader.property(0, word)?,
            None => return Err(reader.scanner.error("def, over or class")),
        }
    }
    Ok(Layer { prims: reader.prims })
}

fn specifier(word: &str) -> Option<Specifier> {
    Some(match word {
        "def" => Specifier::Def,
        "over" => Specifier::Over,
        "class" => Specifier::Class,
        _ => return None,
    })
}

#[derive(Clone, Copy)]
struct NumberType {
    width: usize,
    is_half: bool,
    is_quaternion: bool,
}

impl NumberType {
    /// Type of a name; `None` for types without numbers.
    fn of(name: &str) -> Option<Self> {
        let is_half = name.ends_with('h') || name.starts_with("half");
        let base = name.trim_end_matches(['d', 'f', 'h', 'i']);
        let width = match (name, base) {
            ("bool" | "uchar" | "int" | "uint" | "int64" | "uint64", _) => 1,
            ("half" | "float" | "double" | "timecode", _) => 1,
            (_, "quat" | "matrix2") => 4,
            (_, "matrix3") => 9,
            (_, "matrix4" | "frame4") => 16,
            _ => base.chars().next_back()?.to_digit(10).filter(|width| (2..=4).contains(width))?,
        };
        Some(Self { width: width as usize, is_half, is_quaternion: base == "quat" })
    }
}

/// Numbers between two looks at the task, a multiple of the widths of items: a millisecond's work.
const CHECKED: usize = 12 << 10;

struct TextReader<'a> {
    scanner: Scanner<'a>,
    prims: Vec<Prim<'static>>,
    task: &'a Task,
}

impl<'a> TextReader<'a> {
    fn prim(&mut self, specifier: Specifier, parent: usize, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(self.scanner.error(format!("at most {MAX_DEPTH} prims inside each other")));
        }
        let type_name = self.scanner.word().to_owned();
        let name = self.scanner.quoted()?;
        let at = self.prims.len();
        self.prims.push(Prim { name, specifier, type_name, ..Prim::default() });
        self.prims[parent].children.push(at);
        if self.scanner.peek() == b'(' {
            self.metadata(at)?;
        }
        self.scanner.expect(b'{')?;
        while !self.scanner.takes(b'}') {
            if self.scanner.takes(b';') {
                continue;
            }
            let word = self.scanner.word();
            match word {
                "" => return Err(self.scanner.error("a prim, a property or '}'")),
                "variantSet" => {
                    self.scanner.quoted()?;
                    self.scanner.expect(b'=')?;
                    self.scanner.skip_group()?;
                    self.prims[at].metadata.insert("variantSetNames".to_owned(), Value::Other);
                }
                _ => match self::specifier(word) {
                    Some(specifier) => self.prim(specifier, at, depth + 1)?,
                    None => self.property(at, word)?,
                },
            }
        }
        Ok(())
    }

    fn metadata(&mut self, prim: usize) -> Result<(), Fault> {
        self.scanner.expect(b'(')?;
        while !self.scanner.takes(b')') {
            if self.scanner.takes(b';') || self.scanner.takes(b',') {
                continue;
            }
            if matches!(self.scanner.peek(), b'"' | b'\'') {
                self.scanner.quoted()?;
                continue;
            }
            let mut key = self.scanner.word();
            let is_deleted = key == "delete" || key == "reorder";
            if MODIFIERS.contains(&key) {
                key = self.scanner.word();
            }
            if key.is_empty() {
                return Err(self.scanner.error("the name of metadata or ')'"));
            }
            self.scanner.expect(b'=')?;
            let value = self.value()?;
            // Names as in binary layers.
            let key = match key {
                "inherits" => "inheritPaths",
                "variantSets" => "variantSetNames",
                key => key,
            };
            let metadata = &mut self.prims[prim].metadata;
            match (metadata.get_mut(key), value) {
                _ if is_deleted => {}
                (Some(Value::Texts(before)), Value::Texts(more)) => before.extend(more),
                (Some(Value::Arcs(before)), Value::Arcs(more)) => before.extend(more),
                (_, value) => drop(metadata.insert(key.to_owned(), value)),
            }
        }
        Ok(())
    }

    /// Reads a property, of which `word` was read.
    fn property(&mut self, prim: usize, mut word: &'a str) -> Result<(), Fault> {
        let mut is_order = false;
        while MODIFIERS.contains(&word) {
            is_order |= word == "reorder";
            word = self.scanner.word();
        }
        let is_array = self.scanner.takes(b'[');
        if is_array {
            self.scanner.expect(b']')?;
        }
        // `reorder nameChildren = [...]` has no type.
        let name = if is_order { word } else { self.scanner.word() };
        if name.is_empty() {
            return Err(self.scanner.error("the name of a property"));
        }
        let (name, suffix) = name.split_once('.').unwrap_or((name, ""));
        let of_numbers = NumberType::of(word);
        let is_attribute = word != "rel" && !is_order;
        let attribute = self.prims[prim].attributes.remove(name);
        let mut attribute = attribute.unwrap_or_default();
        if self.scanner.takes(b'=') {
            match suffix {
                "timeSamples" => {
                    self.scanner.expect(b'{')?;
                    while !self.scanner.takes(b'}') {
                        let time = self.scanner.number()?;
                        self.scanner.expect(b':')?;
                        let value = self.typed(of_numbers, is_array)?;
                        attribute.add_sample(time, value);
                        self.scanner.takes(b',');
                    }
                }
                "" if is_attribute => attribute.default = Some(self.typed(of_numbers, is_array)?),
                _ if self.scanner.peek() == b'{' => self.scanner.skip_group()?,
                _ => drop(self.value()?),
            }
        }
        if is_attribute {
            self.prims[prim].attributes.insert(name.to_owned(), attribute);
        }
        if self.scanner.peek() == b'(' {
            self.scanner.skip_group()?;
        }
        Ok(())
    }

    /// Reads the value of an attribute of the type `of`. Texts hold the real part of a quaternion first.
    fn typed(&mut self, of: Option<NumberType>, is_array: bool) -> Result<Value<'static>, Fault> {
        let Some(of) = of else { return self.value() };
        match self.scanner.peek() {
            b'[' if is_array => Ok(Value::Array(self.array(of)?)),
            b'(' => {
                let mut numbers = Vec::new();
                self.components(of, &mut |scanner| {
                    numbers.push(scanner.number()?);
                    Ok(())
                })?;
                numbers.rotate_left(usize::from(of.is_quaternion));
                Ok(Value::Tuple(numbers))
            }
            _ => self.value(),
        }
    }

    fn array(&mut self, of: NumberType) -> Result<NumberArray<'static>, Fault> {
        let mut numbers: Vec<f32> = Vec::new();
        self.scanner.expect(b'[')?;
        while !self.scanner.takes(b']') {
            let first = numbers.len();
            if first.is_multiple_of(CHECKED) && self.task.is_cancelled() {
                return Err(self.scanner.error("a reader that is not cancelled"));
            }
            match of.width {
                1 => numbers.push(self.scanner.number()?),
                _ => self.components(of, &mut |scanner| {
                    numbers.push(scanner.number()?);
                    Ok(())
                })?,
            }
            if of.is_quaternion {
                numbers[first..].rotate_left(1);
            }
            if self.scanner.peek() != b']' {
                self.scanner.expect(b',')?;
            }
        }
        if of.is_half {
            numbers.iter_mut().for_each(|v| *v = half::f16::from_f32(*v).to_f32());
        }
        Ok(NumberArray { width: of.width, numbers: Numbers::Decoded(numbers) })
    }

    /// Reads the numbers of an element in parentheses; rows of a matrix have parentheses of their own.
    fn components(
        &mut self,
        of: NumberType,
        number: &mut dyn FnMut(&mut Scanner<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let (mut depth, mut count) = (0_usize, 0);
        loop {
            if self.scanner.takes(b'(') {
                depth += 1;
            } else if depth > 0 && self.scanner.takes(b')') {
                depth -= 1;
            } else if depth == 0 || !self.scanner.takes(b',') {
                number(&mut self.scanner)?;
                count += 1;
            }
            if depth == 0 {
                break;
            }
        }
        match count == of.width {
            true => Ok(()),
            false => Err(self.scanner.error(format!("an element of {} numbers before", of.width))),
        }
    }

    /// Reads a value by its looks.
    fn value(&mut self) -> Result<Value<'static>, Fault> {
        Ok(match self.scanner.peek() {
            b'"' | b'\'' => Value::Text(self.scanner.quoted()?),
            b'@' | b'<' => Value::Arcs(vec![self.arc()?]),
            b'{' | b'(' => {
                self.scanner.skip_group()?;
                Value::Other
            }
            b'[' => self.list()?,
            byte if byte.is_ascii_digit() || b"+-.".contains(&byte) => {
                Value::Number(self.scanner.number()?)
            }
            _ => match self.scanner.word() {
                "None" => Value::Blocked,
                "true" => Value::Number(1.0),
                "false" => Value::Number(0.0),
                "inf" => Value::Number(f64::INFINITY),
                "nan" => Value::Number(f64::NAN),
                "" => return Err(self.scanner.error("a value")),
                word => Value::Text(word.to_owned()),
            },
        })
    }

    /// Reads a list of texts or of references; others are skipped.
    fn list(&mut self) -> Result<Value<'static>, Fault> {
        let before = self.scanner;
        self.scanner.expect(b'[')?;
        let (mut texts, mut arcs) = (Vec::new(), Vec::new());
        while !self.scanner.takes(b']') {
            match self.scanner.peek() {
                b'"' | b'\'' => texts.push(self.scanner.quoted()?),
                b'@' | b'<' => arcs.push(self.arc()?),
                b',' => self.scanner.expect(b',')?,
                _ => {
                    self.scanner = before;
                    self.scanner.skip_group()?;
                    return Ok(Value::Other);
                }
            }
        }
        Ok(if arcs.is_empty() { Value::Texts(texts) } else { Value::Arcs(arcs) })
    }

    fn arc(&mut self) -> Result<Arc, Fault> {
        let asset = match self.scanner.peek() {
            b'@' => self.scanner.asset()?,
            _ => String::new(),
        };
        let path = match self.scanner.peek() {
            b'<' => self.scanner.between("<", ">")?,
            _ => String::new(),
        };
        if self.scanner.peek() == b'(' {
            // Offset and scale of times.
            self.scanner.skip_group()?;
        }
        Ok(Arc { asset, path })
    }
}
