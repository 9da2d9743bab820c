// The memory of sessions with ONNX Runtime's default settings, over five runs: totals.c compares it with the prediction. Plans, with
// memory patterns, and plans inside an If, without.
//
//     node totals.mjs MFC TOTALS LIBRARY NETWORKS      TOTALS: the program of totals.c; NETWORKS: the folder with *-op17.onnx
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CASES = { unet: ['--shape', 'x:8x3x128x128'], encoder: [], decoder: [] };
const [mfc, totals, library, networks] = process.argv.slice(2), folder = mkdtempSync(join(tmpdir(), 'mfc-totals-'));

function plans([name, options]) {
  const plan = join(folder, `${name}.onnx`), wrapped = join(folder, `${name}.wrapped.onnx`);
  execFileSync(mfc, [join(networks, `${name}-op17.onnx`), '-o', plan, '-q', '--runtime', 'ort-lean', '--budget', '60%', '--work', '2000', '--threads', '1', ...options]);
  execFileSync(mfc, ['opt', plan, '--passes=wrap', '-o', wrapped]);
  return [plan, wrapped];
}

try {
  const files = Object.entries(CASES).flatMap(plans);
  for (const level of ['disabled', 'all']) execFileSync(totals, [library, level, ...files], { stdio: 'inherit' });
} finally {
  rmSync(folder, { recursive: true });
}
