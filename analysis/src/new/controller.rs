// SPDX-License-Identifier: GPL-2.0-only
//! `new --controller`: a C++ class to start from.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// A program with a controller of its own.
const PROGRAM: &str = include_str!("../../../scratch/hpcc-own-control.cc");
/// The name of its class.
const CLASS: &str = "QueueTarget";

/// The file's text, with a class that is named after the file, and the name of the class.
///
/// # Errors
/// If the file's name makes no name of a class.
pub fn text(path: &Path) -> Result<(String, String)> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_good = stem.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    ensure!(
        is_good
            && stem.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && path.extension().is_some_and(|end| end == "cc"),
        "{}: expected a name such as my_control.cc, of letters, digits, - and _",
        path.display()
    );
    let words = stem.split(['-', '_']).filter(|word| !word.is_empty());
    let class: String = words.map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    let begin = PROGRAM.find("namespace ns3").context("no class")?;
    let end = PROGRAM.find("using namespace ns3;").context("no end of the class")?;
    let body = PROGRAM[begin..end].trim_end().replace(CLASS, &class);
    let name = path.display();
    let text = format!(
        "// SPDX-License-Identifier: GPL-2.0-only\n// A congestion control of your own. A scenario chooses it as algorithm = \"ns3::{class}\" in\n\
         // [congestion_control]:\n//\n//   ./hpcc run my.toml --control {name} --set congestion_control.algorithm=ns3::{class}\n\n\
         #include \"ns3/core-module.h\"\n#include \"ns3/hpcc-module.h\"\n#include \"ns3/network-module.h\"\n\n#include <algorithm>\n\n{body}\n"
    );
    Ok((text, format!("ns3::{class}")))
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
        for bad in ["1.cc", "my.rs", "a b.cc"] {
            assert!(super::text(Path::new(bad)).is_err(), "{bad}");
        }
    }
}
