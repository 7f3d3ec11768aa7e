// SPDX-License-Identifier: GPL-2.0-only
//! `new --controller`: a C++ class to start from.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// A program with a controller of its own in C++.
const PROGRAM: &str = include_str!("../../../scratch/hpcc-own-control.cc");
/// The name of its class.
const CLASS: &str = "QueueTarget";
/// A page with a controller in Rust.
const PAGE: &str = include_str!("../../../ns3-module/doc/adding-a-controller.md");

/// The file's text, with a controller that is named after the file, and what scenarios call it.
///
/// # Errors
/// If the file's name makes no name of a controller.
pub fn text(path: &Path) -> Result<(String, String)> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_good = stem.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    ensure!(
        is_good && stem.starts_with(|letter: char| letter.is_ascii_alphabetic()) && ["cc", "rs"].contains(&end),
        "{}: expected a name such as my_control.cc or my_control.rs, of letters, digits, - and _",
        path.display()
    );
    let words = stem.split(['-', '_']).filter(|word| !word.is_empty());
    let class: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    let (name, body) =
        if end == "cc" { in_cpp(&class)? } else { in_rust(&class, &stem.replace('-', "_").to_lowercase())? };
    let head = format!(
        "// SPDX-License-Identifier: GPL-2.0-only\n// A congestion control of your own. A scenario chooses it as algorithm = \"{name}\" in [congestion_control]:\n\
         //\n//   ./hpcc run my.toml --control {} --set congestion_control.algorithm={name}\n\n",
        path.display()
    );
    Ok((head + &body, name))
}

fn in_cpp(class: &str) -> Result<(String, String)> {
    let begin = PROGRAM.find("namespace ns3").context("no class")?;
    let end = PROGRAM.find("using namespace ns3;").context("no end of the class")?;
    let body = PROGRAM[begin..end].trim_end().replace(CLASS, class);
    let includes = ["\"ns3/core-module.h\"", "\"ns3/hpcc-module.h\"", "\"ns3/network-module.h\"\n", "<algorithm>\n"];
    let includes: String = includes.iter().map(|file| format!("#include {file}\n")).collect();
    Ok((format!("ns3::{class}"), format!("{includes}{body}\n")))
}

fn in_rust(class: &str, name: &str) -> Result<(String, String)> {
    let (_, rest) = PAGE.split_once("```rust\n").context("no controller")?;
    let (body, _) = rest.split_once("// Its test").context("no end of the controller")?;
    let body = body.trim_end().replace("\"aimd\"", &format!("\"{name}\"")).replace("Aimd", class);
    let offer = format!(
        "/// What scenarios can choose.\npub fn controllers() -> Vec<Box<dyn Algorithm>> {{\n    vec![Box::new({class}Config::default())]\n}}\n"
    );
    Ok((name.to_owned(), format!("{body}\n\n{offer}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_is_named_after_the_file() {
        let (text, class) = text(Path::new("a/my_own-cc.cc")).expect("a name");
        assert_eq!(class, "ns3::MyOwnCc");
        assert!(
            text.contains("class MyOwnCc : public RdmaCongestionOps")
                && text.contains("NS_OBJECT_ENSURE_REGISTERED(MyOwnCc)")
        );
        assert!(
            !text.contains("QueueTarget") && !text.contains("main(") && text.ends_with("} // namespace ns3\n"),
            "{text}"
        );
        let (text, name) = super::text(Path::new("my-own.rs")).expect("a name");
        assert!(
            name == "my_own" && text.contains("\"my_own\"") && text.contains("Box::new(MyOwnConfig::default())"),
            "{text}"
        );
        assert!(!text.contains("assert_eq"), "{text}");
        for bad in ["1.cc", "my.h", "a b.cc"] {
            assert!(super::text(Path::new(bad)).is_err(), "{bad}");
        }
    }
}
