// Every loss against PyTorch (losses.json, made by make_losses.py) and against finite differences of itself, through
// ONNX Runtime: a model of one Identity, whose input is what the loss is computed of.
//
//     node losses.mjs MFC
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ort, { openSession } from './runtime.mjs';

const TOLERANCE = { f64: 1e-9, f32: 1e-4 }, DIFFERENCES = 1e-5, STEP = 1e-4;
const [mfc] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-losses-'));
const [source, step] = ['case.mfc', 'step.onnx'].map((n) => join(scratch, n));

const floats = (float, x, shape) =>
  new ort.Tensor(float === 'f64' ? 'float64' : 'float32', float === 'f64' ? Float64Array.from(x) : Float32Array.from(x), shape);

async function open(one, float) {
  writeFileSync(source, `mfc 1\nir_version 8\nopset 17\ngraph "g" {\n  input %x : ${float}[${one.shape}]\n  %y = Identity(%x)\n  output %y\n}\n`);
  execFileSync(mfc, ['opt', source, '--passes=upgrade,shapes,loss,grad,dce', '--loss', one.loss, ...one.options,
    '--grad-input', 'x', '-o', step, '--quiet']);
  return openSession(step);
}

function feedsOf(one, float) {
  const feeds = { x: floats(float, one.x, one.shape) };
  for (const [name, t] of Object.entries(one.feeds))
    feeds[name] = t.integer ? new ort.Tensor('int64', BigInt64Array.from(t.data.map(BigInt)), t.shape) : floats(float, t.data, t.shape);
  return feeds;
}

const furthest = (a, b) => a.reduce((worst, x, i) => Math.max(worst, Number.isFinite(x) ? Math.abs(x - b[i]) : Infinity), 0);

async function compare(one, float) {
  const session = await open(one, float), feeds = feedsOf(one, float);
  const y = await session.run(feeds);
  const errors = { value: furthest(Array.from(y.loss.data), [one.value]), grad: furthest(Array.from(y['grad(x)'].data), one.grad) };
  if (float === 'f64') {
    const x = feeds.x.data, slopes = [];
    for (let i = 0; i < x.length; i++) {
      const kept = x[i], at = [];
      for (const by of [-STEP, STEP]) {
        x[i] = kept + by;
        at.push((await session.run(feeds)).loss.data[0]);
      }
      x[i] = kept;
      slopes.push((at[1] - at[0]) / (2 * STEP));
    }
    errors.differences = furthest(Array.from(y['grad(x)'].data), slopes);
  }
  return errors;
}

let failures = 0;
for (const one of JSON.parse(readFileSync(new URL('losses.json', import.meta.url)))) {
  for (const float of ['f64', 'f32']) {
    let shown;
    try {
      const e = await compare(one, float);
      const bad = !(e.value <= TOLERANCE[float]) || !(e.grad <= TOLERANCE[float]) || (float === 'f64' && !(e.differences <= DIFFERENCES));
      failures += bad ? 1 : 0;
      shown = `${bad ? 'FAIL ' : ''}${Object.entries(e).map(([k, v]) => `${k} ${v.toExponential(1)}`).join(', ')}`;
    } catch (e) {
      if (float === 'f64' && /Could not find an implementation/.test(e.message)) {
        console.log(`${one.name.padEnd(28)} f64 ONNX Runtime has no kernel`);
        continue;
      }
      failures++;
      shown = `FAIL ${(e.stderr?.toString() || e.message).split('\n').slice(0, 2).join(' | ')}`;
    }
    console.log(`${one.name.padEnd(28)} ${float} ${shown}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${failures} failed`);
process.exit(failures ? 1 : 0);
