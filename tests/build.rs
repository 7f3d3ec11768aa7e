// SPDX-License-Identifier: GPL-2.0-only
//! The structures of the kernel's `linux/ioam6.h`, where header and libclang are there.

use std::env;
use std::panic;
use std::path::PathBuf;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ioam6_header)");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // bindgen panics where there is no libclang.
    let generated = panic::catch_unwind(|| {
        let header = bindgen::builder().header_contents("ioam6.h", "#include <linux/ioam6.h>");
        // The header packs its structures; Rust packs none that has an aligned one inside.
        let header = header.clang_arg("-fpack-struct=1").allowlist_type("ioam6_.*");
        header.derive_default(true).wrap_unsafe_ops(true).generate().ok()
    });
    let Ok(Some(bindings)) = generated else {
        // A file that never is there: what is missing is looked for again each time.
        println!("cargo::rerun-if-changed=libclang");
        return;
    };
    bindings.write_to_file(out.join("ioam6.rs")).expect("OUT_DIR can be written");
    println!("cargo::rustc-cfg=ioam6_header");
}
