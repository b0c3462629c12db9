// Opens the pages of plans in a browser and checks what they show. Exits with 77, "skipped", without playwright-core or a
// browser.
// Usage: page_test.mjs COLLAGE BEFORE AFTER PLAN...   The first two are of one model. ./dev browser installs the packages where they are looked for.
// With SHOTS=FOLDER it leaves pictures there: light, dark, and of a phone's width.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import path from "node:path";

const SKIPPED = 77;
const MOST_FOR_AXE = 300;
const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"];

function skip(why) {
  console.log("skipped: " + why);
  process.exit(SKIPPED);
}

const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
const folder = path.join(process.env.COLLAGE_PREFIX || path.join(cache, "collage/parts"), "browser");
const require = createRequire(path.join(folder, "here.js"));
let chromium, axe;
try {
  ({ chromium } = require("playwright-core"));
  axe = require("axe-core").source;
} catch {
  skip("no playwright-core and axe-core in " + folder);
}
const executablePath = BROWSERS.find((one) => one && existsSync(one));
if (!executablePath) skip("no browser");

const failures = [];
function expect(holds, words) {
  if (!holds) failures.push(words);
}

/** What the page must show, from the same plan by the command. */
function explained(collage, plan) {
  return JSON.parse(execFileSync(collage, ["explain", plan, "--json", "-"], { maxBuffer: 1 << 28 }));
}

function microseconds(text) {
  const [number, unit] = text.replace("~", "").split(" ");
  return Number(number) * { us: 1, ms: 1e3, s: 1e6 }[unit];
}

/** The page in the file, once it is drawn; `requests`: what it asked for outside. */
async function opened(browser, file, label, requests) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on("console", (message) => message.type() === "error" && failures.push(label + "console: " + message.text()));
  page.on("pageerror", (error) => failures.push(label + "error: " + error));
  page.on("request", (request) => !request.url().startsWith("file:") && requests.push(request.url()));
  page.on("dialog", (dialog) => { failures.push(label + "a dialog: " + dialog.message()); dialog.dismiss(); });
  await page.goto("file://" + file);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout: 60000 });
  return page;
}

async function expectAccessible(page, label) {
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => (await window.axe.run()).violations.map((one) =>
    one.id + ": " + one.nodes.slice(0, 2).map((node) => node.html.slice(0, 120)).join(" | ")));
  for (const violation of violations) failures.push(label + "axe: " + violation);
}

/** Pictures of the page, when they are asked for. */
async function keepShots(page, title) {
  if (!process.env.SHOTS) return;
  for (const [name, scheme, width] of [["light", "light", 1280], ["dark", "dark", 1280], ["phone", "light", 390]]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: path.join(process.env.SHOTS, title + "." + name + ".png"), fullPage: name !== "phone" });
  }
}

