// With parts.js, draws two plans of one model side by side: a table of the parts of the graph that run otherwise, to sort and search.
// In: the object in the element "data" (schema collage.diff/1).
"use strict";

const diff = JSON.parse(document.getElementById("data").textContent);

const backendOf = (who) => who.split("/")[0];
const backends = inOrder(diff.parts.flatMap((part) => [...part.a.who, ...part.b.who].map(backendOf)));
/** "-" where the plan has no time, as of an engine that runs all. */
const sideTime = (side) => (side.us === null ? "-" : (side.estimated ? "~" : "") + timeText(side.us));
const moreText = (us) => (us === null ? "-" : (us > 0 ? "+" : "") + timeText(us));

/** Each runner once, with how often it stands there. */
function whoCell(side) {
  const counts = new Map();
  for (const who of side.who) counts.set(who, (counts.get(who) || 0) + 1);
  const lines = [...counts].map(([who, count]) => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = colourOf(backendOf(who), backends);
    return element("div", {}, swatch, name(who, 80), count > 1 ? " x " + count : "");
  });
  return lines.length ? lines : ["nothing"];
}

function nodesText(nodes, most = 2) {
  const shown = nodes.slice(0, most).map((node) => (node.length > 60 ? node.slice(0, 60) + "…" : node)).join(" ");
  return nodes.length > most ? shown + " and " + (nodes.length - most) + " more" : shown;
}

/** To the right what B takes longer, to the left what it saves, on a scale that all rows share. */
const mostUs = Math.max(...diff.parts.map((part) => Math.abs(part.more_us)), 1e-9);
function morePicture(us) {
  if (us === null) return null;
  const width = 50 * Math.abs(us) / mostUs;
  return drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "ratio", "aria-hidden": "true" },
    drawn("rect", { x: us < 0 ? 50 - width : 50, y: 2, width, height: 6, class: us < 0 ? "less" : "more" }),
    drawn("line", { x1: 50, x2: 50, y1: 0, y2: 10, class: "even" }));
}

const columns = [
  { title: "nodes", key: (part) => part.nodes.join(" "), cell: (part) => [name(nodesText(part.nodes))] },
  { title: "A", number: true, key: (part) => part.a.us ?? -1, cell: (part) => [sideTime(part.a)] },
  { title: "B", number: true, key: (part) => part.b.us ?? -1, cell: (part) => [sideTime(part.b)] },
  { title: "B less A", number: true, key: (part) => part.more_us, cell: (part) => [moreText(part.more_us)] },
  { title: "difference", descends: true, key: (part) => (part.more_us === null ? Infinity : Math.abs(part.more_us)), cell: (part) => [morePicture(part.more_us)] },
  { title: "who, in A", key: (part) => part.a.who.join(" "), cell: (part) => whoCell(part.a) },
  { title: "who, in B", key: (part) => part.b.who.join(" "), cell: (part) => whoCell(part.b) },
];

const table = sortedTable(document.getElementById("parts"), columns, wantedParts, 4);

function wantedParts() {
  const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = document.getElementById("all").checked;
  const parts = diff.parts.filter((part) => {
    const text = [...part.nodes, ...part.a.who, ...part.b.who].join("\n").toLowerCase();
    return (part.differs || all) && words.every((word) => text.includes(word));
  });
  document.getElementById("found").textContent = parts.length + " of " + diff.parts.length + " parts";
  return parts;
}

function planLine(letter, plan) {
  return element("p", {}, element("b", {}, letter + " "), name(plan.plan), ": ",
    plan.measured_us === null ? "not timed" : timeText(plan.measured_us) + " end to end", ", " + plan.step_count + " steps, " +
    plan.threads + (plan.threads === 1 ? " thread" : " threads") + ", accuracy " + plan.accuracy + ", ", name(plan.machine));
}

function sumRow(words, a, b) {
  return element("tr", {}, element("th", { scope: "row" }, words), ...[a === null ? "-" : timeText(a), b === null ? "-" : timeText(b), moreText(a === null || b === null ? null : b - a)].map((text) =>
    element("td", { className: "number" }, text)));
}

function showSums() {
  const sum = (parts, side) => parts.some((part) => part[side].us === null) ? null
    : parts.reduce((total, part) => total + part[side].us, 0);
  const other = diff.parts.filter((part) => part.differs), alike = diff.parts.filter((part) => !part.differs);
  const { a, b } = diff.conversions;
  document.getElementById("sums").append(element("table", {},
    element("thead", {}, element("tr", {}, element("td"), ...["A", "B", "B less A"].map((text) =>
      element("th", { scope: "col", className: "number" }, text)))),
    element("tbody", {},
      sumRow(other.length + " parts that run otherwise", sum(other, "a"), sum(other, "b")),
      sumRow(alike.length + " parts that run alike", sum(alike, "a"), sum(alike, "b")),
      sumRow(`conversions: ${a.steps.length} in A, ${b.steps.length} in B`, a.us, b.us))));
}

function showHeadline() {
  const differing = diff.parts.filter((part) => part.differs).length;
  document.title = "Collage: two plans";
  document.getElementById("headline").append(
    element("h1", {}, differing + " of " + diff.parts.length + " parts of the graph run otherwise"),
    planLine("A", diff.a), planLine("B", diff.b),
    element("p", { className: "quiet" }, "Times of parts are those of their steps, each measured alone." +
      (diff.same_machine ? "" : " The plans are of two machines: their times compare badly.")));
}

document.getElementById("legend").append(...legendOf(backends));
for (const [letter, nodes] of [["A", diff.only_in_a], ["B", diff.only_in_b]])
  if (nodes.length > 0)
    document.getElementById("missing").append(element("p", {}, nodes.length + " nodes are in " + letter + " alone: ",
      name(nodesText(nodes, 10))));
for (const id of ["search", "all"]) document.getElementById(id).addEventListener("input", table);
showHeadline();
showSums();
table();
document.documentElement.dataset.ready = "yes";
