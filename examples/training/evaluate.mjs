// The accuracy of a trained model on data that it has not seen: node evaluate.mjs trained.onnx
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BATCH, CLASSES, Data } from './data.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const ort = createRequire(join(resolve(process.env.MFC_NODE_MODULES ?? here), 'x.js'))('onnxruntime-node');
const session = await ort.InferenceSession.create(process.argv[2]), data = new Data(7), BATCHES = 8;
let right = 0;
for (let i = 0; i < BATCHES; i++) {
  const { image, labels } = data.tensors(ort);
  const scores = (await session.run({ image }))[session.outputNames[0]].data;
  for (let k = 0; k < BATCH; k++) {
    const row = [...scores.slice(k * CLASSES, (k + 1) * CLASSES)];
    right += row.indexOf(Math.max(...row)) === Number(labels.data[k]);
  }
}
console.log(`${((100 * right) / (BATCH * BATCHES)).toFixed(1)} % of ${BATCH * BATCHES} images are classified correctly`);
