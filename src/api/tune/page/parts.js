// What the pages of a plan and of many plans both use: elements, words, colours of backends.
// All text goes through textContent, so names are inert.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties || {}))
    if (key.startsWith("aria-") || key === "role" || key === "scope") made.setAttribute(key, value);
    else made[key] = value;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A name in its own direction of writing; very long ones are cut. */
function name(text, most = 300) {
  return element("bdi", { title: text.length > most ? text.slice(0, 2000) : "" },
    text.length > most ? text.slice(0, most) + "…" : text);
}

function timeText(us) {
  if (us < 0) return "-" + timeText(-us);
  if (us >= 1e6) return (us / 1e6).toFixed(2) + " s";
  if (us >= 1e4) return (us / 1e3).toFixed(1) + " ms";
  if (us >= 1e3) return (us / 1e3).toFixed(2) + " ms";
  return us.toFixed(1) + " us";
}

/** Each backend once, the host first. */
const inOrder = (backends) => [...new Set(backends)].sort((a, b) =>
  (a === "host" ? -1 : b === "host" ? 1 : a < b ? -1 : 1));
const colourOf = (backend, backends) =>
  "var(--backend-" + (backend === "host" ? 0 : 1 + (backends.indexOf(backend) + 6) % 7) + ")";

/** The colour of each backend, as items of a list. */
const legendOf = (backends) => backends.map((backend) => {
  const swatch = element("span", { className: "swatch" });
  swatch.style.background = colourOf(backend, backends);
  return element("li", {}, swatch, name(backend));
});

/**
 * A table that its heads sort. Columns have a title, key(row), cell(row) -> children, and `number` and `descends` where they hold numbers
 * and where the largest comes first. `rows` gives those to show; `sortedBy`: the column at first. Returns what draws it anew.
 */
function sortedTable(place, columns, rows, sortedBy) {
  let isDescending = true;
  const compare = (a, b) => {
    const [left, right] = [columns[sortedBy].key(a), columns[sortedBy].key(b)];
    const order = left < right ? -1 : left > right ? 1 : 0;
    return isDescending ? -order : order;
  };
  const headCell = (column, index) => {
    const button = element("button", { type: "button", onclick: () => {
      isDescending = sortedBy === index ? !isDescending : Boolean(column.number || column.descends);
      sortedBy = index;
      draw();
      place.querySelectorAll("th button")[index].focus();
    } }, column.title);
    return element("th", { scope: "col", className: column.number ? "number" : "",
      "aria-sort": sortedBy !== index ? "none" : isDescending ? "descending" : "ascending" }, button);
  };
  const draw = () => place.replaceChildren(element("table", {},
    element("thead", {}, element("tr", {}, ...columns.map(headCell))),
    element("tbody", {}, ...rows().sort(compare).map((row) => element("tr", {}, ...columns.map((column) =>
      element("td", { className: column.number ? "number" : "" }, ...column.cell(row).filter((one) => one !== null))))))));
  return draw;
}
