// Every gradient rule against finite differences, through ONNX Runtime. For each case (cases_*.mjs) mfc types the model
// and makes the step with the vjp loss; the loss is then evaluated around the inputs with the forward model alone, in
// float64 where ONNX Runtime has the kernels and in float32 elsewhere, and fourth-order central differences of it are
// compared with the step's gradients: the largest difference over the largest slope. The shapes that mfc inferred are
// compared with what comes out. Prints operator, cases, worst error; an operator that has a rule in ir/op.def, or a row
// in decompose.def, and no case is a failure too.
//
//     node differences.mjs MFC OP.DEF DECOMPOSE.DEF [OPERATOR]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './case.mjs';
import elementwise from './cases_elementwise.mjs';
import layers from './cases_layers.mjs';
import layout from './cases_layout.mjs';
import decomposed from '../kernels/cases.mjs';
import ort, { openSession } from './runtime.mjs';

const TOLERANCE = { f64: 1e-6, f32: 1e-3 };
const STEP = { f64: 1e-3, f32: 1.5e-2 };
const PASSES = '--passes=inline,upgrade,shapes,fold,decompose,fold,unroll,fold,recognize,dce,loss,grad,expand,simplify,dce';

const [mfc, opDef, decomposeDef, only] = process.argv.slice(2);
// Differentiated after another pass has replaced them.
const EXPANDED = ['GRU', 'LSTM', 'RNN', 'Upsample', ...[...readFileSync(decomposeDef, 'utf8').matchAll(/^DECOMPOSE\("([^"]*)", (\w+), \w+\)$/gm)]
  .map(([, domain, name]) => (domain ? `${name}<${domain}>` : name))];
const scratch = mkdtempSync(join(tmpdir(), 'mfc-differences-'));
const [source, shown, forward, step] = ['case.mfc', 'shown.mfc', 'forward.onnx', 'step.onnx'].map((n) => join(scratch, n));

function run(args) {
  try {
    execFileSync(mfc, [...args, '--quiet'], { stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (e) {
    throw new Error(`mfc: ${e.stderr?.toString().trim() || e.message}`);
  }
}

const lacksKernel = (e) => /NOT_IMPLEMENTED|Could not find an implementation|is invalid|not supported/.test(e.message);

// The slope of a function of one number: fourth order, so that the step can be large against float32's noise.
async function slope(at, h) {
  const [a, b, c, d] = [await at(-2 * h), await at(-h), await at(h), await at(2 * h)];
  let sum = 0;
  for (let k = 0; k < a.length; k++) {
    if (!a[k]) continue;
    const [va, vb, vc, vd, seed] = [a[k].data, b[k].data, c[k].data, d[k].data, a[k].seed];
    for (let i = 0; i < va.length; i++) sum += seed[i] * (8 * (vc[i] - vb[i]) - (vd[i] - va[i]));
  }
  return sum / (12 * h);
}

// Gradients pass straight through rounding: what is differentiated has QuantizeLinear and the DequantizeLinear behind it
// left out of what mfc makes of quantized operators.
function withoutRounding(text) {
  writeFileSync(source, text);
  run(['opt', source, PASSES.replace(/decompose,.*/, 'decompose'), '-o', shown]);
  const rounded = new Set();
  return readFileSync(shown, 'utf8').split('\n').filter((l) => !l.startsWith('facts')).map((l) => {
    const q = l.match(/^ *(%\S+) = QuantizeLinear\(([^,]+),/);
    if (q) rounded.add(q[1]);
    const back = l.match(/^ *(%\S+) = DequantizeLinear\(([^,]+),/), [, to, from] = q ?? (back && rounded.has(back[2]) ? back : []);
    return to ? `  ${to} = Identity(${from})` : l;
  }).join('\n');
}

async function compare(one, float) {
  const { text, forwardText, feeds, wanted, random } = build(one, float);
  writeFileSync(source, one.rounds ? withoutRounding(text) : forwardText);
  run(['convert', source, forward]);
  writeFileSync(source, text);
  let session = await openSession(forward);
  const first = await session.run(feeds);
  const seeds = {};
  for (const [name, t] of Object.entries(first)) {
    if (t.type !== 'float32' && t.type !== 'float64') continue;
    const data = t.data.map(() => (0.3 + 0.7 * random()) * (random() < 0.5 ? -1 : 1));
    seeds[name] = new ort.Tensor(t.type, data, t.dims);
  }
  run(['opt', source, PASSES, '--loss', 'vjp', '--keep-outputs', ...wanted.flatMap((w) => ['--grad-input', w]), '-o', step]);
  const stepSession = await openSession(step);
  for (const m of stepSession.outputMetadata) {
    const t = first[m.name];
    if (t && (m.shape.length !== t.dims.length || m.shape.some((d, i) => d !== t.dims[i])))
      throw new Error(`mfc infers [${m.shape}] for ${m.name}, which is [${t.dims}]`);
  }
  const all = { ...feeds, ...Object.fromEntries(Object.entries(seeds).map(([k, v]) => [`seed(${k})`, v])) };
  const have = await stepSession.run(Object.fromEntries(stepSession.inputNames.map((n) => [n, all[n]])));
  let worst = 0;
  for (const name of wanted) {
    const grad = have[`grad(${name})`];
    if (!grad) throw new Error(`no grad(${name}) among the outputs`);
    const x = feeds[name].data, want = new Float64Array(x.length);
    for (let i = 0; i < x.length; i++) {
      const kept = x[i];
      want[i] = await slope(async (by) => {
        x[i] = kept + by;
        if (one.fresh) session = await openSession(forward);
        const y = await session.run(feeds);
        x[i] = kept;
        return Object.entries(seeds).map(([k, seed]) => ({ data: y[k].data, seed: seed.data }));
      }, STEP[float]);
    }
    let diff = 0, scale = 1e-2;
    for (let i = 0; i < x.length; i++) {
      diff = Math.max(diff, Number.isFinite(grad.data[i]) ? Math.abs(grad.data[i] - want[i]) : Infinity);
      scale = Math.max(scale, Math.abs(want[i]));
    }
    worst = Math.max(worst, diff / scale);
  }
  return worst;
}

async function check(one) {
  if (!one.only32) {
    try {
      return { float: 'f64', worst: await compare(one, 'f64') };
    } catch (e) {
      if (!lacksKernel(e)) throw e;
    }
  }
  return { float: 'f32', worst: await compare(one, 'f32') };
}

const rules = new Map([...readFileSync(opDef, 'utf8').matchAll(/^OP\((\w+),.*, (\w+)\)$/gm)].map((m) => [m[1], m[2]]));
const hasRule = (op) => EXPANDED.includes(op) || !['none', 'zero', undefined].includes(rules.get(op));
const cases = [...elementwise, ...layers, ...layout, ...decomposed].filter((k) => !only || k.op === only);
const table = new Map();
let failures = 0;
for (const one of cases) {
  const row = table.get(one.op) ?? { f64: [], f32: [], failed: 0, ran: 0 };
  table.set(one.op, row);
  if (!hasRule(one.op) && !one.zero) continue;
  row.ran++;
  const shown = `${one.op}-${one.opset}(${one.operands.map((o) => (o === null ? '_' : `[${o.shape}]`)).join(', ')}${one.attributes ? ', ' + one.attributes : ''})`;
  try {
    const r = await check(one);
    row[r.float].push(r.worst);
    if (r.worst <= TOLERANCE[r.float]) continue;
    console.log(`FAIL ${shown}: ${r.float}, error ${r.worst.toExponential(1)}`);
  } catch (e) {
    console.log(`FAIL ${shown}: ${e.message.split('\n').slice(0, 3).join(' | ')}`);
  }
  row.failed++;
  failures++;
}
rmSync(scratch, { recursive: true });

const shortly = (errors) => (errors.length ? `${String(errors.length).padStart(3)} ${Math.max(...errors).toExponential(1)}` : '').padEnd(12);
console.log(`${'operator'.padEnd(28)} float64      float32`);
for (const [op, row] of [...table].sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${op.padEnd(28)} ${shortly(row.f64)} ${shortly(row.f32)}${row.failed ? ` ${row.failed} FAILED` : ''}${row.ran ? '' : 'no rule yet, not run'}`);
const missing = only ? [] : [...new Set([...rules.keys(), ...EXPANDED])].filter((op) => hasRule(op) && !table.has(op));
for (const op of missing) console.log(`FAIL ${op} has a gradient rule and no case`);
const ran = [...table.values()].reduce((n, r) => n + r.ran, 0);
console.log(`${ran} cases of ${table.size} operators, ${failures} failed, ${missing.length} operators without a case`);
process.exit(failures || missing.length ? 1 : 0);
