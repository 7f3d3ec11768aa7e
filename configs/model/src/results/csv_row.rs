// SPDX-License-Identifier: GPL-2.0-only
//! What a row of a CSV file is: a structure whose fields are the columns. Header, writing and reading follow from it.

use std::io::{self, Write};

use super::cell::Cell;

/// The name of a column, and why its cell is none.
pub type WrongCell = (&'static str, String);

/// A row of one CSV format; [`csv_row!`] declares it.
pub trait CsvRow: Sized {
    /// The file that a run writes of such rows.
    const FILE: &'static str;
    /// The names of the columns, as the first line of the file has them.
    const COLUMNS: &'static [&'static str];

    /// Writes the row, with its end.
    ///
    /// # Errors
    /// Those of `out`.
    fn write(&self, out: &mut impl Write) -> io::Result<()>;

    /// The row of a record with as many fields as there are columns.
    ///
    /// # Errors
    /// The first column that is wrong, and why.
    fn of(record: &csv::ByteRecord) -> Result<Self, WrongCell>;

    /// The first line of the file, without its end.
    fn header() -> String {
        Self::COLUMNS.join(",")
    }
}

/// A line that is being written.
pub(crate) struct Line<'a, W> {
    out: &'a mut W,
    between: &'static [u8],
}

impl<'a, W: Write> Line<'a, W> {
    pub(crate) fn begin(out: &'a mut W) -> Line<'a, W> {
        Line { out, between: b"" }
    }

    #[inline]
    pub(crate) fn add(&mut self, cell: &impl Cell, decimals: usize) -> io::Result<()> {
        self.out.write_all(self.between)?;
        self.between = b",";
        cell.write(decimals, self.out)
    }

    pub(crate) fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }
}

/// The fields of a record, in the order of the columns.
pub(crate) struct Fields<'a> {
    record: &'a csv::ByteRecord,
    columns: &'static [&'static str],
    next: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn of<T: CsvRow>(record: &'a csv::ByteRecord) -> Fields<'a> {
        Fields { record, columns: T::COLUMNS, next: 0 }
    }

    #[inline]
    pub(crate) fn take<T: Cell>(&mut self) -> Result<T, WrongCell> {
        let column = self.next;
        self.next += 1;
        T::read(self.record.get(column).unwrap_or_default()).map_err(|why| (self.columns[column], why))
    }

    /// Of a column that is reckoned anew.
    pub(crate) fn skip(&mut self, _name: &str) {
        self.next += 1;
    }
}

/// Declares the structure of a row, of which each field is a column of the file behind `in`. A column has the name of its field,
/// or the one behind `as`; numbers that are no integers have 6 digits behind the point, or as many as stand behind `=`. `[name]`
/// is a column for spreadsheets, from the method of this name: readers skip it.
///
/// The module of the row gets `read`, for the rows of a whole file, and `rows`, for one at a time.
macro_rules! csv_row {
    (
        $(#[$meta:meta])*
        pub struct $Row:ident in $file:literal {
            $(
                $([$computed:ident],)?
                $(#[$doc:meta])*
                $field:ident $(as $name:ident)?: $type:ty $(= $decimals:literal)?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        pub struct $Row {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $crate::results::CsvRow for $Row {
            const FILE: &'static str = $file;
            const COLUMNS: &'static [&'static str] =
                &[$($(stringify!($computed),)? csv_row!(@first $($name)? $field),)*];

            fn write(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
                let mut line = $crate::results::csv_row::Line::begin(out);
                $(
                    $(line.add(&self.$computed(), csv_row!(@decimals))?;)?
                    line.add(&self.$field, csv_row!(@decimals $($decimals)?))?;
                )*
                line.end()
            }

            fn of(record: &csv::ByteRecord) -> Result<$Row, $crate::results::csv_row::WrongCell> {
                let mut fields = $crate::results::csv_row::Fields::of::<$Row>(record);
                Ok($Row {
                    $($field: {
                        $(fields.skip(stringify!($computed));)?
                        fields.take()?
                    },)*
                })
            }
        }

        /// Reads a whole file.
        ///
        /// # Errors
        /// If the file cannot be read, or with the line that does not follow the format.
        pub fn read(path: &std::path::Path) -> Result<Vec<$Row>, $crate::results::ResultError> {
            rows(path)?.collect()
        }

        /// Opens a file, whose rows are read one at a time.
        ///
        /// # Errors
        /// If the file cannot be read, is cut off, or has another header; each row can fail with its line.
        pub fn rows(path: &std::path::Path) -> Result<$crate::results::Rows<$Row>, $crate::results::ResultError> {
            $crate::results::Rows::open(path)
        }
    };
    (@first $name:ident $($field:ident)?) => { stringify!($name) };
    (@decimals $decimals:literal) => { $decimals };
    (@decimals) => { 6 };
}
pub(crate) use csv_row;
