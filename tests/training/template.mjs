// template.mjs MFC: examples/training as a template. finetune.mjs on data files: the model learns, evaluation during training is that
// of the exported model, a second call goes on from the checkpoint, wrong data and options are refused. fit.mjs: a loop that is ended
// and resumed has the losses of one that was not, bit by bit, with shuffled data.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Dataset } from '../../examples/training/dataset.mjs';
import { evaluate, fit, prepare, resume } from '../../examples/training/fit.mjs';
import { encode } from '../../examples/training/safetensors.mjs';
import { at, demand, folder, ort, quiet, top } from './common.mjs';

const model = join(top, 'examples/training/cnn.onnx'), mfc = process.argv[2];

function node(script, ...words) {
  const done = spawnSync(process.execPath, [join(top, 'examples/training', script), ...words],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, MFC_NODE_MODULES: join(top, 'tests/runtime') } });
  return { status: done.status, text: done.stdout + done.stderr };
}

function finetune(...words) {
  return node('finetune.mjs', model, '--mfc', mfc, '-o', 'trained.onnx', '--plan=--budget=200%', '--plan=--method=keep-all', ...words);
}

demand(node('make_data.mjs', 'train.safetensors', 'test.safetensors').status === 0, 'no data');
const first = finetune('--train', 'train.safetensors', '--test', 'test.safetensors', '--steps', '60', '--every', '30');
console.log(first.text.trim());
const accuracy = Number(/step 60: .* ([\d.]+) % correct/.exec(first.text)?.[1]);
demand(first.status === 0 && accuracy > 95, 'the model does not learn');
const apart = node('evaluate.mjs', 'trained.onnx').text;
demand(Number(/^[\d.]+/.exec(apart)?.[0]) > 95, `the exported model: ${apart}`);
const again = finetune('--train', 'train.safetensors', '--steps', '61');
demand(again.status === 0 && /^step 61: /.test(again.text), `it does not go on: ${again.text}`);
// A part of the parameters: the evaluation, and the exported model, have the others from the file.
for (const [folder, ...options] of [['head', '--plan=--head=5', '--plan=--train=last:2'], ['lora', '--plan=--lora=4', '--plan=--train=8.*']]) {
  const done = finetune('--train', 'train.safetensors', '--test', 'test.safetensors', '--steps', '60', '--every', '60', '--folder', folder,
    '--set', 'lr=0.01', ...options);
  const share = Number(/step 60: .* ([\d.]+) % correct/.exec(done.text)?.[1]);
  console.log(`${options}: ${share} %`);
  demand(done.status === 0 && share > 90, `${options}: ${done.text}`);
  if (folder === 'lora') demand(Number(/^[\d.]+/.exec(node('evaluate.mjs', 'trained.onnx').text)?.[0]) > 90, 'merged adapters do not classify');
}
for (const [words, message] of [
  [['--train', 'test.safetensors', '--plan=--bugdet=3', '--folder', 'other'], /no option --bugdet.*\n.*exit code 2/],
  [['--train', 'trained.onnx'], /safetensors: /],
  [['--train', 'labels.safetensors'], /has no image/]]) {
  writeFileSync(at('labels.safetensors'), Buffer.concat(encode({ labels: { type: 'int64', dims: [64], data: new BigInt64Array(64) } })));
  const refused = finetune(...words);
  demand(refused.status === 1 && message.test(refused.text), `${words}: ${refused.text}`);
}

// The module. 70 samples: two batches an epoch, six samples left out.
const all = Dataset.read(readFileSync(at('train.safetensors'))), part = new Dataset(all.rows(Uint32Array.from({ length: 70 }, (_, i) => i)));
const settings = { lr: 0.002, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01 };
async function losses(name, ...ends) {
  const files = prepare(model, at(name), { mfc, options: ['--budget=none'] }), seen = [];
  let trainer;
  for (const end of ends) {
    trainer = await resume(ort, files, quiet);
    await fit(trainer, { files, data: part, settings, steps: 20, look: ({ step, loss }) => { seen.push(loss); return step + 1 < end; } });
  }
  return { seen, look: await evaluate(trainer, files, part) };
}
const whole = await losses('whole', 20), parts = await losses('parts', 7, 8, 20);
demand(whole.seen.length === 20 && whole.seen.every((x, i) => x === parts.seen[i]), 'a resumed loop differs');
demand(whole.look.loss === parts.look.loss && whole.look.loss < whole.seen[0] / 2, 'the evaluation differs');
const rows = (step) => [...part.batch(step, 32).image.data.filter((_, i) => i % 144 === 0)].sort();
const epoch = [...rows(0), ...rows(1)];
demand(new Set(epoch).size === 64 && rows(2).join() !== rows(0).join(), 'an epoch repeats samples, or is not shuffled');
console.log(`60 steps to ${accuracy} %; three parts of a loop are the whole of it`);