async function checkPage(browser, collage, plan, work) {
  const file = path.join(work, path.basename(plan) + ".html");
  const begin = Date.now();
  execFileSync(collage, ["explain", plan, "--html", file]);
  const writing = Date.now() - begin;
  const facts = explained(collage, plan);
  const label = path.basename(plan) + ": ";
  const requests = [];
  const asked = Date.now();
  const page = await opened(browser, file, label, requests);
  const ready = Date.now() - asked;
  expect(requests.length === 0, label + "requests " + requests);

  // Every view is filled, with a mark for each step.
  const count = facts.steps.length;
  expect(await page.locator("#timeline > div").count() === count, label + "a timeline of other steps");
  expect(await page.locator("#graph g").count() === count, label + "a graph of other steps");
  expect(await page.locator("#steps tbody tr").count() === count, label + "a table of other steps");
  expect((await page.locator("#headline h1").textContent()).length > 0, label + "no headline");
  for (const id of ["plans", "legend", "memory", "losses"])
    expect((await page.locator("#" + id).textContent()).length > 0, label + "nothing in " + id);

  // What is drawn is what the command says.
  const rows = await page.locator("#steps tbody tr").evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent)));
  rows.forEach((cells, s) => {
    const wanted = facts.steps[s].cost_us;
    if (wanted === 0 && facts.steps[s].kind !== "view") {
      expect(cells[1] === "-", `${label}step ${s}: ${cells[1]}, which nobody priced`);
      return;
    }
    const shown = microseconds(cells[1]);
    expect(Math.abs(shown - wanted) <= Math.max(0.051, 0.006 * wanted), `${label}step ${s}: ${cells[1]} for ${wanted} us`);
  });
  // A dot for each step whose operations are counted, with its rate.
  const counted = facts.steps.filter((step) => step.flops > 0 && step.cost_us > 0);
  const dots = await page.locator("#roofline circle title").allTextContents();
  expect(dots.length === (facts.peak ? counted.length : 0), `${label}${dots.length} dots for ${counted.length} steps`);
  for (const text of dots) {
    const [, s, rate] = /^(\d+): .*: ([\d.]+) GFLOP\/s, /s.exec(text) ?? [];
    const step = counted.find((one) => one.step === Number(s));
    expect(step && Math.abs(Number(rate) - step.flops / step.cost_us / 1000) <= 0.051, `${label}dot ${text.slice(-80)}`);
  }
  expect((await page.locator("#roofline").textContent()).length > 0, label + "nothing in roofline");

  const shownPlans = await page.locator("#plans tbody tr").evaluateAll((all) =>
    all.map((row) => [...row.children].map((cell) => cell.textContent)));
  expect(shownPlans.length === facts.plans.length, label + "other plans than the command's");
  for (const [planName, , ratio, median] of shownPlans) {
    const own = facts.plans.filter((one) => one.name === planName);
    expect(own.some((one) => Math.abs(microseconds(median) - one.us) <= Math.max(0.051, 0.006 * one.us)),
      `${label}${planName}: ${median}`);
    const { ratio: wanted, low, high } = own[0]?.faster ?? {};
    expect(ratio === (wanted ? `${wanted.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]` : "too few rounds"),
      `${label}${planName}: ${ratio}`);
  }

  const engines = facts.plans.filter((one) => one.is_engine && one.faster).map((one) => one.faster.ratio);
  const headline = await page.locator("#headline").textContent();
  if (engines.length && facts.search.measured_us > 0)
    expect(headline.includes(`, ${Math.min(...engines).toFixed(2)} [`), `${label}headline: ${headline}`);
  expect(headline.includes(`${facts.step_count} steps`), `${label}headline: ${headline}`);
  const narrow = facts.steps.findIndex((step) => step.precision);
  if (narrow >= 0) {
    await page.locator("#steps tbody tr").nth(narrow).click();
    const detail = await page.locator("#detail").textContent();
    expect(detail.includes(`In 16 bits (${facts.steps[narrow].precision.element})`), `${label}step ${narrow}: ${detail.slice(0, 200)}`);
  }

  // A selection in one view is one in all; keys move it.
  await page.locator("#steps tbody tr").nth(Math.min(2, count - 1)).click();
  const selected = async () => page.evaluate(() => ({
    time: [...document.querySelectorAll("#timeline > div")].findIndex((one) => one.classList.contains("is-selected")),
    box: [...document.querySelectorAll("#graph g")].findIndex((one) => one.classList.contains("is-selected")),
    row: [...document.querySelectorAll("#steps tbody tr")].findIndex((one) => one.classList.contains("is-selected")),
    detail: document.querySelector("#detail h2").textContent,
  }));
  const linked = async (step) => {
    const now = await selected();
    expect(now.time === step && now.box === step && now.row === step && now.detail.startsWith("Step " + step + ":"),
      `${label}step ${step} selected, shown ${JSON.stringify(now)}`);
  };
  await linked(Math.min(2, count - 1));
  await page.locator("#timeline").focus();
  await page.keyboard.press("Home");
  await linked(0);
  if (count > 1) {
    await page.keyboard.press("ArrowRight");
    await linked(1);
  }

  if (dots.length > 0) {
    await page.locator("#roofline circle").first().dispatchEvent("click");
    await linked(Number(/^\d+/.exec(dots[0])[0]));
  }

  // Search finds a node's step.
  const target = facts.steps.findIndex((step) => step.nodes.length > 0);
  if (target >= 0) {
    await page.keyboard.press("/");
    await page.locator("#search").fill(facts.steps[target].nodes[0].slice(0, 200));
    expect(/^[1-9]/.test(await page.locator("#found").textContent()), label + "search found nothing");
    await page.locator("#search").fill("");
  }

  // Looking at each of thousands of alike elements would take half a minute.
  if (count <= MOST_FOR_AXE) await expectAccessible(page, label);
  await keepShots(page, path.basename(plan));
  await page.close();
  console.log(`${label}${count} steps, ${(statSync(file).size / 1000).toFixed(0)} kB, written in ${writing} ms, drawn in ${ready} ms`);
}

