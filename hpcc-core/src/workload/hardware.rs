// SPDX-License-Identifier: MIT OR Apache-2.0
//! What messages cost the GPUs and NICs that send them, beside the time that the network takes.

use crate::units::{BitRate, Nanos};

/// What a message costs its sender; by default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MessageCosts {
    /// Passes before it is sent.
    pub before: Nanos,
    /// For so long its channel is busy with it within the server, beside its bytes: a channel sends one message to a rank behind
    /// the other.
    pub inside: Nanos,
    /// Passes before its NIC has it, if it goes to another server.
    pub between: Nanos,
    /// At which its channel copies it, within the server or for the NIC, above 0; `None`: in no time.
    pub channel: Option<BitRate>,
    /// The most at which a GPU sends within its server, above 0; `None`: the rate of its links.
    pub rate: Option<BitRate>,
}

impl MessageCosts {
    /// How long its channel copies a message of so many bytes.
    pub(super) fn copy(&self, size: u64) -> Nanos {
        self.channel.map_or(Nanos(0), |rate| time_of(size, rate))
    }
}

/// What a collective costs the GPUs of its ranks; by default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    /// Passes at each rank at the begin of each iteration: the launch of a kernel.
    pub launch: Nanos,
    /// Each piece is copied at this rate before its first step, as into the buffers of NVLS; `None`: in no time. Pieces that are
    /// under way together are copied together.
    pub staging: Option<BitRate>,
    /// Of each message.
    pub message: MessageCosts,
}

impl Hardware {
    /// What the messages of a step of a piece of so many bytes cost.
    pub(super) fn of_step(&self, step: u32, size: u64) -> MessageCosts {
        let staging = self.staging.filter(|_| step == 0).map_or(Nanos(0), |rate| time_of(size, rate));
        MessageCosts { before: self.message.before + staging, ..self.message }
    }
}

/// How long so many bytes take at a rate, rounded up.
pub(super) fn time_of(size: u64, rate: BitRate) -> Nanos {
    Nanos((u128::from(size) * 8_000_000_000).div_ceil(u128::from(rate.0.max(1))) as u64)
}
