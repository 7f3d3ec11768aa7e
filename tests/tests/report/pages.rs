// SPDX-License-Identifier: GPL-2.0-only
//! Pages of real runs: what they show, and whether their controls do what they say.

use crate::browser::probe;
use hpcc_tests::{Bench, TOML};
use serde_json::json;

/// Two groups: two long flows, and an incast of two, one of which does not end with `run.stop` at 60 us.
fn bench() -> Bench {
    let bench = Bench::new(TOML);
    bench.edit("scenario.toml", "size = \"100KB\"", "size = \"300KB\"\nname = \"long\"");
    let incast = "[[traffic]]\nkind = \"incast\"\nreceiver = 2\nsender_count = 2\nsize = \"20KB\"\nstart = \"10us\"\n\n[monitor]";
    bench.edit("scenario.toml", "[monitor]", incast);
    bench
}

fn run(bench: &Bench, out: &str, set: &[&str]) {
    let output = bench.run_to(out, "scenario.toml", set);
    assert!(matches!(output.code, Some(0 | 3)), "{}", output.err);
    assert!(output.out.ends_with(&format!(" look at it with: xdg-open {out}/report.html\n")), "{}", output.out);
}

#[test]
fn one_run_shows_its_groups_in_every_chart() {
    let bench = bench();
    run(&bench, "out", &[]);
    let Some(found) = probe(
        &bench.path("out/report.html"),
        "return {
            title: $('h1').textContent,
            charts: alive().length,
            legends: alive().map((chart) => chart.series.slice(1).map((line) => line.label)),
            rows: texts('#summary tbody td:first-child'),
            pauses: $('#pauses .body').textContent,
            keys: texts('#config-table tbody td:first-child').includes('congestion_control.eta'),
        };",
    ) else {
        return;
    };
    assert_eq!((&found["title"], &found["charts"]), (&json!("out"), &json!(10)));
    for chart in [0, 1, 2, 3, 4, 7] {
        assert_eq!(found["legends"][chart], json!(["long", "flow", "incast"]), "chart {chart}");
    }
    assert_eq!(found["legends"][9], json!(["all flows", "long", "flow", "incast"]), "Jain's index");
    let rows: Vec<&str> = found["rows"].as_array().expect("rows").iter().filter_map(|row| row.as_str()).collect();
    assert!(["all", "long", "flow", "incast"].iter().all(|name| rows.contains(name)), "{rows:?}");
    assert_eq!((&found["pauses"], &found["keys"]), (&json!("No port was paused."), &json!(true)));
}

#[test]
fn what_congestion_control_did_has_a_chart_of_its_own() {
    let bench = bench();
    run(&bench, "out", &["monitor.control_interval=1us", "monitor.control_flows=[0, 1]"]);
    let Some(found) = probe(
        &bench.path("out/report.html"),
        "const last = () => alive()[alive().length - 1];
        const most = () => Math.max(...last().data[1].filter((value) => value != null));
        const found = { charts: alive().length, lines: last().series.slice(1).map((line) => line.label), rate: most() };
        found.choices = Array.from($('#control-of').options).map((option) => option.value);
        for (const [what, place] of [['u', 3], ['bottleneck', 4], ['rtt', 5]]) {
            $('#control-of').value = found.choices[place];
            $('#control-of').dispatchEvent(new Event('change'));
            await settle();
            found[what] = most();
        }
        return found;",
    ) else {
        return;
    };
    let choices = found["choices"].as_array().expect("choices");
    assert_eq!((&found["charts"], &choices[0], choices.len()), (&json!(11), &json!("Rate (Gb/s)"), 6));
    assert_eq!(found["lines"].as_array().map(Vec::len), Some(2), "{found}");
    let value = |key: &str| found[key].as_f64().expect(key);
    assert!(value("rate") > 5.0 && value("u") > 0.0 && value("u") < 4.0, "{found}");
    // There is one switch, and 4 us of cables on the way there and back.
    assert!(value("bottleneck") == 0.0 && value("rtt") > 4.0 && value("rtt") < 200.0, "{found}");
}

