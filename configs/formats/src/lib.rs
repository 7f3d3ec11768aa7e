//! Every file that hpcc reads or writes.
pub mod results;
