// The two tasks of the page: what the data are, and what a model says of them. The data are made up, the same in every browser
// and in Node: a batch is a function of its number, so that training can go on from a checkpoint.

import { random } from '../training/dataset.mjs';

// ---- Pictures of shapes ----

const BATCH = 128, SIDE = 32;
export const SHAPES = ['disc', 'square', 'triangle', 'cross', 'ring'];

// Whether a point, in units of the shape's size around its middle, is inside.
const INSIDE = [
  (x, y) => x * x + y * y < 1,
  (x, y) => Math.max(Math.abs(x), Math.abs(y)) < 0.85,
  (x, y) => y < 0.75 && y > 2 * Math.abs(x) - 1,
  (x, y) => Math.min(Math.abs(x), Math.abs(y)) < 0.28 && Math.max(Math.abs(x), Math.abs(y)) < 1,
  (x, y) => x * x + y * y < 1 && x * x + y * y > 0.4,
];

// One picture into `out`, channel by channel: a shape of a random colour, size and place, in noise.
function draw(out, at, shape, next) {
  const size = 6 + 6 * next(), cx = size + (SIDE - 2 * size) * next(), cy = size + (SIDE - 2 * size) * next();
  const paper = [0, 1, 2].map(() => 0.5 * next()), ink = [0, 1, 2].map(() => 0.5 + 0.5 * next());
  for (let c = 0; c < 3; c++)
    for (let y = 0; y < SIDE; y++)
      for (let x = 0; x < SIDE; x++) {
        const inside = INSIDE[shape]((x - cx) / size, (y - cy) / size);
        out[at + (c * SIDE + y) * SIDE + x] = (inside ? ink[c] : paper[c]) + 0.25 * (next() - 0.5) - 0.5;
      }
}

function pictures(seed) {
  const next = random(seed), image = new Float32Array(BATCH * 3 * SIDE * SIDE), labels = new BigInt64Array(BATCH);
  for (let i = 0; i < BATCH; i++) {
    const shape = Math.floor(next() * SHAPES.length);
    labels[i] = BigInt(shape);
    draw(image, i * 3 * SIDE * SIDE, shape, next);
  }
  return { image: { type: 'float32', data: image, dims: [BATCH, 3, SIDE, SIDE] }, labels: { type: 'int64', data: labels, dims: [BATCH] } };
}

const argmax = (scores, from, n) => {
  let best = 0;
  for (let k = 1; k < n; k++) if (scores[from + k] > scores[from + best]) best = k;
  return best;
};

const image = {
  title: 'Pictures', what: 'A convolutional network learns to tell five shapes apart.', settings: { lr: 0.003 },
  batch: (_, step) => pictures(1000 + step),
  // Accuracy on pictures that are not trained on, and the first of them with what the model says.
  async look(evaluate) {
    const seen = pictures(7), { scores } = await evaluate(seen), guesses = [];
    let correct = 0;
    for (let i = 0; i < BATCH; i++) {
      guesses.push(argmax(scores.data, i * SHAPES.length, SHAPES.length));
      correct += guesses[i] === Number(seen.labels.data[i]);
    }
    return { accuracy: correct / BATCH, pictures: seen.image.data.slice(0, 12 * 3 * SIDE * SIDE), guesses: guesses.slice(0, 12),
      labels: [...seen.labels.data.slice(0, 12)].map(Number) };
  },
};

// ---- Text, letter by letter ----

const LINES = 128, LENGTH = 32;
export const LETTERS = '\n abcdefghijklmnopqrstuvwxyz.,;:\'"!?-()&'; // 40 symbols

export const TEXT = `a tensor is born when its node runs, and it stays in memory until its last reader has read it.
to train is to walk through the network twice: forward, to see what it says, and backward, to see who was to blame.
the way back needs what the way forward has made, and so the memory fills, layer by layer, to the very end.
but what was computed once can be computed twice. keep what is small and slow to make; forget what is large and quick.
a plan says what to keep and what to forget, and when, and it never holds more than the budget that you gave it.
`;

const codes = (text) => [...text.toLowerCase()].map((c) => Math.max(LETTERS.indexOf(c), 0) || (c === '\n' ? 0 : 1));

const text = {
  title: 'Text', what: 'A transformer learns to write like the text that you give it, letter by letter.', settings: { lr: 0.003 },
  batch(own, step) {
    const all = codes(own || TEXT), next = random(1000 + step);
    const inputs = new BigInt64Array(LINES * LENGTH), labels = new BigInt64Array(LINES * LENGTH);
    for (let i = 0; i < LINES; i++) {
      const from = Math.floor(next() * all.length);
      for (let k = 0; k < LENGTH; k++) {
        inputs[i * LENGTH + k] = BigInt(all[(from + k) % all.length]);
        labels[i * LENGTH + k] = BigInt(all[(from + k + 1) % all.length]);
      }
    }
    const dims = [LINES, LENGTH];
    return { text: { type: 'int64', data: inputs, dims }, labels: { type: 'int64', data: labels, dims } };
  },
  // Four lines that the model writes after the same beginning, each letter by its probability.
  async look(evaluate) {
    const next = random(3), lines = ['a plan ', 'to train ', 'a tensor ', 'but what '].map(codes);
    const inputs = new BigInt64Array(LINES * LENGTH), zeros = { type: 'int64', data: new BigInt64Array(LINES * LENGTH), dims: [LINES, LENGTH] };
    for (let n = 0; n < 60; n++) {
      lines.forEach((line, i) => line.slice(-LENGTH).forEach((c, k) => { inputs[i * LENGTH + k] = BigInt(c); }));
      const { scores } = await evaluate({ text: { type: 'int64', data: inputs, dims: [LINES, LENGTH] }, labels: zeros });
      lines.forEach((line, i) => {
        const from = (i * LENGTH + Math.min(line.length, LENGTH) - 1) * LETTERS.length;
        const odds = [...scores.data.slice(from, from + LETTERS.length)].map((s) => Math.exp(s / 0.7)), sum = odds.reduce((a, b) => a + b);
        let left = next() * sum, c = 0;
        while (c < LETTERS.length - 1 && (left -= odds[c]) > 0) c++;
        line.push(c);
      });
    }
    return { lines: lines.map((line) => line.map((c) => LETTERS[c]).join('').replaceAll('\n', ' ')) };
  },
};

export const TASKS = { image, text };
// Settings of AdamW. The epsilon is large: without it, gradients that are zero up to rounding would move parameters by lr.
export const OPTIMIZER = { beta1: 0.9, beta2: 0.99, epsilon: 1e-5, weight_decay: 0.01 };
