// optimizers.mjs MFC: every optimizer and option of the update, 50 steps on ONNX Runtime against PyTorch's formulas in double
// precision, written out here. Gradients come from outside (--gradients inputs), so that both sides have the same ones.
import { readFileSync, writeFileSync } from 'node:fs';
import { Trainer } from '../../examples/training/trainer.mjs';
import { at, demand, mfc, ort, quiet } from './common.mjs';

const STEPS = 50;
const SHAPES = { w: [4, 3], b: [3], k: [2, 3, 3, 2] };
writeFileSync(at('model.mfc'), `mfc 1
ir_version 8
opset 17
graph "small" {
  input %x : f32[2,4]
  input %image : f32[1,3,5,4]
  param %w : f32[4,3] = {${fill(12, 3)}}
  param %b : f32[3] = {0.5,-0.25,0.125}
  param %k : f32[2,3,3,2] = {${fill(36, 5)}}
  %h = MatMul(%x, %w)
  %y = Add(%h, %b)
  %c = Conv(%image, %k)
  %s = ReduceSum(%y, keepdims=0)
  %t = ReduceSum(%c, keepdims=0)
  %z = Add(%s, %t)
  output %z
}
`);

function fill(n, seed) {
  return Array.from({ length: n }, (_, i) => (((i * 7 + seed) % 11) / 8 - 0.5).toFixed(4)).join(',');
}

let seed = 99;
function unit() {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed / 0x7fffffff;
}

const size = (name) => SHAPES[name].reduce((a, b) => a * b, 1);
const rms = (a) => Math.sqrt(a.reduce((s, x) => s + x * x, 0) / a.length);

// One step of a parameter p with gradient g; s is its state. c: the settings.
const FORMULAS = {
  sgd: (p, g, s, c) => p.forEach((_, i) => (p[i] -= c.lr * g[i])),
  momentum: (p, g, s, c) => p.forEach((_, i) => {
    s.v[i] = c.momentum * s.v[i] + g[i];
    p[i] -= c.lr * (c.nesterov ? g[i] + c.momentum * s.v[i] : s.v[i]);
  }),
  adam: (p, g, s, c) => p.forEach((_, i) => {
    s.m[i] = c.beta1 * s.m[i] + (1 - c.beta1) * g[i];
    s.v[i] = c.beta2 * s.v[i] + (1 - c.beta2) * g[i] ** 2;
    p[i] -= (c.lr / (1 - c.beta1 ** c.t)) * (s.m[i] / (Math.sqrt(s.v[i] / (1 - c.beta2 ** c.t)) + c.epsilon));
  }),
  adamw: (p, g, s, c) => {
    p.forEach((_, i) => (p[i] *= 1 - c.lr * c.decay));
    FORMULAS.adam(p, g, s, c);
  },
  lion: (p, g, s, c) => p.forEach((_, i) => {
    p[i] = p[i] * (1 - c.lr * c.decay) - c.lr * Math.sign(c.beta1 * s.m[i] + (1 - c.beta1) * g[i]);
    s.m[i] = c.beta2 * s.m[i] + (1 - c.beta2) * g[i];
  }),
  adafactor: (p, g, s, c) => { // torch.optim.Adafactor
    const share = c.t ** -0.8, dims = SHAPES[c.name], R = dims.at(-2), C = dims.at(-1), eps = 2 ** -23;
    const alpha = Math.max(1e-3, rms(p)) * Math.min(c.lr, 1 / Math.sqrt(c.t));
    let v;
    if (dims.length < 2) {
      g.forEach((x, i) => (s.v[i] += share * (x * x - s.v[i])));
      v = Float64Array.from(s.v);
    } else {
      const stacks = g.length / (R * C);
      v = new Float64Array(g.length);
      for (let k = 0; k < stacks; k++) {
        const cell = (r, q) => g[(k * R + r) * C + q] ** 2;
        let mean = 0;
        for (let r = 0; r < R; r++) {
          let sum = 0;
          for (let q = 0; q < C; q++) sum += cell(r, q);
          s.m[k * R + r] += share * (sum / C - s.m[k * R + r]);
          mean += s.m[k * R + r] / R;
        }
        for (let q = 0; q < C; q++) {
          let sum = 0;
          for (let r = 0; r < R; r++) sum += cell(r, q);
          s.v[k * C + q] += share * (sum / R - s.v[k * C + q]);
        }
        for (let r = 0; r < R; r++)
          for (let q = 0; q < C; q++) v[(k * R + r) * C + q] = (s.m[k * R + r] * s.v[k * C + q]) / Math.max(mean, eps);
      }
    }
    const d = g.map((x, i) => x / Math.sqrt(Math.max(v[i], eps * eps))), most = Math.max(1, rms(d));
    p.forEach((_, i) => (p[i] = p[i] * (1 - c.lr * c.decay) - (alpha / most) * d[i]));
  },
};

