// SPDX-License-Identifier: GPL-2.0-only
//! A page, opened by Chromium, with a script of ours behind the page's own that uses its controls.

use hpcc_tests::skipped;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Stands before everything else of the page: remembers what goes wrong.
const WATCH: &str = r#"<script>
const troubles = [];
addEventListener("error", (event) => troubles.push(String(event.message)));
addEventListener("unhandledrejection", (event) => troubles.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => troubles.push("blocked " + event.blockedURI));
</script>
"#;

/// Stands before the page's own script: remembers the charts that it makes.
const CHARTS: &str = r#"<script>
const charts = [];
uPlot = new Proxy(uPlot, { construct(made, how) { const chart = new made(...how); charts.push(chart); return chart; } });
</script>
"#;

/// Functions for probes.
const TOOLS: &str = r##"
const $ = (selector) => document.querySelector(selector);
const all = (selector) => Array.from(document.querySelectorAll(selector));
const texts = (selector) => all(selector).map((one) => one.textContent);
const key = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const settle = async () => { for (let i = 0; i < 20; i++) await Promise.resolve(); };
const alive = () => charts.filter((chart) => chart.root.isConnected);
const filter = (words) => { $("#filter").value = words; key($("#filter"), "Enter"); };
const column = (index) => all("#flow-table tbody tr").map((row) => row.children[index].textContent);
"##;

/// The result of a probe, the body of an async function. `None`, and a line among the skipped tests, without a browser.
///
/// # Panics
/// If the page reports an error, or the probe ends with one.
pub fn probe(page: &Path, probe: &str) -> Option<Value> {
    let Some(program) = PROGRAMS.into_iter().find(|program| Command::new(program).arg("--version").output().is_ok())
    else {
        skipped("the page of `hpcc report` needs chromium, which is not installed");
        return None;
    };
    let text = std::fs::read_to_string(page).expect("page");
    let script = text.rfind("<script>").expect("the page's own script");
    let last = format!(
        "<script>(async () => {{ {TOOLS}
        const found = await (async () => {{ {probe} }})().catch((error) => {{ troubles.push(String(error.stack)); }});
        const told = document.createElement(\"pre\");
        told.id = \"told\";
        const bytes = new TextEncoder().encode(JSON.stringify({{ found, troubles }}));
        told.textContent = Array.from(bytes, (byte) => byte.toString(16).padStart(2, \"0\")).join(\"\");
        document.body.append(told); }})();</script></body>"
    );
    let text =
        format!("{}{CHARTS}{}", &text[..script], &text[script..]).replacen("<head>", &format!("<head>{WATCH}"), 1);
    let text = text.replacen("</body>", &last, 1);
    let folder = tempfile::tempdir().expect("folder");
    let copy = folder.path().join("page.html");
    std::fs::write(&copy, text).expect("page");
    let output = Command::new(program)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1400,900",
            "--enable-logging=stderr",
            // Timers take no time, decoding a picture does: long enough for it.
            "--virtual-time-budget=600000",
        ])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .args(["--dump-dom", &format!("file://{}", copy.display())])
        .output()
        .expect("the browser starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = errors.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "the console is not empty: {console:?}");
    let dom = String::from_utf8_lossy(&output.stdout);
    let told = dom.split_once("<pre id=\"told\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let told = told.unwrap_or_else(|| panic!("the probe did not end: {errors}")).0;
    let told: Value = serde_json::from_str(&decoded(told)).expect("JSON");
    assert_eq!(told["troubles"], serde_json::json!([]), "errors on the page");
    Some(told["found"].clone())
}

/// The text of UTF-8 bytes in hexadecimal digits, which no rule of HTML changes.
fn decoded(hex: &str) -> String {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("a byte");
    String::from_utf8(hex.as_bytes().chunks(2).map(byte).collect()).expect("text")
}
