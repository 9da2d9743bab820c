// Ten networks, from convolutions to recurrence and attention: 50 steps of SGD on one batch lower the loss that mfc
// chooses, or mse where it is not clear, no parameter becomes NaN, and gradients are slopes of the loss.
//
//     node networks.mjs MFC
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { at, ort, quiet, top } from './common.mjs';
import { Descent } from './descent.mjs';

const small = ['decoder', 'densenet', 'encoder', 'inception', 'lstm', 'mobilenet', 'resnet', 'unet'].map((n) => [`tests/gradient/networks/${n}-op17.onnx`]);
const networks = [...small, ['examples/training/cnn.onnx', '--batch', '16'], ['examples/resnet.onnx']];

let failures = 0;
for (const [path, ...args] of networks) {
  const make = (...more) => spawnSync(process.argv[2], [join(top, path), '-o', at('step.onnx'), '--budget', 'none', '--weights', 'inputs', '--initial', at('start.safetensors'), ...args, ...more], { encoding: 'utf8' });
  let made = make();
  if (made.status === 4) made = make('--loss', 'mse');
  try {
    if (made.status) throw new Error(made.stderr.trim());
    const session = await ort.InferenceSession.create(at('step.onnx'), quiet);
    const run = new Descent(ort, session, readFileSync(at('start.safetensors')), '');
    const slopes = await run.differenceError(), { first, last, finite } = await run.descend(50);
    if (!finite || !(last < first)) throw new Error(`loss ${first} -> ${last}, parameters ${finite ? '' : 'not '}finite`);
    if (!(slopes.worst < 0.05)) throw new Error(`a gradient is off by ${slopes.worst} of the slope of the loss`);
    console.log(`ok   ${path}: ${run.names.length} gradients, off by ${slopes.worst.toExponential(1)}; loss ${first.toPrecision(3)} -> ${last.toPrecision(3)}`);
  } catch (e) {
    failures++;
    console.log(`FAIL ${path}: ${e.message}`);
  }
}
console.log(`${networks.length} networks, ${failures} failed`);
process.exit(failures ? 1 : 0);
