// Writes the made-up data of data.mjs as files for finetune.mjs: node make_data.mjs train.safetensors test.safetensors
import { writeFileSync } from 'node:fs';
import { BATCH, Data, SIDE } from './data.mjs';
import { encode } from './safetensors.mjs';

function write(path, batches, seed) {
  const data = new Data(seed), n = batches * BATCH, image = new Float32Array(n * SIDE * SIDE), labels = new BigInt64Array(n);
  for (let i = 0; i < batches; i++) {
    const one = data.batch();
    image.set(one.image, i * BATCH * SIDE * SIDE);
    labels.set(one.labels, i * BATCH);
  }
  writeFileSync(path, Buffer.concat(encode({ image: { type: 'float32', dims: [n, 1, SIDE, SIDE], data: image },
    labels: { type: 'int64', dims: [n], data: labels } })));
}

const [train = 'train.safetensors', test = 'test.safetensors'] = process.argv.slice(2);
write(train, 20, 1);
write(test, 4, 7);
