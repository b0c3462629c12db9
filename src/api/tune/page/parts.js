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
