// The data of the example: images of noise with a bright bar, whose position is the class. Replace it with your own; to go on
// from a checkpoint, the data must be a function of the number of steps that are done.
export const BATCH = 32, CLASSES = 4, SIDE = 12;

// The generator of make_cnn.py. The product needs more than 53 bits, hence BigInt.
export class Data {
  constructor(seed) {
    this.seed = BigInt(seed);
  }

  unit() {
    this.seed = (this.seed * 1103515245n + 12345n) % 2147483648n;
    return Number(this.seed) / 2147483648;
  }

  // The next batch, as { image, labels } of typed arrays.
  batch() {
    const image = new Float32Array(BATCH * SIDE * SIDE), labels = new BigInt64Array(BATCH);
    let at = 0;
    for (let i = 0; i < BATCH; i++) {
      const label = Math.trunc(this.unit() * CLASSES);
      labels[i] = BigInt(label);
      for (let y = 0; y < SIDE; y++)
        for (let x = 0; x < SIDE; x++) {
          const bar = Math.trunc((label < 2 ? x : y) / 3) === (label % 2 ? 1 : 2) ? 1 : 0;
          image[at++] = this.unit() - 0.5 + bar;
        }
    }
    return { image, labels };
  }

  // The same with types and dimensions.
  parts() {
    const { image, labels } = this.batch();
    return { image: { type: 'float32', data: image, dims: [BATCH, 1, SIDE, SIDE] }, labels: { type: 'int64', data: labels, dims: [BATCH] } };
  }

  tensors(ort) {
    const { image, labels } = this.parts();
    return { image: new ort.Tensor(image.type, image.data, image.dims), labels: new ort.Tensor(labels.type, labels.data, labels.dims) };
  }
}