#[test]
fn jobs_have_a_timeline_that_zooms() {
    let job = "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
        [monitor]\ntimeline = true\n[[traffic]]\nkind = \"transformer\"\nname = \"model\"\nlayers = 2\nhidden = 128\n\
        sequence = 64\ntensor = 2\npipeline = 2\nteraflops = 1\n";
    let bench = Bench::new(&[("job.toml", job)]);
    let told = bench.hpcc(&["run", "job.toml", "--out", "out", "--quiet"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let Some(found) = probe(
        &bench.path("out/report.html"),
        "const canvas = $('#timeline canvas');
        const shown = () => JSON.parse(canvas.dataset.shown);
        const pixels = () => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const found = { all: shown(), colours: new Set(new Uint32Array(pixels().buffer)).size };
        all('#timeline .bar button')[0].click();
        found.near = shown();
        key(canvas, '0');
        found.again = shown();
        found.title = $('#timeline h3').textContent;
        found.keys = texts('#timeline .bar span');
        found.path = texts('#timeline tbody tr').length;
        found.summary = $('#timeline summary').textContent;
        return found;",
    ) else {
        return;
    };
    let range = |key: &str| [0, 1].map(|end| found[key][end].as_f64().expect(key));
    let (all, near) = (range("all"), range("near"));
    assert!((all[1] - all[0] - 2.0 * (near[1] - near[0])).abs() < 1e-3 && range("again") == all, "{found}");
    assert_eq!((&found["title"], found["keys"].as_array().map(Vec::len)), (&json!("Job model"), Some(5)), "{found}");
    assert!(found["colours"].as_u64() > Some(4) && found["path"].as_u64() > Some(8), "{found}");
    assert!(found["summary"].as_str().is_some_and(|text| text.starts_with("Critical path: ")), "{found}");
}

#[test]
fn the_map_shows_where_queues_are() {
    let bench = bench();
    run(&bench, "out", &[]);
    let Some(found) = probe(
        &bench.path("out/report.html"),
        "const widest = () => all('#map line').sort((a, b) => b.getAttribute('stroke-width') - a.getAttribute('stroke-width'))[0];
        const found = { lines: all('#map line').length, hosts: all('#map circle.host').length, widest: widest().textContent };
        found.queue = $('#map .body p').textContent;
        $('#map-by').value = 'pause';
        $('#map-by').dispatchEvent(new Event('change'));
        await settle();
        found.pause = $('#map .body p').textContent;
        $('#map-by').value = 'used';
        $('#map-by').dispatchEvent(new Event('change'));
        await settle();
        found.used = $('#map .body p').textContent;
        return found;",
    ) else {
        return;
    };
    let text = |key: &str| found[key].as_str().expect(key).to_owned();
    let ports = bench.read("out/ports.csv").lines().count() - 1;
    assert_eq!(found["lines"].as_u64(), Some(ports as u64 / 2), "{found}");
    // Most is sent to host 2.
    assert!(text("widest").contains("→ 2: queue up to ") && text("queue").contains(" → 2: queue up to "), "{found}");
    assert!(text("queue").contains("The thickest line stands for "), "{found}");
    assert_eq!(text("pause"), "No port was paused.");
    assert!(text("used").contains(" → 2: ") && text("used").contains("The thickest line stands for 100 %"), "{found}");
}

#[test]
fn the_flow_table_sorts_and_filters() {
    let bench = bench();
    run(&bench, "out", &["run.stop=45us"]);
    let Some(found) = probe(
        &bench.path("out/report.html"),
        "const found = {};
        const heads = all('#flow-table th');
        const index = (name) => heads.findIndex((head) => head.textContent.startsWith(name));
        const sort = (name) => heads[index(name)].querySelector('button').click();
        found.first = column(0);
        sort('size');
        found.down = [column(index('size')), heads[index('size')].getAttribute('aria-sort')];
        sort('size');
        found.up = [column(index('size')), heads[index('size')].getAttribute('aria-sort')];
        filter('incast src=1');
        found.incast = [column(0), $('#flow-count').textContent];
        filter('size>=200kB');
        found.large = column(index('size'));
        filter('unfinished');
        found.unfinished = column(index('FCT'));
        filter('colour=3');
        found.error = $('#filter-error').textContent;
        filter('');
        found.all = [column(0).length, $('#filter-error').textContent];
        return found;",
    ) else {
        return;
    };
    assert_eq!(found["first"], json!(["0", "1", "2", "3"]));
    assert_eq!(found["down"], json!([["300,000", "200,000", "20,000", "20,000"], "descending"]));
    assert_eq!(found["up"], json!([["20,000", "20,000", "200,000", "300,000"], "ascending"]));
    assert_eq!(found["incast"], json!([["3"], "1–1 of 1 flows"]));
    assert_eq!(found["large"], json!(["200,000", "300,000"]));
    let unfinished = bench.read("out/unfinished.csv").lines().count() - 1;
    assert!((1..4).contains(&unfinished));
    assert_eq!(found["unfinished"], json!(vec!["unfinished"; unfinished]));
    assert!(found["error"].as_str().is_some_and(|text| text.contains("“colour=3”")), "{}", found["error"]);
    assert_eq!(found["all"], json!([4, ""]));
}

#[test]
fn themes_and_zoom_work_by_button_and_key() {
    let bench = bench();
    run(&bench, "out", &[]);
    let Some(found) = probe(
        &bench.path("out/report.html"),
        "const found = { themes: [] };
        for (let i = 0; i < 3; i++) {
            $('#theme').click();
            found.themes.push([document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor, $('#theme').textContent]);
        }
        await settle();
        const time = alive().slice(-4);
        const span = (chart) => chart.scales.x.max - chart.scales.x.min;
        found.whole = span(time[0]);
        const plot = time[1].root.closest('.plot');
        found.focusable = plot.tabIndex;
        key(plot, '+');
        await settle();
        found.zoomed = time.map(span);
        found.others = span(alive()[0]) === span(alive()[1]);
        key(plot, '0');
        await settle();
        found.back = time.map(span);
        key(plot, 'ArrowRight');
        await settle();
        found.cursor = time[1].cursor.idx;
        const name = plot.querySelector('.u-legend .u-series:nth-child(2) th');
        key(name, 'Enter');
        await settle();
        found.hidden = time[1].series[1].show;
        time[0].root.closest('.chart').querySelector('[aria-label=\"Zoom in\"]').click();
        await settle();
        found.button = span(time[0]);
        return found;",
    ) else {
        return;
    };
    let themes = found["themes"].as_array().expect("themes");
    assert_eq!([&themes[0][0], &themes[1][0]], ["light", "dark"]);
    assert!(themes[0][1] != themes[1][1] && themes[1][2] == "Theme: dark" && themes[2][2] == "Theme: system");
    let whole = found["whole"].as_f64().expect("a span");
    let halves = |spans: &serde_json::Value| {
        spans.as_array().expect("spans").iter().all(|span| (span.as_f64().expect("a span") / whole - 0.5).abs() < 0.01)
    };
    assert!(halves(&found["zoomed"]), "{found}");
    assert_eq!(found["back"], json!([whole, whole, whole, whole]));
    assert_eq!([&found["focusable"], &found["cursor"], &found["hidden"]], [&json!(0), &json!(0), &json!(false)]);
    assert!(halves(&json!([found["button"]])), "{found}");
}

#[test]
fn several_runs_show_what_differs() {
    let bench = bench();
    run(&bench, "a", &[]);
    run(&bench, "b", &["congestion_control.eta=0.8"]);
    let output = bench.hpcc(&["report", "a", "b", "--out", "both.html"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let Some(found) = probe(
        &bench.path("both.html"),
        "const found = { title: $('h1').textContent };
        found.differs = all('#config-table tbody tr').map((row) => Array.from(row.children, (cell) => cell.textContent));
        $('#selection').value = 'all flows';
        $('#selection').dispatchEvent(new Event('change'));
        await settle();
        found.lines = alive()[0].series.slice(1).map((line) => line.label);
        found.runs = [...new Set(column(0))];
        const widest = () => all('#map svg').map((map) => Math.max(...Array.from(map.querySelectorAll('line'), (line) => line.getAttribute('stroke-width'))));
        found.maps = widest();
        all('#runs input')[0].click();
        await settle();
        found.one = [alive()[0].series.slice(1).map((line) => line.label), [...new Set(column(0))], widest()];
        return found;",
    ) else {
        return;
    };
    assert_eq!(found["title"], "2 runs side by side");
    assert_eq!(found["differs"], json!([["congestion_control.eta", "0.95", "0.8"]]));
    assert_eq!((&found["lines"], &found["runs"]), (&json!(["a", "b"]), &json!(["a", "b"])));
    assert_eq!(found["one"], json!([["b"], ["b"], [5.8]]));
    // Both maps have the scale of the run with the longer queue.
    let maps = [0, 1].map(|run| found["maps"][run].as_f64().expect("a width"));
    assert!(maps[0] == 5.8 && maps[1] < 5.7, "{found}");
}

/// Rates are recorded each 2 us; the queue, which is sampled more often, has finer steps.
#[test]
fn rates_have_no_finer_steps_than_were_recorded() {
    let bench = bench();
    run(&bench, "out", &[]);
    let Some(found) = probe(
        &bench.path("out/report.html"),
        "const time = alive().slice(-4);
        const used = time[2].data.slice(1).flat().filter((value) => value != null);
        return {
            steps: time.map((chart) => Number((chart.data[0][1] - chart.data[0][0]).toPrecision(4))),
            whole: time.map((chart) => [chart.scales.x.min, chart.scales.x.max]),
            used: Math.max(...used),
        };",
    ) else {
        return;
    };
    assert_eq!(found["steps"], json!([0.1, 2, 2, 2]));
    assert!(found["whole"].as_array().expect("spans").iter().all(|span| *span == found["whole"][0]), "{found}");
    assert!(found["used"].as_f64().is_some_and(|percent| percent > 50.0 && percent < 101.0), "{found}");
}

#[test]
fn what_is_of_one_seed_says_so() {
    let bench = bench();
    let file = "title = \"Seeds\"\nbase = \"scenario.toml\"\nseeds = [4, 9]\n[[variant]]\nname = \"a\"\n";
    bench.write("seeds.toml", file);
    let output = bench.hpcc(&["sweep", "seeds.toml", "--out", "sweep"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let Some(found) = probe(
        &bench.path("sweep/report.html"),
        "return {
            heads: texts('section:not([hidden]) h2'), queue: texts('#distributions h3').filter((head) => head.startsWith('Queue of')),
            note: $('#rounding').textContent, flows: texts('#summary tbody td:nth-child(2)'), rows: column(0).length,
        };",
    ) else {
        return;
    };
    let heads = [
        "Results of the sweep",
        "Figures of the sweep",
        "Summary",
        "Slowdown by flow size",
        "Distributions",
        "Over time (seed 4)",
        "PFC pause time by link (seed 4)",
    ];
    let more = ["Map of the network (seed 4)", "Flows", "Effective configuration (seed 4)"];
    assert_eq!(found["heads"], json!([&heads[..], &more[..]].concat()));
    assert_eq!(found["queue"], json!(["Queue of the busiest port"]));
    let note = "* Fewer than 10 flows are above this percentile. Figures of flows are means of seeds ± standard deviation, distributions of flows of all seeds together, the other totals (seed 4).";
    assert_eq!((&found["note"], &found["rows"]), (&json!(note), &json!(8)));
}

#[test]
fn what_was_not_recorded_is_said() {
    let bench = bench();
    bench.edit("scenario.toml", "queue_interval = \"1us\"\ngoodput_interval = \"2us\"\n", "");
    run(&bench, "out", &[]);
    let Some(found) = probe(&bench.path("out/report.html"), "return [alive().length, texts('.why')];") else { return };
    assert_eq!(found[0], 5);
    assert!(found[1][0].as_str().is_some_and(|why| why.contains("monitor.queue_interval is off")), "{found}");
    assert!(found[1][4].as_str().is_some_and(|why| why.contains("monitor.goodput_interval is off")), "{found}");
}

/// Two variants and seeds, one claim.
const SWEEP: &str = "title = \"Two <ways>\"\nbase = \"scenario.toml\"\nseeds = [1, 2]\n\
    [[variant]]\nname = \"a\"\nlabel = \"HPCC (eta 0.95)\"\n\
    [[variant]]\nname = \"b\"\nset = [\"congestion_control.algorithm=dctcp\"]\n\
    [[claim]]\ntext = \"Flows are quick\"\nexpected = \"10\"\nmeasure = \"slowdown\"\nof = \"a\"\nholds = { at_most = 10 }\n";

#[test]
fn the_page_of_a_sweep_has_its_tables_claims_and_figures_and_every_chart_can_be_saved() {
    let bench = bench();
    bench.write("sweep.toml", SWEEP);
    let swept = bench.hpcc(&["sweep", "sweep.toml", "--out", "swept", "--simulator", "core"]);
    assert!(matches!(swept.code, Some(0 | 3)), "{}", swept.err);
    let again = bench.hpcc(&["report", "swept"]);
    assert!(matches!(again.code, Some(0 | 3)), "{}", again.err);
    let Some(found) = probe(
        &bench.path("swept/report.html"),
        "const saved = [];
        URL.createObjectURL = (blob) => { saved.push(blob); return '#'; };
        HTMLAnchorElement.prototype.click = () => {};
        const wait = async (count) => { while (saved.length < count) await new Promise((done) => setTimeout(done, 20)); };
        const buttons = (box) => Array.from(box.querySelectorAll('button[title^=\"Save as\"]'));
        const press = async (box) => {
            saved.length = 0;
            buttons(box).forEach((button) => button.click());
            await wait(3);
            return [await saved.find((blob) => blob.type.includes('svg')).text(), saved.some((blob) => blob.type === 'image/png' && blob.size > 1000),
                await saved.find((blob) => blob.type === 'text/csv').text()];
        };
        return {
            title: $('h1').textContent,
            table: texts('#sweep td'),
            claim: texts('#claims tbody td'),
            figures: texts('#figures h3'),
            figure: await press($('#figures .chart')),
            chart: await press($('#slowdown .chart')),
            summary: texts('#rounding'),
            looks: alive()[0].numbers,
            contents: texts('#contents a'),
        };",
    ) else {
        return;
    };
    let has = |key: &str, part: &str| {
        found[key].as_array().expect(key).iter().any(|text| text.as_str().is_some_and(|text| text.contains(part)))
    };
    assert_eq!(found["title"], "Two <ways>");
    assert!(has("table", "HPCC (eta 0.95)") && has("claim", "holds") && has("contents", "Claims"), "{found}");
    assert!(has("figures", "Slowdown by flow size") && has("figures", "Queue length"), "{}", found["figures"]);
    assert!(has("summary", "\u{b1} standard deviation"), "two seeds have a spread: {}", found["summary"]);
    assert_eq!(found["looks"], json!([0, 1]), "variants have their colours and marks");
    for key in ["figure", "chart"] {
        let [svg, png, csv] = [0, 1, 2].map(|part| &found[key][part]);
        let (svg, csv) = (svg.as_str().expect("SVG"), csv.as_str().expect("CSV"));
        assert!(svg.contains("<polygon") && svg.contains("HPCC (eta 0.95)") && svg.contains("</svg>"), "{svg}");
        assert_eq!(png, true, "{key}");
        assert!(csv.contains("HPCC (eta 0.95)") && csv.contains("300000"), "{csv}");
    }
}
