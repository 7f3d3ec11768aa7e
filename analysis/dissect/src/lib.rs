// SPDX-License-Identifier: GPL-2.0-only
//! What the frames of captures say: a crate of its own, for many frames want speed, which the rest of the command does not need.

pub mod capture;
mod foreign;
mod layers;
mod old_int;
mod outer;
mod place;
mod summary;
mod telemetry;
mod transport;
mod wireshark;

pub use capture::{Captured, Frames};
pub use layers::{Dissector, Object};
pub use place::At;
pub use summary::line;
pub use telemetry::Returned;
pub use wireshark::lua;
