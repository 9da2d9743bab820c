// A step that is cut over several devices gives what the whole one gives. The step of each model is placed twice: by hand
// in the manner of a pipeline (forward up the devices, backward down again), and by mfc (--rig), on slow devices also divided. It is split, run by one
// process per device (examples/devices/run.mjs), and compared with the whole step. The optimizer of ONNX Runtime is off: its fusions differ
// between a part and the whole. The order in which a kernel sums depends on how its operands are aligned, and tensors that
// are fed are aligned as they happen to be: so differences of 1e-6 of the largest element are allowed. For a gradient that
// is zero but for rounding, the largest is that of all gradients, times 1e-4.
//
//     node split.mjs MFC MODEL...
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ort from '../gradient/runtime.mjs';

const here = dirname(fileURLToPath(import.meta.url));
process.env.MFC_NODE_MODULES = here;
const { openDevices } = await import('../../examples/devices/run.mjs');
const [mfc, ...models] = process.argv.slice(2);

// The text of a step with every node on one of n devices.
function place(text, n) {
  const lines = text.split('\n');
  const total = lines.filter((l) => l.startsWith('  %')).length;
  let at = 0;
  return lines.flatMap((line) => {
    if (/^opset \d/.test(line)) return [line, ...Array.from({ length: n }, (_, d) => `device "cpu${d}"`)];
    if (!line.startsWith('  %')) return [line];
    const share = at++ / total, height = share < 0.5 ? 2 * share : 2 * (1 - share);
    return [`${line} @cpu${Math.min(n - 1, Math.trunc(height * n))}`];
  }).join('\n');
}

const exactly = { logSeverityLevel: 3, intraOpNumThreads: 1, graphOptimizationLevel: 'disabled' };
let seed = 1;
const noise = () => (seed = (seed * 16807) % 2147483647) / 2147483647;

function feed({ type, shape }) {
  const n = shape.reduce((a, b) => a * b, 1);
  if (type === 'int64') return new ort.Tensor(type, BigInt64Array.from({ length: n }, () => BigInt(Math.trunc(noise() * 4))), shape);
  return new ort.Tensor(type, Float32Array.from({ length: n }, () => noise() - 0.5), shape);
}

const TOLERANCE = 1e-6;
const largestOf = (t) => t.data.reduce((m, x) => Math.max(m, Math.abs(Number(x))), 0);
function difference(have, want, floor) {
  if (have?.type !== want.type || have.data.length !== want.data.length) return Infinity;
  let most = 0, largest = floor;
  for (let i = 0; i < want.data.length; i++) {
    const x = Number(want.data[i]), d = Math.abs(Number(have.data[i]) - x);
    most = Math.max(most, Number.isNaN(d) ? Infinity : d);
    largest = Math.max(largest, Math.abs(x));
  }
  return most === 0 ? 0 : most / largest;
}

// Devices with a slow link, and the host.
function rigOf(n, rate = 100) {
  const names = Array.from({ length: n }, (_, d) => `cpu${d}`);
  const link = (a, b) => ({ between: [a, b], bandwidth: 5, latency: 1000 });
  return { format: 'mfc-rig', version: 1, devices: [{ name: 'cpu', count: n, rate, memory_bandwidth: 15, overhead: 2000 }],
    links: names.flatMap((a, i) => [link(a, 'host'), ...names.slice(i + 1).map((b) => link(a, b))]) };
}

let failed = 0, divided = 0;

async function compare(what, folder, whole, plain, want) {
  const devices = await openDevices(folder, exactly);
  const have = await devices.run(plain);
  const again = await devices.run(plain); // nothing is left over from the first run
  devices.close();
  const floor = 1e-4 * Math.max(...whole.outputNames.filter((o) => o.startsWith('grad(')).map((o) => largestOf(want[o])));
  const worst = whole.outputNames.map((o) => Math.max(difference(have[o], want[o], floor), difference(again[o], want[o], floor)));
  const steps = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).devices.flatMap((d) => d.steps);
  const sent = steps.filter((s) => s.send).length;
  console.log(`${what}: ${worst.length} outputs, ${sent} transfers, ${worst.filter((d) => d === 0).length} equal, `
    + `largest difference ${Math.max(...worst).toExponential(1)}`);
  failed += worst.filter((d) => !(d <= TOLERANCE)).length + (sent === 0);
  rmSync(folder, { recursive: true });
}

// A runtime that knows nothing of devices runs the plan as it is.
async function compareWhole(what, plan, feeds, want) {
  const session = await ort.InferenceSession.create(plan, exactly);
  const have = await session.run(feeds);
  const floor = 1e-4 * Math.max(...Object.keys(want).filter((o) => o.startsWith('grad(')).map((o) => largestOf(want[o])));
  const worst = Object.keys(want).map((o) => difference(have[o], want[o], floor));
  console.log(`${what}: largest difference ${Math.max(...worst).toExponential(1)}`);
  failed += worst.filter((d) => !(d <= TOLERANCE)).length;
}

const scratch = mkdtempSync(join(tmpdir(), 'mfc-split-'));
for (const model of models) {
  const step = join(scratch, 'step.onnx');
  execFileSync(mfc, [model, '-o', step, '--budget', 'none', '--weights', 'inputs', '-q']);
  execFileSync(mfc, ['convert', step, join(scratch, 'step.mfc')]);
  const whole = await ort.InferenceSession.create(step, exactly);
  const feeds = Object.fromEntries(whole.inputMetadata.map((m) => [m.name, feed(m)]));
  const want = await whole.run(feeds);
  const plain = Object.fromEntries(Object.entries(feeds).map(([k, t]) => [k, { type: t.type, dims: t.dims, data: t.data }]));
  for (const n of [2, 3]) {
    const placed = join(scratch, 'placed.mfc'), folder = join(scratch, 'split');
    writeFileSync(placed, place(readFileSync(join(scratch, 'step.mfc'), 'utf8'), n));
    execFileSync(mfc, ['split', placed, folder]);
    await compare(`${basename(model)} as a pipeline of ${n}`, folder, whole, plain, want);
    const rig = join(scratch, 'rig.json'), plan = join(scratch, 'plan.onnx');
    writeFileSync(rig, JSON.stringify(rigOf(n)));
    execFileSync(mfc, [model, '-o', plan, '--rig', rig, '--work', '4000', '--split', folder, '--weights', 'inputs',
      '--annotate', 'onnx', '-q']);
    await compare(`${basename(model)} by mfc on ${n}`, folder, whole, plain, want);
    await compareWhole(`${basename(model)} by mfc on ${n}, as one annotated model`, plan, feeds, want);
    if (n > 2) continue;
    writeFileSync(rig, JSON.stringify(rigOf(n, 0.1)));
    execFileSync(mfc, [model, '-o', plan, '--rig', rig, '--work', '400', '--split', folder, '--weights', 'inputs', '-q']);
    await compare(`${basename(model)} divided by mfc on ${n}`, folder, whole, plain, want);
    execFileSync(mfc, ['convert', plan, placed]);
    divided += /shard=[^"]*:2/.test(readFileSync(placed, 'utf8'));
  }
}
rmSync(scratch, { recursive: true });
console.log(`${divided} of ${models.length} steps divided`);
process.exit(failed || divided < models.length - 1 ? 1 : 0); // unrolled recurrences gain nothing
