// screenshot.mjs PAGE.html OUT.png [--dark] [--width N] [--height N] [--scale X]: a screenshot of a page.
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

const [page, out, ...rest] = process.argv.slice(2);
const number = (name, otherwise) => (rest.includes(name) ? Number(rest[rest.indexOf(name) + 1]) : otherwise);
const width = number("--width", 1000), height = number("--height", 0);

const browser = await Browser.start();
const view = await browser.open(pathToFileURL(path.resolve(page)).href,
  { width, height: height || 800, scale: number("--scale", 1), dark: rest.includes("--dark") });
if (!(await view.run("!!document.querySelector('#memory svg')"))) throw new Error(`${page} is no report`);
const whole = await view.run("document.documentElement.scrollHeight");
await view.screenshot(out, { x: 0, y: 0, width, height: height || whole, scale: 1 });
await browser.end();
