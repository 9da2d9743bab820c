// Every decomposition against ONNX Runtime's own kernel: the model of a case runs as it is, and after the pass decompose,
// which must have replaced the operator; the results must agree, and the shapes that mfc inferred must be theirs. Prints
// operator, cases, worst error. A row of decompose.def without a case is a failure too. tests/gradient differentiates
// the same cases.
//
//     node decomposed.mjs MFC DECOMPOSE.DEF [OPERATOR]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../gradient/case.mjs';
import { openSession } from '../gradient/runtime.mjs';
import cases from './cases.mjs';

const TOLERANCE = 2e-5; // of the largest result: float32 sums in another order
const FORWARD = '--passes=inline,upgrade,shapes,fold,decompose,fold';

const [mfc, table, only] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-decomposed-'));
const [source, whole, plain, shown] = ['case.mfc', 'whole.onnx', 'plain.onnx', 'plain.mfc'].map((n) => join(scratch, n));

function run(args) {
  try {
    return execFileSync(mfc, args, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  } catch (e) {
    throw new Error(`mfc: ${e.stderr?.toString().trim() || e.message}`);
  }
}

function error(want, have) {
  let diff = 0, scale = 1e-2;
  for (let i = 0; i < want.length; i++) {
    diff = Math.max(diff, Number.isFinite(Number(have[i])) ? Math.abs(Number(have[i]) - Number(want[i])) : Infinity);
    scale = Math.max(scale, Math.abs(Number(want[i])));
  }
  return diff / scale;
}

async function check(one) {
  const { text, forwardText, feeds } = build(one, 'f32');
  writeFileSync(source, text);
  run(['opt', source, FORWARD, '--quiet', '-o', shown]);
  const type = one.op.split('<')[0];
  const left = readFileSync(shown, 'utf8').split('\n').filter((l) => one.op.includes('<') ? l.includes(`${one.op}(`) : l.includes(` = ${type}(`));
  if (left.length && !one.stays) throw new Error(`stays: ${left[0].trim()}`);
  run(['convert', shown, plain, '--quiet']);
  if (one.forward) writeFileSync(source, forwardText); // ONNX Runtime has no kernel for the CPU: what it stands for
  run(['convert', source, whole, '--quiet']);
  const own = await openSession(whole), session = await openSession(plain);
  const want = await own.run(feeds);
  const have = await session.run(Object.fromEntries(session.inputNames.map((n) => [n, feeds[n]])));
  let worst = 0;
  for (const [name, t] of Object.entries(want)) {
    if (one.unchecked?.includes(name)) continue;
    const shape = session.outputMetadata.find((m) => m.name === name).shape;
    if (shape.join() !== t.dims.join() || have[name].dims.join() !== t.dims.join())
      throw new Error(`${name} is [${t.dims}], inferred [${shape}], computed [${have[name].dims}]`);
    worst = Math.max(worst, error(one.only ? one.only(t.data) : t.data, one.only ? one.only(have[name].data) : have[name].data));
  }
  return worst;
}

const rows = [...readFileSync(table, 'utf8').matchAll(/^DECOMPOSE\("([^"]*)", (\w+), \w+\)$/gm)].map(([, d, n]) => (d ? `${n}<${d}>` : n));
const errors = new Map();
let failures = 0, ran = 0;
for (const one of cases.filter((k) => !only || k.op.split('<')[0] === only)) {
  const title = `${one.op}(${one.operands.map((o) => (o === null ? '_' : `[${o.shape}]`)).join(', ')}${one.attributes ? ', ' + one.attributes : ''})`;
  ran++;
  try {
    const worst = await check(one);
    errors.set(one.op, [...(errors.get(one.op) ?? []), worst]);
    if (worst <= (one.tolerance ?? TOLERANCE)) continue;
    console.log(`FAIL ${title}: error ${worst.toExponential(1)}`);
  } catch (e) {
    console.log(`FAIL ${title}: ${e.message.split('\n').slice(0, 3).join(' | ')}`);
  }
  failures++;
}
rmSync(scratch, { recursive: true });
for (const [op, each] of [...errors].sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${op.padEnd(52)} ${String(each.length).padStart(3)} ${Math.max(...each).toExponential(1)}`);
const missing = only ? [] : rows.filter((r) => !cases.some((k) => k.op === r));
for (const op of missing) console.log(`FAIL ${op} has a decomposition and no case`);
console.log(`${ran} cases of ${rows.length} operators, ${failures} failed, ${missing.length} operators without a case`);
process.exit(failures || missing.length ? 1 : 0);
