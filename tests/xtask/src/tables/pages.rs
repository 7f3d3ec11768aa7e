// SPDX-License-Identifier: GPL-2.0-only
//! Pages of all keys for the site, one a section with an example, and one of the algorithms. They are built and not kept:
//! in the repository `configs/annotated.toml` and `hpcc explain` have the keys.

use std::fs;
use std::path::Path;

use anyhow::Result;
use hpcc_analysis::save;
use hpcc_analysis::settings::{self, Key, Schema, keys_of};
use hpcc_core::node::NodeSettings;
use hpcc_core::settings::Setting;

use super::words;

/// Their folder in the source tree, so that links between pages are the same as elsewhere.
const FOLDER: &str = "configs/keys";
const HEAD: &str = "| key | default, values | meaning |\n| --- | --- | --- |\n";

/// The page of a section.
struct Page {
    section: &'static str,
    /// What it is for, and where more is said.
    text: &'static str,
    /// What a scenario may have.
    example: &'static str,
}

const PAGES: [Page; 19] = [
    Page {
        section: "run",
        text: "Seed and end of the run. [Random choices](../README.md#random-choices) says what the seed decides.",
        example: "[run]\nseed = 2\nstop = \"10ms\"\n",
    },
    Page {
        section: "topology",
        text: "The network. [Kinds of fabric](../fabrics.md#kinds) shows their shapes; `./hpcc topology FILE` shows the network of a file.",
        example: "[topology]\nkind = \"leaf_spine\"\nleaves = 4\nhosts_per_leaf = 8\noversubscription = 2.0\nrate = \"100Gbps\"\ndelay = \"1us\"\n",
    },
    Page {
        section: "traffic",
        text: "Flows and [jobs](../../ns3-module/doc/jobs.md), any number of sections.",
        example: "[[traffic]]\nkind = \"poisson\"\nsizes = \"websearch\"\nload = 0.5\nduration = \"2ms\"\n\n[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = \"1-3\"\nsize = \"500KB\"\nstart = \"1ms\"\n",
    },
    Page {
        section: "monitor",
        text: "What a run records beside its flows.",
        example: "[monitor]\nqueue_interval = \"1us\"\ncontrol_interval = \"5us\"\ncontrol_flows = [0, 1]\n",
    },
    Page {
        section: "congestion_control",
        text: "The algorithm, and its parameters, which [a page of their own](algorithms.md) lists.",
        example: "[congestion_control]\nalgorithm = \"dcqcn\"\nmin_rate = \"500Mbps\"\n",
    },
    Page {
        section: "telemetry",
        text: "What packets carry ([formats](../../ns3-module/doc/telemetry.md)), which collect it, and how it comes back ([choices](../../ns3-module/doc/hpcc-plus.md)).",
        example: "[congestion_control]\nalgorithm = \"hpcc_plus\"\n\n[telemetry]\nlayout = \"int_md\"\nsampling = \"nth\"\nevery = 4\n",
    },
    Page {
        section: "wire",
        text: "Headers of frames ([profiles](../../ns3-module/doc/telemetry.md#profiles)).",
        example: "[wire]\nprofile = \"rocev2_ipv4\"\n",
    },
    Page {
        section: "transport",
        text: "Packets, acknowledgements and windows. [Loss and recovery](../README.md#loss-and-recovery) compares the kinds of recovery. Hosts with TCP or UDP accept [fewer keys](../../ns3-module/doc/tcp.md#from-a-file).",
        example: "[transport]\nrecovery = \"sack\"\nmtu = \"4KB\"\n",
    },
    Page {
        section: "receive",
        text: "[Hosts that are slower than their links](../slow-receiver.md). `[[receive]]`, once for each, are hosts that differ.",
        example: "[receive]\nhosts = [0]\nrate = \"50Gbps\"\nbuffer = \"1MB\"\n",
    },
    Page {
        section: "switch",
        text: "Memory, pauses, marks and classes of switches ([how they work together](../../ns3-module/doc/qos.md)).",
        example: "[switch]\nmode = \"lossy\"\nbuffer = \"16MiB\"\n\n[transport]\nrecovery = \"sack\"\n",
    },
    Page {
        section: "load_balancing",
        text: "How a switch chooses among equally short paths ([the schemes](../../ns3-module/doc/load-balancing.md)).",
        example: "[load_balancing]\nscheme = \"flowlet\"\nflowlet_gap = \"50us\"\n",
    },
    Page {
        section: "fast_cnp",
        text: "Switches notify senders ([who does what](../../ns3-module/doc/fast-cnp.md)).",
        example: "[congestion_control]\nalgorithm = \"dcqcn\"\n\n[wire]\nprofile = \"rocev2_ipv6\"\n\n[fast_cnp]\nenabled = true\n",
    },
    Page {
        section: "servers",
        text: "[Servers](../../ns3-module/doc/jobs.md#servers), whose GPUs are hosts.",
        example: "[[traffic]]\nkind = \"collective\"\noperation = \"all_reduce\"\nsize = \"1MB\"\n\n[servers]\ngpus = 2\nrate = \"3600Gbps\"\nlatency = \"500ns\"\n",
    },
    Page {
        section: "gpu",
        text: "What GPUs take of jobs' times ([beside measurements](../../configs/beside-measurements.md)).",
        example: "[[traffic]]\nkind = \"collective\"\noperation = \"all_reduce\"\nsize = \"1MB\"\n\n[gpu]\nprofile = \"h100\"\n",
    },
    Page {
        section: "nic",
        text: "What NICs take of jobs' times ([beside measurements](../../configs/beside-measurements.md)).",
        example: "[[traffic]]\nkind = \"collective\"\noperation = \"all_reduce\"\nsize = \"1MB\"\n\n[nic]\nprofile = \"cx7-400\"\n",
    },
    Page {
        section: "legacy",
        text: "Nodes [without telemetry](../../ns3-module/doc/hpcc-plus.md#nodes-without-telemetry).",
        example: "[congestion_control]\nalgorithm = \"hpcc_plus\"\n\n[legacy]\nnodes = [2, 3]\nalgorithm = \"dctcp\"\n",
    },
    Page {
        section: "failures",
        text: "Links that fail or are [degraded](../README.md#degraded-links), and hosts that [pause for ever](../../ns3-module/doc/qos.md#who-pauses-whom).",
        example: "[failures]\nlinks = [{ time = \"1ms\", until = \"2ms\", a = 4, b = 6 }]\ndegraded = [{ time = \"1ms\", a = 4, b = 7, rate = \"25Gbps\" }]\n",
    },
    Page {
        section: "attack",
        text: "[Attackers](../attacks.md), any number of sections. They know addresses, ports and queue pairs of their victims' flows, and no key.",
        example: "[congestion_control]\nalgorithm = \"dcqcn\"\n\n[[attack]]\nkind = \"forged_cnp\"\nfrom = 1\nrate = \"1Gbps\"\n",
    },
    Page {
        section: "compatibility",
        text: "Faults of the 2019 simulator ([how to choose among them](../../ns3-module/doc/reference-faults.md)). A fault that is not named is as `profile` says.",
        example: "[compatibility]\nprofile = \"reference\"\nfloored_times = false\n",
    },
];

