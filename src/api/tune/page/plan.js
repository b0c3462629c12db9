// With parts.js, draws a plan: its headline, timeline, graph of steps, table, memory and what is known of the selected step.
// In: the object in the element "data" (plan_page.cpp). All text goes through textContent, so names are inert.
"use strict";

const plan = JSON.parse(document.getElementById("data").textContent);
const explanation = plan.explanation || { nodes: [], candidates: [], refusals: [] };

// ---- words ---------------------------------------------------------------------------------------------------------

/** "~" marks an estimate: the shortest of a few runs, or a forecast. "-" is what nobody priced. */
function stepTime(step) {
  if (step.us === 0 && step.kind !== "view") return "-";
  return (step.estimated ? "~" : "") + timeText(step.us);
}

/** "0.042 %", "6.2 %", "120 %". */
const percentText = (share) => (share < 0.1 ? Number((100 * share).toPrecision(2)) : (100 * share).toFixed(0)) + " %";

function bytesText(bytes) {
  if (bytes >= 1 << 20) return (bytes / (1 << 20)).toFixed(1) + " MiB";
  return bytes >= 1024 ? (bytes / 1024).toFixed(1) + " KiB" : bytes + " B";
}

const microseconds = (ns) => ns / 1000;
const who = (step) => step.kind === "view" ? "nobody: the same bytes"
  : step.variant ? step.backend + "/" + step.variant : step.backend;

/** "0-3,7" -> [0, 1, 2, 3, 7]. */
function positions(text) {
  if (!text) return [];
  return text.split(",").flatMap((part) => {
    const [first, last] = part.split("-").map(Number);
    return Array.from({ length: (last === undefined ? first : last) - first + 1 }, (_, i) => first + i);
  });
}

// ---- facts about the plan --------------------------------------------------------------------------------------------

const steps = plan.steps;
const totalUs = steps.reduce((sum, step) => sum + step.us, 0);
const nodeAt = new Map(explanation.nodes.map((node, i) => [node.name, i]));

const backends = inOrder(steps.map((step) => step.backend));
const colour = (backend) => colourOf(backend, backends);

/** By value: the step that makes it, and those that read it. */
const made = new Map();
const readers = new Map();
steps.forEach((step, s) => {
  for (const v of step.out) made.set(v, s);
  for (const v of step.in) readers.set(v, [...(readers.get(v) || []), s]);
});

/** Operations or bytes a nanosecond: billions a second. */
const perNanosecond = (count, step) => (step.us > 0 ? count / step.us / 1000 : 0);
const rateText = (count, step) => (step.us > 0 && count > 0 ? perNanosecond(count, step).toFixed(1) : "");

function title(step) {
  if (step.nodes.length === 0) {
    const from = step.in.length ? plan.values[step.in[0]] : null;
    return step.kind + " " + (from ? from.name : "");
  }
  return step.nodes[0] + (step.nodes.length > 1 ? " and " + (step.nodes.length - 1) + " more" : "");
}

// ---- the selection, which all views share -----------------------------------------------------------------------------

let selected = -1;
const views = [];  // functions of (step, matches) that mark what belongs to it
let matches = null;

function select(step, scrolls = true) {
  selected = step;
  for (const view of views) view(scrolls);
  showDetail();
  if (step >= 0) history.replaceState(null, "", "#step-" + step);
}

function move(by) {
  if (steps.length) select(Math.min(steps.length - 1, Math.max(0, selected < 0 ? 0 : selected + by)));
}

function onArrows(event) {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
  if (by) move(by);
  else if (event.key === "Home") select(0);
  else if (event.key === "End") select(steps.length - 1);
  else return;
  event.preventDefault();
}

/** Marks the item of the selected step, dims those that the search did not find. */
function link(items, scrolls) {
  views.push((may) => items.forEach((item, s) => {
    if (!item) return;
    item.classList.toggle("is-selected", s === selected);
    if (item.hasAttribute("aria-selected")) item.setAttribute("aria-selected", String(s === selected));
    item.classList.toggle("is-dim", matches !== null && !matches.has(s));
    if (s === selected && may && scrolls) item.scrollIntoView({ block: "nearest", inline: "nearest" });
  }));
}

// ---- the views ---------------------------------------------------------------------------------------------------------

