// A data set in memory: one array for each input of the step, with as many rows as there are samples, from a safetensors file
// or from anywhere. Batches are drawn without repetition; their order is a function of the seed and of the number of the step, so
// that training can go on from a checkpoint.
import { decode } from './safetensors.mjs';

// Random numbers from 0 to 1 (mulberry32).
export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export class Dataset {
  // arrays: { name: { type, dims, data } }.
  constructor(arrays, { seed = 1 } = {}) {
    this.arrays = arrays;
    this.seed = seed;
    const counts = Object.values(arrays).map((a) => a.dims[0]);
    if (!counts.length || new Set(counts).size > 1) throw new Error(`the arrays of a data set have as many rows each, not ${counts}`);
    this.size = counts[0];
    this.epoch = -1;
  }

  // bytes: of a safetensors file.
  static read(bytes, options) {
    return new Dataset(decode(bytes).tensors, options);
  }

  // The order of an epoch: a random permutation, by Fisher and Yates.
  order(epoch) {
    if (epoch !== this.epoch) {
      const next = random(this.seed + 7919 * epoch);
      this.shuffled = Uint32Array.from({ length: this.size }, (_, i) => i);
      for (let i = this.size - 1; i > 0; i--) {
        const k = Math.floor(next() * (i + 1));
        [this.shuffled[i], this.shuffled[k]] = [this.shuffled[k], this.shuffled[i]];
      }
      this.epoch = epoch;
    }
    return this.shuffled;
  }

  // Rows, as { name: { type, dims, data } }.
  rows(indices) {
    return Object.fromEntries(Object.entries(this.arrays).map(([name, { type, dims, data }]) => {
      const width = data.length / this.size, out = new data.constructor(indices.length * width);
      indices.forEach((row, i) => out.set(data.subarray(row * width, (row + 1) * width), i * width));
      return [name, { type, dims: [indices.length, ...dims.slice(1)], data: out }];
    }));
  }

  // The batch of a step. The rest of an epoch that does not fill a batch is left out.
  batch(step, size) {
    const per = Math.floor(this.size / size);
    if (!per) throw new Error(`${this.size} samples do not fill a batch of ${size}`);
    const at = (step % per) * size;
    return this.rows(this.order(Math.floor(step / per)).subarray(at, at + size));
  }

  // All whole batches in order, for an evaluation.
  * batches(size) {
    for (let at = 0; at + size <= this.size; at += size) yield this.rows(Uint32Array.from({ length: size }, (_, i) => at + i));
  }
}
