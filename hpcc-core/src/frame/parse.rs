// SPDX-License-Identifier: MIT OR Apache-2.0
//! From bytes to what they say.
