// The second half of nodetests.py: gradients of ONNX's node tests against finite differences, on the tests' own data.
// Of each operand up to SAMPLE elements are moved. An element that sits on a kink, where the slopes to its left and its
// right differ or which lies at the edge of the domain, has no derivative and is left out. Steps are powers of two, so
// that they are exact, and where one step does not give the slope a smaller or a larger one is tried: one is right
// against kinks nearby, the other against the rounding of float32.
//
//     node nodetests.mjs MFC SCRATCH        SCRATCH holds tests.json
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generator } from './case.mjs';
import ort, { openSession } from './runtime.mjs';

const TOLERANCE = 1e-3, SAMPLE = 24, STEPS = [-6, -9, -12, -3].map((e) => 2 ** e);
const PASSES = '--passes=inline,upgrade,shapes,fold,decompose,fold,unroll,fold,dce,loss,grad,dce';
const ARRAYS = { float32: Float32Array, float64: Float64Array, int64: BigInt64Array, int32: Int32Array, bool: Uint8Array, uint8: Uint8Array,
  int8: Int8Array, uint32: Uint32Array, uint64: BigUint64Array };
const [mfc, scratch] = process.argv.slice(2);

const isFloat = (t) => t.type === 'float32' || t.type === 'float64';

function toTensor({ type, dims, data }) {
  return new ort.Tensor(type, type.endsWith('int64') ? ARRAYS[type].from(data, BigInt) : ARRAYS[type].from(data), dims);
}

function makeStep(test, wanted) {
  const step = join(scratch, 'step.onnx');
  execFileSync(mfc, ['opt', test.model, PASSES, '--loss', 'vjp', ...wanted.flatMap((w) => ['--grad-input', w]), '-o', step, '--quiet'],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  return openSession(step);
}

// Some of the positions of a tensor, evenly spread.
const positions = (n) => (n <= SAMPLE ? [...Array(n).keys()] : Array.from({ length: SAMPLE }, (_, k) => Math.floor((k * n) / SAMPLE)));

// The loss at five points around; differences are taken output by output, so that only what moves makes noise.
function slopes(points, seeds, h) {
  const sum = (a, b) => {
    let s = 0;
    for (const [k, seed] of Object.entries(seeds)) for (let i = 0; i < seed.data.length; i++) s += seed.data[i] * (points[b][k].data[i] - points[a][k].data[i]);
    return s;
  };
  return { left: sum(0, 2) / (2 * h), right: sum(2, 4) / (2 * h), slope: (8 * sum(1, 3) - sum(0, 4)) / (12 * h) };
}

async function compare(test, feeds, wanted, step) {
  const random = generator(test.name), noise = test.ops.includes('Dropout');
  const forward = await openSession(test.model);
  const run = async () => (noise ? await openSession(test.model) : forward).run(feeds);
  const first = await run(), seeds = {};
  forward.outputNames.forEach((name, k) => {
    const t = first[name];
    // Running statistics are no function to train.
    const still = test.ops.includes('BatchNormalization') && k > 0;
    if (isFloat(t)) seeds[name] = new ort.Tensor(t.type, t.data.map(() => (still ? 0 : (0.3 + 0.7 * random()) * (random() < 0.5 ? -1 : 1))), t.dims);
  });
  const all = { ...feeds, ...Object.fromEntries(Object.entries(seeds).map(([k, v]) => [`seed(${k})`, v])) };
  const have = await step.run(Object.fromEntries(step.inputNames.map((n) => [n, all[n]])));
  let worst = 0, moved = 0, kinks = 0;
  for (const name of wanted) {
    const grad = have[`grad(${name})`]?.data, x = feeds[name].data;
    let diff = 0, scale = 1e-2;
    const around = async (i, h) => {
      const kept = x[i], points = [];
      for (const by of [-2, -1, 0, 1, 2]) {
        x[i] = kept + by * h;
        points.push(await run());
      }
      x[i] = kept;
      const s = slopes(points, seeds, h), size = Math.max(Math.abs(s.left), Math.abs(s.right), 1e-2);
      return { slope: s.slope, smooth: Number.isFinite(s.left + s.right) && Math.abs(s.left - s.right) <= 0.2 * size };
    };
    const largest = grad ? grad.reduce((m, g) => Math.max(m, Math.abs(g)), 1e-2) : 1e-2;
    for (const i of positions(x.length)) {
      const g = grad ? grad[i] : 0;
      let best = Infinity, smooth = false;
      for (const h of STEPS) {
        if (h > STEPS[0] && !smooth) break; // a large step would smooth a kink away
        const s = await around(i, h);
        smooth ||= s.smooth;
        if (s.smooth) best = Math.min(best, Number.isFinite(g) ? Math.abs(g - s.slope) : Infinity);
        if (best <= TOLERANCE / 4 * largest) break;
      }
      if (!smooth) { kinks++; continue; }
      moved++;
      diff = Math.max(diff, best);
    }
    scale = largest;
    worst = Math.max(worst, diff / scale);
  }
  return { worst, moved, kinks };
}

const tests = JSON.parse(readFileSync(join(scratch, 'tests.json')));
const skipped = new Map(), skip = (why, name) => skipped.set(why, [...(skipped.get(why) ?? []), name]);
let right = 0, failed = 0, worst = 0, kinks = 0, moved = 0;
for (const test of tests) {
  if (test.skip) { skip(test.skip, test.name); continue; }
  const feeds = Object.fromEntries(Object.entries(test.inputs).map(([k, t]) => [k, toTensor(t)]));
  const wanted = Object.keys(feeds).filter((k) => isFloat(feeds[k]) && !test.constant.includes(k));
  try {
    await openSession(test.model);
  } catch { skip('ONNX Runtime has no kernel', test.name); continue; }
  try {
    const step = await makeStep(test, wanted);
    const r = await compare(test, feeds, wanted, step);
    kinks += r.kinks;
    moved += r.moved;
    if (r.moved === 0) { skip('every element sits on a kink', test.name); continue; }
    worst = Math.max(worst, r.worst);
    if (r.worst <= TOLERANCE) { right++; continue; }
    console.log(`FAIL gradient of ${test.name}: error ${r.worst.toExponential(1)}, ${r.moved} elements`);
    failed++;
  } catch (e) {
    const said = (e.stderr?.toString() || e.message).trim();
    const none = [...said.matchAll(/(\w+) has no gradient rule, and/g)].map((m) => m[1]), refused = said.match(/\): (.*) \[no-gradient\]/);
    if (none.length) skip(`operators without a gradient rule: ${[...new Set(none)].join(' ')}`, test.name);
    else if (/does not depend on any trained/.test(said)) skip('no gradient by nature', test.name);
    else if (refused) skip(`refused: ${refused[1]}`, test.name);
    else {
      failed++;
      console.log(`FAIL gradient of ${test.name}: ${said.split('\n').slice(0, 2).join(' | ')}`);
    }
  }
}
for (const [why, names] of [...skipped].sort()) console.log(`gradients: skipped ${String(names.length).padStart(3)}, ${why}`);
console.log(`gradients: ${right} of ${right + failed} node tests, worst error ${worst.toExponential(1)}, ${moved} elements moved, ${kinks} more on kinks`);
process.exit(failed ? 1 : 0);
