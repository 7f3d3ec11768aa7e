// SPDX-License-Identifier: GPL-2.0-only
//! Structures as Thrift's compact protocol has them, in which Parquet describes itself
//! (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>).

/// Types of fields and of the elements of lists.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Lists of this length and longer have it behind their type.
const LONG_LIST: usize = 15;

/// A structure. Fields have to come by ascending number, from 1, no two of them 15 numbers apart.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    /// With a whole number or a name from a list, of 32 bits.
    pub fn i32(mut self, number: u8, value: i32) -> Struct {
        self.begin(number, I32);
        varint(&mut self.bytes, zigzag(value.into()));
        self
    }

    /// With a whole number of 64 bits.
    pub fn i64(mut self, number: u8, value: u64) -> Struct {
        self.begin(number, I64);
        // Lengths and positions in a file are below 2^63.
        varint(&mut self.bytes, zigzag(value as i64));
        self
    }

    /// With a text.
    pub fn text(mut self, number: u8, value: &str) -> Struct {
        self.begin(number, BINARY);
        text(&mut self.bytes, value);
        self
    }

    /// With a structure.
    pub fn part(mut self, number: u8, value: Struct) -> Struct {
        self.begin(number, STRUCT);
        self.bytes.extend(value.finish());
        self
    }

    /// With a list of numbers.
    pub fn numbers(self, number: u8, values: &[i32]) -> Struct {
        let write = |bytes: &mut Vec<u8>, value: &i32| varint(bytes, zigzag((*value).into()));
        self.list(number, I32, values.iter(), write)
    }

    /// With a list of texts.
    pub fn texts(self, number: u8, values: &[&str]) -> Struct {
        self.list(number, BINARY, values.iter(), |bytes, value| text(bytes, value))
    }

    /// With a list of structures.
    pub fn parts(self, number: u8, values: impl ExactSizeIterator<Item = Struct>) -> Struct {
        self.list(number, STRUCT, values, |bytes, value| bytes.extend(value.finish()))
    }

    /// Its bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn begin(&mut self, number: u8, kind: u8) {
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn list<T>(
        mut self,
        number: u8,
        kind: u8,
        values: impl ExactSizeIterator<Item = T>,
        write: impl Fn(&mut Vec<u8>, T),
    ) -> Struct {
        self.begin(number, LIST);
        let length = values.len();
        if length < LONG_LIST {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push((LONG_LIST as u8) << 4 | kind);
            varint(&mut self.bytes, length as u64);
        }
        values.for_each(|value| write(&mut self.bytes, value));
        self
    }
}

/// Seven bits a byte, the lowest first; all but the last have the highest bit set.
pub fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Signed numbers near 0 as small ones.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn text(bytes: &mut Vec<u8>, value: &str) {
    varint(bytes, value.len() as u64);
    bytes.extend(value.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_they_need() {
        let bytes = Struct::default().i32(1, -1).i64(3, 300).finish();
        assert_eq!(bytes, [0x15, 1, 0x26, 0xd8, 4, 0]);
    }

    #[test]
    fn lists_have_their_length_and_structures_an_end() {
        let bytes = Struct::default().texts(2, &["a", "bc"]).part(5, Struct::default().text(1, "")).finish();
        assert_eq!(bytes, [0x29, 0x28, 1, b'a', 2, b'b', b'c', 0x3c, 0x18, 0, 0, 0]);
        assert_eq!(Struct::default().numbers(1, &[0; 15]).finish()[..3], [0x19, 0xf5, 15]);
    }
}
