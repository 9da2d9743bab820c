// pages.mjs REPORT_OF MFC SOURCE PYTHON SCRATCH: reports in a browser. What must be there is there, hover names tensors,
// light and dark are both legible, nothing is asked of the network, nothing complains, names from models stay text, and
// thousands of nodes are no burden.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

const [reportOf, mfc, source, python, scratch] = process.argv.slice(2);
const chain = path.join(source, "tests/report/chain.py");
fs.mkdirSync(scratch, { recursive: true });
const LARGE_BYTES = 5 * 1024 * 1024;

function make(name, layers, ...rest) {
  const [baseline, plan, page] = ["baseline.mfc", "plan.mfc", "html"].map((e) => path.join(scratch, `${name}.${e}`));
  execFileSync(python, [chain, String(layers), baseline, plan, ...rest]);
  execFileSync(reportOf, [baseline, plan, page, "mfc chain.onnx -o plan.onnx --budget '40%'"]);
  execFileSync("tidy", ["-q", "-e", "--drop-empty-elements", "no", page]); // any warning is an exit code other than 0
  return pathToFileURL(page).href;
}

// Relative luminance of a computed colour and the contrast of two, as the Web Content Accessibility Guidelines have them.
const light = (colour) => {
  const [r, g, b] = colour.match(/[\d.]+/g).map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

async function isQuiet(page, url) {
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.requests, [url]);
}

async function hasAll(browser, url) {
  for (const dark of [false, true]) {
    const page = await browser.open(url, { dark });
    for (const section of ["memory", "matrices", "peak", "choices", "facts", "reproduce"])
      assert.ok(await page.run(`!!document.querySelector("section#${section} h2")`), `no section ${section}`);
    for (const kind of ["persistent", "activation", "recomputed", "gradient"])
      assert.ok(await page.run(`document.querySelector("#memory svg path.${kind}").getBBox().height > 1`), `no area ${kind}`);
    assert.ok(await page.run(`document.querySelector("#memory path.budget") !== null`));
    assert.equal(await page.run(`document.querySelectorAll("#matrices svg").length`), 2);
    assert.match(await page.run(`document.querySelector("#reproduce pre").textContent`), /^mfc chain\.onnx .* '40%'$/);
    const colours = await page.run(`["color", "backgroundColor"].map((c) => getComputedStyle(document.body)[c])`);
    const [ink, paper] = colours.map(light);
    assert.ok(dark ? paper < 0.2 : paper > 0.8, `paper ${paper}`);
    assert.ok(contrast(ink, paper) > 7, `${colours}`);
    await isQuiet(page, url);
  }
}

async function hoverTells(browser, url) {
  const page = await browser.open(url);
  assert.equal(await page.run(`tip.hidden`), true);
  const n = await page.run(`document.querySelectorAll(".by-time .hover").length`);
  await page.hover(".by-time .hover", Math.floor(n / 2));
  assert.equal(await page.run(`tip.hidden`), false);
  const text = await page.run(`tip.innerText`);
  assert.match(text, /step \d+ of \d+/);
  assert.match(text, /in memory [\d.]+\u00a0KiB/);
  assert.match(text, /f\d+(\.1)? .*KiB/); // a tensor and its size
  await page.hover("h1");
  assert.equal(await page.run(`tip.hidden`), true);
  await page.hover("#matrices .hover", 3);
  assert.match(await page.run(`tip.innerText`), /^stage 4 of/);
  await isQuiet(page, url);
}

async function switchWorks(browser, url) {
  const page = await browser.open(url);
  const shown = (part) => page.run(`document.querySelector(".${part}").offsetHeight > 100`);
  assert.deepEqual([await shown("by-time"), await shown("by-step")], [true, false]);
  await page.run(`document.querySelector("label[for=axis-step]").click()`);
  assert.deepEqual([await shown("by-time"), await shown("by-step")], [false, true]);
}

// Without scripts the page is complete, and titles replace the tooltips.
async function worksWithoutScripts(browser, url) {
  const page = await browser.open(url, { scripts: false });
  await page.send("DOM.enable");
  const { root } = await page.send("DOM.getDocument", { depth: 0 });
  const { nodeIds } = await page.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: ".hover > title" });
  assert.ok(nodeIds.length > 50);
}

// A phone must not scroll the page sideways, nor the tables; their rows are a few lines high.
async function fitsPhone(browser, url) {
  const page = await browser.open(url, { width: 375, height: 800 });
  assert.ok(await page.run(`document.documentElement.scrollWidth`) <= 375);
  for (const table of ["#peak", "#choices", "#facts"]) {
    assert.ok(await page.run(`[...document.querySelectorAll("${table} .wide")].every((w) => w.scrollWidth <= w.clientWidth)`), table);
    assert.ok(await page.run(`[...document.querySelectorAll("${table} tr")].every((r) => r.offsetHeight < 110)`), table);
  }
}

