// Trains a model with ONNX Runtime alone, on its training step made by mfc, with made-up data (finetune.mjs takes your own):
//
//     mfc examples/training/cnn.onnx -o step.onnx --optimizer adamw --weights inputs --initial start.safetensors
//     node examples/training/train.mjs step.onnx start.safetensors -o now.safetensors --steps 200 --set lr=0.01
//     mfc export examples/training/cnn.onnx --state now.safetensors -o trained.onnx
//     node examples/training/evaluate.mjs trained.onnx
//
// The state is saved every --every steps and at the end. When the file of -o is there already, training goes on from it, with
// the same losses as if it had never ended. `onnxruntime-node` is loaded from the folder in MFC_NODE_MODULES, or from here.
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Data } from './data.mjs';
import { fit, resume } from './fit.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const ort = createRequire(join(resolve(process.env.MFC_NODE_MODULES ?? here), 'x.js'))('onnxruntime-node');
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'now.safetensors' },
    steps: { type: 'string', default: '200' },
    every: { type: 'string', default: '50' },
    set: { type: 'string', multiple: true, default: [] }, // settings of the optimizer: --set lr=0.01
    log: { type: 'string' }, // a file that gets a line "step loss" for each step
  },
});
const [stepFile, startFile] = positionals;
const defaults = { lr: 0.01, momentum: 0.9, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01 };
const settings = { ...defaults, ...Object.fromEntries(options.set.map((s) => [s.split('=')[0], Number(s.split('=')[1])])) };
const steps = Number(options.steps), every = Number(options.every);

const files = { step: stepFile, start: startFile, checkpoint: options.output };
const trainer = await resume(ort, files), data = new Data(1);
for (let i = 0; i < Number(trainer.metadata.steps ?? 0); i++) data.batch();
await fit(trainer, { files, data: () => data.parts(), settings, steps, every, look({ step, loss }) {
  if (options.log) appendFileSync(options.log, `${step} ${loss}\n`);
  if (step % 50 === 0 || step + 1 === steps) console.log(`step ${step}: loss ${loss.toFixed(4)}`);
} });
