// With parts.js, shows a tune while it goes on: asks the program that serves this page for its state, and loads the plan's page anew when
// there is a better plan.
"use strict";

/** A browser takes time from the machine that measures. */
const PAUSE_MS = 2000;

let shownPlan = "";

function headline(state) {
  const best = state.best_us > 0 ? timeText(state.best_us) : "no plan yet";
  const rival = state.rival ? `, ${state.speedup.toFixed(2)}x of ${state.rival}` : "";
  const proven = state.best_us > 0 && state.bound_us > 0
    ? `, proven within ${(100 * Math.max(0, 1 - state.bound_us / state.best_us)).toFixed(0)} %` : "";
  const left = state.is_over ? "over" : state.left_s === undefined ? "" : state.left_s.toFixed(0) + " s left";
  document.title = `${best}${rival} ${left}`;
  document.getElementById("headline").replaceChildren(
    element("h1", {}, best + rival + proven), element("p", { className: "quiet" }, `${state.t_s.toFixed(0)} s, ${left}`));
}

function phase(state) {
  document.getElementById("bar").value = state.is_over ? 1 : state.total > 0 ? Math.min(1, state.done / state.total) : 0;
  const counts = state.total > 0 ? ` ${state.done}/${state.total}${state.refused > 0 ? `, ${state.refused} refused` : ""}` : "";
  document.getElementById("phase").textContent = state.is_over ? "over" : state.phase + counts;
}

/** Times of the best plan as steps over the seconds, from 0. */
function curve(state) {
  const place = document.getElementById("curve");
  if (!state.curve.length) {
    place.replaceChildren(element("p", { className: "quiet" }, "No plan was timed yet."));
    return;
  }
  const width = 720, height = 200, left = 70, bottom = 26;
  const most = Math.max(...state.curve.map(([, us]) => us)) * 1.05;
  const x = (s) => left + (width - left - 8) * s / Math.max(state.t_s, 1e-9);
  const y = (us) => (height - bottom) * (1 - us / most) + 4;
  const points = [...state.curve, [state.t_s, state.curve[state.curve.length - 1][1]]];
  const line = points.map(([s, us], i) => (i === 0 ? `M${x(s)},${y(us)}` : `H${x(s)} V${y(us)}`)).join(" ");
  place.replaceChildren(drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": "time of the best plan over the seconds of the tune: " + state.curve.map(([s, us]) => `${s.toFixed(0)} s: ${timeText(us)}`).join(", ") },
    drawn("line", { x1: left, x2: width - 8, y1: y(0), y2: y(0), class: "grid" }),
    drawn("path", { d: line, class: "best" }),
    drawn("text", { x: left - 6, y: y(points[0][1]) + 4, "text-anchor": "end" }, timeText(points[0][1])),
    drawn("text", { x: left - 6, y: y(0) + 4, "text-anchor": "end" }, "0"),
    drawn("text", { x: width - 8, y: height - 6, "text-anchor": "end" }, state.t_s.toFixed(0) + " s")));
}

function plan(state) {
  if (state.plan === shownPlan) return;
  shownPlan = state.plan;
  document.getElementById("none").hidden = true;
  document.getElementById("plan").src = "plan?" + encodeURIComponent(shownPlan);
}

async function look() {
  let state;
  try {
    state = await (await fetch("state", { cache: "no-store" })).json();
  } catch {
    document.getElementById("phase").textContent = "the program has ended";
    return;
  }
  headline(state);
  phase(state);
  curve(state);
  document.getElementById("notes").replaceChildren(...state.notes.map((note) => element("li", {}, name(note, 500))));
  plan(state);
  document.documentElement.dataset.ready = "yes";
  setTimeout(look, PAUSE_MS);
}

look();
