// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue that seldom has more than one element: the first stands in the queue itself, not in memory of its own.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// First in, first out.
#[derive(Debug)]
pub(super) struct Fifo<T> {
    first: Option<T>,
    /// Those behind it, if there are any.
    #[expect(clippy::box_collection, reason = "a pointer takes a quarter of the room")]
    rest: Option<Box<VecDeque<T>>>,
}

impl<T> Fifo<T> {
    /// A queue of one element.
    pub fn of(first: T) -> Fifo<T> {
        Fifo { first: Some(first), rest: None }
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.first.as_mut()
    }

    pub fn push_back(&mut self, element: T) {
        if self.first.is_none() {
            self.first = Some(element);
        } else {
            self.rest.get_or_insert_default().push_back(element);
        }
    }

    pub fn pop_front(&mut self) -> Option<T> {
        let next = self.rest.as_mut().and_then(|rest| rest.pop_front());
        if next.is_none() {
            self.rest = None;
        }
        core::mem::replace(&mut self.first, next)
    }

    /// From the first on.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.first.iter().chain(self.rest.iter().flat_map(|rest| rest.iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn what_came_first_leaves_first() {
        let mut queue = Fifo::of(0);
        for next in 1..4 {
            queue.push_back(next);
        }
        assert_eq!(queue.iter().rev().copied().collect::<Vec<_>>(), [3, 2, 1, 0]);
        assert_eq!((0..5).map(|_| queue.pop_front()).collect::<Vec<_>>(), [Some(0), Some(1), Some(2), Some(3), None]);
        assert!(queue.is_empty() && queue.front().is_none());
        queue.push_back(7);
        assert_eq!((queue.front_mut().copied(), queue.pop_front(), queue.is_empty()), (Some(7), Some(7), true));
    }
}
