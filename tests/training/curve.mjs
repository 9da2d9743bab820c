// curve.mjs MFC OPTIMIZER: a training loop on ONNX Runtime sees the losses that PyTorch saw (examples/training/cnn_curve.json).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Data } from '../../examples/training/data.mjs';
import { Trainer } from '../../examples/training/trainer.mjs';
import { at, demand, mfc, ort, quiet, top } from './common.mjs';

const optimizer = process.argv[3], model = join(top, 'examples/training/cnn.onnx');
const want = JSON.parse(readFileSync(join(top, 'examples/training/cnn_curve.json'), 'utf8'))[optimizer];
mfc(model, '-o', at('step.onnx'), '--optimizer', optimizer, '--weights', 'inputs', '--initial', at('start.safetensors'), '-q');
const trainer = await Trainer.create(ort, at('step.onnx'), readFileSync(at('start.safetensors')), quiet), data = new Data(1);
let worst = 0, loss;
for (const wanted of want.loss) {
  ({ loss } = await trainer.step({ ...want.scalars, ...data.tensors(ort) }));
  worst = Math.max(worst, Math.abs(loss - wanted));
}
console.log(`${want.loss.length} steps: loss ${loss.toFixed(4)}; largest difference from PyTorch ${worst.toExponential(1)}`);
demand(worst <= 1e-3 && loss < want.loss[0] / 10, 'the losses differ from those of PyTorch');
