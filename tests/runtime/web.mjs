// The promise of --runtime web, on onnxruntime-web with its default options: in five runs its memory is at most that of the budget, and
// at least half of what was promised; plans need less than the baseline step, as predicted.
//
//     node web.mjs MFC NETWORKS        NETWORKS: the folder with resnet-op17.onnx, unet-op17.onnx, …
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LEAST = 0.5, RUNS = 5, SEARCH = ['--work', '500', '--threads', '1'], CASES = [
  { name: 'resnet', shape: 'x:16x3x128x128', budgets: ['85%'] },
  { name: 'unet', shape: 'x:8x3x128x128', budgets: ['75%'] },
];
const [mfc, networks] = process.argv.slice(2), here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'mfc-web-')), mib = (n) => (n / 2 ** 20).toFixed(1);
let failed = 0;

function report(ok, what) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}`);
  if (!ok) failed++;
}

function measured(step) {
  const out = execFileSync(process.execPath, [join(here, '../../examples/measure.mjs'), step, '--web', '--json', '--runs', String(RUNS)],
    { encoding: 'utf8', env: { ...process.env, MFC_NODE_MODULES: here } });
  return JSON.parse(out)[0].runs.at(-1).peak_bytes;
}

function plan(model, shape, budget) {
  const step = join(folder, `${budget}.onnx`), json = join(folder, 'plan.json');
  execFileSync(mfc, [model, '-o', step, '--json', json, '-q', '--runtime', 'web', '--budget', budget, ...(shape ? ['--shape', shape] : []), ...SEARCH]);
  return { needs: measured(step), ...JSON.parse(readFileSync(json, 'utf8')) };
}

try {
  for (const { name, shape, budgets } of CASES) {
    const model = join(networks, `${name}-op17.onnx`), baseline = plan(model, shape, 'none').needs;
    for (const budget of budgets) {
      const { needs, budget_bytes, peak_bytes, runtime } = plan(model, shape, budget), what = `${name} at ${budget}: ${mib(needs)} MiB`;
      report(runtime === 'web' && needs <= budget_bytes, `${what} within a budget of ${mib(budget_bytes)}`);
      report(needs >= LEAST * peak_bytes, `${what}, promised ${mib(peak_bytes)}`);
      report(needs <= baseline, `${what}, the baseline step ${mib(baseline)}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
