// The measuring itself against an answer worked out by hand.
//
//     node known_peak.mjs MFC
//
// Twelve tensors of 16 MiB: x is fed and w is in the file. y1 … y9 follow from each other by operators that ONNX Runtime does not do in
// place, y2 is an output, and then they are added up, from the last to the first: when the first sum is there, it and y1 … y9 are, which
// makes 10 tensors over the 2 fixed ones. From then on each sum takes the place of something that died.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measure } from './measure.mjs';

const N = 9, BYTES = 16 * 2 ** 20, TYPE = 'f32[4,1024,1024]', TOLERANCE = 0.01;
const mfc = process.argv[2], folder = mkdtempSync(join(tmpdir(), 'mfc-known-'));

const range = (n) => Array.from({ length: n }, (_, i) => i + 1);
const text = ['mfc 1', 'ir_version 8', 'opset 17', 'graph "known" {', `  input %x : ${TYPE}`, `  param %w : ${TYPE} = span("w.bin", 0, ${BYTES})`,
  '  %y1 = Add(%x, %w)', ...range(N - 1).map((i) => `  %y${i + 1} = Sin(%y${i})`), `  %s${N - 1} = Add(%y${N}, %y${N - 1})`,
  ...range(N - 2).reverse().map((i) => `  %s${i} = Add(%s${i + 1}, %y${i})`), '  %s = ReduceSum(%s1, _, keepdims=0)',
  '  output %s', '  output %y2', '}', ''].join('\n');

let failed = 0;
function expect(what, have, want) {
  const off = have / want - 1;
  const ok = Math.abs(off) <= TOLERANCE;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}: ${(have / 2 ** 20).toFixed(2)} MiB, by hand ${(want / 2 ** 20).toFixed(2)} (${(100 * off).toFixed(2)} %)`);
  if (!ok) failed++;
}

try {
  writeFileSync(join(folder, 'w.bin'), new Uint8Array(BYTES));
  writeFileSync(join(folder, 'known.mfc'), text);
  execFileSync(mfc, ['convert', join(folder, 'known.mfc'), join(folder, 'known.onnx')]);
  const seen = [];
  for (const level of ['disabled', 'all']) {
    const m = measure(join(folder, 'known.onnx'), { level, runs: 3 });
    expect(`${level}, fixed`, m.fixed_bytes, 2 * BYTES);
    m.runs.forEach((r, i) => expect(`${level}, run ${i + 1}`, r.peak_bytes, (N + 1) * BYTES));
    seen.push(JSON.stringify(m.digests));
  }
  if (seen[0] !== seen[1]) { console.log('FAIL the two levels give different numbers'); failed++; }
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
