// SPDX-License-Identifier: GPL-2.0-only
//! Generates the C++ side of each bridge module; CMake compiles it with the ns-3 module.

use std::path::{Path, PathBuf};

fn is_bridge(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.contains("#[cxx::bridge("))
}

/// The header of all bridges, where CMake looks for it: beside the folders of cargo's profiles.
fn shared_header() -> Option<PathBuf> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR")?);
    // OUT_DIR is PROFILE/build/PACKAGE/out in the target folder.
    out.ancestors().nth(4).map(|target| target.join("cxxbridge/rust/cxx.h"))
}

fn main() {
    println!("cargo:rerun-if-changed=src");
    // Only what is linked with ns-3 has a C++ side. All builds would share the folder in which CMake looks for it.
    if std::env::var_os("CARGO_FEATURE_NS3").is_none() {
        return;
    }
    // A build that is interrupted takes its outputs back, these headers among them, which cargo would not miss.
    if let Some(header) = shared_header() {
        println!("cargo:rerun-if-changed={}", header.display());
    }
    let files = std::fs::read_dir("src").expect("the crate's sources").flatten().map(|entry| entry.path());
    let bridges: Vec<PathBuf> = files.filter(|path| is_bridge(path)).collect();
    // The returned builder would compile the generated sources; dropping it leaves that to CMake.
    let _ = cxx_build::bridges(bridges);
}
