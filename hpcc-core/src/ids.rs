// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that name one kind of thing each, and the tables that they look up.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }

        impl Id for $name {
            #[inline]
            fn at(place: usize) -> $name {
                $name(place as u32)
            }

            #[inline]
            fn place(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

/// Names an entry of a [`Table`].
pub(crate) trait Id: Copy {
    fn at(place: usize) -> Self;
    fn place(self) -> usize;
}

ids! {
    /// A port among all of a network.
    PortId;
    /// A frame among all of a network.
    FrameId;
    /// An alarm.
    AlarmId;
    /// An item of the agenda.
    ItemId;
}

impl PortId {
    /// The node's port with this number, if this is its first.
    #[inline]
    pub(crate) fn nth(self, number: u16) -> PortId {
        PortId(self.0 + u32::from(number))
    }

    /// The node's first port, if this one has this number.
    #[inline]
    pub(crate) fn back(self, number: u16) -> PortId {
        PortId(self.0 - u32::from(number))
    }
}

/// What there is for each id, from 0 on.
#[derive(Debug)]
pub(crate) struct Table<I, T> {
    entries: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Table<I, T> {
        Vec::new().into()
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<E: IntoIterator<Item = T>>(entries: E) -> Table<I, T> {
        Vec::from_iter(entries).into()
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(entries: Vec<T>) -> Table<I, T> {
        Table { entries, ids: PhantomData }
    }
}

impl<I: Id, T> Table<I, T> {
    /// Adds an entry; returns its id.
    pub fn push(&mut self, entry: T) -> I {
        self.entries.push(entry);
        I::at(self.entries.len() - 1)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.place())
    }

    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.place())
    }

    /// The entries from one on.
    pub fn behind(&self, first: I) -> &[T] {
        &self.entries[first.place()..]
    }

    /// The same, to be changed.
    pub fn behind_mut(&mut self, first: I) -> &mut [T] {
        &mut self.entries[first.place()..]
    }

    pub fn iter(&self) -> core::slice::Iter<'_, T> {
        self.entries.iter()
    }

    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, T> {
        self.entries.iter_mut()
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.entries[id.place()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.place()]
    }
}
