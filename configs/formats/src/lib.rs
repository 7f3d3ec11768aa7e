//! Every file that hpcc reads or writes.
