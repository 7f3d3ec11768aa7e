// SPDX-License-Identifier: GPL-2.0-only
// The page's behaviour. What it shows is in the element "data", which the command `hpcc report` wrote.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const entries = data.entries;
  const $ = (id) => document.getElementById(id);
  const many = entries.length > 1;
  /** Entries that are shown when the page opens. */
  const SHOWN_FIRST = 6;
  const ROWS = 50;
  const EACH = "each group";
  const ALL = "all flows";

  const state = { shown: new Set(entries.map((_, i) => i).slice(0, SHOWN_FIRST)), selection: ALL, chosen: {} };

  // ---- small helpers

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value === true) made.setAttribute(key, "");
      else if (value !== false && value != null) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  const count = (number) => number.toLocaleString("en-US");

  function digits(value) {
    if (value == null || Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    if (size >= 1e6 || (size < 1e-3 && size > 0)) return value.toExponential(1).replace("e+", "e");
    return String(Number(value.toPrecision(4)));
  }

  function bytes(value) {
    for (const [unit, factor] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
      if (value >= factor * 0.9995) return digits(value / factor) + " " + unit;
    }
    return digits(value) + " B";
  }

  function micros(value) {
    if (value == null) return "–";
    if (Math.abs(value) >= 1e6) return digits(value / 1e6) + " s";
    if (Math.abs(value) >= 1e3) return digits(value / 1e3) + " ms";
    return digits(value) + " µs";
  }

  const percent = (value) => Number(value.toPrecision(3)) + " %";
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const several = entries.some((entry) => entry.seeds.length > 1);
  /** Behind the headings of what is of one run only. */
  const ofOneSeed = !several ? "" : many ? " (of each first seed)" : " (seed " + entries[0].seeds[0] + ")";
  const shownEntries = () => entries.map((entry, index) => ({ entry, index })).filter(({ index }) => state.shown.has(index));

  // ---- files

  function save(name, blob) {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  /** An SVG text as PNG, three pixels for each. */
  async function pngOf(text) {
    const picture = new Image();
    picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    await picture.decode();
    const canvas = element("canvas", { width: 3 * picture.width, height: 3 * picture.height });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done));
  }

  /** Buttons that save a chart; its SVG and CSV are made when asked for. */
  function filesOf(name, svgText, csvText) {
    const file = name.replace(/[^\w.-]+/g, "-").toLowerCase();
    const button = (end, make) => element("button", {
      type: "button", title: "Save as " + end.toUpperCase(), onclick: async () => save(file + "." + end, await make()),
    }, end.toUpperCase());
    return [
      button("svg", () => new Blob([svgText()], { type: "image/svg+xml" })),
      button("png", () => pngOf(svgText())),
      button("csv", () => new Blob([csvText()], { type: "text/csv" })),
    ];
  }

  const quoted = (text) => (/[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

  /** What a chart shows, as CSV. */
  function csvOf(chart) {
    const shown = chart.series.map((_, index) => index).filter((index) => index === 0 || chart.series[index].show);
    const rows = chart.data[0].map((_, row) => shown.map((index) => chart.data[index][row] ?? "").join(","));
    const name = (index) => (index === 0 ? titleOf(chart.spec.x) + UNIT_NAMES[chart.spec.x.unit] : chart.series[index].label);
    return [shown.map((index) => quoted(name(index))).join(","), ...rows].join("\n") + "\n";
  }

  // ---- what a chart shows, as shapes, which the canvas and the SVG file draw alike

  const [MARK, CAP, BESIDE, ASIDE] = [4.5, 3, 7, 0.5];

  function shapesOf(chart) {
    const ratio = uPlot.pxRatio;
    const [left, top, width, height] = ["left", "top", "width", "height"].map((key) => chart.bbox[key] / ratio);
    const { points, stepped } = chart.spec;
    const places = chart.data[0];
    const log = chart.scales.y.distr === 3;
    const x = (place) => left + chart.valToPos(places[place], "x");
    const y = (value) => (log && value <= 0 ? top + height : Math.min(top + height, top + chart.valToPos(value, "y")));
    const shown = chart.lines.map((line, index) => ({ line, index })).filter(({ index }) => chart.series[index + 1].show);
    const alone = places.every((_, place) => shown.filter(({ line }) => line.y[place] != null).length < 2);
    const bars = points && shown.some(({ line }) => line.band?.some((ends) => ends));
    const room = Math.min(...places.slice(1).map((_, place) => x(place + 1) - x(place)));
    const step = bars && !alone ? Math.min(BESIDE, (ASIDE * room) / shown.length) : 0;
    const lines = shown.map(({ line, index }, number) => {
      const aside = (number - (shown.length - 1) / 2) * step;
      const there = line.y.map((_, place) => place).filter((place) => line.y[place] != null && !(log && line.y[place] <= 0));
      const at = (place) => [x(place) + aside, y(line.y[place])];
      const pieces = [];
      there.forEach((place, index) => {
        const last = there[index - 1];
        if (index === 0 || (last !== place - 1 && !chart.series[1].spanGaps)) pieces.push([]);
        const piece = pieces[pieces.length - 1];
        if (stepped && piece.length) piece.push([at(place)[0], piece[piece.length - 1][1]]);
        piece.push(at(place));
      });
      const most = Math.max(...(line.seeds ?? [0]));
      const every = points ? 1 : Math.max(1, Math.floor(there.length / 6));
      const first = points ? 0 : Math.floor((chart.numbers[index] % 8) * every / 8);
      const ends = (line.band ?? []).map((ends, place) => ends && [x(place) + aside, y(ends[0]), y(ends[1])]).filter((ends) => ends);
      return {
        look: lookOf(chart.numbers[index]), pieces, bars: points ? ends : [], band: points ? [] : ends,
        marks: there.filter((_, index) => index >= first && (index - first) % every === 0).map((place) => [...at(place), Boolean(line.few?.[place])]),
        texts: points ? there.filter((place) => line.seeds && line.seeds[place] < most).map((place) => [at(place)[0] + 5, at(place)[1] - 5, String(line.seeds[place])]) : [],
      };
    });
    // The word of the upper two lines, which are close, above and below.
    const rules = chart.percentiles ? [[50, -4], [95, 12], [99, -4]].map(([percent, dy]) => [y(percent / 100), "p" + percent, y(percent / 100) + dy]) : [];
    return { left, top, width, height, lines, rules };
  }

  const corners = ([px, py], look, size) => look.mark.map(([dx, dy]) => [px + (dx * size) / 100, py + (dy * size) / 100]);
  const capped = ([px, low, high]) => [[px - CAP, low], [px + CAP, low], [px, low], [px, high], [px - CAP, high], [px + CAP, high]];
  const around = (band) => [...band.map(([px, low]) => [px, low]), ...band.map(([px, , high]) => [px, high]).reverse()];

  /** Draws what uPlot does not on its canvas. */
  function paint(chart) {
    const { ctx } = chart;
    const { left, top, width, height, lines, rules } = shapesOf(chart);
    const trace = (points) => { ctx.beginPath(); points.forEach(([px, py]) => ctx.lineTo(px, py)); };
    ctx.save();
    ctx.scale(uPlot.pxRatio, uPlot.pxRatio);
    ctx.beginPath();
    ctx.rect(left - MARK, top - MARK, width + 2 * MARK, height + 2 * MARK);
    ctx.clip();
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "left";
    rules.forEach(([py, words, base]) => {
      ctx.strokeStyle = ctx.fillStyle = color("--soft");
      ctx.setLineDash([2, 4]);
      trace([[left, py], [left + width, py]]);
      ctx.stroke();
      ctx.fillText(words, left + 3, base);
    });
    [...lines].reverse().forEach(({ look, pieces, bars, band, marks, texts }) => {
      ctx.strokeStyle = ctx.fillStyle = look.stroke;
      ctx.setLineDash([]);
      ctx.globalAlpha = 0.2;
      if (band.length) { trace(around(band)); ctx.fill(); }
      ctx.globalAlpha = 0.6;
      ctx.lineWidth = 1.5;
      bars.forEach((bar) => { trace(capped(bar)); ctx.stroke(); });
      ctx.globalAlpha = 1;
      ctx.lineWidth = 2.2;
      ctx.setLineDash(look.dash);
      if (chart.spec.points) pieces.forEach((piece) => { trace(piece); ctx.stroke(); });
      marks.forEach(([px, py, few]) => {
        ctx.fillStyle = look.stroke;
        trace(corners([px, py], look, MARK));
        ctx.fill();
        if (few) { ctx.fillStyle = color("--card"); trace(corners([px, py], look, 0.6 * MARK)); ctx.fill(); }
      });
      ctx.fillStyle = color("--ink");
      texts.forEach(([px, py, words]) => ctx.fillText(words, px, py));
    });
    ctx.restore();
  }

  /** What a chart shows, as SVG: as it is zoomed, with its legend below. */
  function svgOf(chart, title) {
    const { left, top, width, height, lines, rules } = shapesOf(chart);
    const [ink, rule, card] = [color("--ink"), color("--rule"), color("--card")];
    const text = (x, y, words, more = "") => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${ink}" font-size="12" ${more}>${escaped(words)}</text>`;
    const list = (points) => points.map(([px, py]) => px.toFixed(1) + "," + py.toFixed(1)).join(" ");
    const polyline = (points, stroke, more) => `<polyline points="${list(points)}" fill="none" stroke="${stroke}" ${more}/>`;
    const polygon = (points, fill, more = "") => `<polygon points="${list(points)}" fill="${fill}" ${more}/>`;
    const mark = (look, [px, py, few]) => polygon(corners([px, py], look, MARK), look.stroke) + (few ? polygon(corners([px, py], look, 0.6 * MARK), card) : "");
    const dashes = (look) => `stroke-width="1.8" stroke-dasharray="${look.dash.join(" ")}"`;
    const drawn = ({ look, pieces, bars, band, marks, texts }) => (band.length ? polygon(around(band), look.stroke, 'opacity="0.2"') : "")
      + bars.map((bar) => polyline(capped(bar), look.stroke, 'opacity="0.6" stroke-width="1.5"')).join("")
      + pieces.map((piece) => polyline(piece, look.stroke, dashes(look))).join("")
      + marks.map((one) => mark(look, one)).join("") + texts.map(([px, py, words]) => text(px, py, words)).join("");
    const ticks = chart.axes.map((axis, index) => axis._splits.map((value, tick) => {
      const place = chart.valToPos(value, index === 0 ? "x" : "y") + (index === 0 ? left : top);
      const words = axis._values[tick] ?? "";
      return index === 0 ? text(place, top + height + 16, words, 'text-anchor="middle"')
        : `<path d="M${left} ${place.toFixed(1)}h${width}" stroke="${rule}"/>` + text(left - 6, place + 4, words, 'text-anchor="end"');
    }).join("")).join("");
    const names = chart.series.slice(1).filter((line) => line.show).map((line) => line.label);
    const legend = lines.map(({ look }, index) => {
      const y = top + height + 62 + 18 * index;
      return polyline([[left, y - 4], [left + 28, y - 4]], look.stroke, dashes(look)) + mark(look, [left + 14, y - 4]) + text(left + 36, y, names[index]);
    }).join("");
    const [w, h] = [chart.width, top + height + 62 + 18 * lines.length];
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h + 24}" viewBox="0 -24 ${w} ${h + 24}" font-family="sans-serif">`
      + `<rect y="-24" width="${w}" height="${h + 24}" fill="${card}"/>${text(left, -8, title, 'font-weight="bold"')}${ticks}`
      + `<clipPath id="in"><rect x="${left - MARK}" y="${top - MARK}" width="${width + 2 * MARK}" height="${height + 2 * MARK}"/></clipPath><g clip-path="url(#in)">`
      + rules.map(([py, words, base]) => polyline([[left, py], [left + width, py]], rule, 'stroke-dasharray="2 4"') + text(left + 3, base, words)).join("")
      + [...lines].reverse().map(drawn).join("") + "</g>"
      + `<path d="M${left} ${top}v${height}h${width}" fill="none" stroke="${ink}"/>`
      + text(left + width / 2, top + height + 38, chart.axes[0].label, 'text-anchor="middle"')
      + text(0, 0, chart.axes[1].label, `text-anchor="middle" transform="translate(12 ${top + height / 2}) rotate(-90)"`) + legend + "</svg>\n";
  }

  // ---- which lines are drawn

  /** Whether a line is of an entry that is shown, and of the selection of flows that is chosen. */
  function isShown(line, slot) {
    if (!state.shown.has(line.entry)) return false;
    const whole = state.selection === ALL || state.selection === EACH;
    if (line.of === undefined || (!slot.by_selection && whole)) return true;
    if (state.selection !== EACH) return line.of === state.selection;
    return line.of !== ALL || entries[line.entry].selections.length === 1;
  }

  function label(line, slot) {
    if (!many) return line.name;
    const { name } = entries[line.entry];
    const isAll = slot.by_selection && line.of === ALL && state.selection !== EACH;
    return isAll || line.name === "" ? name : name + " · " + line.name;
  }

  // ---- charts

  let charts = [];
  let zooming = false;

  /** How the line of a number looks, on every chart and in every file. */
  function lookOf(number) {
    const look = data.looks[number % data.looks.length];
    return { stroke: color("--line-" + look.color), dash: look.dash.map((length) => length / 1.8), mark: look.mark };
  }

  /** Zooms all charts over time alike. */
  function follow(chart, scale) {
    if (scale !== "x" || zooming || !chart.overTime) return;
    zooming = true;
    const { min, max } = chart.scales.x;
    for (const other of charts) if (other !== chart && other.overTime) other.setScale("x", { min, max });
    zooming = false;
  }

  /** What values of an axis are in words, by its unit. */
  const FORMATS = { number: digits, bytes, kilobytes: (kb) => bytes(kb * 1e3), micros };
  const UNIT_NAMES = { number: "", bytes: " (bytes)", kilobytes: " (kB)", micros: " (us)" };
  /** Where ticks have units, the title needs none. */
  const titleOf = ({ title, unit }) => (unit === "number" ? title : title.replace(/ \((ms|µs)\)$/, ""));
  const logRange = (u, low, high) => (low > 0 && high > 0 ? [low / 1.15, high * 1.15] : [0.1, 10]);
  const fromZero = (u, low, high) => [0, high > 0 ? high * 1.05 : 1];

  /** Ticks of a logarithmic axis: powers of ten, and as many of their multiples as there is room for. */
  function logTicks(u, axis, low, high) {
    const room = axis === 0 ? u.bbox.width / uPlot.pxRatio / 60 : u.bbox.height / uPlot.pxRatio / 30;
    const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
    const powers = Array.from({ length: last - first + 1 }, (_, index) => Math.pow(10, first + index));
    const ticks = (factors) => powers.flatMap((power) => factors.map((factor) => factor * power))
      .filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
    const chosen = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3]].map(ticks).find(({ length }) => length <= room) ?? ticks([1]);
    return chosen.length > 2 ? chosen : evenTicks(low, high, room);
  }

  /** Round values at equal distances, where a range is too short for powers of ten. */
  function evenTicks(low, high, room) {
    const rough = (high - low) / Math.max(2, room);
    const decade = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = decade * [1, 2, 5, 10].find((factor) => factor * decade >= rough * 0.999);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, index) => (first + index) * step);
  }

  function axisOf(spec, horizontal) {
    const axis = {
      stroke: color("--ink"), grid: { stroke: color("--grid"), width: 1 }, ticks: { stroke: color("--rule"), width: 1 },
      label: titleOf(spec), labelSize: 22, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
      size: horizontal ? 34 : 58, values: (u, ticks) => ticks.map((tick) => (tick == null ? "" : FORMATS[spec.unit](tick))),
    };
    if (spec.log) Object.assign(axis, { splits: logTicks, filter: (u, ticks) => ticks });
    if (spec.named) {
      const names = new Map(spec.ticks);
      Object.assign(axis, { splits: () => [...names.keys()], values: (u, ticks) => ticks.map((tick) => names.get(tick)) });
    }
    return axis;
  }

  /** Chooses one of several charts of a slot. */
  function choiceOf(slot) {
    const id = slot.name + "-of";
    return element("select", {
      id, "aria-label": slot.title + ": what",
      onchange: (event) => { state.chosen[slot.name] = event.target.value; drawCharts(); $(id).focus(); },
    }, ...slot.charts.map(({ title }) => element("option", { value: title, selected: state.chosen[slot.name] === title }, title)));
  }

  function draw(slot) {
    const chosen = slot.charts.find(({ title }) => title === state.chosen[slot.name]) || slot.charts[0];
    const title = slot.title;
    const lines = chosen.lines.filter((line) => isShown(line, slot));
    const box = document.querySelector("#" + slot.section + " .charts");
    if (lines.length === 0 || (Array.isArray(chosen.at) && chosen.at.length === 0)) {
      // What is empty stands below, folded.
      const fold = box.parentElement.querySelector(".empty") ?? element("details", { class: "empty" }, element("summary"));
      fold.append(element("div", { class: "why" }, title + ": " + slot.why));
      fold.firstChild.textContent = "Not shown: " + (fold.childElementCount - 1);
      box.after(fold);
      return;
    }
    const head = element("div", { class: "bar" }, element("h3", {}, title));
    if (slot.charts.length > 1) head.append(choiceOf(slot));
    const labels = lines.map((line) => label(line, slot));
    plot(box, head, chosen, { title, lines, labels, numbers: lines.map((_, index) => index), overTime: slot.section === "time", percentiles: slot.percentiles });
  }

  /** Draws a chart with a heading into a box. */
  function plot(box, head, spec, { title, lines, labels, numbers, overTime = false, percentiles = false }) {
    const { at } = spec;
    const places = Array.isArray(at) ? at : Array.from({ length: at.steps }, (_, step) => at.first + step * at.step);
    const holder = element("div", { class: "chart" }, head);
    box.append(holder);
    // Bars are higher than their points.
    const range = ({ fixed, log, range }) => (fixed || spec.points ? () => [range.start, range.end] : log ? logRange : fromZero);
    const wide = (u, low, high) => [low - 0.5, high + 0.5];
    const value = (axis, line) => (u, v, series, place) => {
      if (v == null || place == null) return "–";
      const ends = line?.band?.[place];
      return FORMATS[axis.unit](v) + (ends ? " (" + ends.map(FORMATS[axis.unit]).join(" to ") + ")" : "") + (line?.seeds ? " of " + line.seeds[place] : "");
    };
    const names = new Map(spec.x.ticks);
    const name = (u, v) => (v == null ? "–" : names.get(v) ?? "");
    const plot = element("div", {
      class: "plot", tabindex: 0, role: "group",
      "aria-label": title + ". Arrow keys move the cursor, + and - zoom, 0 shows all.",
    });
    holder.append(plot);
    const width = Math.max(280, holder.clientWidth);
    const chart = new uPlot({
      width, height: overTime ? 260 : 280,
      scales: {
        x: { time: false, distr: spec.x.log ? 3 : 1, range: spec.x.log ? logRange : spec.x.named ? wide : undefined },
        y: { distr: spec.y.log ? 3 : 1, range: range(spec.y) },
      },
      axes: [axisOf(spec.x, true), axisOf(spec.y, false)],
      series: [{ label: titleOf(spec.x), value: spec.x.named ? name : value(spec.x) }].concat(
        lines.map((line, index) => ({
          label: labels[index], width: overTime ? 1.6 : 2.2, stroke: () => lookOf(numbers[index]).stroke, dash: lookOf(numbers[index]).dash,
          spanGaps: !overTime, points: { show: false }, value: value(spec.y, line),
          paths: spec.points ? () => null : spec.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
        }))),
      cursor: { drag: { x: true, y: false }, sync: overTime ? { key: "time" } : undefined, focus: { prox: 24 } },
      focus: { alpha: 0.35 },
      legend: { live: true },
      hooks: { setScale: [follow], draw: [(u) => u.lines && paint(u)] },
    }, [places, ...lines.map((line) => line.y)], plot);
    Object.assign(chart, { overTime, spec, lines, numbers, percentiles, box: holder });
    charts.push(chart);
    if (chart.overTime) showAll(chart);
    makeUsableByKeys(chart, plot, head);
    head.append(...filesOf(title, () => svgOf(chart, title), () => csvOf(chart)));
  }

  /** The sweep's figures, by kind: of several steps of the axes one is shown. */
  function drawFigures() {
    const kinds = new Map();
    for (const figure of data.sweep?.figures ?? []) {
      const kind = figure.name.split(".")[0];
      kinds.set(kind, [...(kinds.get(kind) ?? []), figure]);
    }
    document.querySelector("#figures .body").replaceChildren();
    for (const [kind, figures] of kinds) {
      const shown = figures.find(({ name }) => name === state.chosen[kind]) ?? figures[0];
      const head = element("div", { class: "bar" }, element("h3", { title: shown.name }, shown.title));
      if (figures.length > 1) {
        head.append(element("select", {
          id: kind + "-of", "aria-label": kind + ": of what",
          onchange: (event) => { state.chosen[kind] = event.target.value; drawCharts(); $(kind + "-of").focus(); },
        }, ...figures.map(({ name }) => element("option", { value: name, selected: name === shown.name }, name.slice(kind.length + 1)))));
      }
      const box = element("div", { class: "charts three" });
      document.querySelector("#figures .body").append(element("figure", {}, head, element("p", { class: "note" }, shown.subtitle), box));
      for (const chart of shown.charts) {
        const { lines, title } = chart;
        plot(box, element("div", { class: "bar" }, element("h4", {}, title)), chart, { title, lines, labels: lines.map(({ name }) => name), numbers: lines.map(({ number }) => number) });
      }
    }
  }

  function zoom(chart, factor) {
    const { min, max } = chart.scales.x;
    const x = chart.data[0];
    const log = chart.scales.x.distr === 3;
    const there = log ? Math.log : (v) => v;
    const back = log ? Math.exp : (v) => v;
    const cursor = chart.cursor.idx != null ? x[chart.cursor.idx] : null;
    const middle = there(cursor != null && cursor >= min && cursor <= max ? cursor : back((there(min) + there(max)) / 2));
    const low = Math.max(there(x[0]), middle - (middle - there(min)) * factor);
    const high = Math.min(there(x[x.length - 1]), middle + (there(max) - middle) * factor);
    if (high > low) chart.setScale("x", { min: back(low), max: back(high) });
  }

  /** The steps of charts over time: of states, and of rates. */
  const [states, rates] = data.charts.filter((slot) => slot.section === "time").map((slot) => slot.charts[0].at);
  /** From the end of the first step to that of the last one. */
  const wholeTime = [Math.min(states.first, rates.first), Math.max(...[states, rates].map(({ step, steps }) => step * steps))];

  function showAll(chart) {
    const x = chart.data[0];
    const [min, max] = chart.overTime ? wholeTime : [x[0], x[x.length - 1]];
    chart.setScale("x", { min, max });
  }

  function makeUsableByKeys(chart, plot, head) {
    const button = (text, name, act) => element("button", { type: "button", "aria-label": name, title: name, onclick: act }, text);
    head.append(button("+", "Zoom in", () => zoom(chart, 0.5)), button("−", "Zoom out", () => zoom(chart, 2)),
      button("⤢", "Show all", () => showAll(chart)));
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) {
        const x = chart.data[0];
        const inside = (i) => x[i] >= chart.scales.x.min && x[i] <= chart.scales.x.max;
        let next = chart.cursor.idx == null ? x.findIndex((_, i) => inside(i)) : chart.cursor.idx + step * (event.shiftKey ? 20 : 1);
        next = Math.min(x.length - 1, Math.max(0, next));
        if (inside(next)) chart.setCursor({ left: chart.valToPos(x[next], "x"), top: 20 });
      } else if (event.key === "+" || event.key === "=") zoom(chart, 0.5);
      else if (event.key === "-") zoom(chart, 2);
      else if (event.key === "0" || event.key === "Escape") showAll(chart);
      else return;
      event.preventDefault();
    });
    // Lines are switched on and off at their names.
    plot.querySelectorAll(".u-legend .u-series").forEach((row, index) => {
      if (index === 0) return;
      const look = lookOf(chart.numbers[index - 1]);
      const dash = look.dash.join(" ");
      row.querySelector(".u-marker").replaceWith(svg("svg", { class: "u-marker", width: 30, height: 12 },
        svg("path", { d: "M1 6h28", stroke: look.stroke, "stroke-width": 2, "stroke-dasharray": dash }),
        svg("polygon", { points: corners([15, 6], look, MARK).join(" "), fill: look.stroke })));
      const name = row.querySelector("th");
      name.tabIndex = 0;
      name.setAttribute("role", "button");
      name.setAttribute("aria-pressed", "true");
      name.addEventListener("click", () => setTimeout(() => name.setAttribute("aria-pressed", String(chart.series[index].show))));
      name.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        name.click();
      });
    });
  }

  function drawCharts() {
    for (const chart of charts) chart.destroy();
    charts = [];
    document.querySelectorAll(".charts").forEach((box) => box.replaceChildren());
    document.querySelectorAll(".empty").forEach((fold) => fold.remove());
    drawFigures();
    data.charts.forEach(draw);
  }

  // ---- summary, pauses, configuration

  /** A table whose first columns are text; where all are, they may be sentences. */
  function tableOf(header, rows, textColumns = 1) {
    const kind = textColumns < header.length ? "data" : "data prose";
    const cell = (name) => (value, column) => element(name, { class: column < textColumns ? "text" : null, scope: name === "th" ? "col" : null }, value);
    return element("div", { class: "scroll" }, element("table", { class: kind },
      element("thead", {}, element("tr", {}, ...header.map(cell("th")))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell("td")))))));
  }

  function drawSummary() {
    const body = document.querySelector("#summary .body");
    const columns = ["flows", "slowdown mean", "p50", "p95", "p99", "FCT p99 (µs)"];
    const shown = shownEntries();
    if (shown.length === 1) {
      const { entry } = shown[0];
      const list = element("dl", {}, ...entry.totals.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
      body.replaceChildren(element("div", { class: "columns" }, tableOf(["flow size", ...columns], entry.rows), list), ...remarksOf(shown));
      return;
    }
    const rows = shown.flatMap(({ entry }) => entry.rows.filter((row) => row[0] === "all" || entry.groups.includes(row[0]))
      .map(([name, ...rest]) => [entry.name, name, ...rest]));
    const names = ["flows", "queue", "PFC", "frames", "recovery"];
    const total = (entry, name) => (entry.totals.find(([key]) => key === name) || ["", ""])[1];
    body.replaceChildren(tableOf(["run", "flows of", ...columns], rows, 2), element("p", {}),
      tableOf(["run", ...names], shown.map(({ entry }) => [entry.name, ...names.map((name) => total(entry, name))]), 1 + names.length),
      ...remarksOf(shown));
  }

  /** What is to be known of the numbers: notes, and what nobody asked for and counts all the same; of some of several runs with their names. */
  function remarksOf(shown) {
    const found = (list) => {
      const names = new Map();
      for (const { entry } of shown) {
        for (const item of list(entry)) names.set(JSON.stringify(item), [...(names.get(JSON.stringify(item)) ?? []), entry.name]);
      }
      return [...names].map(([item, of]) => [JSON.parse(item), of.length < shown.length ? of.join(", ") : ""]);
    };
    const notes = found((entry) => entry.notes).map(([text, of]) => element("li", {}, of ? of + ": " + text : text));
    const assumed = found((entry) => entry.assumed).map(([row, of]) => (of ? [of + ": " + row[0], row[1], row[2]] : row));
    return [
      ...(notes.length ? [element("h3", {}, "Notes"), element("ul", { class: "notes" }, ...notes)] : []),
      ...(assumed.length ? [element("details", { class: "assumed" }, element("summary", {}, "Assumed: " + assumed.length + " defaults that decide these results, of keys that were not given"),
        tableOf(["key", "value", "why"], assumed, 3))] : []),
    ];
  }

  const folded = (title, open, parts) => [element("details", { open }, element("summary", {}, element("h3", {}, title)), ...parts)];

  function drawSweep() {
    const { tables = [], claims = [] } = data.sweep ?? {};
    const put = (id, parts) => {
      $(id).hidden = parts.length === 0;
      document.querySelector("#" + id + " .body").replaceChildren(...parts);
    };
    // Of long tables the first is open.
    const headed = ({ heading, header, rows, note }, place) => {
      const parts = [tableOf(header.map((title) => title.trim()), rows), ...(note ? [element("p", { class: "note" }, note)] : [])];
      return rows.length > 12 && heading ? folded(heading, place === 0, parts) : [...(heading ? [element("h3", {}, heading)] : []), ...parts];
    };
    const seeds = several ? [element("p", { class: "note" }, "Mean over the seeds that have a value" + data.spread + ".")] : [];
    const rows = Object.entries(data.sweep?.metrics ?? {}).map(([name, [unit, is]]) => [name, unit, is]);
    const metrics = rows.length ? folded("What metrics are", false, [tableOf(["metric", "unit in files", "definition"], rows, 3)]) : [];
    put("sweep", tables.length ? [...tables.flatMap(headed), ...seeds, ...metrics] : []);
    const header = ["claim", "expected", "holds if", "measured", "verdict", "why"];
    put("claims", claims.length ? [tableOf(header, claims, header.length)] : []);
  }

  /** Where pauses begin, and whom they hold from there, each below the one that causes it. */
  function treesOf(trees, most) {
    const longest = Math.max(...trees.flatMap((tree) => tree.branches.map((branch) => branch.us)));
    return trees.slice(0, 3).flatMap((tree) => {
      const bars = element("div", { class: "pause" });
      for (const branch of tree.branches.slice(0, most)) {
        const bar = element("i");
        bar.style.width = (100 * branch.us) / longest + "%";
        const link = element("span", {}, branch.link);
        link.style.paddingLeft = branch.depth + "em";
        bars.append(link, element("span", { class: "track" }, bar), element("span", {}, micros(branch.us) + " (" + count(branch.pauses) + ")"));
      }
      const said = "From " + tree.root + ": " + count(tree.pauses) + " pauses hold " + count(tree.nodes) + " nodes, " + micros(tree.us) + " together";
      return [element("h4", {}, said), bars];
    });
  }

  // ---- timelines of jobs

  /** Kinds of bars: colour, name, and which part of a row they take, from and to. */
  const BARS = [["--line-0", "computation", 0, 0.5], ["--line-2", "collective", 0.5, 0.8], ["--line-5", "send", 0.5, 0.8],
    ["--line-4", "receive", 0.5, 0.8], ["--line-1", "not hidden", 0.84, 1]];

  /** A job's timeline, on a canvas that is drawn again for each part of time that is shown. */
  function timelineOf(job) {
    const row = Math.max(7, Math.min(26, Math.floor(900 / job.ranks)));
    const [left, bottom, height] = [64, 22, row * job.ranks];
    const canvas = element("canvas", { tabindex: 0, role: "img", "aria-label": "Timeline of job " + job.name });
    const said = element("p", { class: "note", "aria-live": "polite" });
    let [from, until] = [job.from, job.until];
    const width = () => Math.max(280, canvas.parentElement.clientWidth);
    const x = (time) => left + ((time - from) / (until - from)) * (width() - left - 8);
    const timeAt = (place) => from + ((place - left) / (width() - left - 8)) * (until - from);
    const hasCollectives = job.bars.some((bar) => bar[1] === 1);
    function draw() {
      const ratio = devicePixelRatio || 1;
      canvas.width = width() * ratio;
      canvas.height = (height + bottom) * ratio;
      canvas.style.width = width() + "px";
      const context = canvas.getContext("2d");
      context.scale(ratio, ratio);
      context.font = "12px system-ui, sans-serif";
      context.fillStyle = color("--soft");
      for (let rank = 0; rank < job.ranks; rank += Math.ceil(14 / row)) context.fillText("rank " + rank, 2, (rank + 0.5) * row + 4);
      for (let tick = 0; tick <= 6; tick++) {
        const time = from + (tick / 6) * (until - from);
        context.textAlign = tick === 6 ? "right" : "center";
        context.fillText(micros(time), x(time), height + 16);
      }
      context.save();
      context.beginPath();
      context.rect(left, 0, width() - left, height);
      context.clip();
      for (const [rank, kind, begin, end] of job.bars) {
        if (end < from || begin > until) continue;
        const [name, , top, low] = BARS[kind];
        context.globalAlpha = kind === 2 || kind === 3 ? (hasCollectives ? 0.25 : 0.5) : 0.85;
        context.fillStyle = color(name);
        context.fillRect(x(begin), (rank + top) * row + 1, Math.max(0.5, x(end) - x(begin)), (low - top) * row - 1);
      }
      context.globalAlpha = 1;
      context.strokeStyle = context.fillStyle = color("--ink");
      context.lineWidth = 1.5;
      for (const [source, rank, begin, end] of job.path) {
        if (source === rank) context.strokeRect(x(begin), rank * row + 1, Math.max(1, x(end) - x(begin)), row - 2);
        else {
          context.beginPath();
          context.moveTo(x(begin), (source + 0.5) * row);
          context.lineTo(x(end), (rank + 0.5) * row);
          context.stroke();
        }
      }
      context.restore();
      canvas.dataset.shown = JSON.stringify([from, until]);
    }
    function show(low, high) {
      [from, until] = [Math.max(job.from, low), Math.min(job.until, high)];
      if (!(until > from)) [from, until] = [job.from, job.until];
      draw();
    }
    const zoom = (factor) => {
      const [middle, half] = [(from + until) / 2, ((until - from) / 2) * factor];
      show(middle - half, middle + half);
    };
    const move = (share) => {
      const step = Math.max(job.from - from, Math.min(job.until - until, share * (until - from)));
      show(from + step, until + step);
    };
    const all = () => show(job.from, job.until);
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => { drag = event.offsetX; });
    canvas.addEventListener("pointerup", (event) => {
      if (drag != null && Math.abs(event.offsetX - drag) > 4) show(...[drag, event.offsetX].map(timeAt).sort((a, b) => a - b));
      drag = null;
    });
    canvas.addEventListener("dblclick", all);
    canvas.addEventListener("pointermove", (event) => {
      const [rank, time] = [Math.floor(event.offsetY / row), timeAt(event.offsetX)];
      const here = job.bars.filter((bar) => bar[0] === rank && bar[2] <= time && time <= bar[3]);
      said.textContent = "rank " + rank + ", " + micros(time) + (here.length ? ": " : "") + here.slice(-6).map(([, kind, begin, end, name]) =>
        (name || BARS[kind][1]) + " for " + micros(end - begin)).join("; ");
    });
    canvas.addEventListener("keydown", (event) => {
      const act = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: all, ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) }[event.key];
      if (!act) return;
      act();
      event.preventDefault();
    });
    const button = (text, name, act) => element("button", { type: "button", "aria-label": name, title: name, onclick: act }, text);
    const key = BARS.filter((_, kind) => job.bars.some((bar) => bar[1] === kind)).map(([name, words]) => {
      const box = element("i");
      box.style.background = "var(" + name + ")";
      return element("span", {}, box, words);
    });
    const head = element("div", { class: "bar" }, element("h3", {}, "Job " + job.name), ...key,
      button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)), button("⤢", "Show all", all));
    const holder = element("div", { class: "ranks" }, canvas);
    const path = element("details", {}, element("summary", {}, "Critical path: " + count(job.segments) + " parts, computations for "
      + micros(job.computed) + ", messages for " + micros(job.communicated)
      + (job.segments > job.path.length ? "; the " + count(job.path.length) + " longest are listed" : "")),
    tableOf(["what", "rank", "begin", "time"], job.path.map(([source, rank, begin, end, words]) =>
      [words, source === rank ? String(rank) : source + " → " + rank, micros(begin), micros(end - begin)])));
    const left_out = job.of > job.bars.length ? [element("p", { class: "note" }, "Of " + count(job.of) + " bars the " + count(job.bars.length) + " longest are drawn.")] : [];
    return { parts: [element("div", { class: "chart" }, head, holder, said, ...left_out, path)], draw };
  }

  let redrawTimelines = () => {};

  function drawTimelines() {
    const made = shownEntries().flatMap(({ entry }) => {
      const jobs = (entry.timelines ?? []).map(timelineOf);
      return many && jobs.length ? [{ parts: [element("h3", {}, entry.name)], draw: () => {} }, ...jobs] : jobs;
    });
    $("timeline").hidden = made.length === 0;
    document.querySelector("#timeline .body").replaceChildren(...made.flatMap(({ parts }) => parts));
    redrawTimelines = () => made.forEach(({ draw }) => draw());
    redrawTimelines();
  }

  function drawPauses() {
    const most = 24;
    const parts = [];
    const shown = shownEntries();
    // Bars of all runs are to one scale, as they stand side by side.
    const longest = Math.max(...shown.map(({ entry }) => (entry.pauses.length > 0 ? entry.pauses[0].us : 0)));
    const none = shown.filter(({ entry }) => entry.pauses.length === 0);
    if (none.length) parts.push(element("p", {}, (many ? none.map(({ entry }) => entry.name).join("; ") + ": " : "") + "No port was paused."));
    for (const { entry } of shown.filter((one) => !none.includes(one))) {
      if (many) parts.push(element("h3", {}, entry.name));
      const bars = element("div", { class: "pause" });
      for (const pause of entry.pauses.slice(0, most)) {
        const bar = element("i");
        bar.style.width = (100 * pause.us) / longest + "%";
        bars.append(element("span", {}, pause.link), element("span", { class: "track" }, bar),
          element("span", {}, micros(pause.us) + " (" + percent(100 * pause.share) + ")"));
      }
      parts.push(bars);
      if (entry.pauses.length > most) parts.push(element("p", {}, "and " + count(entry.pauses.length - most) + " more ports"));
      parts.push(...treesOf(entry.trees, most));
    }
    document.querySelector("#pauses .body").replaceChildren(...parts);
  }

  function svg(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  /** What links of the map are drawn by: place in a link's row, text of a value, what the thickest line stands for. */
  const MAP_BY = {
    queue: { at: 2, text: (value) => bytes(value * 1e3), most: (found) => found, worst: "The longest queue", none: "No queue was recorded." },
    pause: { at: 4, text: micros, most: (found) => found, worst: "The longest pause", none: "No port was paused." },
    used: { at: 6, text: percent, most: (found) => (found > 0 ? 100 : 0), worst: "The largest utilisation", none: "No switch sent anything." },
  };

  /** What a link of the map is drawn by: the larger value of its two directions. */
  const worstOf = (link, by) => Math.max(link[by.at] ?? 0, link[by.at + 1] ?? 0);

  /** A network: tiers one above the other, links by their values, where the thickest stands for `most`. */
  function mapOf(map, by, most) {
    const [width, step, margin] = [1100, 110, 24];
    const place = new Map();
    map.tiers.forEach((nodes, tier) => nodes.forEach((node, index) =>
      place.set(node, [((index + 0.5) * width) / nodes.length, margin + (map.tiers.length - 1 - tier) * step])));
    const value = (link) => worstOf(link, by);
    const links = [...map.links].sort((a, b) => value(a) - value(b));
    const worst = links[links.length - 1];
    const direction = (link, back) => {
      const [from, to] = back ? [link[1], link[0]] : [link[0], link[1]];
      const used = link[6 + back] == null ? "" : ", used to " + MAP_BY.used.text(link[6 + back]);
      return from + " → " + to + ": queue up to " + MAP_BY.queue.text(link[2 + back]) + ", paused " + micros(link[4 + back]) + used;
    };
    const text = (link) => direction(link, 0) + "\n" + direction(link, 1);
    const lines = links.map((link) => {
      const [[x1, y1], [x2, y2]] = [place.get(link[0]), place.get(link[1])];
      const share = most > 0 ? value(link) / most : 0;
      const line = svg("line", { x1, y1, x2, y2, "stroke-width": (0.8 + 5 * share).toFixed(2) }, svg("title", {}, text(link)));
      line.style.stroke = share > 0 ? "color-mix(in srgb, var(--line-1) " + (25 + 75 * share).toFixed(0) + "%, var(--grid))" : "var(--rule)";
      return line;
    });
    const nodes = map.tiers.flatMap((ids, tier) => ids.map((node) => {
      const [cx, cy] = place.get(node);
      const r = Math.max(1, Math.min(tier === 0 ? 4 : 7, (0.4 * width) / ids.length));
      return svg("circle", { cx, cy, r, class: tier === 0 ? "host" : "switch" }, svg("title", {}, (tier === 0 ? "host " : "switch ") + node));
    }));
    const said = worst && value(worst) > 0 ? by.worst + " is at " + text(worst).split("\n").join("; ") + ". The thickest line stands for " + by.text(most) + "." : by.none;
    const height = 2 * margin + (map.tiers.length - 1) * step;
    const parts = [svg("svg", { viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": said }, ...lines, ...nodes), element("p", {}, said)];
    if (map.of > map.links.length) parts.push(element("p", {}, "Only the " + count(map.links.length) + " of " + count(map.of) + " links with the longest queues and pauses, and the most used, are drawn."));
    return parts;
  }

  /** The first measure of which a run that is shown has any value. */
  function measureOfMap() {
    const links = shownEntries().flatMap(({ entry }) => (entry.map ? entry.map.links : []));
    const has = ({ at }) => links.some((link) => link[at] > 0 || link[at + 1] > 0);
    return Object.keys(MAP_BY).find((name) => has(MAP_BY[name])) ?? "queue";
  }

  function drawMap() {
    const by = MAP_BY[$("map-by").value];
    // One scale for all networks, as they stand side by side.
    const values = shownEntries().flatMap(({ entry }) => (entry.map ? entry.map.links.map((link) => worstOf(link, by)) : []));
    const most = by.most(values.reduce((a, b) => Math.max(a, b), 0));
    const parts = shownEntries().flatMap(({ entry }, place) => {
      const map = entry.map ? mapOf(entry.map, by, most) : [element("p", {}, "The folder lists no ports.")];
      return many ? folded(entry.name, place < 2, map) : map;
    });
    document.querySelector("#map .body").replaceChildren(...parts);
  }

  function drawConfiguration() {
    const shown = shownEntries();
    const keys = [...new Set(shown.flatMap(({ entry }) => Object.keys(entry.config)))];
    const search = $("config-filter").value.trim().toLowerCase();
    const only = $("differs").checked && shown.length > 1;
    const rows = [];
    for (const key of keys) {
      const values = shown.map(({ entry }) => (key in entry.config ? entry.config[key] : "–"));
      const differs = values.some((value) => value !== values[0]);
      if ((only && !differs) || !(key + " " + values.join(" ")).toLowerCase().includes(search)) continue;
      rows.push(element("tr", { class: differs ? "differs" : null }, element("td", {}, key), ...values.map((value) => element("td", {}, value))));
    }
    if (rows.length === 0) {
      const why = search ? "Nothing matches." : "Nothing differs between what is shown.";
      rows.push(element("tr", {}, element("td", { colspan: shown.length + 1 }, why)));
    }
    document.querySelector("#config-table thead").replaceChildren(
      element("tr", {}, element("th", { scope: "col" }, "key"), ...shown.map(({ entry }) => element("th", { scope: "col" }, entry.name))));
    document.querySelector("#config-table tbody").replaceChildren(...rows);
    document.querySelector("#configuration summary").textContent = rows.length < keys.length ? count(rows.length) + " of " + count(keys.length) + " keys" : "All keys";
  }

  // ---- the flow table

  const columns = [
    { key: "run", title: "run", text: (row) => entries[row].name, only: many },
    { key: "seed", title: "seed", format: String, only: entries.some((entry) => entry.flows.seed) },
    { key: "flow", title: "flow", format: String },
    { key: "group", title: "group", words: true },
    { key: "src", title: "src", format: String },
    { key: "dst", title: "dst", format: String },
    { key: "size", title: "size (B)", format: count },
    { key: "start", title: "start (µs)", format: (v) => v.toFixed(3) },
    { key: "fct", title: "FCT (µs)", format: (v) => v.toFixed(3) },
    { key: "slowdown", title: "slowdown", format: (v) => v.toPrecision(4) },
  ].filter((column) => column.only !== false);

  /** All rows, a typed array for each column: 100,000 of them sort in a blink. */
  const rows = (() => {
    const total = entries.reduce((sum, entry) => sum + entry.flows.flow.length, 0);
    const all = { total, entry: new Uint16Array(total) };
    for (const key of ["seed", "flow", "group", "src", "dst", "size", "start", "fct", "slowdown"]) all[key] = new Float64Array(total).fill(NaN);
    let at = 0;
    entries.forEach((entry, index) => {
      const length = entry.flows.flow.length;
      all.entry.fill(index, at, at + length);
      for (const key of Object.keys(all).filter((key) => entry.flows[key] && key !== "entry")) {
        const values = entry.flows[key];
        for (let i = 0; i < length; i++) all[key][at + i] = values[i] == null ? NaN : values[i];
      }
      at += length;
    });
    return all;
  })();
  const table = { order: { key: "flow", down: false }, found: new Uint32Array(0), page: 0 };
  const groupName = (row) => entries[rows.entry[row]].groups[rows.group[row]] || "flows";

  const UNITS = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, us: 1, "µs": 1, ns: 1e-3, ms: 1e3, s: 1e6 };

  /** A word of the filter as a test of a row, or null if it cannot be read. */
  function testOf(word) {
    const parts = /^([a-z]+)(!=|<=|>=|=|<|>)(.+)$/i.exec(word);
    if (!parts) {
      const lower = word.toLowerCase();
      if (lower === "unfinished") return (row) => Number.isNaN(rows.fct[row]);
      if (/^\d+$/.test(word)) return (row) => [rows.flow[row], rows.src[row], rows.dst[row]].includes(Number(word));
      const known = entries.some((entry) => entry.name.toLowerCase().includes(lower) || entry.groups.some((group) => group.toLowerCase().includes(lower)));
      return known ? (row) => groupName(row).toLowerCase().includes(lower) || entries[rows.entry[row]].name.toLowerCase().includes(lower) : null;
    }
    const [, name, sign, text] = parts;
    const key = name.toLowerCase();
    if (key === "group" || key === "run") {
      const of = key === "group" ? groupName : (row) => entries[rows.entry[row]].name;
      if (sign !== "=" && sign !== "!=") return null;
      return (row) => (of(row).toLowerCase() === text.toLowerCase()) === (sign === "=");
    }
    const number = /^(-?\d+(?:\.\d+)?(?:e-?\d+)?)([a-zµ]*)$/i.exec(text);
    if (!(rows[key] instanceof Float64Array) || !number || (number[2] && !(number[2].toLowerCase() in UNITS))) return null;
    const value = Number(number[1]) * (number[2] ? UNITS[number[2].toLowerCase()] : 1);
    const tests = {
      "=": (v) => v === value, "!=": (v) => v !== value, "<": (v) => v < value,
      "<=": (v) => v <= value, ">": (v) => v > value, ">=": (v) => v >= value,
    };
    return (row) => tests[sign](rows[key][row]);
  }

  function find() {
    const words = $("filter").value.trim().split(/\s+/).filter((word) => word);
    const tests = words.map(testOf);
    const bad = words.filter((_, index) => !tests[index]);
    $("filter-error").textContent = bad.length ? "Cannot read " + bad.map((word) => "“" + word + "”").join(", ") + ": no such group, run or column, or no number behind it." : "";
    const good = tests.filter((test) => test);
    const found = [];
    for (let row = 0; row < rows.total; row++) {
      if (state.shown.has(rows.entry[row]) && good.every((test) => test(row))) found.push(row);
    }
    table.found = Uint32Array.from(found);
    sort();
  }

  function sort() {
    const { key, down } = table.order;
    const names = key === "group" ? Array.from({ length: rows.total }, (_, row) => groupName(row)) : null;
    const values = key === "run" ? rows.entry : rows[key];
    const sign = down ? -1 : 1;
    table.found.sort((a, b) => {
      if (names) return sign * names[a].localeCompare(names[b]) || a - b;
      const [x, y] = [values[a], values[b]];
      // What has no value comes last, whichever way.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
      return sign * (x - y) || a - b;
    });
    table.page = 0;
    drawFlows();
  }

  function drawFlows() {
    const pages = Math.max(1, Math.ceil(table.found.length / ROWS));
    table.page = Math.min(table.page, pages - 1);
    const from = table.page * ROWS;
    const text = (column, row) => {
      if (column.words) return groupName(row);
      if (column.text) return column.text(rows.entry[row]);
      const value = rows[column.key][row];
      return Number.isNaN(value) ? (column.key === "fct" ? "unfinished" : "–") : column.format(value);
    };
    const isText = (column) => column.words || column.text;
    document.querySelector("#flow-table tbody").replaceChildren(...Array.from(table.found.slice(from, from + ROWS), (row) =>
      element("tr", {}, ...columns.map((column) => element("td", { class: isText(column) ? "text" : null }, text(column, row))))));
    document.querySelectorAll("#flow-table th").forEach((head, index) => {
      const sorted = columns[index].key === table.order.key;
      head.setAttribute("aria-sort", sorted ? (table.order.down ? "descending" : "ascending") : "none");
      head.firstChild.textContent = columns[index].title + (sorted ? (table.order.down ? " ▼" : " ▲") : "");
    });
    const last = Math.min(from + ROWS, table.found.length);
    const sampled = shownEntries().filter(({ entry }) => entry.flows.flow.length < entry.flows.of);
    const whole = sampled.reduce((sum, { entry }) => sum + entry.flows.of, 0);
    const kept = sampled.reduce((sum, { entry }) => sum + entry.flows.flow.length, 0);
    $("flow-count").textContent = (table.found.length ? count(from + 1) + "–" + count(last) + " of " : "") + count(table.found.length) + " flows"
      + (sampled.length ? "; of " + count(whole) + " flows this page has " + count(kept) + ": those that did not finish, and the slowest by slowdown" : "");
    $("page-number").textContent = "page " + count(table.page + 1) + " of " + count(pages);
    for (const id of ["page-first", "page-back"]) $(id).disabled = table.page === 0;
    for (const id of ["page-next", "page-last"]) $(id).disabled = table.page === pages - 1;
  }

  function makeFlowTable() {
    const head = element("tr", {}, ...columns.map((column) => element("th", { scope: "col", class: column.words || column.text ? "text" : null },
      element("button", {
        type: "button",
        onclick: () => {
          table.order = { key: column.key, down: table.order.key === column.key ? !table.order.down : ["fct", "slowdown", "size"].includes(column.key) };
          sort();
        },
      }, column.title))));
    document.querySelector("#flow-table thead").append(head);
    const turn = (page) => () => { table.page = page(); drawFlows(); };
    const lastPage = () => Math.max(0, Math.ceil(table.found.length / ROWS) - 1);
    $("page-first").onclick = turn(() => 0);
    $("page-back").onclick = turn(() => Math.max(0, table.page - 1));
    $("page-next").onclick = turn(() => Math.min(lastPage(), table.page + 1));
    $("page-last").onclick = turn(lastPage);
    let waiting = 0;
    $("filter").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(find, 120); });
    $("filter").addEventListener("keydown", (event) => { if (event.key === "Enter") { clearTimeout(waiting); find(); } });
  }

  // ---- the head of the page

  function makeTheme() {
    const themes = ["system", "light", "dark"];
    const dark = matchMedia("(prefers-color-scheme: dark)");
    let theme = "system";
    try { theme = localStorage.getItem("hpcc-theme") || theme; } catch { /* files may have no storage */ }
    const apply = () => {
      document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
      $("theme").textContent = "Theme: " + theme;
    };
    $("theme").onclick = () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      try { localStorage.setItem("hpcc-theme", theme); } catch { /* as above */ }
      apply();
      drawCharts();
      redrawTimelines();
    };
    dark.addEventListener("change", () => { apply(); drawCharts(); redrawTimelines(); });
    apply();
    // Paper is white.
    let before = "";
    addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; document.documentElement.dataset.theme = "light"; drawCharts(); });
    addEventListener("afterprint", () => { document.documentElement.dataset.theme = before; drawCharts(); });
  }

  function makeChoice() {
    $("runs").hidden = !many;
    entries.forEach((entry, index) => {
      const box = element("input", {
        type: "checkbox", checked: state.shown.has(index), value: index,
        onchange: (event) => {
          if (event.target.checked) state.shown.add(index);
          else if (state.shown.size > 1) state.shown.delete(index);
          else event.target.checked = true;
          drawAll();
        },
      });
      $("runs").append(element("label", { class: "chip" }, box, " " + entry.name));
    });
    const names = [...new Set(entries.flatMap((entry) => entry.selections))];
    if (names.length > 1) {
      names.splice(1, 0, EACH);
      if (state.shown.size <= 2) state.selection = EACH;
    }
    $("selection-label").hidden = names.length < 2;
    $("selection").append(...names.map((name) => element("option", { selected: name === state.selection }, name)));
    $("selection").onchange = (event) => { state.selection = event.target.value; drawCharts(); };
  }

  function makeHead() {
    $("figures").hidden = !data.sweep?.figures?.length;
    document.querySelector(".spread").textContent = (data.bins ? " Here" + data.bins.replace(";", " are") + "." : "") + (several ? " Means of seeds" + data.spread + "; bars show it, and a number at a point says that it is of fewer seeds than others." : "");
    const first = entries[0];
    $("title").textContent = data.sweep ? data.sweep.title : many ? entries.length + " runs side by side" : first.name;
    const seeds = many ? "" : first.seeds.length > 1 ? ", seeds " + first.seeds.join(", ") : ", seed " + first.seeds[0];
    const window = first.window ? ". Measured from " + micros(first.window[0]) + " to " + micros(first.window[1]) + " of simulated time" : "";
    const [finished, total] = ["finished", "total"].map((key) => entries.reduce((sum, entry) => sum + entry[key], 0));
    $("subtitle").textContent = count(finished) + " of " + count(total) + " flows finished" + seeds + window;
    $("contents").append(...Array.from(document.querySelectorAll("main > section:not([hidden])"), (section) =>
      element("a", { href: "#" + section.id }, section.querySelector("h2").textContent)));
    const few = entries.some(({ rows }) => rows.flat().some((cell) => cell.endsWith("*")));
    $("rounding").textContent = [few && data.few, data.leftOut, data.rounding, several && "Figures of flows are means of seeds" + data.spread + ", distributions of flows of all seeds together, the other totals" + ofOneSeed + "."].filter(Boolean).join(" ");
    for (const id of ["time", "timeline", "pauses", "map", "configuration"]) $(id).querySelector("h2").append(ofOneSeed);
    $("time-note").textContent = "Each point is of " + micros(states.step) + ", and of rates, which are not recorded more often, of " + micros(rates.step) + ": queues show their longest in it, rates their mean. Drag over a chart to zoom in, double-click to see all; the charts below zoom together. Payload counts when it arrives, each byte once, and that of TCP and UDP when it is acknowledged: steps of few packets can exceed a link's rate by one.";
    $("footer").textContent = "Made by hpcc " + data.version + " from results of " + first.versions + ". Charts: uPlot 1.6.32, © Leon Sorokin, MIT licence.";
    $("differs-label").hidden = !many;
    $("differs").checked = many;
    $("differs").onchange = drawConfiguration;
    $("map-by").value = measureOfMap();
    $("map-by").onchange = drawMap;
    $("config-filter").addEventListener("input", drawConfiguration);
  }

  function drawAll() {
    drawSummary();
    drawCharts();
    drawTimelines();
    drawPauses();
    drawMap();
    drawConfiguration();
    find();
  }

  drawSweep();
  $("timeline").hidden = !entries.some((entry) => (entry.timelines ?? []).length);
  makeHead();
  makeTheme();
  makeChoice();
  makeFlowTable();
  drawAll();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    redrawTimelines();
    for (const chart of charts) chart.setSize({ width: Math.max(280, chart.box.clientWidth), height: chart.height });
  });
})();
