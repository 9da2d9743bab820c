// Whether a training step makes sense: its gradients against differences of its loss, and the loss over steps of plain
// SGD on one made-up batch. For steps that mfc makes with `--weights inputs --initial STATE`; the numbers of the batch
// are the same in every run.
import { decode } from '../../examples/training/safetensors.mjs';
import { generator } from '../gradient/case.mjs';

const arrays = { float32: Float32Array, float64: Float64Array, float16: Uint16Array, int64: BigInt64Array, int32: Int32Array,
  bool: Uint8Array, uint8: Uint8Array, int8: Int8Array };
const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

// Labels are 0 and 1, of sequences 1 and 2, since 0 is the blank of ctc; tokens are small; masks let all through.
function madeUp(ort, { name, type, shape }, random, kind) {
  const from = /mask/.test(name) ? 1 : name === 'labels' && kind === 'ctc' ? 1 : 0, wide = /mask/.test(name) ? 1 : name === 'labels' ? 2 : 5;
  const integer = (i) => from + (i % wide), n = sizeOf(shape);
  const value = type.endsWith('int64') ? (_, i) => BigInt(integer(i)) : type === 'float16' ? () => 0x3800 + Math.trunc(random() * 512)
    : type === 'bool' ? () => 1 : type.startsWith('float') ? () => random() - (name === 'target' ? 0 : 0.5) : (_, i) => integer(i);
  return new ort.Tensor(type, arrays[type].from({ length: n }, value), shape);
}

export class Descent {
  // ort: the module; session: of the step; state: the bytes of its safetensors file; kind: the loss.
  constructor(ort, session, state, kind) {
    const { tensors } = decode(state), random = generator('descent');
    Object.assign(this, { ort, session, feeds: {}, start: {} });
    for (const m of session.inputMetadata) {
      const t = tensors[m.name];
      this.feeds[m.name] = t ? new ort.Tensor(t.type, t.data, t.dims) : madeUp(ort, m, random, kind);
    }
    this.names = session.outputNames.filter((o) => o.startsWith('grad(')).map((o) => o.slice(5, -1));
    for (const name of this.names) this.start[name] = this.feeds[name];
  }

  // The loss and the gradients at weights that differ from the start; { name: typed array }.
  async at(weights = {}) {
    const moved = Object.fromEntries(Object.entries(weights).map(([name, data]) => [name, new this.ort.Tensor('float32', data, this.feeds[name].dims)]));
    const out = await this.session.run({ ...this.feeds, ...moved });
    return { loss: Number(out[this.session.outputNames[0]].data[0]), grads: Object.fromEntries(this.names.map((n) => [n, out[`grad(${n})`].data])) };
  }

  get isFloat() {
    return this.names.every((n) => this.start[n].type === 'float32');
  }

  // Gradients of three parameters, and all together, against the slope of the loss along them; the worst relative
  // difference of each at the best of several step sizes, since a kink or the noise of float32 may hide one. `quick`: all
  // together alone.
  async differenceError(quick = false) {
    const { loss, grads } = await this.at();
    const norm = (n) => Math.sqrt(grads[n].reduce((a, g) => a + g * g, 0));
    const alive = this.names.filter((n) => norm(n) > 1e-4 * Math.abs(loss));
    const some = quick ? [] : [...new Set([alive[0], alive[alive.length >> 1], alive.at(-1)])].filter((n) => n !== undefined).map((n) => [n]);
    let worst = 0;
    for (const names of [...some, ...(quick ? alive.length > 0 : alive.length > 1) ? [alive] : []]) {
      const slope = Math.hypot(...names.map(norm));
      let best = Infinity;
      for (const change of [1e-3, 1e-4, 1e-2, 1e-5]) {
        const h = (change * Math.max(Math.abs(loss), 1e-3)) / (slope * slope);
        const along = (s) => this.at(Object.fromEntries(names.map((n) => [n, this.start[n].data.map((w, i) => w + s * h * grads[n][i])])));
        const up = await along(1), down = await along(-1);
        best = Math.min(best, Math.abs((up.loss - down.loss) / (2 * h * slope * slope) - 1));
        if (best < 1e-2) break;
      }
      worst = Math.max(worst, best);
    }
    return { worst, n: alive.length };
  }

  // n steps of SGD with one rate: a fifth of the step to a loss of zero, less if the loss does not fall.
  async descend(n) {
    const { loss: first, grads } = await this.at();
    const square = this.names.reduce((a, name) => a + grads[name].reduce((s, g) => s + g * g, 0), 0);
    let last = first, finite = true;
    for (let rate = (0.2 * Math.max(Math.abs(first), 1e-3)) / square, tries = 0; tries < 3; rate /= 10, tries++) {
      const weights = Object.fromEntries(this.names.map((name) => [name, Float32Array.from(this.start[name].data)]));
      for (let k = 0; k < n; k++) {
        const now = await this.at(weights);
        for (const name of this.names) now.grads[name].forEach((g, i) => { weights[name][i] -= rate * g; });
        if (!Number.isFinite(now.loss)) break;
      }
      last = (await this.at(weights)).loss;
      finite = this.names.every((name) => weights[name].every(Number.isFinite));
      if (finite && last < first) break;
    }
    return { first, last, finite };
  }
}
