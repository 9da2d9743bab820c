// Every sharding rule, part by part, against the whole operator on ONNX Runtime: all dimensions that the rule lists, in two
// and three parts, of even and uneven sizes. The cases are those of the gradient tests and a few of their own
// (cases.mjs). What is concatenated must be exact, except where ONNX Runtime multiplies matrices of another size in
// another order; what is summed, within 1e-6 of the largest result; large sums also in pieces. Prints operator, divisions,
// worst error. An operator with a rule in ir/op.def and without a case is a failure too.
//
// With --checker the checker has to prove each divided operator equal to the whole one.
//
//     node rules.mjs MFC OP.DEF [--checker DIVIDED] [--every N] [--only OPERATOR]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from '../gradient/case.mjs';
import elementwise from '../gradient/cases_elementwise.mjs';
import layers from '../gradient/cases_layers.mjs';
import layout from '../gradient/cases_layout.mjs';
import { openSession } from '../gradient/runtime.mjs';
import own from './cases.mjs';

const TOLERANCE = 1e-6;
const WAYS = [2, 3];

const { values: { every, only, checker }, positionals: [mfc, table] } = parseArgs({
  allowPositionals: true, options: { every: { type: 'string', default: '1' }, only: { type: 'string' }, checker: { type: 'string' } },
});
const scratch = mkdtempSync(join(tmpdir(), 'mfc-shard-'));
const [source, whole, divided, step, parts] = ['case.mfc', 'whole.onnx', 'divided.onnx', 'step.mfc', 'parts.mfc'].map((n) => join(scratch, n));

function run(args) {
  const r = spawnSync(mfc, args, { encoding: 'utf8' });
  return { ok: r.status === 0, said: r.stderr };
}

const prepare = (to, ...more) => run(['opt', source, '--passes=upgrade,shapes' + (more.length ? ',shard' : ''), ...more, '-o', to]);

// The number of dimensions: asked for one more than any operator has.
function dimensions() {
  const { said } = prepare(divided, '--shard', 'y*:32:2');
  return { n: Number(said.match(/its rule lists (\d+) dimensions/)?.[1] ?? 0), why: said.trim().split('\n')[0] };
}

// From the text form, which has all types. Empty: the division is proven.
function proof(label, how) {
  prepare(step);
  prepare(parts, '--shard', `y*:${label}:${how}`);
  return spawnSync(checker, ['check', step, parts], { encoding: 'utf8' }).stderr.trim();
}

function error(want, have) {
  let diff = 0, scale = 0;
  for (let i = 0; i < want.length; i++) {
    const w = Number(want[i]), h = Number(have[i]);
    if (Object.is(w, h)) continue;
    diff = Math.max(diff, Number.isNaN(h - w) ? Infinity : Math.abs(h - w));
  }
  for (const x of want) if (Number.isFinite(Number(x))) scale = Math.max(scale, Math.abs(Number(x)));
  return diff && scale ? diff / scale : diff;
}

async function compare(want, feeds) {
  const session = await openSession(divided);
  const have = await session.run(Object.fromEntries(session.inputNames.map((n) => [n, feeds[n]])));
  let worst = 0;
  for (const [name, t] of Object.entries(want)) {
    if (have[name].dims.join() !== t.dims.join()) throw new Error(`${name} is [${t.dims}], in parts [${have[name].dims}]`);
    worst = Math.max(worst, error(t.data, have[name].data));
  }
  await session.release();
  return worst;
}

const rows = [...readFileSync(table, 'utf8').matchAll(/^OP\((\w+),.*, (\w+), \w+\)$/gm)];
const ruled = new Set(rows.filter(([, , rule]) => rule !== 'none' && rule !== 'random').map(([, op]) => op));
const results = new Map(); // operator -> { n, exact, worst }
let failures = 0, n_divisions = 0, turn = 0;
const fail = (title, text) => { failures++; console.log(`FAIL ${title}: ${text}`); };

async function check(one) {
  const title = `${one.op}(${one.operands.map((o) => (o === null ? '_' : `[${o.shape}]`)).join(', ')}${one.attributes ? ', ' + one.attributes : ''})`;
  const { text, feeds } = build(one, 'f32');
  writeFileSync(source, text);
  const { n } = dimensions();
  let want = null;
  for (let label = 1; label <= n; label++)
    for (const ways of one.large ? [...WAYS, ...WAYS.map((k) => `${k}:scatter`)] : WAYS) {
      if (!one.large && turn++ % Number(every)) continue;
      const { ok, said } = prepare(divided, '--shard', `y*:${label}:${ways}`);
      if (/ways are more than/.test(said) || /nothing but padding/.test(said)) continue;
      if (!ok) { fail(title, `dimension ${label}: ${said.trim()}`); continue; }
      if (!want) {
        if (!prepare(whole).ok) return;
        try {
          const session = await openSession(whole);
          want = await session.run(Object.fromEntries(session.inputNames.map((k) => [k, feeds[k]])));
        } catch { return; } // ONNX Runtime has no kernel for the whole operator
      }
      const unproven = checker && proof(label, ways);
      if (unproven) fail(title, `dimension ${label} in ${ways}: not proven: ${unproven}`);
      try {
        const worst = await compare(want, feeds), r = results.get(one.op) ?? { n: 0, exact: 0, worst: 0 };
        results.set(one.op, { n: r.n + 1, exact: r.exact + (worst === 0), worst: Math.max(r.worst, worst) });
        n_divisions++;
        if (worst > TOLERANCE) fail(title, `dimension ${label} in ${ways}: error ${worst.toExponential(1)}`);
      } catch (e) {
        fail(title, `dimension ${label} in ${ways}: ${e.message.split('\n')[0]}`);
      }
    }
}

const cases = [...own, ...elementwise, ...layers, ...layout].filter((k) => ruled.has(k.op) && !k.body && !k.fresh && (!only || k.op === only));
for (const one of cases) await check(one);
rmSync(scratch, { recursive: true });
for (const [op, r] of [...results].sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${op.padEnd(28)} ${String(r.n).padStart(4)} ${String(r.exact).padStart(4)} exact  ${r.worst.toExponential(1)}`);
const missing = only ? [] : [...ruled].filter((op) => !cases.some((k) => k.op === op));
if (missing.length) fail('rules without a case', missing.join(', '));
console.log(`${n_divisions} divisions of ${results.size} operators, ${failures} failed`);
process.exit(failures ? 1 : 0);