function showHeadline() {
  const engines = plan.plans.filter((one) => one.is_engine && one.faster);
  const best = engines.length ? engines.reduce((a, b) => (a.faster.ratio < b.faster.ratio ? a : b)) : null;
  const words = plan.measured_us > 0
    ? timeText(plan.measured_us) + (best ? `, ${fasterText(best.faster)} times as fast as ${best.name}` : "")
    : "not timed end to end";
  document.title = "Collage: " + plan.model;
  document.getElementById("headline").append(
    element("h1", {}, name(plan.model.split("/").pop()), ": ", words),
    element("p", { className: "quiet" },
      plan.step_count + " steps, " + plan.threads + (plan.threads === 1 ? " thread" : " threads") + ", accuracy " +
      plan.accuracy + ", ships ", name(plan.ships), "; ", name(plan.machine)));
}

/** "1.41 [1.22, 1.49]": how many times faster this plan is, with the interval of the paired rounds. */
function fasterText(faster) {
  return `${faster.ratio.toFixed(2)} [${faster.low.toFixed(2)}, ${faster.high.toFixed(2)}]`;
}

/** The ratio as a bar, its interval as a whisker and 1 as a dashed line, on a scale that all rows share. */
function ratioPicture(faster, most) {
  const x = (ratio) => 100 * ratio / most;
  const svg = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "ratio", "aria-hidden": "true" },
    drawn("rect", { x: 0, y: 2, width: x(faster.ratio), height: 6 }),
    drawn("line", { x1: x(1), x2: x(1), y1: 0, y2: 10, class: "even" }),
    drawn("line", { x1: x(faster.low), x2: x(faster.high), y1: 5, y2: 5 }),
    drawn("line", { x1: x(faster.low), x2: x(faster.low), y1: 2.5, y2: 7.5 }),
    drawn("line", { x1: x(faster.high), x2: x(faster.high), y1: 2.5, y2: 7.5 }));
  return svg;
}

function showPlans() {
  const rows = plan.plans.filter((row) => row.us > 0).sort((x, y) => (x.faster ? x.faster.ratio : 1e9) - (y.faster ? y.faster.ratio : 1e9));
  const most = Math.max(1, ...rows.filter((row) => row.faster).map((row) => row.faster.high)) * 1.02;
  const place = document.getElementById("plans");
  if (!rows.length) {
    place.append(element("p", {}, "No other plan was timed."));
    return;
  }
  const heads = ["how many times faster this plan is than", "", "ratio with its interval", "median"];
  place.append(element("table", { className: "plans" },
    element("thead", {}, element("tr", {}, ...heads.map((text, c) =>
      text ? element("th", { scope: "col", className: c > 1 ? "number" : "" }, text) : element("td")))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, element("td", {}, name(row.name)),
      element("td", {}, row.faster ? ratioPicture(row.faster, most) : ""),
      element("td", { className: "number" }, row.faster ? fasterText(row.faster) : "too few rounds"),
      element("td", { className: "number" }, timeText(row.us)))))));
  place.append(element("p", { className: "quiet" }, "Ratios are of rounds in turns; medians of different contests compare badly."));
}

/** More bars than this have no room for lines between them. */
const MOST_WITH_BORDERS = 200;

function showTimeline() {
  for (const backend of backends) {
    const own = steps.filter((step) => step.backend === backend);
    const share = totalUs > 0 ? 100 * own.reduce((sum, step) => sum + step.us, 0) / totalUs : 0;
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = colour(backend);
    document.getElementById("legend").append(
      element("li", {}, swatch, name(backend), ": " + (plan.step_backends[backend] || 0) + " steps, " + share.toFixed(0) + " % of the time"));
  }
  const line = document.getElementById("timeline");
  const items = steps.map((step, s) => {
    const share = totalUs > 0 ? 100 * step.us / totalUs : 100 / steps.length;
    const item = element("div", {
      role: "option", id: "time-" + s, "aria-selected": "false", className: step.kind === "view" ? "view" : "",
      title: s + ": " + title(step).slice(0, 200) + ", " + stepTime(step),
      "aria-label": "step " + s + ", " + who(step).slice(0, 200) + ", " + stepTime(step),
    });
    item.style.flex = share + " 1 0";
    item.style.background = colour(step.backend);
    item.addEventListener("click", () => select(s));
    return item;
  });
  line.classList.toggle("is-fine", steps.length > MOST_WITH_BORDERS);
  line.append(...items);
  line.addEventListener("keydown", onArrows);
  link(items, false);
  views.push(() => selected >= 0 && line.setAttribute("aria-activedescendant", "time-" + selected));
}

