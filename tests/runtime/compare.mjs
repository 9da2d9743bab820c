// Compares the outputs of two steps, as measure.mjs --save wrote them.
//
//     node compare.mjs WANT HAVE [--tolerance X]
//
// For every output: bit-equal, or the largest difference over the largest value of the wanted one. A gradient that is zero in exact
// arithmetic is noise: differences are never taken over less than 1e-4 of the largest value of all outputs (the loss left out, which is
// of another kind). Exit 1 when an output is missing, not finite where it should be, or off by more than the tolerance (1e-6).
import { openSync, readFileSync, readSync, closeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bytesOf } from './onnxfile.mjs';

const FLOOR = 1e-4;
const ARRAYS = { float32: Float32Array, float64: Float64Array, int64: BigInt64Array, int32: Int32Array };

function open(path) {
  let at = 0;
  const entries = new Map(JSON.parse(readFileSync(path + '.json', 'utf8')).map((e) => {
    const bytes = bytesOf(e.type, e.dims), entry = { ...e, at, bytes };
    at += bytes;
    return [e.name, entry];
  }));
  const fd = openSync(path);
  const read = (e) => {
    const data = new Uint8Array(e.bytes);
    for (let done = 0, n; done < e.bytes; done += n)
      if ((n = readSync(fd, data, done, e.bytes - done, e.at + done)) === 0) throw new Error(`${path} is cut short`);
    return data;
  };
  return { entries, read, close: () => closeSync(fd) };
}

const typed = (e, bytes) => new (ARRAYS[e.type] ?? Uint8Array)(bytes.buffer);

function largest(values) {
  let m = 0;
  for (const v of values) {
    const x = Math.abs(Number(v));
    if (x > m && x < Infinity) m = x;
  }
  return m;
}

function difference(want, have) {
  let m = 0;
  for (let i = 0; i < want.length; i++) {
    const w = Number(want[i]), h = Number(have[i]);
    if (Object.is(w, h) || w === h) continue;
    const d = Math.abs(w - h);
    m = Math.max(m, Number.isNaN(d) ? Infinity : d);
  }
  return m;
}

// [{ name, equal, error }] for all outputs of the first file; a missing one has an infinite error.
export function compare(wantPath, havePath) {
  const want = open(wantPath), have = open(havePath), results = [];
  let scale = 0;
  const apart = [];
  for (const [name, w] of want.entries) {
    const h = have.entries.get(name), a = want.read(w);
    if (w.dims.length) scale = Math.max(scale, largest(typed(w, a)));
    if (!h || h.type !== w.type || h.bytes !== w.bytes) {
      results.push({ name, equal: false, error: Infinity });
      continue;
    }
    const b = have.read(h);
    if (Buffer.compare(a, b) === 0) results.push({ name, equal: true, error: 0 });
    else apart.push({ name, diff: difference(typed(w, a), typed(h, b)), size: largest(typed(w, a)) });
  }
  for (const { name, diff, size } of apart) results.push({ name, equal: false, error: diff / Math.max(size, FLOOR * scale) || 0 });
  want.close();
  have.close();
  return results;
}

export function summary(results) {
  const worst = results.reduce((m, r) => (r.error > m.error ? r : m), { error: 0, name: '' });
  return { n_outputs: results.length, n_equal: results.filter((r) => r.equal).length, worst: worst.error, where: worst.name };
}

function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { tolerance: { type: 'string', default: '1e-6' } } });
  if (positionals.length !== 2) {
    console.error('usage: compare.mjs WANT HAVE [--tolerance X]');
    process.exit(2);
  }
  const s = summary(compare(...positionals));
  console.log(`${s.n_equal} of ${s.n_outputs} outputs are bit-equal` + (s.worst ? `; worst ${s.worst.toExponential(1)} (${s.where})` : ''));
  process.exit(s.worst <= Number(values.tolerance) ? 0 : 1);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) main();
