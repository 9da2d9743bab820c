// What the tests of training share: mfc, a scratch folder, ONNX Runtime.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export { default as ort } from '../gradient/runtime.mjs';
export const top = fileURLToPath(new URL('../..', import.meta.url));
export const folder = mkdtempSync(join(tmpdir(), 'mfc-training-'));
process.on('exit', () => rmSync(folder, { recursive: true }));

export const at = (name) => join(folder, name);

export function mfc(...words) {
  return execFileSync(process.argv[2], words.map(String), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

export const quiet = { logSeverityLevel: 3, intraOpNumThreads: 1, interOpNumThreads: 1 };

// The largest difference between two arrays, relative to the largest number.
export function difference(a, b) {
  let worst = 0, most = 1;
  if (a.length !== b.length) return Infinity;
  for (let i = 0; i < a.length; i++) {
    worst = Math.max(worst, Math.abs(a[i] - b[i]));
    most = Math.max(most, Math.abs(b[i]));
    if (Number.isNaN(a[i])) return Infinity;
  }
  return worst / most;
}

export function demand(condition, text) {
  if (condition) return;
  console.error(text);
  process.exit(1);
}