// Print shows what is folded on a screen.
async function printsAll(browser, url) {
  const page = await browser.open(url);
  const kept = `document.querySelector("details tbody tr").checkVisibility({ contentVisibilityAuto: true })`;
  assert.equal(await page.run(kept), false);
  await page.send("Emulation.setEmulatedMedia", { media: "print" });
  await page.run("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  assert.equal(await page.run(kept), true);
}

async function namesAreText(browser, url) {
  const page = await browser.open(url);
  assert.equal(await page.run(`document.querySelectorAll("img, b b, [onload], [onerror]").length`), 0);
  assert.equal(await page.run(`document.querySelectorAll("script").length`), 1);
  assert.ok(await page.run(`document.body.textContent.includes("<script>alert(1)</" + "script>")`));
  for (let i = 0; i < 60; i += 7) await page.hover(".by-time .hover", i);
  assert.ok(await page.run(`tip.children.length > 2 && tip.querySelectorAll(":scope > div > *").length === 0`));
  await isQuiet(page, url);
}

async function largeIsLight(browser, url) {
  assert.ok(fs.statSync(new URL(url)).size < LARGE_BYTES);
  const page = await browser.open(url);
  const n = await page.run(`document.querySelectorAll("*").length`);
  assert.ok(n < 20000, `${n} elements`);
  await page.hover(".by-time .hover", 200);
  assert.equal(await page.run(`tip.hidden`), false);
  await isQuiet(page, url);
}

// The README's command, with a short search, and a screenshot of its report, as docs/report.md makes the one in the README.
async function readmeWorks(browser, url) {
  const readme = fs.readFileSync(path.join(source, "README.md"), "utf8");
  const docs = fs.readFileSync(path.join(source, "docs/report.md"), "utf8");
  const words = readme.match(/^scripts\/mfc (.* --report .*)$/m)[1].split(" ");
  const height = Number(docs.match(/screenshot\.mjs plan\.html docs\/report\.png --height (\d+)/)[1]);
  fs.rmSync(path.join(scratch, "plan.html"), { force: true });
  if (!fs.existsSync(path.join(scratch, "examples"))) fs.symlinkSync(path.join(source, "examples"), path.join(scratch, "examples"));
  execFileSync(mfc, [...words, "--work", "300", "-q"], { cwd: scratch });
  execFileSync(process.execPath, [path.join(source, "tests/report/screenshot.mjs"), "plan.html", "plan.png", "--height", String(height)],
    { cwd: scratch });
  for (const png of [path.join(scratch, "plan.png"), path.join(source, "docs/report.png")]) {
    const bytes = fs.readFileSync(png);
    assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1000, height]); // width and height
    assert.ok(bytes.length > 20000 && bytes.length < 200000, `${png}: ${bytes.length} bytes`);
  }
  const page = await browser.open(url);
  assert.equal(await page.run("document.querySelector('h1').textContent"), path.basename(words[0]));
  assert.match(await page.run("document.querySelector('#facts').textContent"), /peak on the runtime/);
  await isQuiet(page, url);
}

// With several devices each has a plot of its own, with its memory, its nodes and its transfers.
async function devicesShow(browser, url) {
  const page = await browser.open(url);
  const names = await page.run(`[...document.querySelectorAll(".by-time h3")].map((h) => h.textContent)`);
  assert.deepEqual(names, ["gpu0", "gpu1", "host"]);
  for (const [i, name] of names.entries()) {
    const figure = `document.querySelectorAll(".by-time figure")[${i}]`;
    assert.equal(await page.run(`${figure}.querySelectorAll("path.budget").length`), name === "host" ? 0 : 1, name);
    assert.ok(await page.run(`${figure}.querySelector("path.transfer").getBBox().width > 1`), name);
    const fact = await page.run(`document.querySelector("#facts").textContent.includes("peak of ${name}")`);
    assert.ok(fact, name);
  }
  assert.match(await page.run(`document.querySelector(".lead").textContent`), /on 2 devices and host, each of which holds at most/);
  await isQuiet(page, url);
}

// A step on two devices that are too small for it together: something must go to the host.
function placed() {
  const way = (a, b, bandwidth) => ({ between: [a, b], bandwidth, latency: 500 });
  const rig = { format: "mfc-rig", version: 1, links: [way("gpu0", "gpu1", 10), way("gpu0", "host", 5), way("gpu1", "host", 5)],
    devices: [{ name: "gpu", count: 2, rate: 100, memory_bandwidth: 15, overhead: 2000, memory: 600000 }] };
  fs.writeFileSync(path.join(scratch, "rig.json"), JSON.stringify(rig));
  execFileSync(mfc, [path.join(source, "examples/resnet.onnx"), "-o", "placed.onnx", "--rig", "rig.json", "--work", "40000", "--report",
    "placed.html", "-q"], { cwd: scratch });
  return pathToFileURL(path.join(scratch, "placed.html")).href;
}

const browser = await Browser.start();
let failed = 0;
async function check(what, url) {
  try {
    await what(browser, url);
    console.log(`ok    ${what.name}`);
  } catch (error) {
    failed++;
    console.log(`WRONG ${what.name}: ${error.stack}`);
  }
}
try {
  const small = make("small", 40), hostile = make("hostile", 40, "--hostile"), large = make("large", 2500);
  for (const what of [hasAll, hoverTells, switchWorks, worksWithoutScripts, fitsPhone, printsAll]) await check(what, small);
  await check(namesAreText, hostile);
  await check(largeIsLight, large);
  await check(devicesShow, placed());
  await check(readmeWorks, pathToFileURL(path.join(scratch, "plan.html")).href);
} finally {
  await browser.end();
}
process.exit(failed ? 1 : 0);