/** A column for each step: that of the step whose value it continues where that is free, else the first free one. */
function columns() {
  const holds = [];  // by column: the last step that reads what the column's last step made
  return steps.map((step, s) => {
    const makers = step.in.map((v) => made.get(v)).filter((m) => m !== undefined);
    const last = Math.max(s, ...step.out.flatMap((v) => readers.get(v) || []));
    let column = makers.map((m) => placed[m]).find((c) => holds[c].until <= s || holds[c].step === Math.max(...makers));
    if (column === undefined) column = holds.findIndex((hold) => hold.until <= s);
    if (column < 0) column = holds.length;
    holds[column] = { step: s, until: last };
    placed[s] = column;
    return column;
  });
}
const placed = [];

function showGraph() {
  const width = 240, height = 26, gap = 16;
  const at = columns();
  const x = (s) => 14 + at[s] * (width + 18);
  const y = (s) => 10 + s * (height + gap);
  const svg = drawn("svg", {
    width: 28 + (Math.max(0, ...at) + 1) * (width + 18), height: 20 + steps.length * (height + gap), role: "img",
    "aria-label": "each step below the ones it waits for; the table below has the same steps",
  });
  const edges = [];
  steps.forEach((step, s) => step.in.forEach((v) => {
    const from = made.get(v);
    if (from === undefined || from === s) return;
    const middle = Math.max(20, (y(s) - y(from) - height) / 2);
    const edge = drawn("path", {
      d: `M${x(from) + width / 2},${y(from) + height} c0,${middle} ${x(s) - x(from)},${y(s) - y(from) - height - middle} ` +
        `${x(s) - x(from)},${y(s) - y(from) - height}`,
    });
    if (plan.values[v].format !== "plain") edge.classList.add("blocked");
    edge.append(drawn("title", {}, `${plan.values[v].name.slice(0, 200)}: ${plan.values[v].type}, ${plan.values[v].format}`));
    edges.push({ edge, from, to: s });
    svg.append(edge);
  }));
  const boxes = steps.map((step, s) => {
    const rect = drawn("rect", { x: x(s), y: y(s), width, height, rx: 4 });
    rect.style.stroke = colour(step.backend);
    const label = drawn("text", { x: x(s) + 7, y: y(s) + 17 });
    label.textContent = (s + " " + title(step)).slice(0, 25);
    const time = drawn("text", { x: x(s) + width - 6, y: y(s) + 17, "text-anchor": "end" });
    time.textContent = step.us > 0 ? timeText(step.us) : "";
    const group = drawn("g", {}, rect, label, time, drawn("title", {}, s + ": " + title(step).slice(0, 200)));
    if (step.kind === "view") group.classList.add("view");
    group.addEventListener("click", () => select(s));
    svg.append(group);
    return group;
  });
  const graph = document.getElementById("graph");
  graph.append(svg);
  graph.addEventListener("keydown", onArrows);
  link(boxes, false);
  views.push((scrolls) => {
    for (const { edge, from, to } of edges) edge.classList.toggle("is-selected", from === selected || to === selected);
    if (selected < 0 || !scrolls) return;
    graph.scrollTop = Math.max(0, y(selected) - graph.clientHeight / 2);
    graph.scrollLeft = Math.max(0, x(selected) - graph.clientWidth / 2);
  });
}

function showSteps() {
  const columnsOf = [
    ["step", (step, s) => s, (step, s) => String(s), true],
    ["time alone", (step) => step.us, stepTime, true],
    ["share", (step) => step.us, (step) => (totalUs > 0 ? 100 * step.us / totalUs : 0).toFixed(1) + " %", true],
    ["who", who, (step) => name(who(step), 80), false],
    ["computes", title, (step) => name(title(step), 80), false],
    ["touches", (step) => step.bytes, (step) => bytesText(step.bytes), true],
    ["GB/s", (step) => perNanosecond(step.bytes, step), (step) => rateText(step.bytes, step), true],
    ["GFLOP/s", (step) => perNanosecond(step.flops, step), (step) => rateText(step.flops, step), true],
  ];
  const body = element("tbody");
  const rows = steps.map((step, s) => {
    const row = element("tr", { "aria-selected": "false" }, ...columnsOf.map(([, , text, isNumber]) =>
      element("td", { className: isNumber ? "number" : "" }, text(step, s))));
    row.addEventListener("click", () => select(s));
    return row;
  });
  let order = null;
  const sort = (column) => {
    order = order && order.column === column ? { column, by: -order.by } : { column, by: column === 0 ? 1 : -1 };
    const key = columnsOf[column][1];
    const keys = steps.map((step, s) => key(step, s));
    const places = steps.map((_, s) => s).sort((a, b) => order.by * (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b));
    body.append(...places.map((s) => rows[s]));
    heads.forEach((head, c) => head.setAttribute("aria-sort", c !== column ? "none" : order.by > 0 ? "ascending" : "descending"));
  };
  const heads = columnsOf.map(([text, , , isNumber], c) => {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => sort(c));
    return element("th", { scope: "col", className: isNumber ? "number" : "", "aria-sort": "none" }, button);
  });
  body.append(...rows);
  const table = document.getElementById("steps");
  table.append(element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body));
  table.addEventListener("keydown", (event) => { if (event.target.tagName !== "BUTTON") onArrows(event); });
  link(rows, true);
}