const SETTINGS = { lr: 0.01, momentum: 0.9, beta1: 0.9, beta2: 0.99, epsilon: 1e-4, weight_decay: 0.1 };
const CASES = [
  ['sgd'], ['momentum'], ['momentum', '--nesterov'], ['adam'], ['adamw'], ['lion'], ['adafactor'],
  ['adamw', '--no-decay', '1d'], ['lion', '--no-decay', 'w,k'], ['sgd', '--clip-norm', '1.5'], ['adamw', '--clip-norm', '0.5'],
  ['adamw', '--loss-scale', 'static'], ['adafactor', '--loss-scale', 'dynamic', '--clip-norm', '1'],
];

for (const [kind, ...options] of CASES) {
  mfc(at('model.mfc'), '-o', at('update.onnx'), '--budget', 'none', '--loss', 'output:z', '--optimizer', kind, '--gradients', 'inputs',
    '--weights', 'inputs', '--initial', at('start.safetensors'), '-q', ...options);
  const trainer = await Trainer.create(ort, at('update.onnx'), readFileSync(at('start.safetensors')), quiet);
  demand(!trainer.session.inputNames.includes('x'), 'the update still reads the data');
  const exact = Object.fromEntries(Object.keys(SHAPES).map((n) => [n, { p: Float64Array.from(trainer.state[n].data),
    s: { m: new Float64Array(size(n)), v: new Float64Array(size(n)) } }]));
  const option = (name) => options[options.indexOf(name) + 1], clip = options.includes('--clip-norm') ? Number(option('--clip-norm')) : Infinity;
  const spared = options.includes('--no-decay') ? (option('--no-decay') === '1d' ? ['b'] : ['w', 'k']) : [];
  const scaling = options.includes('--loss-scale') ? option('--loss-scale') : 'none';
  let worst = 0, done = 0, scale = scaling === 'dynamic' ? 65536 : 128, skipped = 0;
  for (let t = 1; t <= STEPS; t++) {
    const g = Object.fromEntries(Object.keys(SHAPES).map((n) => [n, Float32Array.from({ length: size(n) }, () => unit() * 2 - 1)]));
    const bad = scaling === 'dynamic' && (t === 7 || t === 20); // an overflow
    const feeds = { ...SETTINGS, loss_scale: scale };
    for (const [n, x] of Object.entries(g)) {
      const scaled = scaling === 'none' ? x : x.map((e) => e * scale);
      if (bad && n === 'b') scaled[1] = t === 7 ? Infinity : NaN;
      feeds[`grad(${n})`] = new ort.Tensor('float32', scaled, SHAPES[n]);
    }
    const { grad_norm: norm } = await trainer.run(trainer.session, feeds);
    if (bad) {
      scale /= 2;
      skipped++;
    } else {
      done++;
      const total = Math.hypot(...Object.values(g).flatMap((x) => [...x])), factor = Math.min(1, clip / (total + 1e-6));
      if (norm) worst = Math.max(worst, Math.abs(norm.data[0] - total) / total);
      for (const [n, { p, s }] of Object.entries(exact)) {
        const decay = spared.includes(n) ? 0 : SETTINGS.weight_decay;
        FORMULAS[kind](p, Float64Array.from(g[n], (x) => x * factor), s, { ...SETTINGS, decay, t: done, name: n, nesterov: options[0] === '--nesterov' });
      }
    }
    for (const [n, { p }] of Object.entries(exact))
      for (let i = 0; i < p.length; i++) worst = Math.max(worst, Math.abs(trainer.state[n].data[i] - p[i]));
    if (scaling === 'dynamic') demand(trainer.state.loss_scale.data[0] === scale, `the scale is ${trainer.state.loss_scale.data[0]}, not ${scale}`);
  }
  console.log(`${[kind, ...options].join(' ')}: ${done} updates, ${skipped} skipped, difference ${worst.toExponential(1)}`);
  demand(worst <= 1e-6 && done + skipped === STEPS && skipped === (scaling === 'dynamic' ? 2 : 0), 'the update differs from the formulas');
}
