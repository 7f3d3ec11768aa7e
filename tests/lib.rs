// SPDX-License-Identifier: GPL-2.0-only
//! Shared helpers of the cross-room tests.

/// The guide's code, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../ns3-module/doc/adding-a-controller.md")]
pub struct AddingAController;
