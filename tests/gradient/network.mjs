// A network of tests/gradient/networks with its reference (reference.mjs): its training step, its inputs, and the error of a
// gradient.
import { execFileSync } from 'node:child_process';
import ort from './runtime.mjs';

async function outputsOf(path) {
  const session = await ort.InferenceSession.create(path, { logSeverityLevel: 3 });
  return session.run({});
}

// Largest difference over the largest reference, with a floor: a gradient that is zero in exact arithmetic is noise.
export function error(have, want, floor) {
  let diff = 0, scale = floor;
  for (let i = 0; i < want.length; i++) {
    const w = Number(want[i]), h = Number(have[i]);
    diff = Math.max(diff, Number.isNaN(h) ? Infinity : Math.abs(h - w));
    scale = Math.max(scale, Math.abs(w));
  }
  return scale > 0 ? diff / scale : diff;
}

// The reference keeps doubles; the step wants what it declares.
function tensorFor(meta, t) {
  if (meta.type === 'float32' || meta.type === undefined) return new ort.Tensor('float32', Float32Array.from(t.data), t.dims);
  if (meta.type === 'float64') return new ort.Tensor('float64', Float64Array.from(t.data), t.dims);
  if (meta.type === 'int64') return new ort.Tensor('int64', BigInt64Array.from(t.data, (x) => BigInt(x)), t.dims);
  if (meta.type === 'bool') return new ort.Tensor('bool', Uint8Array.from(t.data, Number), t.dims);
  return t;
}

// Writes the training step; the outputs of the reference.
export async function makeStep(mfc, file, ref, step) {
  const want = await outputsOf(ref);
  const inputs = Object.keys(want).filter((k) => k.startsWith('input:')).map((k) => k.slice(6));
  const shapes = inputs.flatMap((k) => want['input:' + k].dims.length ? ['--shape', `${k}:${want['input:' + k].dims.join('x')}`] : []);
  const wanted = Object.keys(want).filter((k) => k.startsWith('grad:') && inputs.includes(k.slice(5))).flatMap((k) => ['--grad-input', k.slice(5)]);
  const scalar = !Object.keys(want).some((k) => k.startsWith('seed:'));
  execFileSync(mfc, ['opt', file, '--passes=inline,upgrade,shapes,fold,decompose,fold,unroll,fold,dce,loss,grad,dce', '--loss', scalar ? 'auto' : 'vjp',
    '--keep-outputs', ...shapes, ...wanted, '-o', step, '--quiet'], { stdio: ['ignore', 'pipe', 'pipe'] });
  return want;
}

export function feedsOf(session, want) {
  const feeds = {};
  const meta = Object.fromEntries(session.inputMetadata.map((m) => [m.name, m]));
  for (const n of session.inputNames) {
    const key = n.startsWith('seed(') ? 'seed:' + n.slice(5, -1) : 'input:' + n;
    if (want[key]) feeds[n] = tensorFor(meta[n], want[key]);
    else if (n.startsWith('seed(')) feeds[n] = new ort.Tensor('float32', Float32Array.from([1]), []);
  }
  return feeds;
}
