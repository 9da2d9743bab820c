// Micro-batches against recomputation: time of a sample within a share of the memory of the whole batch, by mfc's costs.
// `recomputation` is the plan of the whole batch; `auto` what --accumulate auto chooses, with its update. Prints a table in
// Markdown; fails when the choice takes more than 2 % longer than recomputation alone.
//
//     node accumulate.mjs MFC BUDGET MODEL.onnx...      BUDGET: such as 25%
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const [mfc, budget, ...models] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-accumulate-')), at = (name) => join(scratch, name);
process.on('exit', () => rmSync(scratch, { recursive: true }));

function plan(model, ...options) {
  const r = spawnSync(mfc, [model, '-o', at('step.onnx'), '--optimizer', 'adam', '--json', '-', ...options], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return r.status === 0 ? { ...JSON.parse(r.stdout), n: Number(r.stderr.match(/auto: (\d+) micro-batches/)?.[1] ?? 1) } : null;
}

let failed = 0;
console.log('| model | micro-batches | time of a sample | recomputation alone |\n|---|---|---|---|');
for (const model of models) {
  const whole = plan(model, '--budget', 'none'), alone = plan(model, '--budget', budget);
  const chosen = plan(model, '--budget', budget, '--accumulate', 'auto', '--update', at('update.onnx'));
  if (!whole || !chosen) {
    console.log(`| ${basename(model)} | no plan |`);
    continue;
  }
  const update = chosen.n > 1 ? plan(model, '--budget', 'none', '--gradients', 'inputs').cost : 0;
  const share = (cost) => `${((100 * cost) / whole.cost).toFixed(1)} %`, own = chosen.n * chosen.cost + update;
  console.log(`| ${basename(model)} | ${chosen.n} | ${share(own)} | ${alone ? share(alone.cost) : 'no plan'} |`);
  if (alone && own > alone.cost * 1.02) failed++;
}
process.exit(failed ? 1 : 0);
