// SPDX-License-Identifier: GPL-2.0-only
//! What the `hpcc` command does with inputs good and bad, from the outside.

mod answers;
mod attacks;
mod bad_reference;
mod bad_set;
mod bad_toml;
mod bench;
mod border;
mod classes;
mod compare;
mod control;
mod counters;
mod datagrams;
mod delayed_acks;
mod describe;
mod fast_cnp;
mod first_window;
mod five_tuple;
mod hop_limit;
mod idle;
mod legacy;
mod new;
mod outcomes;
mod parity;
mod paths;
mod random_incast;
mod reaction;
mod recovery;
mod refusal;
mod reproduce;
mod results;
mod script;
mod sweep;
mod switch_records;
mod tcp;