/** The powers of ten from the one below `low` to the one above `high`. */
function decades(low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

/** Rate of arithmetic against operations a byte, both logarithmic, under what the machine reaches at best. */
function showRoofline() {
  const place = document.getElementById("roofline");
  const peak = explanation.peak;
  const counted = steps.map((step, s) => ({ step, s })).filter(({ step }) => step.flops > 0 && step.bytes > 0 && step.us > 0);
  if (!peak || !counted.length) {
    place.append(element("p", {}, !peak ? "The plan does not say how fast its machine is."
      : steps.some((step) => step.flops > 0) ? "The steps with convolutions or matrix products have no time of their own."
      : "No step has a convolution or matrix product."));
    return;
  }
  const width = 720, height = 360, left = 56, right = 26, top = 12, bottom = 42;
  const intensity = ({ step }) => step.flops / step.bytes;
  const rate = ({ step }) => perNanosecond(step.flops, step);
  const across = decades(Math.min(...counted.map(intensity), peak.flops_per_ns / peak.cache_bytes_per_ns),
    Math.max(...counted.map(intensity), peak.flops_per_ns / peak.memory_bytes_per_ns));
  const up = decades(Math.min(...counted.map(rate)), Math.max(...counted.map(rate), peak.flops_per_ns));
  const along = (marks, value) => Math.log10(value / marks[0]) / Math.log10(marks[marks.length - 1] / marks[0]);
  const x = (value) => left + (width - left - right) * along(across, value);
  const y = (value) => height - bottom - (height - top - bottom) * along(up, value);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "how fast each step computes, for its operations a byte; the table has the same figures" });
  const words = (at, text, anchor) => drawn("text", { ...at, "text-anchor": anchor }, text);
  for (const mark of across)
    svg.append(drawn("line", { x1: x(mark), x2: x(mark), y1: top, y2: height - bottom, class: "grid" }),
      words({ x: x(mark), y: height - bottom + 16 }, String(mark), "middle"));
  for (const mark of up)
    svg.append(drawn("line", { x1: left, x2: width - right, y1: y(mark), y2: y(mark), class: "grid" }),
      words({ x: left - 6, y: y(mark) + 4 }, String(mark), "end"));
  svg.append(words({ x: (left + width) / 2, y: height - 8 }, "operations a byte", "middle"),
    drawn("text", { transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, "GFLOP/s"));
  const most = across[across.length - 1];
  for (const [label, bytes] of [["first cache", peak.cache_bytes_per_ns], ["memory", peak.memory_bytes_per_ns]]) {
    const from = Math.max(across[0], up[0] / bytes), ridge = peak.flops_per_ns / bytes;
    svg.append(drawn("path", { class: "roof",
      d: `M${x(from)},${y(from * bytes)} L${x(ridge)},${y(peak.flops_per_ns)} L${x(most)},${y(peak.flops_per_ns)}` },
      drawn("title", {}, `${label}: ${bytes.toFixed(1)} GB/s, ${peak.flops_per_ns.toFixed(1)} GFLOP/s`)));
    svg.append(words({ x: x(from) + 18, y: y(from * bytes) + 4 }, label, "start"));
  }
  const dots = [];
  for (const one of counted) {
    const { step, s } = one;
    const dot = drawn("circle", { cx: x(intensity(one)), cy: y(rate(one)), r: 3 + 14 * Math.sqrt(totalUs > 0 ? step.us / totalUs : 0) },
      drawn("title", {}, `${s}: ${title(step).slice(0, 200)}: ${rateText(step.flops, step)} GFLOP/s, ` +
        `${intensity(one).toPrecision(3)} operations a byte`));
    dot.style.fill = colour(step.backend);
    dot.addEventListener("click", () => select(s));
    dots[s] = dot;
    svg.append(dot);
  }
  const share = totalUs > 0 ? 100 * counted.reduce((sum, { step }) => sum + step.us, 0) / totalUs : 0;
  place.append(svg, element("p", { className: "quiet" },
    `${counted.length} steps with convolutions or matrix products, ${share.toFixed(0)} % of the time; operations as the operators are ` +
    "defined, so Winograd's algorithm and 16 bits can be above the roof. The larger, the more time."));
  link(dots, false);
}

