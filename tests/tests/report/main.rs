// SPDX-License-Identifier: GPL-2.0-only
//! The page of `hpcc report`, in a real browser without a screen.

mod browser;
mod large;
mod pages;
