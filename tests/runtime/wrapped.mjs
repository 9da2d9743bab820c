// Plans inside an If (pass wrap) on the real ONNX Runtime with its default settings: arena and memory patterns on. At each optimization
// level the wrapped plan runs the same kernels in the same order as the plan itself and gives the same bits. Its second run finds other
// free blocks in the arena than its first and may touch a few more pages; from then on nothing changes. The plan itself needs at least
// half as much again from its second run on, or this test would show nothing.
//
//     node wrapped.mjs MFC NETWORKS        NETWORKS: the folder with resnet-op17.onnx, unet-op17.onnx
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measure } from './measure.mjs';

const LEVELS = ['disabled', 'basic', 'extended', 'all'], SECOND = 1.1, STEADY = 1.01, GROWS = 1.5, SEARCH = ['--work', '20000', '--threads', '1'];
const [mfc, networks] = process.argv.slice(2), folder = mkdtempSync(join(tmpdir(), 'mfc-wrapped-'));
const CASES = [
  { name: 'resnet', model: join(networks, 'resnet-op17.onnx'), options: ['--shape', 'x:16x3x128x128', '--budget', '90%'] },
  { name: 'unet', model: join(networks, 'unet-op17.onnx'), options: ['--shape', 'x:8x3x128x128', '--budget', '86%'] },
];
let failed = 0;

function report(ok, what) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}`);
  if (!ok) failed++;
}

// The kernels of the first run, in order, without those of the wrapper itself.
function kernels(prefix) {
  const file = readdirSync(folder).find((f) => join(folder, f).startsWith(prefix));
  const events = JSON.parse(readFileSync(join(folder, file), 'utf8')).filter((e) => e.cat === 'Node' && e.name.endsWith('_kernel_time'));
  rmSync(join(folder, file));
  return events.sort((a, b) => a.ts - b.ts).map((e) => e.name).filter((name) => !name.startsWith('wrap/'));
}

// Runs a step as users do.
function run(step, level) {
  const prefix = join(folder, 'profile.');
  const m = measure(step, { level, runs: 4, arena: true, pattern: true });
  measure(step, { level, runs: 1, arena: true, pattern: true, profile: prefix });
  return { ...m, peaks: m.runs.map((r) => r.peak_bytes), kernels: kernels(prefix) };
}

const mb = (peaks) => peaks.map((b) => (b / 1e6).toFixed(1)).join(' ');

try {
  for (const { name, model, options } of CASES) {
    const plan = join(folder, 'plan.onnx'), wrapped = join(folder, 'wrapped.onnx');
    execFileSync(mfc, [model, '-o', plan, '-q', '--runtime', 'ort-lean', ...options, ...SEARCH]);
    execFileSync(mfc, ['opt', plan, '--passes=wrap', '-o', wrapped]);
    for (const level of LEVELS) {
      const a = run(plan, level), b = run(wrapped, level);
      const same = Object.keys(a.digests).filter((k) => a.digests[k] === b.digests[k]).length, n = Object.keys(a.digests).length;
      report(same === n && n > 1, `${name}, ${level}: ${same} of ${n} outputs bit-equal`);
      report(a.kernels.length > 100 && a.kernels.join() === b.kernels.join(), `${name}, ${level}: ${b.kernels.length} kernels as in the plan's ${a.kernels.length}, in its order`);
      report(b.peaks[1] <= SECOND * b.peaks[0] && Math.max(...b.peaks) <= STEADY * b.peaks[1], `${name}, ${level}: wrapped, runs of ${mb(b.peaks)} MB MB`);
      report(a.peaks[1] >= GROWS * a.peaks[0], `${name}, ${level}: not wrapped, runs of ${mb(a.peaks)} MB`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
