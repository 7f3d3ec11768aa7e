// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of a run: each is declared once, as a field with its text, and counters of nodes and of parts of a network add up.

/// What adds up: a number, a list of them, or what [`counters!`] declares.
pub(crate) trait Count {
    /// Adds what was counted elsewhere.
    fn count(&mut self, other: Self);
}

impl Count for u64 {
    fn count(&mut self, other: u64) {
        *self += other;
    }
}

impl<const N: usize> Count for [u64; N] {
    fn count(&mut self, other: [u64; N]) {
        self.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
    }
}

/// Declares a structure of counters, and its sum.
macro_rules! counters {
    (
        $(#[$meta:meta])*
        pub struct $Counters:ident {
            $($(#[$doc:meta])* pub $counter:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $Counters {
            $($(#[$doc])* pub $counter: $type,)*
        }

        impl $crate::counters::Count for $Counters {
            fn count(&mut self, other: $Counters) {
                $($crate::counters::Count::count(&mut self.$counter, other.$counter);)*
            }
        }

        impl $crate::recurrence::Counts for $Counters {
            fn each(&mut self, change: &mut impl FnMut(&mut u64)) {
                $($crate::recurrence::Counts::each(&mut self.$counter, change);)*
            }
        }

        impl core::ops::AddAssign for $Counters {
            fn add_assign(&mut self, other: $Counters) {
                $crate::counters::Count::count(self, other);
            }
        }

        impl core::iter::Sum for $Counters {
            fn sum<I: Iterator<Item = $Counters>>(all: I) -> $Counters {
                all.fold($Counters::default(), |mut sum, one| {
                    sum += one;
                    sum
                })
            }
        }
    };
}
pub(crate) use counters;
