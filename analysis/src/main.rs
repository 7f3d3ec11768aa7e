//! The hpcc command.
fn main() {}
