// A budget of 75 % of what every plan without division needs, on one device: mfc divides, the plan is verified, and on ONNX
// Runtime its outputs are those of the undivided step. With --no-shard the same budget is refused.
//
//     node plan.mjs MFC
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generator } from '../gradient/case.mjs';
import { error } from '../gradient/network.mjs';
import ort, { openSession } from '../gradient/runtime.mjs';

const TOLERANCE = 1e-6, FLOOR = 1e-3; // of the largest element of all gradients
const [mfc] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-shard-'));
const [model, step, plan] = ['model.mfc', 'step.onnx', 'plan.onnx'].map((n) => join(scratch, n));
const run = (...args) => spawnSync(mfc, args, { encoding: 'utf8' });
let failed = 0;
const expect = (ok, text) => { console.log(`${ok ? 'ok  ' : 'FAIL'} ${text}`); failed += !ok; };

function feedsOf(session) {
  const random = generator('plan'), feeds = {};
  for (const m of session.inputMetadata) {
    const n = m.shape.reduce((a, b) => a * b, 1);
    feeds[m.name] = m.type === 'int64' ? new ort.Tensor('int64', BigInt64Array.from({ length: n }, () => BigInt(Math.floor(2 * random()))), m.shape)
      : new ort.Tensor('float32', Float32Array.from({ length: n }, () => 2 * random() - 1), m.shape);
  }
  return feeds;
}

async function outputs(path) {
  const session = await openSession(path), feeds = feedsOf(session);
  return session.run({ x: feeds.x, labels: feeds.labels });
}

// Two convolutions, of which the second is most of the memory, and a small classifier.
function writeModel() {
  const random = generator('weights'), weights = (...dims) =>
    `f32[${dims}] = {${Array.from({ length: dims.reduce((a, b) => a * b) }, () => (random() - 0.5).toFixed(3))}}`;
  writeFileSync(model, `mfc 1
ir_version 8
opset 17
graph "convolutions" {
  input %x : f32[8,3,24,24]
  param %w0 : ${weights(8, 3, 3, 3)}
  param %w1 : ${weights(8, 8, 3, 3)}
  param %w2 : ${weights(8, 5)}
  %c0 = Conv(%x, %w0, pads=[1,1,1,1])
  %a0 = Relu(%c0)
  %c1 = Conv(%a0, %w1, pads=[1,1,1,1])
  %a1 = Tanh(%c1)
  %p = GlobalAveragePool(%a1)
  %f = Flatten(%p)
  %logits = MatMul(%f, %w2)
  output %logits
}
`);
}

writeModel();
const refused = run(model, '-o', plan, '--budget', '1B', '--no-shard', '--quiet', '--work', '10');
const least = Number(refused.stderr.match(/at least [^(]*\((\d+) B\)/)?.[1] ?? 0), budget = `${Math.floor(0.75 * least)}B`;
expect(refused.status === 5 && least > 0, `--no-shard: exit ${refused.status}, at least ${least} bytes`);
const made = run(model, '-o', plan, '--budget', budget, '--shard-dims', 'sample', '--quiet', '--work', '20', '--threads', '1');
expect(made.status === 0, `--budget ${budget}: exit ${made.status} ${made.stderr.trim().slice(0, 300)}`);
const verified = run('verify', model, plan);
expect(verified.status === 0 && /division +sample in \d+ parts/.test(verified.stdout), 'verify');
expect(run(model, '-o', step, '--budget', 'none', '--quiet').status === 0, 'step');
if (!failed) {
  const want = await outputs(step), have = await outputs(plan);
  const grads = Object.keys(want).filter((k) => k.startsWith('grad('));
  const largest = Math.max(...grads.map((k) => want[k].data.reduce((m, x) => Math.max(m, Math.abs(x)), 0)));
  const worst = Math.max(...Object.keys(want).map((k) => error(have[k].data, want[k].data, FLOOR * largest)));
  expect(worst <= TOLERANCE, `${grads.length} gradients, worst ${worst.toExponential(1)}`);
}
for (const [option, text] of [[['--shard-dims', 'depth'], /a dimension is sample/], [['--max-ways', '1'], /max-ways/]])
  expect(text.test(run(model, '-o', plan, '--budget', budget, ...option).stderr), `${option.join(' ')} is refused`);
rmSync(scratch, { recursive: true });
process.exit(failed ? 1 : 0);
