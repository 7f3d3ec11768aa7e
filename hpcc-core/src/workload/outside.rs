// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank that is simulated elsewhere.

use super::{Note, Peer, Program, Todo};
use alloc::vec::Vec;

/// A rank whose operations somebody asks for [while the run goes on](crate::engine::Engine::ask), and hears of their end.
#[derive(Debug, Default)]
pub struct Outside {
    is_over: bool,
}

impl Outside {
    /// What completes under this token is the rank itself.
    pub(super) const END: u64 = u64::MAX;
}

impl Program for Outside {
    fn start(&mut self, _: &mut Todo) {}

    fn on_complete(&mut self, token: u64, todo: &mut Todo) {
        self.is_over |= token == Outside::END;
        if token != Outside::END {
            todo.note(Note::Completion { token });
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn peers(&self) -> Vec<Peer> {
        Vec::new()
    }
}
