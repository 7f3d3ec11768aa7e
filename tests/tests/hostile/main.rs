// SPDX-License-Identifier: GPL-2.0-only
//! Inputs that nobody would write on purpose: the simulator refuses them, or ends orderly.

mod extreme_files;
mod extreme_sections;
mod extreme_settings;
mod extremes;
mod memory;
mod no_end;
mod outcome;