/// Writes the pages into a source tree; those of an earlier time go.
///
/// # Errors
/// If a file cannot be written.
pub fn write(tree: &Path) -> Result<()> {
    let folder = tree.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    save::ensure_folder(&folder)?;
    pages().into_iter().try_for_each(|(name, text)| save::replace(&folder.join(name), text))
}

/// Each page's file name and text.
fn pages() -> Vec<(String, String)> {
    let settings = NodeSettings::default();
    let keys = keys_of(&Schema::Scenario.keys(), "");
    let mut pages: Vec<(String, String)> =
        PAGES.iter().map(|page| (format!("{}.md", page.section), page.text(&settings, &keys))).collect();
    let text = "What each algorithm reads and does: [algorithms](../controllers.md).";
    pages.push(("algorithms.md".to_owned(), titled("Algorithms", text) + HEAD + &algorithms(&settings).concat()));
    pages
}

fn titled(title: &str, text: &str) -> String {
    format!(
        "<!-- SPDX-License-Identifier: GPL-2.0-only -->\n<!-- Made by ./hpcc docs --html -->\n# {title}\n\n{text}\n\n"
    )
}

impl Page {
    fn text(&self, settings: &NodeSettings, keys: &[Key]) -> String {
        let Page { section, text, example } = self;
        let own = settings::section(settings, section);
        let all = settings.control.all().flat_map(|algorithm| algorithm.list()).collect::<Vec<_>>();
        let rows = keys.iter().filter_map(|key| {
            let name = key.path.strip_prefix(section)?.strip_prefix('.')?;
            match own.iter().find(|setting| setting.key == name) {
                Some(setting) => Some(row(setting, &own)),
                // Parameters are on the page of algorithms.
                None if ["congestion_control", "legacy"].contains(section) && all.iter().any(|one| one.key == name) => {
                    None
                }
                None => Some(row_of_key(name, key)),
            }
        });
        let rows: String = rows.collect();
        titled(&format!("[{section}]"), text) + &format!("```toml\n{example}```\n\n{HEAD}{rows}")
    }
}

