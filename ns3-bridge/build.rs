// SPDX-License-Identifier: GPL-2.0-only
//! Generates the bridge's C++ side; CMake compiles it with the ns-3 module.

fn main() {
    // The returned builder would compile the generated source; dropping it leaves that to CMake.
    let mut bridges = vec!["src/lib.rs"];
    if std::env::var_os("CARGO_FEATURE_NS3").is_some() {
        bridges.push("src/congestion_ops.rs");
    }
    for bridge in &bridges {
        println!("cargo:rerun-if-changed={bridge}");
    }
    let _ = cxx_build::bridges(bridges);
}
