// A training session on ONNX Runtime, for Node.js and the browser. It runs a step that mfc made (with --weights inputs) and
// keeps what the step feeds back: every output next(NAME) is the input NAME of the next step.
//
//     const trainer = await Trainer.create(ort, 'step.onnx', fs.readFileSync('start.safetensors'));
//     const { loss } = await trainer.step({ image, labels, lr: 1e-3, … });
//     await fs.promises.writeFile('now.safetensors', trainer.checkpoint());
import { decode, encode } from './safetensors.mjs';

export class Trainer {
  // ort: the module onnxruntime-node or onnxruntime-web; step: a path or bytes; state: the bytes of a safetensors file.
  static async create(ort, step, state, options = {}) {
    const trainer = new Trainer();
    trainer.ort = ort;
    trainer.session = await ort.InferenceSession.create(step, { logSeverityLevel: 3, ...options });
    trainer.restore(state);
    return trainer;
  }

  // Takes the tensors of a checkpoint; `metadata` are its texts.
  restore(bytes) {
    const { tensors, metadata } = decode(bytes);
    const inputs = new Set(this.session.inputNames);
    this.state = {};
    for (const [name, t] of Object.entries(tensors))
      if (inputs.has(name)) this.state[name] = new this.ort.Tensor(t.type, t.data, t.dims);
    this.metadata = metadata;
    // What else the step wants in each call: the data, and the settings of the optimizer.
    this.wanted = this.session.inputNames.filter((name) => !(name in this.state));
  }

  // feeds: a tensor, or a number for a setting such as lr, for each name in `wanted`. Returns the outputs that are not fed
  // back; the first output is the loss, here as a number `loss`.
  async step(feeds) {
    const inputs = { ...this.state };
    for (const name of this.wanted) {
      if (!(name in feeds)) throw new Error(`the step needs a value for its input ${name}`);
      inputs[name] = typeof feeds[name] === 'number' ? new this.ort.Tensor('float32', [feeds[name]], []) : feeds[name];
    }
    const outputs = await this.session.run(inputs), rest = {};
    for (const [name, tensor] of Object.entries(outputs)) {
      const fed = /^next\((.*)\)$/s.exec(name)?.[1];
      if (fed !== undefined && fed in this.state) this.state[fed] = tensor;
      else rest[name] = tensor;
    }
    return { ...rest, loss: rest[this.session.outputNames[0]].data[0] };
  }

  // The parts of a safetensors file with everything that is needed to go on: fs.promises.writeFile and Blob take them.
  // metadata: texts.
  checkpoint(metadata = {}) {
    return encode(this.state, metadata);
  }
}
