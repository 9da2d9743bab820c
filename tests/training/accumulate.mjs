// accumulate.mjs MFC: N micro-batches with --accumulate N, then the step of --update, are one step with the whole batch. And
// parameters of 16 bits are updated as copies of 32, with state of 32.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trainer } from '../../examples/training/trainer.mjs';
import { at, demand, difference, mfc, ort, quiet, top } from './common.mjs';

const SETTINGS = { lr: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-3, weight_decay: 0.1 };
let seed = 7;
function unit() {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed / 0x7fffffff;
}

async function microBatches(n, ...options) {
  const model = join(top, 'examples/mlp.onnx'), common = ['--optimizer', 'adamw', '--weights', 'inputs', '-q', ...options];
  mfc(model, '-o', at('whole.onnx'), '--budget', 'none', '--initial', at('whole.safetensors'), ...common);
  mfc(model, '-o', at('part.onnx'), '--method', 'keep-all', '--budget', '300%', '--batch', 32 / n, '--accumulate', n, '--update', at('update.onnx'), '--initial',
    at('part.safetensors'), ...common);
  const whole = await Trainer.create(ort, at('whole.onnx'), readFileSync(at('whole.safetensors')), quiet);
  const part = await Trainer.create(ort, at('part.onnx'), readFileSync(at('part.safetensors')), { ...quiet, update: at('update.onnx') });
  let worst = 0;
  for (let step = 0; step < 10; step++) {
    const image = Float32Array.from({ length: 32 * 64 }, () => unit() * 2 - 1), labels = BigInt64Array.from({ length: 32 }, () => BigInt(Math.floor(unit() * 10)));
    const slice = (k, m) => ({ image: new ort.Tensor('float32', image.slice((k * 32 * 64) / m, ((k + 1) * 32 * 64) / m), [32 / m, 64]),
      labels: new ort.Tensor('int64', labels.slice((k * 32) / m, ((k + 1) * 32) / m), [32 / m]) });
    const { loss } = await whole.step({ ...SETTINGS, ...slice(0, 1) });
    let mean = 0;
    for (let k = 0; k < n; k++) mean += (await part.step({ ...SETTINGS, ...slice(k, n) })).loss / n;
    await part.update(SETTINGS);
    worst = Math.max(worst, Math.abs(mean - loss));
    for (const name of Object.keys(whole.state)) worst = Math.max(worst, difference(part.state[name].data, whole.state[name].data));
  }
  const rest = Object.keys(part.state).filter((name) => name.startsWith('sum('));
  console.log(`${n} micro-batches ${options.join(' ')}: difference ${worst.toExponential(1)} after 10 updates`);
  demand(worst <= 1e-6 && rest.length === 6 && rest.every((name) => part.state[name].data.every((x) => x === 0)), 'accumulation differs');
}

// IEEE half from its bits.
function half(bits) {
  const e = (bits >> 10) & 31, m = bits & 1023, x = e ? 2 ** (e - 15) * (1 + m / 1024) : 2 ** -14 * (m / 1024);
  return bits >> 15 ? -x : x;
}

async function sixteenBits() {
  writeFileSync(at('half.mfc'), `mfc 1
ir_version 8
opset 17
graph "half" {
  input %x : f16[4]
  param %w : f16[4] = {1.0,-0.5,0.25,3.0}
  %y = Mul(%x, %w)
  %z = ReduceSum(%y, keepdims=0)
  output %z
}
`);
  mfc(at('half.mfc'), '-o', at('half.onnx'), '--budget', 'none', '--optimizer', 'adam', '--weights', 'inputs', '--initial', at('half.safetensors'), '-q');
  const trainer = await Trainer.create(ort, at('half.onnx'), readFileSync(at('half.safetensors')), quiet);
  const types = Object.fromEntries(Object.entries(trainer.state).map(([name, t]) => [name, t.type]));
  demand(types.w === 'float16' && types['master(w)'] === 'float32' && types['adam.m(w)'] === 'float32', JSON.stringify(types));
  const p = [1, -0.5, 0.25, 3], m = [0, 0, 0, 0], v = [0, 0, 0, 0], g = [1, 2, -1, 0.5], bits = Uint16Array.from([0x3c00, 0x4000, 0xbc00, 0x3800]);
  let worst = 0, rounding = 0;
  for (let t = 1; t <= 50; t++) {
    await trainer.step({ x: new ort.Tensor('float16', bits, [4]), lr: 1e-4, beta1: 0.9, beta2: 0.99, epsilon: 1e-3 });
    for (let i = 0; i < 4; i++) {
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.99 * v[i] + 0.01 * g[i] ** 2;
      // Rounded to 32 bits in each step: half a unit in the last place of 3, always to the same side, would add up.
      p[i] = Math.fround(p[i] - (1e-4 / (1 - 0.9 ** t)) * (m[i] / (Math.sqrt(v[i] / (1 - 0.99 ** t)) + 1e-3)));
      worst = Math.max(worst, Math.abs(trainer.state['master(w)'].data[i] - p[i]));
      rounding = Math.max(rounding, Math.abs(half(trainer.state.w.data[i]) - p[i]) / Math.abs(p[i]));
    }
  }
  console.log(`16 bits: copies of 32 differ by ${worst.toExponential(1)}, parameters are rounded by ${rounding.toExponential(1)}`);
  // Steps of 1e-4 are lost in 16 bits at 3: the spacing is 2e-3.
  demand(worst <= 1e-6 && rounding <= 2 ** -11 && half(trainer.state.w.data[3]) < 3, 'parameters of 16 bits differ');
}

await microBatches(4);
await microBatches(8, '--clip-norm', '0.2');
await microBatches(2, '--loss-scale', 'dynamic');
await sixteenBits();
