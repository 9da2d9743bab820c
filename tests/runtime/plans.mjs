// Plans of a few networks on the real ONNX Runtime, at the optimization levels disabled and all: every output is that of the baseline step,
// bit by bit, the measured peak is within 3 % of the promised one and at most 3 % over the budget. The networks are large enough for
// what the process itself does (some megabytes) to be well below that. What runs need over the loaded session is measured.
//
//     node plans.mjs MFC NETWORKS        NETWORKS: the folder with resnet-op17.onnx, unet-op17.onnx
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeAttention } from './attention.mjs';
import { compare, summary } from './compare.mjs';
import { measure } from './measure.mjs';

const OVER = 1.03, LEVELS = ['disabled', 'all'], SEARCH = ['--time', '10', '--threads', '1', '--session', 'apart'];
const [mfc, networks] = process.argv.slice(2), folder = mkdtempSync(join(tmpdir(), 'mfc-plans-'));
const CASES = [
  { name: 'resnet', model: join(networks, 'resnet-op17.onnx'), options: ['--shape', 'x:32x3x256x256'], budgets: ['68%', '85%'] },
  { name: 'unet', model: join(networks, 'unet-op17.onnx'), options: ['--shape', 'x:16x3x256x256'], budgets: ['57%', '80%'] },
  { name: 'attention', model: writeAttention(folder), options: [], budgets: ['50%', '75%'] },
];
let failed = 0;

function report(ok, what) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}`);
  if (!ok) failed++;
}

function check(name, budget, level, plan, reference) {
  const saved = join(folder, 'outputs');
  const r = measure(plan, { level, runs: 2, save: saved });
  const same = summary(compare(reference, saved));
  const byBudget = r.total_bytes / r.plan.budget_bytes, byPeak = r.total_bytes / r.plan.peak_bytes;
  const bitEqual = same.n_equal === same.n_outputs;
  report(r.changed.length === 0, `${name} within ${budget}, ${level}: the second run gives what the first gave` +
    (r.changed.length ? `, except ${r.changed.slice(0, 3).join(', ')}` : ''));
  report(byBudget <= OVER && Math.abs(byPeak - 1) <= OVER - 1 && (bitEqual || (level !== 'disabled' && same.worst <= 1e-6)),
    `${name} within ${budget}, ${level}: measured ${(r.total_bytes / 1e6).toFixed(1)} MB, ${byBudget.toFixed(3)} of the budget, ` +
    `${byPeak.toFixed(3)} of what was promised; ${same.n_equal} of ${same.n_outputs} outputs bit-equal, worst ${same.worst.toExponential(0)}`);
}

try {
  for (const { name, model, options, budgets } of CASES) {
    const step = join(folder, 'step.onnx'), plan = (budget) => join(folder, `plan.${budget}.onnx`), reference = (level) => join(folder, 'baseline.' + level);
    execFileSync(mfc, [model, '-o', step, '-q', '--budget', 'none', ...options]);
    for (const level of LEVELS) measure(step, { level, runs: 1, save: reference(level) });
    // The searches run side by side, one thread each; the measurements one after the other.
    await Promise.all(budgets.map((budget) => promisify(execFile)(mfc, [model, '-o', plan(budget), '-q', '--runtime', 'ort-lean', '--budget', budget, ...options, ...SEARCH])));
    for (const budget of budgets) for (const level of LEVELS) check(name, budget, level, plan(budget), reference(level));
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
