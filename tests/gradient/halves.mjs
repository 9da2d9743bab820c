// Gradients in 16-bit floats: the first case of every operator (cases_*.mjs), as a step in float16 and in bfloat16, and
// as one in float32 from the same rounded inputs. ONNX Runtime computes float16 on the CPU in float32 between casts where
// it has no kernel; what is shown is that the types of the graph fit and that no gradient is lost. For bfloat16 it has
// hardly any kernel: the step is typed in bfloat16, then runs with the name of that type replaced by float32. Prints
// operator and error.
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

const TOLERANCE = { f16: 1e-2, bf16: 1e-2 }; // for bfloat16 only constants are rounded
const PASSES = '--passes=inline,upgrade,shapes,fold,decompose,fold,unroll,fold,dce,loss,grad,dce';
const [mfc, opDef, only] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-halves-'));

async function gradients(one, float) {
  const brain = float === 'bf16'; // bfloat16
  const { text, feeds, wanted, random } = build(one, brain ? 'f32' : float);
  const source = join(scratch, 'case.mfc'), step = join(scratch, `${float}.onnx`), typed = join(scratch, 'typed.mfc');
  writeFileSync(source, brain ? text.replace(/\bf32\b/g, 'bf16').replace(/\bto=1\b/g, 'to=16') : text);
  try {
    execFileSync(mfc, ['opt', source, PASSES, '--loss', 'vjp', ...wanted.flatMap((w) => ['--grad-input', w]), '-o', brain ? typed : step, '--quiet'],
      { stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (e) {
    throw new Error(`mfc: ${e.stderr?.toString().trim() || e.message}`);
  }
  if (brain) {
    const made = readFileSync(typed, 'utf8');
    for (const w of wanted) if (!made.includes(`%"grad(${w})"`)) throw new Error(`no grad(${w})`);
    writeFileSync(typed, made.replace(/\bbf16\b/g, 'f32').replace(/\bto=16\b/g, 'to=1').replace(/^facts.*$/m, ''));
    execFileSync(mfc, ['convert', typed, step, '--quiet'], { stdio: ['ignore', 'pipe', 'pipe'] });
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
const right = { f16: 0, bf16: 0 };
let failed = 0;
const lacking = [];
for (const one of [...elementwise, ...layers, ...layout]) {
  if (seen.has(one.op) || one.fresh || one.zero || (only && one.op !== only)) continue;
  if (['none', 'zero'].includes(rules.get(one.op)) && !['GRU', 'LSTM', 'RNN'].includes(one.op)) continue;
  seen.add(one.op);
  const name = one.op.padEnd(28);
  try {
    const full = await gradients(one, 'f32');
    for (const float of ['f16', 'bf16']) {
      let half;
      try {
        half = await gradients(one, float);
      } catch (e) {
        if (!/Type 'tensor\(float16\)' of input parameter \(x\d\)/.test(e.message)) throw e;
        lacking.push(one.op);
        continue;
      }
      const worst = Math.max(...half.map((g, k) => error(g, full[k])));
      const ok = worst <= TOLERANCE[float];
      console.log(`${ok ? 'ok  ' : 'FAIL'} ${float.padEnd(4)} ${name} ${worst.toExponential(1)}`);
      ok ? right[float]++ : failed++;
    }
  } catch (e) {
    failed++;
    console.log(`FAIL ${name} ${e.message.split('\n').slice(0, 2).join(' | ')}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`float16: ${right.f16} operators, bfloat16: ${right.bf16}, failed: ${failed}; not taking float16, or not in all operands: ${lacking.join(' ')}`);
process.exit(failed ? 1 : 0);
