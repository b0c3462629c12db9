// What the theme leaves out for those who use no mouse or no screen: wide tables and code can be
// scrolled with keys, and the buttons of a block of code are no part of the navigation.
const WIDE = ".md-typeset__scrollwrap, .md-typeset pre > code";

function mend() {
  for (const one of document.querySelectorAll(WIDE)) one.tabIndex = 0;
  for (const one of document.querySelectorAll("nav.md-code__nav")) one.setAttribute("role", "none");
}

mend();
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
