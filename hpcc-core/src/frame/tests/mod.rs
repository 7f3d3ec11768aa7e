// SPDX-License-Identifier: MIT OR Apache-2.0
//! Building and reading frames.

mod agreement;
mod faults;
mod layouts;
mod vectors;
