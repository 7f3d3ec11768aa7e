// SPDX-License-Identifier: GPL-2.0-only
//! Small numbers that repeat themselves, as Parquet has them: each with how often it comes in turn.

use super::thrift::varint;

/// Numbers of at most 16 bits.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Bytes of a number.
    width: usize,
    bytes: Vec<u8>,
    value: u16,
    times: u64,
}

impl Runs {
    /// None yet; numbers have one byte or two.
    pub fn of_width(width: usize) -> Runs {
        Runs { width, bytes: Vec::new(), value: 0, times: 0 }
    }

    /// One more.
    pub fn push(&mut self, value: u16) {
        if value != self.value {
            self.end();
            self.value = value;
        }
        self.times += 1;
    }

    /// Their bytes; none are left.
    pub fn take(&mut self) -> Vec<u8> {
        self.end();
        std::mem::take(&mut self.bytes)
    }

    fn end(&mut self) {
        if self.times > 0 {
            varint(&mut self.bytes, self.times << 1);
            self.bytes.extend(&self.value.to_le_bytes()[..self.width]);
            self.times = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_counted() {
        let mut runs = Runs::of_width(2);
        [1, 1, 1, 515].into_iter().for_each(|value| runs.push(value));
        assert_eq!(runs.take(), [6, 1, 0, 2, 3, 2]);
        runs.push(515);
        assert_eq!(runs.take(), [2, 3, 2]);
        assert!(runs.take().is_empty());
    }
}
