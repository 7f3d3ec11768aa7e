// SPDX-License-Identifier: GPL-2.0-only
//! Generates the bridge's C++ side; CMake compiles it with the ns-3 module.

fn main() {
    // The returned builder would compile the generated source; dropping it leaves that to CMake.
    let _ = cxx_build::bridge("src/lib.rs");
    println!("cargo:rerun-if-changed=src/lib.rs");
}
