// SPDX-License-Identifier: GPL-2.0-only
//! Networks in the files of other simulators.

pub(crate) mod htsim;
pub(crate) mod simai;