function showMemory() {
  const place = document.getElementById("memory");
  const blocks = plan.values.map((value, v) => ({ value, v })).filter(({ value }) => value.storage === "arena" && value.bytes > 0);
  place.append(element("p", {}, "arena " + bytesText(plan.arena_bytes) + ", weights " + bytesText(plan.weights_bytes) +
    "; steps from left to right, the arena from bottom to top"));
  if (!blocks.length || !plan.arena_bytes) return;
  const svg = drawn("svg", { viewBox: `0 0 ${steps.length} 1000`, preserveAspectRatio: "none", role: "img",
    "aria-label": "which values lie where in the arena, from the step that makes them to the last that reads them" });
  const rects = [];
  const add = (offset, bytes, first, last, step, words) => {
    const rect = drawn("rect", {
      x: first, width: last - first + 1, y: 1000 * (1 - (offset + bytes) / plan.arena_bytes), height: 1000 * bytes / plan.arena_bytes,
    }, drawn("title", {}, words));
    rect.style.fill = colour(steps[step].backend);
    rect.addEventListener("click", () => select(step));
    rects.push({ rect, step, first, last });
    svg.append(rect);
  };
  for (const { value, v } of blocks) {
    const first = made.has(v) ? made.get(v) : 0;
    const last = Math.max(first, ...(readers.get(v) || []));
    add(value.offset, value.bytes, first, last, first, `${value.name.slice(0, 200)}: ${bytesText(value.bytes)}, steps ${first} to ${last}`);
  }
  steps.forEach((step, s) => {
    if (step.workspace && step.workspace[1] > 0)
      add(step.workspace[0], step.workspace[1], s, s, s, `scratch of step ${s}: ${bytesText(step.workspace[1])}`);
  });
  place.append(svg);
  views.push(() => {
    for (const { rect, step } of rects) rect.classList.toggle("is-selected", step === selected);
  });
}

function showLosses() {
  const rows = [];
  const us = (key) => explanation[key] === undefined ? null : microseconds(explanation[key]);
  const cover = us("cover_ns"), measured = us("measured_ns"), model = us("model_bound_ns"), proven = us("proven_bound_ns");
  const add = (words, value) => value !== null && rows.push([words, value]);
  const isOwn = explanation.plan === explanation.cover;
  add((isOwn ? "its steps" : `the steps of "${explanation.cover}", the best cover`) +
    ", each measured alone, and their launches add up to", cover);
  add((isOwn ? "" : "that cover ") + "measured end to end", measured);
  add("no cover of these candidates costs less than, as far as they were measured or forecast", model);
  add("no cover costs less than, whatever was not measured", proven);
  if (cover !== null && measured !== null) add("additive error: measured end to end less that sum", measured - cover);
  if (us("apparent_loss_ns") !== null)
    add("apparent loss, against " + explanation.apparent_loss_against, us("apparent_loss_ns"));
  if (measured !== null && proven !== null) add("optimality loss, at most", measured - proven);
  const precision = explanation.precision;
  const place = document.getElementById("losses");
  if (precision)
    place.append(element("p", {}, precision.steps.length + " steps in 16 bits; the outputs err " +
      percentText(precision.share) + " of what " + precision.bound + " allows, on " + precision.sets + " sets of inputs"));
  if (!rows.length) {
    place.append(element("p", {}, "The plan does not say: it was not tuned, or an engine runs the whole model."));
    return;
  }
  place.append(element("table", {}, element("tbody", {}, ...rows.map(([words, value]) =>
    element("tr", {}, element("td", {}, name(words)), element("td", { className: "number" }, timeText(value)))))));
}

// ---- the selected step ---------------------------------------------------------------------------------------------------

