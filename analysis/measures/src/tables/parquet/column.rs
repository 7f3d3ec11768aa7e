// SPDX-License-Identifier: GPL-2.0-only
//! A column of a group of rows.

use super::runs::Runs;
use super::thrift::Struct;

/// What a column holds. Any value may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words, few of them different.
    Text,
    /// Whole numbers of so many bits, from 0: 8, 16, 32 or 64.
    Whole(u8),
    /// Numbers of 64 bits.
    Fraction,
}

/// What a row has in a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Of a column of texts.
    Text(&'a str),
    /// Of a column of whole numbers, and within its bits.
    Whole(u64),
    /// Of a column of fractions.
    Fraction(f64),
    /// Of any column.
    Absent,
}

/// Names from Parquet's lists: types, what they mean, encodings, kinds of pages.
const INT32: i32 = 1;
const INT64: i32 = 2;
const DOUBLE: i32 = 5;
const BYTE_ARRAY: i32 = 6;
const OPTIONAL: i32 = 1;
const UTF8: i32 = 0;
const UINT_8: i32 = 11;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;
/// Bits of a number that stands for a text: there are fewer texts than 2^16.
const TEXT_BITS: u8 = 16;

/// A column as far as it is not written yet.
#[derive(Debug)]
pub struct Column {
    name: String,
    kind: Kind,
    /// Whether each row has a value.
    present: Runs,
    rows: u32,
    /// Values of numbers.
    plain: Vec<u8>,
    /// Different texts, and the number of that of each row.
    texts: Vec<String>,
    numbers: Runs,
}

/// Where a column of a group of rows is in the file.
#[derive(Debug)]
pub struct Chunk {
    at: u64,
    /// Length of the page of different texts, 0 without.
    texts: u64,
    bytes: u64,
    rows: u32,
}

impl Column {
    /// An empty one.
    pub fn new(name: &str, kind: Kind) -> Column {
        let (present, numbers) = (Runs::of_width(1), Runs::of_width(2));
        let (plain, texts) = (Vec::new(), Vec::new());
        Column { name: name.to_owned(), kind, present, rows: 0, plain, texts, numbers }
    }

    /// One more row.
    ///
    /// # Errors
    /// If the value is of another kind, or one too many different texts.
    pub fn push(&mut self, value: Value<'_>) -> Result<(), &'static str> {
        match (self.kind, value) {
            (_, Value::Absent) => {}
            (Kind::Text, Value::Text(text)) => {
                let number = self.number(text)?;
                self.numbers.push(number);
            }
            (Kind::Whole(64), Value::Whole(number)) => self.plain.extend(number.to_le_bytes()),
            (Kind::Whole(_), Value::Whole(number)) => self.plain.extend((number as u32).to_le_bytes()),
            (Kind::Fraction, Value::Fraction(number)) => self.plain.extend(number.to_le_bytes()),
            (Kind::Text | Kind::Whole(_) | Kind::Fraction, Value::Text(_) | Value::Whole(_) | Value::Fraction(_)) => {
                return Err("a value of another kind than its column");
            }
        }
        self.present.push(u16::from(value != Value::Absent));
        self.rows += 1;
        Ok(())
    }

    /// That of a text: mostly the last one's.
    fn number(&mut self, text: &str) -> Result<u16, &'static str> {
        let known = self.texts.iter().rposition(|known| known == text);
        let number = known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        number.try_into().map_err(|_| "more than 65,536 different texts in a column")
    }

    /// The bytes of all rows, for this place in the file; none are left.
    pub fn take(&mut self, at: u64) -> (Vec<u8>, Chunk) {
        let present = self.present.take();
        let mut content = (present.len() as u32).to_le_bytes().to_vec();
        content.extend(present);
        let mut pages = Vec::new();
        if self.kind == Kind::Text {
            let texts = std::mem::take(&mut self.texts);
            let mut different = Vec::new();
            for text in &texts {
                different.extend((text.len() as u32).to_le_bytes());
                different.extend(text.as_bytes());
            }
            let header = Struct::default().i32(1, texts.len() as i32).i32(2, PLAIN);
            page(&mut pages, DICTIONARY_PAGE, 7, header, &different);
            content.push(TEXT_BITS);
            content.extend(self.numbers.take());
        }
        content.append(&mut self.plain);
        let texts = pages.len() as u64;
        let rows = std::mem::take(&mut self.rows);
        let header = Struct::default().i32(1, rows as i32).i32(2, self.encoding()).i32(3, RLE).i32(4, RLE);
        page(&mut pages, DATA_PAGE, 5, header, &content);
        let bytes = pages.len() as u64;
        (pages, Chunk { at, texts, bytes, rows })
    }

    /// The column in the list of all.
    pub fn schema(&self) -> Struct {
        let column = Struct::default().i32(1, self.physical()).i32(3, OPTIONAL).text(4, &self.name);
        match self.kind {
            Kind::Text => column.i32(6, UTF8),
            Kind::Whole(bits) => column.i32(6, UINT_8 + bits.ilog2() as i32 - 3),
            Kind::Fraction => column,
        }
    }

    /// A chunk in the list of those of a group of rows.
    pub fn describe(&self, chunk: &Chunk) -> Struct {
        let data = Struct::default()
            .i32(1, self.physical())
            .numbers(2, &[PLAIN, RLE, self.encoding()])
            .texts(3, &[&self.name])
            .i32(4, 0)
            .i64(5, chunk.rows.into())
            .i64(6, chunk.bytes)
            .i64(7, chunk.bytes)
            .i64(9, chunk.at + chunk.texts);
        let data = if chunk.texts > 0 { data.i64(11, chunk.at) } else { data };
        Struct::default().i64(2, chunk.at).part(3, data)
    }

    fn physical(&self) -> i32 {
        match self.kind {
            Kind::Text => BYTE_ARRAY,
            Kind::Whole(64) => INT64,
            Kind::Whole(_) => INT32,
            Kind::Fraction => DOUBLE,
        }
    }

    fn encoding(&self) -> i32 {
        match self.kind {
            Kind::Text => RLE_DICTIONARY,
            Kind::Whole(_) | Kind::Fraction => PLAIN,
        }
    }
}

impl Chunk {
    /// How long it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// A page behind others, its own header in this field of the common one.
fn page(pages: &mut Vec<u8>, kind: i32, field: u8, header: Struct, content: &[u8]) {
    let length = content.len() as i32;
    pages.extend(Struct::default().i32(1, kind).i32(2, length).i32(3, length).part(field, header).finish());
    pages.extend(content);
}
