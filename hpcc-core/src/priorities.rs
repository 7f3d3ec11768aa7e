// SPDX-License-Identifier: MIT OR Apache-2.0
//! The priorities that PFC pauses, for each of which a port keeps memory.

use crate::pfc::{DATA_PRIORITY, PRIORITIES};
use crate::settings::{Field, Input, Kind, Range, Value};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// Priorities from 1 to 7. Priority 0 is never paused, nor do its frames count to the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priorities(u8);

impl Priorities {
    /// None.
    pub const NONE: Priorities = Priorities(0);

    /// All.
    pub const ALL: Priorities = Priorities(0b1111_1110);

    /// These and another one; 0 is no such priority.
    #[must_use]
    pub const fn with(self, priority: u8) -> Priorities {
        if priority == 0 || priority as usize >= PRIORITIES { self } else { Priorities(self.0 | 1 << priority) }
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, others: Priorities) -> Priorities {
        Priorities(self.0 | others.0)
    }

    /// All of the first that are not among the others.
    #[must_use]
    pub const fn without(self, others: Priorities) -> Priorities {
        Priorities(self.0 & !others.0)
    }

    /// Bit n stands for priority n.
    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    /// How many there are.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether frames of a priority need no memory but what is kept: it is one of these, or 0.
    pub fn serve(self, priority: u8) -> bool {
        priority == 0 || self.0.checked_shr(priority.into()).is_some_and(|bits| bits & 1 != 0)
    }

    /// Reads such as `3, 4`.
    fn parse(text: &str) -> Option<Priorities> {
        let one = |part: &str| part.trim().parse().ok().filter(|priority| (1..PRIORITIES as u8).contains(priority));
        text.split(',').try_fold(Priorities::NONE, |list, part| Some(list.with(one(part)?)))
    }
}

impl Default for Priorities {
    /// That which all has unless it says otherwise.
    fn default() -> Self {
        Priorities::NONE.with(DATA_PRIORITY)
    }
}

impl fmt::Display for Priorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = (1..PRIORITIES as u8).filter(|&priority| self.serve(priority));
        listed.enumerate().try_for_each(|(at, priority)| write!(f, "{}{priority}", if at == 0 { "" } else { ", " }))
    }
}

impl Field for Priorities {
    type Bound = ();

    fn kind(_: Option<Range>) -> Kind {
        Kind::Text
    }

    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn read(input: Input<'_>, _: Option<Range>) -> Result<Self, String> {
        let list = if let Input::Text(text) = input { Priorities::parse(text) } else { None };
        list.ok_or_else(|| {
            let most = PRIORITIES - 1;
            format!("the value is {}; expected priorities from 1 to {most}, such as \"3, 4\"", input.shown())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Priorities, String> {
        Priorities::read(Input::Text(text), None)
    }

    #[test]
    fn text_leads_to_priorities_and_back() {
        let some = read(" 7,3 , 3").expect("a list");
        assert_eq!((some.count(), some.to_string()), (2, "3, 7".into()));
        assert_eq!(read(&some.to_string()), Ok(some));
        assert_eq!([0, 1, 3, 7, 8].map(|priority| some.serve(priority)), [true, false, true, true, false]);
        assert_eq!(Priorities::default(), Priorities::NONE.with(0).with(3).with(9));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["", "0", "3,8", "3;4", "3,,4", "none"] {
            let expected = format!("the value is \"{text}\"; expected priorities from 1 to 7, such as \"3, 4\"");
            assert_eq!(read(text), Err(expected));
        }
        assert!(Priorities::read(Input::Whole(3), None).is_err());
    }
}
