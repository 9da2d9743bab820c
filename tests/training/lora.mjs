// lora.mjs MFC: low-rank adapters on ONNX Runtime. The first step has the loss of the base model to the last bit; fifty steps
// are those of the chain rule written out here, in double precision, from the gradients of the whole weights (dL = dW Rᵀ s,
// dR = Lᵀ dW s); the merged export predicts what base and adapters predict.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, encode } from '../../examples/training/safetensors.mjs';
import { Trainer } from '../../examples/training/trainer.mjs';
import { at, demand, difference, mfc, ort, quiet, top } from './common.mjs';

const RANK = 3, ALPHA = 6, SETTINGS = { lr: 5e-3, beta1: 0.9, beta2: 0.99, epsilon: 1e-3, weight_decay: 0.05 };
let seed = 4242;
function unit() {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed / 0x7fffffff;
}

function draw({ name, type, shape }) {
  const n = shape.reduce((a, b) => a * b, 1);
  const numbers = Array.from({ length: n }, () => (type === 'float32' ? unit() * 2 - 1 : Math.floor(unit() * 2)));
  return new ort.Tensor(type, type === 'int64' ? BigInt64Array.from(numbers, BigInt) : Float32Array.from(numbers), shape);
}

// C += s A B, for matrices by rows; transposed: Aᵀ or Bᵀ.
function addProduct(c, a, b, [rows, inner, columns], s, transposeA = false, transposeB = false) {
  for (let i = 0; i < rows; i++)
    for (let k = 0; k < inner; k++) {
      const x = s * (transposeA ? a[k * rows + i] : a[i * inner + k]);
      for (let j = 0; j < columns; j++) c[i * columns + j] += x * (transposeB ? b[j * inner + k] : b[k * columns + j]);
    }
}

function adamw(p, g, s, t) {
  const { lr, beta1, beta2, epsilon, weight_decay: decay } = SETTINGS;
  for (let i = 0; i < p.length; i++) {
    s.m[i] = beta1 * s.m[i] + (1 - beta1) * g[i];
    s.v[i] = beta2 * s.v[i] + (1 - beta2) * g[i] * g[i];
    p[i] = p[i] * (1 - lr * decay) - (lr / (1 - beta1 ** t)) * (s.m[i] / (Math.sqrt(s.v[i] / (1 - beta2 ** t)) + epsilon));
  }
}

async function adapters(model, pattern, steps, ...options) {
  const s = ALPHA / RANK;
  mfc(model, '-o', at('lora.onnx'), '--lora', `${RANK}:${pattern}`, '--lora-alpha', ALPHA, '--optimizer', 'adamw', '--weights', 'inputs', '--initial',
    at('lora.safetensors'), '-q', ...options);
  mfc(model, '-o', at('base.onnx'), '--weights', 'inputs', '--budget', 'none', '--initial', at('base.safetensors'), '-q');
  mfc(model, '-o', at('eval.onnx'), '--eval', '--lora', `${RANK}:${pattern}`, '--lora-alpha', ALPHA, '--weights', 'inputs', '-q');
  const trainer = await Trainer.create(ort, at('lora.onnx'), readFileSync(at('lora.safetensors')), quiet);
  const base = await ort.InferenceSession.create(at('base.onnx'), quiet), fed = {};
  const weights = decode(readFileSync(at('base.safetensors'))).tensors;
  for (const [name, t] of Object.entries(weights)) fed[name] = new ort.Tensor(t.type, t.data, t.dims);
  const adapted = Object.keys(trainer.state).filter((n) => n.startsWith('lora.left(')).map((n) => n.slice(10, -1)), own = {};
  for (const name of adapted)
    for (const side of ['left', 'right']) {
      const p = Float64Array.from(trainer.state[`lora.${side}(${name})`].data);
      (own[name] ??= {})[side] = { p, s: { m: new Float64Array(p.length), v: new Float64Array(p.length) } };
    }
  let worst = 0, first, start;
  for (let t = 1; t <= steps; t++) {
    const data = Object.fromEntries(base.inputMetadata.filter((m) => !(m.name in fed)).map((m) => [m.name, draw(m)]));
    const { loss } = await trainer.step({ ...SETTINGS, ...data });
    const shapes = {};
    for (const name of adapted) {
      const { data: w, dims } = weights[name], rows = dims[0], columns = w.length / rows, sum = Float64Array.from(w);
      addProduct(sum, own[name].left.p, own[name].right.p, [rows, RANK, columns], s);
      fed[name] = new ort.Tensor('float32', Float32Array.from(sum), dims);
      shapes[name] = [rows, columns];
    }
    const out = await base.run({ ...fed, ...data });
    if (t === 1) [first, start] = [loss, out[base.outputNames[0]].data[0]];
    worst = Math.max(worst, Math.abs(loss - out[base.outputNames[0]].data[0]));
    for (const name of adapted) {
      const dw = out[`grad(${name})`].data, [rows, columns] = shapes[name], { left, right } = own[name];
      const dl = new Float64Array(left.p.length), dr = new Float64Array(right.p.length);
      addProduct(dl, dw, right.p, [rows, columns, RANK], s, false, true);
      addProduct(dr, left.p, dw, [RANK, rows, columns], s, true, false);
      adamw(left.p, dl, left.s, t);
      adamw(right.p, dr, right.s, t);
    }
    for (const name of base.outputNames.filter((n) => n.startsWith('next('))) fed[name.slice(5, -1)] = out[name];
  }
  for (const name of adapted)
    for (const side of ['left', 'right']) worst = Math.max(worst, difference(trainer.state[`lora.${side}(${name})`].data, own[name][side].p));
  // Merged, against the adapters in the graph.
  writeFileSync(at('now.safetensors'), Buffer.concat(trainer.checkpoint()));
  const said = mfc('export', model, '--state', at('now.safetensors'), '-o', at('merged.onnx'));
  const merged = await ort.InferenceSession.create(at('merged.onnx'), quiet), beside = await ort.InferenceSession.create(at('eval.onnx'), quiet);
  const data = Object.fromEntries(beside.inputMetadata.filter((m) => !(m.name in trainer.state)).map((m) => [m.name, draw(m)]));
  const a = await merged.run(Object.fromEntries(merged.inputNames.map((n) => [n, data[n]])));
  const b = await beside.run({ ...data, ...Object.fromEntries(beside.inputNames.filter((n) => n in trainer.state).map((n) => [n, trainer.state[n]])) });
  const predicted = Math.max(...merged.outputNames.map((n) => difference(a[n].data, b[n].data)));
  console.log(`${model.split('/').pop()} ${pattern}: ${adapted.length} adapters, first loss ${first === start ? 'equal' : 'DIFFERS'}, ${steps} steps ` +
    `${worst.toExponential(1)}, merged ${predicted.toExponential(1)}`);
  demand(first === start && adapted.length > 0 && said.includes(`merged     ${adapted.length} adapters`), `${model}: the first step differs\n${said}`);
  demand(worst <= 1e-5 && predicted <= 1e-6, `${model}: adapters differ`);
}

const network = (name) => join(top, `tests/gradient/networks/${name}-op17.onnx`);
await adapters(join(top, 'examples/mlp.onnx'), '*', 50, '--method', 'keep-all', '--budget', '200%');
await adapters(join(top, 'examples/mlp.onnx'), 'w1', 50, '--budget', 'none');
await adapters(join(top, 'examples/training/cnn.onnx'), '*', 50, '--budget', 'none');
await adapters(network('encoder'), '*', 50, '--budget', 'none');
await adapters(network('decoder'), '*', 50, '--budget', 'none');