function portsTable(step) {
  const row = (direction, v) => {
    const value = plan.values[v];
    return element("tr", {}, element("td", { className: "direction" }, direction), element("td", {}, name(value.name)),
      element("td", {}, value.type), element("td", {}, value.format), element("td", { className: "number" }, bytesText(value.bytes)));
  };
  return element("table", {}, element("tbody", {}, ...step.in.map((v) => row("reads", v)), ...step.out.map((v) => row("writes", v))));
}

/** What others offered for a node, and who refused it. */
function nodeFacts(nodeName) {
  const i = nodeAt.get(nodeName);
  const item = element("details", {}, element("summary", {}, name(nodeName)));
  if (i === undefined) return item;
  const node = explanation.nodes[i];
  const list = element("ul");
  for (const c of [...positions(node.offers), ...positions(node.unmeasured)])
    list.append(element("li", {}, name(explanation.candidates[c])));
  for (const r of positions(node.refusals)) list.append(element("li", {}, name(explanation.refusals[r])));
  item.append(list.childNodes.length ? list : element("p", { className: "quiet" }, "no other backend was asked"));
  return item;
}

function showDetail() {
  const place = document.getElementById("detail");
  place.replaceChildren();
  if (selected < 0) {
    place.append(element("h2", {}, "A step"), element("p", {}, "Click a step, or move with the arrow keys."));
    return;
  }
  const step = steps[selected];
  place.append(element("h2", {}, "Step " + selected + ": ", name(who(step))));
  place.append(element("p", {}, step.kind === "view" ? "Nothing runs: the output has the bytes of the input."
    : step.us > 0 ? `${stepTime(step)} alone${step.high_us > step.low_us ? ` [${timeText(step.low_us)}, ${timeText(step.high_us)}]` : ""}, ${
      (totalUs > 0 ? 100 * step.us / totalUs : 0).toFixed(1)} % of the steps' time` : "not priced"));
  const narrow = explanation.precision && explanation.precision.steps.find((one) => one.step === selected);
  if (narrow)
    place.append(element("p", {}, `In 16 bits (${narrow.element})` +
      (narrow.gain_ns !== undefined
        ? `: ${narrow.gain_ns < 0 ? "loses" : "gains"} ${timeText(Math.abs(microseconds(narrow.gain_ns)))} alone` : "") +
      (narrow.share !== undefined ? `; ${percentText(narrow.share)} of the bound on outputs` : "")));
  if (step.roofline_us > 0 && step.us > 0)
    place.append(element("p", {}, `At the machine's peak rates it would take ${timeText(step.roofline_us)}: ` +
      `it takes ${(step.us / step.roofline_us).toFixed(1)} times as long.`));
  if (step.runner_up) place.append(element("p", {}, "Runner-up: ", name(step.runner_up)));
  if (step.bodies) place.append(element("p", {}, step.bodies + " steps in its bodies: `collage explain` lists them."));
  place.append(element("h3", {}, "Values"), portsTable(step));
  if (step.constant_bytes > 0) place.append(element("p", {}, "Weights: " + bytesText(step.constant_bytes)));
  if (step.nodes.length) {
    place.append(element("h3", {}, step.nodes.length === 1 ? "Its node, and what others offered" : "Its nodes, and what others offered"));
    place.append(...step.nodes.map(nodeFacts));
    if (step.nodes.length === 1) place.lastChild.open = true;
  }
}

// ---- search ----------------------------------------------------------------------------------------------------------------

function showSearch() {
  const input = document.getElementById("search");
  const found = document.getElementById("found");
  const texts = steps.map((step) => [who(step), ...step.nodes, ...[...step.in, ...step.out].map((v) => plan.values[v].name)]
    .join("\n").toLowerCase());
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    matches = wanted ? new Set(texts.flatMap((text, s) => (text.includes(wanted) ? [s] : []))) : null;
    found.textContent = matches === null ? "" : matches.size + (matches.size === 1 ? " step" : " steps") + ", Enter: the next";
    for (const view of views) view(false);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || matches === null || matches.size === 0) return;
    const list = [...matches];
    select(list.find((s) => s > selected) ?? list[0]);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === input) return;
    input.focus();
    event.preventDefault();
  });
}

for (const show of [showHeadline, showPlans, showTimeline, showGraph, showSteps, showRoofline, showMemory, showLosses, showSearch]) show();
const wanted = /^#step-(\d+)$/.exec(location.hash);
if (wanted && Number(wanted[1]) < steps.length) select(Number(wanted[1]));
else showDetail();
document.documentElement.dataset.ready = "yes";