/// Each algorithm, and its parameters; of those that an earlier one has in the same way, only the names.
fn algorithms(settings: &NodeSettings) -> Vec<String> {
    let mut known: Vec<(&str, Setting)> = Vec::new();
    let mut rows = Vec::new();
    for algorithm in settings.control.all() {
        let (mut own, mut shared) = (Vec::new(), String::new());
        let mut last = "";
        for setting in settings.section("congestion_control", Some(algorithm.name())) {
            match known.iter().find(|(_, known)| *known == setting) {
                Some(&(of, _)) => {
                    let before = if of == last { ", ".into() } else { format!("; as with `{of}`: ") };
                    shared += &format!("{before}`{}`", setting.key);
                    last = of;
                }
                None => own.push(setting),
            }
        }
        rows.push(format!("| **{}** | | {}{shared} |\n", algorithm.name(), algorithm.summary()));
        rows.extend(own.iter().map(|setting| row(setting, &own)));
        known.extend(own.into_iter().map(|setting| (algorithm.name(), setting)));
    }
    rows
}

/// The row of a setting.
fn row(setting: &Setting, section: &[Setting]) -> String {
    let meaning = (setting.help.clone() + &words::condition_of(setting, section)).replace('|', "\\|");
    format!("| `{}` | {} | {meaning} |\n", setting.key, words::value(setting))
}

/// The row of another key of scenarios.
fn row_of_key(name: &str, key: &Key) -> String {
    let help = key.help.as_deref().unwrap_or_default();
    let kinds = if key.kinds.is_empty() { String::new() } else { format!("*{}*: ", key.kinds.join(", ")) };
    // The schema of each kind knows its own name only.
    if name == "kind" && !key.kinds.is_empty() {
        return format!("| `kind` | {} | {help} |\n", key.kinds.join(", "));
    }
    let value = [key.default.as_deref().map(|value| format!("`{value}`")), Some(key.expected.clone())];
    let value = value.into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    format!("| `{name}` | {} | {} |\n", value.replace('|', "\\|"), (kinds + help).replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcc_analysis::settings::of_part;

    /// Sections that every scenario has.
    const BASE: [&str; 3] = [
        "[run]\nstop = \"10ms\"\n",
        "[topology]\nkind = \"leaf_spine\"\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\nrate = \"100Gbps\"\ndelay = \"1us\"\n",
        "[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsender_count = 3\nsize = \"1MB\"\n",
    ];

    #[test]
    fn every_section_has_its_page_and_every_key_its_row() {
        let (settings, pages) = (NodeSettings::default(), pages());
        let page = |section: &str| {
            let name = format!("{section}.md");
            pages.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no page {name}")).1.as_str()
        };
        let row = |key: &str| format!("\n| `{key}` |");
        for part in settings.parts() {
            let section = if part.algorithm.is_some() { "algorithms" } else { part.section };
            for setting in of_part(&part) {
                assert!(page(section).contains(&row(setting.key)), "{section}.{}", setting.key);
            }
        }
        for key in keys_of(&Schema::Scenario.keys(), "") {
            let (section, name) = key.path.split_once('.').unwrap_or((&key.path, ""));
            let found = [section, "algorithms"].iter().any(|section| page(section).contains(&row(name)));
            assert!(name.is_empty() || found, "{}", key.path);
        }
    }

    #[test]
    fn pages_are_made_and_older_ones_go() {
        let tree = tempfile::tempdir().expect("temporary folder");
        let folder = tree.path().join(FOLDER);
        let old = folder.join("gone.md");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(&old, "").expect("written");
        write(tree.path()).expect("pages");
        let text = fs::read_to_string(folder.join("switch.md")).expect("a page");
        assert!(text.contains("| `alpha` | 1, 0.001 to 1000 |") && !old.exists(), "{text}");
    }

    #[test]
    fn the_examples_are_of_scenarios() {
        for Page { section, example, .. } in PAGES {
            let missing = BASE.iter().filter(|base| !example.contains(base.lines().next().expect("a header")));
            let text = missing.copied().chain([example]).collect::<Vec<_>>().join("\n");
            let header = [format!("[{section}]"), format!("[[{section}]]")];
            assert!(header.iter().any(|header| example.contains(header)), "{section}");
            hpcc_formats::load_text(Path::new("example.toml"), &text).unwrap_or_else(|why| panic!("{section}: {why}"));
        }
    }
}
