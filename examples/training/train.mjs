// Trains cnn.onnx with ONNX Runtime alone, on its training step made by mfc:
//
//     mfc examples/training/cnn.onnx -o step.onnx --optimizer sgd --weights inputs --initial start.onnx
//     node examples/training/train.mjs step.onnx start.onnx sgd
//
// The step takes images, labels, the parameters and the optimizer's settings, and gives the loss and next(NAME) for every
// parameter NAME, which is fed back as NAME; start.onnx gives their initial values. The losses must be those of PyTorch
// (cnn_curve.json). `onnxruntime-node` is loaded from the folder in MFC_NODE_MODULES, or from here.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(resolve(process.env.MFC_NODE_MODULES ?? here), 'x.js'));
const ort = require('onnxruntime-node');
const [stepFile, startFile, optimizer = 'sgd'] = process.argv.slice(2);
const want = JSON.parse(readFileSync(join(here, 'cnn_curve.json'), 'utf8'))[optimizer];
const BATCH = 32, CLASSES = 4, SIDE = 12;

// The generator of make_cnn.py. The product needs more than 53 bits, hence BigInt.
let seed = 1n;
function unit() {
  seed = (seed * 1103515245n + 12345n) % 2147483648n;
  return Number(seed) / 2147483648;
}

// Images of noise with a bright bar, whose position is the class.
function batch() {
  const images = new Float32Array(BATCH * SIDE * SIDE), labels = new BigInt64Array(BATCH);
  let at = 0;
  for (let i = 0; i < BATCH; i++) {
    const label = Math.trunc(unit() * CLASSES);
    labels[i] = BigInt(label);
    for (let y = 0; y < SIDE; y++)
      for (let x = 0; x < SIDE; x++) {
        const bar = Math.trunc((label < 2 ? x : y) / 3) === (label % 2 ? 1 : 2) ? 1 : 0;
        images[at++] = unit() - 0.5 + bar;
      }
  }
  return { images: new ort.Tensor('float32', images, [BATCH, 1, SIDE, SIDE]), labels: new ort.Tensor('int64', labels, [BATCH]) };
}

const quiet = { logSeverityLevel: 3 };
const session = await ort.InferenceSession.create(stepFile, quiet);
const start = await ort.InferenceSession.create(startFile, quiet);
let state = await start.run({});
// The optimizer state starts at zero.
for (const input of session.inputMetadata)
  if (/^(momentum|adam\.[mv])\(/.test(input.name))
    state[input.name] = new ort.Tensor('float32', new Float32Array(input.shape.reduce((a, b) => a * b, 1)), input.shape);
const scalars = Object.fromEntries(Object.entries(want.scalars).map(([name, x]) => [name, new ort.Tensor('float32', [x], [])]));

let worst = 0, loss;
for (let step = 0; step < want.loss.length; step++) {
  const { images, labels } = batch();
  if (session.inputNames.includes('step')) scalars.step = new ort.Tensor('float32', [step + 1], []);
  const out = await session.run({ ...state, ...scalars, image: images, labels });
  loss = out[session.outputNames[0]].data[0];
  worst = Math.max(worst, Math.abs(loss - want.loss[step]));
  state = Object.fromEntries(session.outputNames.filter((name) => name.startsWith('next('))
    .map((name) => [name.slice(5, -1), out[name]]));
  if (step % 50 === 0) console.log(`step ${step}: loss ${loss.toFixed(4)}`);
}
console.log(`step ${want.loss.length - 1}: loss ${loss.toFixed(4)}; largest difference from PyTorch ${worst.toExponential(1)}`);
if (worst > 1e-3 || loss > want.loss[0] / 10) {
  console.error('the losses differ from those of PyTorch');
  process.exit(1);
}
