// What the theme leaves out for those who use no mouse or no screen: wide tables and code can be
// scrolled with keys, and the buttons of a block of code are no part of the navigation. In the
// search, which has a tree of its own: where a result stands is written darker, and a result is
// read out with all that it shows.
const WIDE = ".md-typeset__scrollwrap, .md-typeset pre > code";
const CHANGES = { childList: true, subtree: true };
const DARKER = "menu, menu li { color: inherit !important; opacity: 1 !important; }";
const mended = new WeakSet();

function mendResults(tree) {
  for (const one of tree.querySelectorAll("[role=option][aria-labelledby]")) {
    one.removeAttribute("aria-labelledby");
    one.removeAttribute("aria-describedby");
  }
}

function mendSearch(tree) {
  if (mended.has(tree)) return;
  mended.add(tree);
  const style = new CSSStyleSheet();
  style.replaceSync(DARKER);
  tree.adoptedStyleSheets.push(style);
  mendResults(tree);
  new MutationObserver(() => mendResults(tree)).observe(tree, CHANGES);
}

function mend() {
  for (const one of document.querySelectorAll(WIDE)) one.tabIndex = 0;
  for (const one of document.querySelectorAll("nav.md-code__nav")) one.setAttribute("role", "none");
  for (const one of document.body.children) if (one.shadowRoot) mendSearch(one.shadowRoot);
}

mend();
new MutationObserver(mend).observe(document.body, CHANGES);
