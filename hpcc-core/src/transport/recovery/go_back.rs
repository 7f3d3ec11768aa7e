// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receivers take packets in order alone, and senders go back to the first that is missing.

use super::{Method, Progress, Repair};
use crate::recurrence::{Recurs, recurs};
use crate::transport::receiver::{Data, Receiver, Reply};
use crate::transport::{Ack, TransportConfig};
use crate::units::Nanos;
use alloc::boxed::Box;

/// Back to the missing byte.
pub struct GoBackN;

impl Method for GoBackN {
    const NAME: &'static str = "go_back_n";

    fn repair() -> Box<dyn Repair> {
        Box::new(GoBack)
    }

    fn on_early(receiver: &mut Receiver, config: &TransportConfig, now: Nanos, _: &Data) -> Reply {
        receiver.on_gap(config, now)
    }
}

/// Back to the last multiple of a chunk.
pub struct GoBackZero;

impl Method for GoBackZero {
    const NAME: &'static str = "go_back_zero";
    const TO_CHUNKS: bool = true;

    fn repair() -> Box<dyn Repair> {
        Box::new(GoBack)
    }

    fn on_early(receiver: &mut Receiver, config: &TransportConfig, now: Nanos, _: &Data) -> Reply {
        receiver.on_gap(config, now)
    }
}

#[derive(Debug)]
struct GoBack;

impl Repair for GoBack {
    fn on_ack(&mut self, ack: &Ack<'_>, _: bool, _: &Progress, _: &TransportConfig) -> bool {
        ack.nack
    }

    fn recurring(&mut self) -> Option<&mut dyn Recurs> {
        Some(self)
    }
}

recurs! { GoBack {} }
