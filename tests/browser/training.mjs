// training.mjs MFC SOURCE SCRATCH: the page of examples/browser, in Chromium. For both tasks the loss falls, and is that of Node to
// 1e-5; the planned step and the other one give the same; WebAssembly's heap is within the plan's peak; a checkpoint
// of a paused run goes on in another page with the same losses, bit by bit; the downloaded model is what `mfc export` makes of the
// state; nothing complains, and nothing is asked of another server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { OPTIMIZER, TASKS } from '../../examples/browser/tasks.mjs';
import { Trainer } from '../../examples/training/trainer.mjs';
import { Browser } from '../report/browser.mjs';
import { serve } from './server.mjs';

const [mfc, source, scratch] = process.argv.slice(2), STEPS = 16, PAUSE = 6, MIB = 2 ** 20;
const at = (...path) => join(scratch, ...path);
const ort = createRequire(join(process.env.MFC_NODE_MODULES, 'x.js'))('onnxruntime-node');

rmSync(scratch, { recursive: true, force: true });
mkdirSync(scratch, { recursive: true });
execFileSync(process.execPath, [join(source, 'examples/browser/build.mjs'), at('site'), '--mfc', mfc], { stdio: 'inherit' });
const server = await serve(at('site')), browser = await Browser.start();

async function until(page, condition) {
  for (;;) {
    assert.equal(await page.run('run.error'), null);
    if (await page.run(condition)) return;
    await new Promise((done) => { setTimeout(done, 50); });
  }
}

async function open(task, step) {
  const page = await browser.open(`${server.url}/browser/`);
  for (const word of [task, step]) {
    await until(page, `run.state === 'ready'`);
    await page.run(`document.querySelector('input[value=${word}]').checked || document.querySelector('input[value=${word}]').click()`);
  }
  await until(page, `run.state === 'ready'`);
  return page;
}

async function train(page, steps) {
  await page.run(`start(${steps})`);
  await until(page, `run.state === 'paused'`);
  return page.run('run.losses');
}

// What a button downloads.
async function download(page, button) {
  await page.run(`run.file = null; document.getElementById('${button}').click()`);
  await until(page, 'run.file !== null');
  return Uint8Array.from(await page.run('[...run.file.bytes]'));
}

async function inNode(task) {
  const model = (end) => readFileSync(at('site/models', task + end));
  const trainer = await Trainer.create(ort, model('.step.onnx'), model('.safetensors'), { intraOpNumThreads: 1 }), losses = [];
  for (let step = 0; step < STEPS; step++) {
    const parts = Object.entries(TASKS[task].batch('', step)).map(([name, t]) => [name, new ort.Tensor(t.type, t.data, t.dims)]);
    losses.push((await trainer.step({ ...OPTIMIZER, lr: TASKS[task].settings.lr, ...Object.fromEntries(parts) })).loss);
  }
  return losses;
}

async function isQuiet(page) {
  assert.deepEqual(page.complaints, []);
  for (const url of page.requests) assert.ok(url.startsWith(server.url) || /^(data|blob):/.test(url), url);
}

const largest = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i]) / Math.max(1, Math.abs(b[i]))));

async function one(task) {
  const page = await open(task, 'plan'), losses = await train(page, STEPS), node = await inNode(task);
  const { heap, loaded, figures } = await page.run('({ heap: run.heap, loaded: run.loaded, figures: run.figures })');
  const mean = (part) => part.reduce((a, b) => a + b) / part.length, worst = largest(losses, node);
  console.log(`${task}: loss ${losses[0].toFixed(3)} to ${losses.at(-1).toFixed(3)}, from Node's ${worst.toExponential(1)}; heap ` +
    `${(heap / MIB).toFixed(1)} MiB, ${(loaded / MIB).toFixed(1)} when loaded, planned peak ${(figures.peak_bytes / MIB).toFixed(1)}`);
  assert.equal(losses.length, STEPS);
  assert.ok(mean(losses.slice(-5)) < 0.9 * mean(losses.slice(0, 5)), 'the loss does not fall');
  assert.ok(worst <= 1e-5, 'the losses are not those of Node');
  assert.ok(heap <= figures.peak_bytes, 'the heap is larger than the plan promises');
  assert.ok(await page.run(`document.querySelectorAll('#look ${task === 'text' ? 'pre' : 'canvas'}').length >= 4`), 'no samples');

  writeFileSync(at('state.safetensors'), await download(page, 'save'));
  const model = await download(page, 'model');
  execFileSync(mfc, ['export', join(source, `examples/browser/${task}.onnx`), '--state', at('state.safetensors'), '-o', at('trained.onnx'), '-q']);
  assert.ok(Buffer.from(model).equals(readFileSync(at('trained.onnx'))), 'the model is not that of mfc export');
  await isQuiet(page);
  return losses;
}

// A part of it, a checkpoint, the rest in another page.
async function resumed(task, losses) {
  const first = await open(task, 'plan'), before = await train(first, PAUSE), state = await download(first, 'save');
  const second = await open(task, 'plan');
  await second.send('DOM.enable');
  const { root } = await second.send('DOM.getDocument'), file = at('half.safetensors');
  writeFileSync(file, state);
  const { nodeId } = await second.send('DOM.querySelector', { nodeId: root.nodeId, selector: '#load' });
  await second.send('DOM.setFileInputFiles', { nodeId, files: [file] });
  await until(second, `run.first === ${PAUSE}`);
  assert.deepEqual([...before, ...await train(second, STEPS)], losses, `${task}: a resumed run differs`);
  await isQuiet(second);
}

async function pauses() {
  const page = await open('text', 'step');
  await page.run(`document.getElementById('run').click()`);
  await until(page, 'run.losses.length > 2');
  await page.run(`document.getElementById('run').click()`);
  await until(page, `run.state === 'paused'`);
  const n = await page.run('run.losses.length');
  await page.run(`document.getElementById('run').click()`);
  await until(page, `run.losses.length > ${n}`);
  await page.run(`document.getElementById('lr').value = '-1'; start()`);
  assert.match(await page.run(`document.getElementById('status').textContent`), /learning rate/);
}

async function fitsPhone() {
  const page = await browser.open(`${server.url}/browser/`, { width: 375, height: 800 });
  assert.ok(await page.run('document.documentElement.scrollWidth') <= 375, 'a phone scrolls sideways');
}

try {
  await one('image');
  await resumed('text', await one('text'));
  await pauses();
  await fitsPhone();
} finally {
  await browser.end();
  server.end();
}
