// SPDX-License-Identifier: GPL-2.0-only
//! Diagrams of pages: drawings by hand that can be read on a telephone, by light and in the dark, and by those who hear them.

use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const PAGES: [&str; 3] = ["", "configs", "ns3-module/doc"];
/// In the 350 pixels that a telephone leaves for a drawing this wide, letters of 14 pixels have 10.
const WIDEST: f64 = 480.0;
const SMALLEST_LETTERS: u32 = 14;
/// The mean width of a letter, in its height, with a wide font (DejaVu Sans).
const LETTER: f64 = 0.53;

/// The drawings, by name.
fn diagrams() -> BTreeMap<String, String> {
    let folder = Path::new(ROOT).join("ns3-module/doc/diagrams");
    let entries = fs::read_dir(folder).expect("the folder of diagrams").map(|entry| entry.expect("a file"));
    let found: BTreeMap<_, _> = entries
        .map(|entry| {
            (entry.file_name().to_string_lossy().into_owned(), fs::read_to_string(entry.path()).expect("text"))
        })
        .collect();
    assert!(found.len() >= 7, "only {} diagrams", found.len());
    found
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap_or_default().parse().unwrap_or(f64::NAN)
}

/// The rules of a style sheet for light, and those for the dark: declarations by selector.
fn rules(style: &str) -> [BTreeMap<&str, &str>; 2] {
    let (light, dark) = style.split_once("@media (prefers-color-scheme: dark) {").expect("rules for the dark");
    [light, dark].map(|part| {
        let pairs = part.split('}').filter_map(|rule| rule.split_once('{'));
        pairs.map(|(selector, declared)| (selector.trim(), declared.trim())).collect()
    })
}

/// The size of a text's letters, and its left and right end.
fn extent(text: Node<'_, '_>) -> (u32, f64, f64) {
    let classes = text.attribute("class").unwrap_or_default();
    let height = if classes.contains("small") { SMALLEST_LETTERS } else { 16 };
    let width = text.text().unwrap_or_default().chars().count() as f64 * f64::from(height) * LETTER;
    let x = number(text, "x");
    let left = match classes {
        _ if classes.contains("left") => x,
        _ if classes.contains("right") => x - width,
        _ => x - width / 2.0,
    };
    (height, left, left + width)
}

#[test]
fn drawings_fit_on_a_telephone() {
    for (name, text) in diagrams() {
        let svg = Document::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let root = svg.root_element();
        let (width, height) = (number(root, "width"), number(root, "height"));
        assert!(width <= WIDEST, "{name}: {width} wide");
        assert_eq!(root.attribute("viewBox"), Some(&*format!("0 0 {width} {height}")), "{name}");
        for node in root.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text"))) {
            let (_, left, right) = extent(node);
            assert!(left >= 0.0 && right <= width, "{name}: \"{}\" is cut off", node.text().unwrap_or_default());
            assert!((16.0..height).contains(&number(node, "y")), "{name}: {:?}", node.text());
        }
        let sizes = text.split("font: ").chain(text.split("font-size: ")).skip(1);
        for size in sizes.filter_map(|rest| rest.split_once("px")?.0.parse::<u32>().ok()) {
            assert!(size >= SMALLEST_LETTERS, "{name}: letters of {size} px");
        }
    }
}

/// The paper is part of the drawing, for the page need not have the colours that the browser asks for.
#[test]
fn drawings_have_colours_for_light_and_dark() {
    for (name, text) in diagrams() {
        let svg = Document::parse(&text).expect("well-formed");
        let named = |wanted: &str| svg.descendants().find(|node| node.tag_name().name() == wanted);
        let [light, dark] = rules(named("style").and_then(|node| node.text()).expect("a style"));
        let classes = svg.descendants().filter_map(|node| node.attribute("class")).flat_map(|all| all.split(' '));
        for class in classes.collect::<BTreeSet<_>>() {
            let selector = format!(".{class}");
            let rule = light.get(&*selector).or_else(|| light.get(&*format!("text{selector}")));
            let rule = rule.unwrap_or_else(|| panic!("{name}: no rule for {class}"));
            let coloured = rule.contains('#');
            assert!(
                !coloured || dark.get(&*selector).is_some_and(|rule| rule.contains('#')),
                "{name}: {class} in the dark"
            );
        }
        let paper = named("rect").expect("a rectangle");
        assert_eq!(paper.attribute("class"), Some("paper"), "{name}: the first rectangle is the paper");
    }
}

/// Markdown files of the pages' folders.
fn pages() -> Vec<PathBuf> {
    let files = PAGES.iter().flat_map(|folder| fs::read_dir(Path::new(ROOT).join(folder)).expect("a folder"));
    files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .collect()
}

#[test]
fn each_drawing_is_on_a_page_that_says_in_words_what_it_shows() {
    let texts: Vec<String> = pages().iter().map(|page| fs::read_to_string(page).expect("text")).collect();
    for (name, text) in diagrams() {
        let link = format!("diagrams/{name})");
        let shown =
            texts.iter().flat_map(|page| page.lines()).filter(|line| line.starts_with("![") && line.ends_with(&link));
        let words: Vec<&str> = shown.filter_map(|line| Some(line.split_once("](")?.0)).collect();
        assert_eq!(words.len(), 1, "{name}: on one page");
        assert!(words[0].len() > 40, "{name}: \"{}\" says too little", words[0]);
        assert!(text.contains("<title>"), "{name}: no title");
    }
}
