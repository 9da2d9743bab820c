// A headless Chromium, spoken to through a pipe in the DevTools protocol: messages are JSON, each ended by a NUL.
//
//     const browser = await Browser.start();
//     const page = await browser.open("file:///…", {width: 1000, height: 800, dark: true});
//     await page.run("document.title");
//     await browser.end();
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

export class Browser {
  static async start() {
    const found = NAMES.flatMap((n) => process.env.PATH.split(":").map((f) => path.join(f, n))).find((p) => fs.existsSync(p));
    if (!found) throw new Error("no Chromium is installed");
    const browser = new Browser();
    browser.folder = fs.mkdtempSync(path.join(os.tmpdir(), "mfc-browser-"));
    // Root has no sandbox in containers; the pages are our own.
    browser.child = spawn(found, ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking", "--disable-component-update",
      "--force-color-profile=srgb", `--user-data-dir=${browser.folder}`, "about:blank"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    browser.waiting = new Map();
    browser.pages = new Map();
    browser.next = 1;
    let rest = "";
    browser.child.stdio[4].setEncoding("utf8").on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      for (const one of messages) browser.#receive(JSON.parse(one));
    });
    browser.child.on("exit", (code) => {
      for (const { reject } of browser.waiting.values()) reject(new Error(`Chromium ended with ${code}`));
    });
    return browser;
  }

  #receive(message) {
    const waiting = this.waiting.get(message.id);
    if (waiting) {
      this.waiting.delete(message.id);
      if (message.error) waiting.reject(new Error(message.error.message));
      else waiting.resolve(message.result);
    } else if (message.sessionId) this.pages.get(message.sessionId)?.event(message);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  async open(url, { width = 1000, height = 800, dark = false, scripts = true, scale = 1 } = {}) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    this.pages.set(sessionId, page);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`);
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: false });
    await page.send("Emulation.setEmulatedMedia",
      { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    if (!scripts) await page.send("Emulation.setScriptExecutionDisabled", { value: true });
    const loaded = new Promise((resolve) => page.onload = resolve);
    await page.send("Page.navigate", { url });
    await loaded;
    return page;
  }

  async end() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    await this.send("Browser.close").catch(() => {});
    await gone;
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, sessionId) {
    this.browser = browser;
    this.sessionId = sessionId;
    this.complaints = []; // what went to the console, or was thrown
    this.requests = []; // everything that was asked of the network or the disk
  }

  event({ method, params }) {
    if (method === "Page.loadEventFired") this.onload?.();
    if (method === "Runtime.consoleAPICalled") this.complaints.push(params.args.map((a) => a.value).join(" "));
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.text);
    if (method === "Log.entryAdded") this.complaints.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Page.javascriptDialogOpening") this.complaints.push(`dialog: ${params.message}`);
  }

  send(method, params = {}) {
    return this.browser.send(method, params, this.sessionId);
  }

  // The value of an expression on the page, or of its promise.
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  }

  // Moves the mouse to the middle of an element.
  async hover(selector, which = 0) {
    const element = `document.querySelectorAll(${JSON.stringify(selector)})[${which}]`;
    await this.run(`${element}.scrollIntoView({block: "center"})`);
    await this.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"); // it has scrolled
    const [x, y] = await this.run(`(() => { const b = ${element}.getBoundingClientRect();
      return [b.x + b.width / 2, b.y + b.height / 2]; })()`);
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
  }

  async screenshot(file, clip = undefined) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
    fs.writeFileSync(file, Buffer.from(data, "base64"));
  }
}
