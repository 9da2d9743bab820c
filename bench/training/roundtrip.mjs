// The round trip against PyTorch: twenty steps of AdamW with mfc's step on ONNX Runtime, export, and predictions of the exported
// model, with the networks and data of bench/training/reference.py. Prints a table in Markdown; fails above 1e-5 of the largest
// prediction.
//
//     bench/training/reference.py FOLDER && node bench/training/roundtrip.mjs MFC FOLDER
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from '../../examples/training/safetensors.mjs';
import { Trainer } from '../../examples/training/trainer.mjs';
import ort from '../../tests/gradient/runtime.mjs';

const [mfc, folder] = process.argv.slice(2);
const SETTINGS = { lr: 1e-5, beta1: 0.9, beta2: 0.99, epsilon: 1e-3, weight_decay: 0.05 };
const quiet = { logSeverityLevel: 3, intraOpNumThreads: 1 };
let failed = 0;
console.log('| network | largest difference of a loss | of a prediction |\n|---|---|---|');
for (const file of readdirSync(folder).filter((f) => f.endsWith('.safetensors') && !f.includes('.start'))) {
  const name = file.slice(0, -'.safetensors'.length), at = (suffix) => join(folder, name + suffix);
  const want = decode(readFileSync(join(folder, file))).tensors, tensor = (t) => new ort.Tensor(t.type, t.data, t.dims);
  const run = (...args) => execFileSync(mfc, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  run(at('.onnx'), '-o', at('.step'), '--loss', 'cross-entropy', '--optimizer', 'adamw', '--weights', 'inputs', '--initial', at('.start.safetensors'), '--budget', 'none', '-q');
  const trainer = await Trainer.create(ort, at('.step'), readFileSync(at('.start.safetensors')), quiet);
  let losses = 0;
  for (let k = 0; `x.${k}` in want; k++) {
    const { loss } = await trainer.step({ ...SETTINGS, x: tensor(want[`x.${k}`]), labels: tensor(want[`labels.${k}`]) });
    losses = Math.max(losses, Math.abs(loss - want[`loss.${k}`].data[0]));
  }
  writeFileSync(at('.now'), Buffer.concat(trainer.checkpoint()));
  run('export', at('.onnx'), '--state', at('.now'), '-o', at('.trained'));
  const session = await ort.InferenceSession.create(at('.trained'), quiet);
  const { y } = await session.run({ x: tensor(want.x) });
  let worst = 0, most = 1;
  y.data.forEach((v, i) => {
    worst = Math.max(worst, Math.abs(v - want.y.data[i]));
    most = Math.max(most, Math.abs(v));
  });
  console.log(`| ${name} | ${losses.toExponential(1)} | ${(worst / most).toExponential(1)} |`);
  if (!(worst / most <= 1e-5)) failed++;
}
process.exit(failed ? 1 : 0);
