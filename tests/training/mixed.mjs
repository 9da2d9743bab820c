// mixed.mjs MFC: products in 16 bits, a new head. With --mixed the losses of forty steps stay near those of 32 bits, parameters
// and state have 32 bits, the exported model is one of 32 bits; --head trains another number of classes and exports them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Data } from '../../examples/training/data.mjs';
import { Trainer } from '../../examples/training/trainer.mjs';
import { at, demand, mfc, ort, quiet, top } from './common.mjs';

const STEPS = 40, SETTINGS = { lr: 3e-3, beta1: 0.9, beta2: 0.99, epsilon: 1e-4, weight_decay: 0.01 };
const model = join(top, 'examples/training/cnn.onnx');

async function train(...options) {
  mfc(model, '-o', at('step.onnx'), '--optimizer', 'adamw', '--weights', 'inputs', '--initial', at('start.safetensors'), '--budget', 'none', '-q', ...options);
  const trainer = await Trainer.create(ort, at('step.onnx'), readFileSync(at('start.safetensors')), quiet), data = new Data(1), losses = [];
  for (let t = 0; t < STEPS; t++) losses.push((await trainer.step({ ...SETTINGS, ...data.tensors(ort) })).loss);
  writeFileSync(at('now.safetensors'), Buffer.concat(trainer.checkpoint()));
  return { losses, state: trainer.state };
}

const exact = await train();
// ONNX Runtime has no products of bfloat16 on the CPU.
for (const [kind, bound] of [['f16', 2 ** -8]]) {
  const { losses, state } = await train('--mixed', kind);
  const worst = Math.max(...losses.map((x, i) => Math.abs(x - exact.losses[i]) / exact.losses[0]));
  const wide = Object.entries(state).every(([, t]) => t.type === 'float32' || t.type === 'int64');
  mfc('export', model, '--state', at('now.safetensors'), '-o', at('trained.onnx'));
  const trained = await ort.InferenceSession.create(at('trained.onnx'), quiet);
  console.log(`${kind}: losses differ by ${worst.toExponential(1)} of the first one, the last is ${losses.at(-1).toFixed(3)}; scale ${state.loss_scale?.data[0]}`);
  demand(worst > 0 && worst <= bound && wide && losses.at(-1) < losses[0] / 2 && trained.inputNames.length === 1, 'mixed precision differs');
  demand(state.loss_scale.data[0] >= 1, 'f16 has no loss scale');
}

const { losses } = await train('--head', '7');
mfc('export', model, '--head', '7', '--state', at('now.safetensors'), '-o', at('head.onnx'));
const head = await ort.InferenceSession.create(at('head.onnx'), quiet);
const { image, labels } = new Data(2).tensors(ort), { scores } = await head.run({ image });
const n = labels.data.length, right = Array.from(labels.data).filter((label, i) => {
  const row = scores.data.slice(i * 7, i * 7 + 7);
  return row.indexOf(Math.max(...row)) === Number(label);
}).length;
console.log(`head: loss ${losses[0].toFixed(3)} to ${losses.at(-1).toFixed(3)}; the exported model predicts ${right} of ${n}`);
demand(scores.dims[1] === 7 && losses.at(-1) < losses[0] / 2 && right > n / 2, 'the new head does not train');
