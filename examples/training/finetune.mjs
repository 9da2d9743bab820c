// Fine-tunes an ONNX model on data of your own, with ONNX Runtime in Node: plan, training loop with evaluation, checkpoints, resume,
// export.
//
//     node examples/training/make_data.mjs train.safetensors test.safetensors       # made-up data, for a first try
//     node examples/training/finetune.mjs examples/training/cnn.onnx --train train.safetensors --test test.safetensors -o trained.onnx
//
// The data are safetensors files: for each input of the step (such as image and labels; mfc prints what a step wants) an array with
// a row for each sample. When the folder of --folder has a checkpoint, training goes on from it. `onnxruntime-node` is loaded from
// the folder in MFC_NODE_MODULES, or from here.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Dataset } from './dataset.mjs';
import { evaluate, exportModel, fit, prepare, resume } from './fit.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const ort = createRequire(join(resolve(process.env.MFC_NODE_MODULES ?? here), 'x.js'))('onnxruntime-node');
const { values: given, positionals: [model] } = parseArgs({
  allowPositionals: true,
  options: {
    train: { type: 'string' }, test: { type: 'string' }, output: { type: 'string', short: 'o', default: 'trained.onnx' },
    folder: { type: 'string', default: 'training' }, // for plans and checkpoints
    steps: { type: 'string', default: '300' }, every: { type: 'string', default: '100' }, // evaluations and checkpoints
    set: { type: 'string', multiple: true, default: [] }, // settings of the optimizer: --set lr=0.01
    plan: { type: 'string', multiple: true, default: [] }, // options of mfc: --plan=--budget=60% --plan=--lora=8
    mfc: { type: 'string', default: 'mfc' },
  },
});
if (!model || !given.train) {
  console.error('usage: node finetune.mjs MODEL.onnx --train FILE [--test FILE] [-o FILE] [--folder FOLDER] [--steps N] [--every N] [--set NAME=X]... [--plan=OPTION]... [--mfc FILE]');
  process.exit(2);
}

process.on('uncaughtException', (error) => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
const steps = Number(given.steps), every = Number(given.every);
const own = Object.fromEntries(given.set.map((s) => [s.split('=')[0], Number(s.split('=')[1])]));
const settings = { lr: 0.003, momentum: 0.9, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, ...own };
// A cosine, after a short beginning: the learning rate is a function of the step.
const schedule = (step) => ({ ...settings, lr: settings.lr * Math.min(1, (step + 1) / 20) * 0.5 * (1 + Math.cos((Math.PI * step) / steps)) });

const train = Dataset.read(readFileSync(given.train)), test = given.test && Dataset.read(readFileSync(given.test));
const files = prepare(model, given.folder, { mfc: given.mfc, options: given.plan });
const trainer = await resume(ort, files);
const missing = trainer.wanted.filter((name) => !(name in train.arrays) && !(name in settings));
if (missing.length) throw new Error(`${given.train} has no ${missing.join(', ')}; the step wants ${trainer.wanted.join(', ')}`);

async function report(step, loss) {
  const seen = test && await evaluate(trainer, files, test);
  const accuracy = seen && !Number.isNaN(seen.accuracy) ? `, ${(100 * seen.accuracy).toFixed(1)} % correct` : '';
  console.log(`step ${step}: loss ${loss.toFixed(4)}${seen ? `; on other data ${seen.loss.toFixed(4)}${accuracy}` : ''}`);
}

await fit(trainer, { files, data: train, settings: schedule, steps, every,
  look: async ({ step, loss }) => { if (step === 0 || (step + 1) % every === 0 || step + 1 === steps) await report(step + 1, loss); } });
exportModel(model, files, given.output);
console.log(`${given.output} is the trained model`);
