// The order in which ONNX Runtime runs steps, as its profile tells, beside the one that mfc says.
//
//     node order.mjs MFC PREDICT MODEL...
//
// For each model, the step in its natural order: at level disabled every node runs when the runtime model says. Then the step in
// an order that ONNX Runtime would not choose (every gradient as soon as it can be computed), rewritten so that it holds: at level
// disabled every node runs when the model says, and at disabled and at all those that touch something big run in the order of the
// file. At all some nodes are fused and have other names: those are left out, and must be few; so is a Transpose, which a fused
// MatMul reads through: when others read it too it stays, and runs when they need it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { measure } from './measure.mjs';
import { readModel } from './onnxfile.mjs';

const [mfc, predict, ...models] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-order-'));
const STEP = 'upgrade,shapes,fold,unroll,fold,simplify,dce,loss,grad,optimizer,fold,simplify,dce';
const BIG = 1 / 16; // of the largest tensor
const VIEWS = new Set(['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Identity']);

function write(model, name, passes, ...options) {
  const path = join(scratch, name);
  execFileSync(mfc, [model, '-o', path, '--quiet', '--weights', 'inputs', '--passes', passes, ...options]);
  return path;
}

// Names of the nodes as they ran, with the size of the largest tensor that each made or read.
function profiled(step, level) {
  measure(step, { level, runs: 1, profile: join(scratch, 'profile') });
  const [file] = readdirSync(scratch).filter((f) => f.startsWith('profile'));
  const events = JSON.parse(readFileSync(join(scratch, file), 'utf8'));
  rmSync(join(scratch, file));
  return events.filter((e) => e.cat === 'Node' && e.name.endsWith('_kernel_time')).map((e) => ({
    name: e.name.slice(0, -'_kernel_time'.length), bytes: Math.max(Number(e.args.output_size), Number(e.args.activation_size)),
  }));
}

const predicted = (step) => execFileSync(predict, ['order', step], { encoding: 'utf8' }).trim().split('\n');

function checkRewritten(step, level, ran) {
  const isLeftOut = (n) => n.metadata['dev.mfc.role'] === 'control' || VIEWS.has(n.op) || (level === 'all' && n.op === 'Transpose');
  const nodes = readModel(step).nodes.filter((n) => !isLeftOut(n));
  const limit = BIG * Math.max(...ran.map((n) => n.bytes)), inFile = new Set(nodes.map((n) => n.name));
  const big = ran.filter((n) => n.bytes >= limit && inFile.has(n.name)).map((n) => n.name), isBig = new Set(big);
  const want = nodes.map((n) => n.name).filter((n) => isBig.has(n)), wrong = big.findIndex((n, i) => n !== want[i]);
  assert.equal(wrong, -1, `${step} at ${level}: ${big[wrong]} runs where ${want[wrong]} should`);
  return big.length;
}

try {
  for (const model of models) {
    const name = basename(model, '.onnx'), plain = write(model, `${name}.step.onnx`, STEP);
    assert.deepEqual(profiled(plain, 'disabled').map((n) => n.name), predicted(plain), `${name}: the natural order`);
    const rewritten = write(model, `${name}.plan.onnx`, `${STEP},rewrite`);
    const ran = profiled(rewritten, 'disabled');
    assert.deepEqual(ran.map((n) => n.name), predicted(rewritten), `${name}: the rewritten step`);
    const n = checkRewritten(rewritten, 'disabled', ran), nFused = checkRewritten(rewritten, 'all', profiled(rewritten, 'all'));
    assert(nFused > n / 2, `${name}: at level all only ${nFused} of ${n} nodes have kept their names`);
    console.log(`${name}: ${ran.length} nodes as predicted, ${n} big ones in the file's order, ${nFused} of them at level all`);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
