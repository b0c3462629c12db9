// With parts.js, draws a list of plans: a table to sort and search, with how many times faster each is than the hardest engine.
// In: the object in the element "data" (schema collage.report/1).
"use strict";

const list = JSON.parse(document.getElementById("data").textContent);

const ratioText = (rival) => rival.ratio.toFixed(2) + "x [" + rival.low.toFixed(2) + ", " + rival.high.toFixed(2) + "]";
const gain = (plan) => (plan.rival ? plan.rival.ratio : 1);

const backends = inOrder(list.plans.flatMap((plan) => Object.keys(plan.shares)));
const colour = (backend) => colourOf(backend, backends);

/** A bar from 1 to the ratio with its interval as a line, on a scale on which doubling is as wide everywhere. */
function ratioPicture(rival) {
  const most = Math.max(2, ...list.plans.map((plan) => (plan.rival ? plan.rival.high : 1)));
  const least = Math.min(0.8, ...list.plans.map((plan) => (plan.rival ? plan.rival.low : 1)));
  const x = (ratio) => (100 * Math.log(ratio / least)) / Math.log(most / least);
  const picture = drawn("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none", class: "ratio", "aria-hidden": "true" });
  if (rival)
    picture.append(
      drawn("rect", { x: Math.min(x(1), x(rival.ratio)), y: 5, width: Math.abs(x(rival.ratio) - x(1)), height: 10 }),
      drawn("line", { x1: x(rival.low), x2: x(rival.high), y1: 10, y2: 10 }));
  picture.append(drawn("line", { x1: x(1), x2: x(1), y1: 0, y2: 20, class: "even" }));
  return picture;
}

function sharesPicture(shares) {
  const picture = drawn("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "shares", "aria-hidden": "true" });
  let begin = 0;
  for (const backend of backends) {
    const width = 100 * (shares[backend] || 0);
    if (width === 0) continue;
    const part = drawn("rect", { x: begin, y: 0, width: width, height: 10 });
    part.style.fill = colour(backend);
    picture.append(part);
    begin += width;
  }
  return picture;
}

const sharesText = (shares) => Object.entries(shares).sort((a, b) => b[1] - a[1])
  .map(([backend, share]) => backend + " " + (100 * share).toFixed(0) + " %").join(", ");

const columns = [
  { title: "plan", key: (plan) => plan.file + " " + plan.shape,
    cell: (plan) => [name(plan.file + (plan.shape ? " at " + plan.shape : ""))] },
  { title: "time", number: true, key: (plan) => plan.us, cell: (plan) => [plan.us > 0 ? timeText(plan.us) : "-"] },
  { title: "against the hardest engine", descends: true, key: gain, cell: (plan) => [ratioPicture(plan.rival),
    element("span", {}, plan.rival ? ratioText(plan.rival) + " " : "an engine ships: as fast as that"),
    plan.rival ? element("span", { className: "quiet" }, name(plan.rival.name)) : null] },
  { title: "ships", key: (plan) => plan.shipped, cell: (plan) => [name(plan.shipped)] },
  { title: "steps", number: true, key: (plan) => plan.steps, cell: (plan) => [String(plan.steps)] },
  { title: "threads", number: true, key: (plan) => plan.threads, cell: (plan) => [String(plan.threads)] },
  { title: "class", key: (plan) => plan.accuracy, cell: (plan) => [plan.accuracy] },
  { title: "who runs it", key: (plan) => sharesText(plan.shares),
    cell: (plan) => [sharesPicture(plan.shares), element("span", { className: "quiet" }, sharesText(plan.shares))] },
];

const table = sortedTable(document.getElementById("plans"), columns, wantedPlans, 2);

function wantedPlans() {
  const words = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const plans = list.plans.filter((plan) => {
    const text = columns.map((column) => column.key(plan)).concat(plan.model, plan.rival ? plan.rival.name : "")
      .join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
  document.getElementById("found").textContent = plans.length + " of " + list.plans.length + " plans";
  return plans;
}

document.getElementById("headline").append(
  element("h1", {}, list.plans.length + (list.plans.length === 1 ? " plan" : " plans")),
  element("p", {}, list.mean_gain === null ? "None of them was timed."
    : list.mean_gain.toFixed(2) + " times as fast as the hardest engine of each, in the geometric mean"));
document.getElementById("legend").append(...legendOf(backends));
if (list.unreadable.length > 0)
  document.getElementById("unreadable").append(element("h2", {}, "Not read"),
    ...list.unreadable.map((one) => element("p", {}, name(one.file + ": " + one.saw))));
document.getElementById("search").addEventListener("input", table);
table();
document.documentElement.dataset.ready = "yes";
