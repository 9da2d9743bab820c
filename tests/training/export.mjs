// export.mjs MFC: twenty steps of AdamW on ten networks, and back. The loop with mfc's update must end where the formulas of
// PyTorch end in double precision, applied to the gradients of another step; the exported model must predict what the model
// predicts whose constants these numbers are.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, encode } from '../../examples/training/safetensors.mjs';
import { Trainer } from '../../examples/training/trainer.mjs';
import { at, demand, difference, mfc, ort, quiet, top } from './common.mjs';

// A large epsilon: without it, gradients that are zero up to rounding would move parameters by the whole learning rate.
const STEPS = 20, SETTINGS = { lr: 1e-3, beta1: 0.9, beta2: 0.99, epsilon: 1e-3, weight_decay: 0.05 };
const networks = join(top, 'tests/gradient/networks');
const models = [...readdirSync(networks).filter((f) => f.endsWith('-op17.onnx')).map((f) => join(networks, f)),
  join(top, 'examples/mlp.onnx'), join(top, 'examples/training/cnn.onnx')];

let seed = 12345;
function unit() {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed / 0x7fffffff;
}

// A tensor for an input of data: small numbers, classes that exist everywhere.
function draw({ name, type, shape }) {
  const n = shape.reduce((a, b) => a * b, 1);
  const numbers = Array.from({ length: n }, () => (type === 'float32' ? unit() * 2 - 1 : Math.floor(unit() * 2)));
  return new ort.Tensor(type, type === 'int64' ? BigInt64Array.from(numbers, BigInt) : Float32Array.from(numbers), shape);
}

const inputsOf = (session, names) => session.inputMetadata.filter((m) => names.includes(m.name));

async function one(model, index) {
  mfc(model, '-o', at('step.onnx'), '--optimizer', 'adamw', '--weights', 'inputs', '--initial', at('start.safetensors'), '--budget',
    index % 2 ? '200%' : 'none', '--method', 'keep-all', '-q');
  mfc(model, '-o', at('grad.onnx'), '--weights', 'inputs', '--budget', 'none', '-q');
  const start = readFileSync(at('start.safetensors'));
  const trainer = await Trainer.create(ort, at('step.onnx'), start, quiet);
  const plain = await ort.InferenceSession.create(at('grad.onnx'), quiet);
  // The same by hand: parameters, moments and running statistics.
  const own = decode(start).tensors, names = plain.outputNames.filter((n) => n.startsWith('grad(')).map((n) => n.slice(5, -1));
  const exact = Object.fromEntries(names.map((n) => [n, { p: Float64Array.from(own[n].data), m: new Float64Array(own[n].data.length),
    v: new Float64Array(own[n].data.length) }]));
  const fed = Object.fromEntries(plain.inputNames.filter((n) => n in own).map((n) => [n, new ort.Tensor(own[n].type, own[n].data, own[n].dims)]));
  let worst = 0;
  for (let t = 1; t <= STEPS; t++) {
    const data = Object.fromEntries(inputsOf(plain, plain.inputNames.filter((n) => !(n in own))).map((m) => [m.name, draw(m)]));
    const { loss } = await trainer.step({ ...SETTINGS, ...data });
    const out = await plain.run({ ...fed, ...data });
    worst = Math.max(worst, Math.abs(out[plain.outputNames[0]].data[0] - loss));
    for (const [name, { p, m, v }] of Object.entries(exact)) {
      const g = out[`grad(${name})`].data, { lr, beta1, beta2, epsilon, weight_decay: decay } = SETTINGS;
      for (let i = 0; i < p.length; i++) {
        m[i] = beta1 * m[i] + (1 - beta1) * g[i];
        v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
        p[i] = p[i] * (1 - lr * decay) - (lr / (1 - beta1 ** t)) * (m[i] / (Math.sqrt(v[i] / (1 - beta2 ** t)) + epsilon));
      }
      fed[name] = new ort.Tensor('float32', Float32Array.from(p), own[name].dims);
    }
    for (const name of plain.outputNames.filter((n) => n.startsWith('next('))) fed[name.slice(5, -1)] = out[name];
  }
  writeFileSync(at('now.safetensors'), Buffer.concat(trainer.checkpoint()));
  const exported = mfc('export', model, '--state', at('now.safetensors'), '-o', at('trained.onnx'));
  for (const name of Object.keys(fed)) worst = Math.max(worst, difference(trainer.state[name].data, fed[name].data));
  writeFileSync(at('hand.safetensors'), Buffer.concat(encode(fed)));
  mfc('export', model, '--state', at('hand.safetensors'), '-o', at('hand.onnx'));
  const trained = await ort.InferenceSession.create(at('trained.onnx'), quiet), hand = await ort.InferenceSession.create(at('hand.onnx'), quiet);
  const feeds = Object.fromEntries(trained.inputMetadata.map((m) => [m.name, draw(m)]));
  const a = await trained.run(feeds), b = await hand.run(feeds);
  const predicted = Math.max(...trained.outputNames.map((n) => difference(a[n].data, b[n].data)));
  console.log(`${model.split('/').pop()}: ${names.length} parameters, training ${worst.toExponential(1)}, predictions ${predicted.toExponential(1)}`);
  demand(/^replaced/.test(exported) && worst <= 1e-5 && predicted <= 1e-5, `${model}: the way back differs`);
}

for (const [index, model] of models.entries()) await one(model, index);
demand(models.length >= 10, 'fewer than ten networks');
