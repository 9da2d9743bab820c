// Gradients in float16: the first case of every operator (cases_*.mjs), as a step in float16 and as one in float32 from
// the same rounded inputs. ONNX Runtime computes float16 on the CPU in float32 between casts where it has no kernel; what
// is shown is that the types of the graph fit and that no gradient is lost. Prints operator and error.
//
//     node halves.mjs MFC OP.DEF [OPERATOR]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './case.mjs';
import elementwise from './cases_elementwise.mjs';
import layers from './cases_layers.mjs';
import layout from './cases_layout.mjs';
import { fromHalf, toHalf } from './half.mjs';
import ort, { openSession } from './runtime.mjs';

const TOLERANCE = 1e-2;
const PASSES = '--passes=inline,upgrade,shapes,fold,decompose,fold,unroll,fold,dce,loss,grad,dce';
const [mfc, opDef, only] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-halves-'));

async function gradients(one, float) {
  const { text, feeds, wanted, random } = build(one, float);
  const source = join(scratch, 'case.mfc'), step = join(scratch, `${float}.onnx`);
  writeFileSync(source, text);
  try {
    execFileSync(mfc, ['opt', source, PASSES, '--loss', 'vjp', ...wanted.flatMap((w) => ['--grad-input', w]), '-o', step, '--quiet'],
      { stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (e) {
    throw new Error(`mfc: ${e.stderr?.toString().trim() || e.message}`);
  }
  const session = await openSession(step);
  for (const m of session.inputMetadata.filter((x) => x.name.startsWith('seed('))) {
    const values = Array.from({ length: m.shape.reduce((a, b) => a * b, 1) }, () => fromHalf(toHalf((0.3 + 0.7 * random()) * (random() < 0.5 ? -1 : 1))));
    feeds[m.name] = new ort.Tensor(m.type, m.type === 'float16' ? Uint16Array.from(values, toHalf) : Float32Array.from(values), m.shape);
  }
  const have = await session.run(Object.fromEntries(session.inputNames.map((n) => [n, feeds[n]])));
  return wanted.map((w) => {
    const t = have[`grad(${w})`];
    if (!t) throw new Error(`no grad(${w})`);
    return t.type === 'float16' ? Array.from(new Uint16Array(t.data.buffer, t.data.byteOffset, t.data.length), fromHalf) : [...t.data];
  });
}

function error(a, b) {
  let diff = 0, scale = 1e-2;
  b.forEach((w, i) => {
    diff = Math.max(diff, Number.isFinite(a[i]) ? Math.abs(a[i] - w) : Infinity);
    scale = Math.max(scale, Math.abs(w));
  });
  return diff / scale;
}

const rules = new Map([...readFileSync(opDef, 'utf8').matchAll(/^OP\((\w+),.*, (\w+)\)$/gm)].map((m) => [m[1], m[2]]));
const seen = new Set();
let right = 0, failed = 0, lacking = [];
for (const one of [...elementwise, ...layers, ...layout]) {
  if (seen.has(one.op) || one.fresh || one.zero || (only && one.op !== only)) continue;
  if (['none', 'zero'].includes(rules.get(one.op)) && !['GRU', 'LSTM', 'RNN'].includes(one.op)) continue;
  seen.add(one.op);
  try {
    let half;
    try {
      half = await gradients(one, 'f16');
    } catch (e) {
      if (!/Type 'tensor\(float16\)' of input parameter \(x\d\)/.test(e.message)) throw e;
      lacking.push(one.op);
      continue;
    }
    const full = await gradients(one, 'f32');
    const worst = Math.max(...half.map((g, k) => error(g, full[k])));
    console.log(`${worst <= TOLERANCE ? 'ok  ' : 'FAIL'} ${one.op.padEnd(28)} ${worst.toExponential(1)}`);
    worst <= TOLERANCE ? right++ : failed++;
  } catch (e) {
    failed++;
    console.log(`FAIL ${one.op.padEnd(28)} ${e.message.split('\n').slice(0, 2).join(' | ')}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`float16: ${right} of ${right + failed} operators; not taking float16, or not in all operands: ${lacking.join(' ')}`);
process.exit(failed ? 1 : 0);