/** The page of all plans: a row for each, which can be sorted and searched. */
async function checkList(browser, collage, plans, work) {
  const file = path.join(work, "list.html");
  const label = "list: ";
  const words = ["report", ...plans, "--html", file, "--json", "-"];
  const facts = JSON.parse(execFileSync(collage, words, { maxBuffer: 1 << 28 }));
  const requests = [];
  const page = await opened(browser, file, label, requests);
  const cells = async (column) => page.locator(`#plans tbody td:nth-child(${column})`).allTextContents();
  expect((await cells(1)).length === facts.plans.length, label + "a table of other plans");
  // Times, as the command says, once sorted by them: the slowest first, then the fastest.
  const times = facts.plans.map((one) => one.us).filter((us) => us > 0).sort((a, b) => b - a);
  for (const wanted of [times, [...times].reverse()]) {
    await page.locator("#plans th button").nth(1).click();
    const shown = (await cells(2)).filter((text) => text !== "-").map(microseconds);
    expect(shown.length === wanted.length && shown.every((us, i) => Math.abs(us - wanted[i]) <= Math.max(0.051, 0.006 * wanted[i])),
      `${label}times ${shown} for ${wanted}`);
  }
  const ratios = (await cells(3)).join("|");
  for (const one of facts.plans.filter((plan) => plan.rival))
    expect(ratios.includes(`${one.rival.ratio.toFixed(2)}x [${one.rival.low.toFixed(2)}, `), `${label}${one.file}: ${ratios}`);
  await page.locator("#search").fill("steps200.");
  expect((await cells(1)).length === 1, label + "search shows other plans");
  await page.locator("#search").fill("");
  expect(requests.length === 0, label + "requests " + requests);
  await expectAccessible(page, label);
  await keepShots(page, "list");
  await page.close();
  console.log(`${label}${facts.plans.length} plans, ${(statSync(file).size / 1000).toFixed(0)} kB`);
}

/** The page of two plans: a row for each part that differs, or for all, with the times of the command. */
async function checkDiff(browser, collage, a, b, work) {
  const file = path.join(work, "diff.html");
  const label = "diff: ";
  const facts = JSON.parse(execFileSync(collage, ["diff", a, b, "--html", file, "--json", "-"], { maxBuffer: 1 << 28 }));
  const requests = [];
  const page = await opened(browser, file, label, requests);
  const cells = async (column) => page.locator(`#parts tbody td:nth-child(${column})`).allTextContents();
  const differing = facts.parts.filter((part) => part.differs);
  expect(differing.length > 0 && differing.length < facts.parts.length, label + "plans that show nothing");
  // The largest difference first, as the command has it.
  for (const [column, key] of [[2, (part) => part.a.us], [3, (part) => part.b.us]]) {
    const shown = (await cells(column)).map(microseconds);
    expect(shown.length === differing.length && shown.every((us, i) => Math.abs(us - key(differing[i])) <= Math.max(0.051, 0.006 * us)),
      `${label}column ${column}: ${shown.slice(0, 5)} for ${differing.slice(0, 5).map(key)}`);
  }
  await page.locator("#all").check();
  expect((await cells(1)).length === facts.parts.length, label + "not all parts");
  await page.locator("#search").fill(differing[0].nodes[0].slice(0, 200));
  expect((await cells(1)).length >= 1 && (await cells(1)).length < facts.parts.length, label + "search shows other parts");
  await page.locator("#search").fill("");
  expect(requests.length === 0, label + "requests " + requests);
  await expectAccessible(page, label);
  await keepShots(page, "diff");
  await page.close();
  console.log(`${label}${facts.parts.length} parts, ${(statSync(file).size / 1000).toFixed(0)} kB`);
}

const [collage, before, after, ...plans] = process.argv.slice(2);
const work = mkdtempSync(path.join(tmpdir(), "collage-page-"));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  for (const plan of plans) await checkPage(browser, collage, plan, work);
  await checkList(browser, collage, plans, work);
  await checkDiff(browser, collage, before, after, work);
} finally {
  await browser.close();
  rmSync(work, { recursive: true });
}
for (const failure of failures) console.log("FAILED " + failure);
process.exit(failures.length ? 1 : 0);
