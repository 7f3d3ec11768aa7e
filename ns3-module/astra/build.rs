// SPDX-License-Identifier: GPL-2.0-only
//! Generates and compiles the C++ side of the bridge, which becomes part of the library.

fn main() {
    println!("cargo:rerun-if-changed=src/lib.rs");
    cxx_build::bridge("src/lib.rs").std("c++17").compile("hpcc_astra_bridge");
}
