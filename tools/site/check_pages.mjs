// Opens every page of the site in a browser, in light and in dark colours: nothing is asked for
// outside of its folder, no script fails, axe-core finds nothing that keeps people out. Then it
// searches. Exits with 77, "skipped", without a browser or its packages.
// Usage: check_pages.mjs SITE   ./dev browser installs what it needs.
// With SHOTS=FOLDER it leaves pictures of every page there: light, dark, of a phone's width.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const SKIPPED = 77;
const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"];
// The rules of axe-core that depend on colours; all others are looked at in light ones alone.
const OF_COLOURS = ["color-contrast", "link-in-text-block"];
const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
const AT_ONCE = 2;

function skip(why) {
  console.log(`skipped: pages in a browser: ${why}; ./dev browser installs it`);
  process.exit(SKIPPED);
}

const require = createRequire(path.join(process.env.COLLAGE_PREFIX, "browser", "here.js"));
let chromium, axe;
try {
  ({ chromium } = require("playwright-core"));
  axe = require("axe-core").source;
} catch {
  skip("no playwright-core or axe-core");
}
const executablePath = BROWSERS.find((one) => one && existsSync(one));
if (!executablePath) skip("no browser");

const site = path.resolve(process.argv[2]);
const inSite = (url) => url.startsWith(`file://${site}/`);
const files = readdirSync(site, { recursive: true }).filter((one) => one.endsWith(".html")).sort();
const shots = process.env.SHOTS;
const failures = [];

/** A page that notes what fails in it, and what it asks for outside of the site. */
async function newPage(browser) {
  const page = await browser.newPage({ viewport: WIDE });
  const note = (words) => {
    const file = path.relative(site, new URL(page.url()).pathname);
    failures.push(`${file}: ${words.replace(/\s+/g, " ")}`);
  };
  page.on("request", (one) => inSite(one.url()) || note("asks for " + one.url()));
  page.on("pageerror", (error) => note("error: " + error));
  page.on("console", (one) => one.type() === "error" && note("console: " + one.text()));
  return { page, note };
}

async function keepShot(page, file, kind) {
  const name = file.replaceAll("/", ".").replace(".html", "");
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.${kind}.png`) });
}

/** The theme changes its colours with those of the system. */
async function expectColours({ page, note }, colorScheme, name) {
  await page.emulateMedia({ colorScheme });
  const isSo = (wanted) => document.body.dataset.mdColorScheme === wanted;
  await page.waitForFunction(isSo, name, { timeout: 5000 })
    .catch(() => note(`is not ${colorScheme} where the system is`));
}

async function expectAccessible({ page, note }, colours, rules) {
  const options = { preload: false, resultTypes: ["violations"] };
  if (rules) options.runOnly = { type: "rule", values: rules };
  const found = await page.evaluate(async (how) => {
    const { violations } = await window.axe.run(document, how);
    return violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 2).map((one) => one.html)]);
  }, options);
  for (const [id, ...nodes] of found)
    note(`axe, ${colours}: ${id}: ${nodes.join(" | ").slice(0, 300)}`);
}

async function check(opened, file) {
  const { page } = opened;
  await page.goto("file://" + path.join(site, file));
  await page.evaluate(axe);
  await expectColours(opened, "light", "default");
  await expectAccessible(opened, "light");
  await keepShot(page, file, "light");
  await expectColours(opened, "dark", "slate");
  await expectAccessible(opened, "dark", OF_COLOURS);
  await keepShot(page, file, "dark");
  if (shots) {
    await page.setViewportSize(PHONE);
    await keepShot(page, file, "phone");
    await page.setViewportSize(WIDE);
  }
}

async function checkAll(browser) {
  const queue = [...files];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    const opened = await newPage(browser);
    for (let file; (file = queue.pop());) await check(opened, file);
  }));
}

/** The search finds a heading by its word. */
async function checkSearch(browser) {
  const { page, note } = await newPage(browser);
  await page.goto("file://" + path.join(site, "index.html"));
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search" }).fill("dominance");
  const found = page.locator("a[href*='SEARCH.html#dominance']");
  await found.waitFor({ timeout: 10000 }).catch(() => note("the search finds nothing"));
  await page.evaluate(axe);
  await expectAccessible({ page, note }, "search");
  await keepShot(page, "search", "light");
}

if (shots) mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  await checkAll(browser);
  await checkSearch(browser);
} finally {
  await browser.close();
}
for (const failure of failures) console.log(failure);
console.log(`${files.length} pages opened in light and in dark, ${failures.length} findings`);
process.exit(failures.length ? 1 : 0);
