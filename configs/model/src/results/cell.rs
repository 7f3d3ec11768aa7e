// SPDX-License-Identifier: GPL-2.0-only
//! What a field of a CSV file can hold. Long files consist of integers, so these are made to be quick.

use std::io::{self, Write};

/// What a column holds.
pub(crate) trait Cell: Sized {
    /// Writes it; with so many digits behind the point if it is no integer.
    fn write(&self, decimals: usize, out: &mut impl Write) -> io::Result<()>;

    /// What stands in a file.
    fn read(text: &[u8]) -> Result<Self, String>;

    /// Whether there is something to write; otherwise an optional column stays empty.
    fn is_something(&self) -> bool {
        true
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Cell for $integer {
            #[inline]
            fn write(&self, _: usize, out: &mut impl Write) -> io::Result<()> {
                out.write_all(itoa::Buffer::new().format(*self).as_bytes())
            }

            #[inline]
            fn read(digits: &[u8]) -> Result<$integer, String> {
                parsed(digits)
            }
        }
    )*};
}
integers!(u8, u16, u32, u64);

impl Cell for f64 {
    fn write(&self, decimals: usize, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{self:.decimals$}")
    }

    fn read(number: &[u8]) -> Result<f64, String> {
        parsed(number)
    }

    fn is_something(&self) -> bool {
        self.is_finite()
    }
}

impl Cell for String {
    fn write(&self, _: usize, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.as_bytes())
    }

    fn read(text: &[u8]) -> Result<String, String> {
        parsed(text)
    }
}

/// Nothing is an empty field.
impl<T: Cell> Cell for Option<T> {
    fn write(&self, decimals: usize, out: &mut impl Write) -> io::Result<()> {
        self.iter().filter(|some| some.is_something()).try_for_each(|some| some.write(decimals, out))
    }

    fn read(text: &[u8]) -> Result<Option<T>, String> {
        if text.is_empty() { Ok(None) } else { T::read(text).map(Some) }
    }
}

fn parsed<T: std::str::FromStr<Err: ToString>>(text: &[u8]) -> Result<T, String> {
    str::from_utf8(text).map_err(|_| "not text".to_owned())?.parse().map_err(|why: T::Err| why.to_string())
}
