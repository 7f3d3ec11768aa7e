// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values as numbers.

use super::recurs;
use crate::units::{BitRate, Bytes, ExactNanos, LinkClock, Nanos};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use smallvec::{Array, SmallVec};

/// What is a few numbers: two values are the same if these are.
pub trait Plain {
    /// Shows the numbers.
    fn words(&self, show: &mut impl FnMut(u64));
}

/// Times.
pub trait Times {
    /// How many there are.
    fn count(&self) -> u64;
    /// Shows each, to be changed.
    fn each(&mut self, change: &mut impl FnMut(&mut u64));
}

/// Counts.
pub trait Counts {
    /// Shows each, to be changed.
    fn each(&mut self, change: &mut impl FnMut(&mut u64));
}

/// What holds a number of things.
pub trait Size {
    /// How many.
    fn size(&self) -> usize;
}

/// What there may be nothing of.
pub trait Absent {
    /// What a user reads if there is.
    const NAME: &'static str = "a part of a node that is not known to recur";
    /// Whether there is nothing.
    fn is_absent(&self) -> bool;
}

macro_rules! numbers {
    ($($type:ty)*) => {
        $(impl Plain for $type {
            #[inline]
            fn words(&self, show: &mut impl FnMut(u64)) {
                show(*self as u64);
            }
        })*
    };
}

numbers! { u8 u16 u32 u64 usize bool }

impl Plain for f64 {
    /// The same to the bit.
    #[inline]
    fn words(&self, show: &mut impl FnMut(u64)) {
        show(self.to_bits());
    }
}

macro_rules! units {
    ($($type:ident)*) => {
        $(impl Plain for $type {
            #[inline]
            fn words(&self, show: &mut impl FnMut(u64)) {
                show(self.0);
            }
        })*
    };
}

units! { Nanos BitRate Bytes }

recurs! { ExactNanos { nanos: past, late: plain, } }
recurs! { LinkClock { denominator: constant, late: plain, } }

impl<T: Plain> Plain for Option<T> {
    fn words(&self, show: &mut impl FnMut(u64)) {
        show(self.is_some().into());
        self.iter().for_each(|value| value.words(show));
    }
}

impl<T: Plain> Plain for [T] {
    fn words(&self, show: &mut impl FnMut(u64)) {
        show(self.len() as u64);
        self.iter().for_each(|value| value.words(show));
    }
}

impl<T: Plain, const N: usize> Plain for [T; N] {
    fn words(&self, show: &mut impl FnMut(u64)) {
        self.iter().for_each(|value| value.words(show));
    }
}

impl<T: Plain> Plain for VecDeque<T> {
    fn words(&self, show: &mut impl FnMut(u64)) {
        show(self.len() as u64);
        self.iter().for_each(|value| value.words(show));
    }
}

impl<A: Array<Item: Plain>> Plain for SmallVec<A> {
    fn words(&self, show: &mut impl FnMut(u64)) {
        self[..].words(show);
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn words(&self, show: &mut impl FnMut(u64)) {
        self[..].words(show);
    }
}

impl<T: Plain> Plain for Box<[T]> {
    fn words(&self, show: &mut impl FnMut(u64)) {
        self[..].words(show);
    }
}

impl Times for u64 {
    #[inline]
    fn count(&self) -> u64 {
        1
    }

    #[inline]
    fn each(&mut self, change: &mut impl FnMut(&mut u64)) {
        change(self);
    }
}

impl Times for Nanos {
    #[inline]
    fn count(&self) -> u64 {
        1
    }

    #[inline]
    fn each(&mut self, change: &mut impl FnMut(&mut u64)) {
        change(&mut self.0);
    }
}

/// Their number is a bit for each, so that it tells which there are.
impl<const N: usize> Times for [Option<Nanos>; N] {
    fn count(&self) -> u64 {
        self.iter().rev().fold(0, |bits, time| bits << 1 | u64::from(time.is_some()))
    }

    fn each(&mut self, change: &mut impl FnMut(&mut u64)) {
        self.iter_mut().flatten().for_each(|time| change(&mut time.0));
    }
}

impl Times for VecDeque<Nanos> {
    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn each(&mut self, change: &mut impl FnMut(&mut u64)) {
        self.iter_mut().for_each(|time| change(&mut time.0));
    }
}

impl Counts for u64 {
    #[inline]
    fn each(&mut self, change: &mut impl FnMut(&mut u64)) {
        change(self);
    }
}

impl<const N: usize> Counts for [u64; N] {
    fn each(&mut self, change: &mut impl FnMut(&mut u64)) {
        self.iter_mut().for_each(change);
    }
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Absent for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T> Absent for VecDeque<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// A set of bits.
impl Absent for u8 {
    fn is_absent(&self) -> bool {
        *self == 0
    }
}

/// A property that nothing has which recurs.
impl Absent for bool {
    fn is_absent(&self) -> bool {
        !self
    }
}

impl<T> Size for Vec<T> {
    fn size(&self) -> usize {
        self.len()
    }
}

impl<T> Size for VecDeque<T> {
    fn size(&self) -> usize {
        self.len()
    }
}

impl<K, V> Size for BTreeMap<K, V> {
    fn size(&self) -> usize {
        self.len()
    }
}
