// Whole networks against PyTorch. For each NAME-op*.onnx in a folder with its reference NAME.ref.onnx (a model without
// nodes whose outputs are input:*, seed:*, output:*, loss and grad:*, computed in float64), mfc makes the training step,
// ONNX Runtime runs it, and every gradient is compared: the largest difference over the largest gradient. Where that is
// too large, it is told how far the gradients move when the inputs move by half a unit in the last place of float32: no
// float32 computation can be nearer to the reference than that.
//
//     node reference.mjs MFC FOLDER [PATTERN]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generator } from './case.mjs';
import { error, feedsOf, makeStep } from './network.mjs';
import ort from './runtime.mjs';

const TOLERANCE = 1e-4;
const [mfc, folder, pattern = ''] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-reference-'));

async function conditioning(session, feeds, have, want, grads, floor) {
  const random = generator('conditioning');
  const moved = Object.fromEntries(Object.entries(feeds).map(([k, t]) =>
    [k, t.type === 'float32' ? new ort.Tensor(t.type, t.data.map((x) => x * (1 + 2 ** -24 * (2 * random() - 1))), t.dims) : t]));
  const other = await session.run(moved);
  return Math.max(...grads.filter((k) => have[`grad(${k.slice(5)})`]).map((k) => {
    const name = `grad(${k.slice(5)})`, size = want[k].data.reduce((m, x) => Math.max(m, Math.abs(Number(x))), floor);
    return have[name].data.reduce((m, x, i) => Math.max(m, Math.abs(x - other[name].data[i])), 0) / size;
  }));
}

async function check(name, file, ref) {
  const step = join(scratch, 'step.onnx'), want = await makeStep(mfc, join(folder, file), join(folder, ref), step);
  const session = await ort.InferenceSession.create(step, { logSeverityLevel: 3 });
  const feeds = feedsOf(session, want);
  const have = await session.run(feeds);
  const grads = Object.keys(want).filter((k) => k.startsWith('grad:'));
  const largest = Math.max(...grads.map((k) => want[k].data.reduce((m, x) => Math.max(m, Math.abs(Number(x))), 0)));
  let worst = error(have[session.outputNames[0]].data, want.loss.data, 1e-3), where = 'loss', missing = [];
  for (const k of grads) {
    const g = have[`grad(${k.slice(5)})`];
    if (!g) { missing.push(k.slice(5)); continue; }
    const e = error(g.data, want[k].data, 1e-4 * largest);
    if (e > worst) { worst = e; where = k.slice(5); }
  }
  const moves = worst > TOLERANCE ? await conditioning(session, feeds, have, want, grads, 1e-4 * largest) : 0;
  return { grads: grads.length, worst, where, missing, moves };
}

let passed = 0, failed = 0;
for (const file of readdirSync(folder).filter((f) => /-op\d+\.onnx$/.test(f) && f.includes(pattern)).sort()) {
  const name = file.replace(/(-dyn)?-op\d+\.onnx$/, ''), ref = name + '.ref.onnx';
  if (!existsSync(join(folder, ref))) continue;
  try {
    const r = await check(name, file, ref);
    const ok = r.worst <= TOLERANCE && r.missing.length === 0;
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${file.padEnd(40)} ${String(r.grads).padStart(4)} gradients, worst ${r.worst.toExponential(1)} (${r.where})` +
      (r.moves ? `; half a unit in the last place moves them by ${r.moves.toExponential(1)}` : '') +
      (r.missing.length ? ` missing: ${r.missing.slice(0, 5).join(' ')}` : ''));
    ok ? passed++ : failed++;
  } catch (e) {
    failed++;
    console.log(`FAIL ${file.padEnd(40)} ${(e.stderr?.toString() || e.message).trim().split('\n').slice(0, 3).join(' | ')}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
