// A training session on ONNX Runtime, for Node.js and the browser. It runs a step that mfc made (with --weights inputs) and
// keeps what the step feeds back: every output next(NAME) is the input NAME of the next step.
//
//     const trainer = await Trainer.create(ort, 'step.onnx', fs.readFileSync('start.safetensors'));
//     const { loss } = await trainer.step({ image, labels, lr: 1e-3, … });
//     await fs.promises.writeFile('now.safetensors', trainer.checkpoint());
//
// With --accumulate the step only adds up gradients; call trainer.update(settings) after every N steps. The file of --update
// is the option `update` of create().
import { decode, encode } from './safetensors.mjs';

export class Trainer {
  // ort: the module onnxruntime-node or onnxruntime-web; step: a path or bytes; state: the bytes of a safetensors file.
  static async create(ort, step, state, options = {}) {
    const trainer = new Trainer();
    trainer.ort = ort;
    const { update, ...sessionOptions } = options, open = (file) => ort.InferenceSession.create(file, { logSeverityLevel: 3, ...sessionOptions });
    trainer.session = await open(step);
    trainer.applying = update === undefined ? null : await open(update);
    trainer.restore(state);
    return trainer;
  }

  // Takes the tensors of a checkpoint; `metadata` are its texts.
  restore(bytes) {
    const { tensors, metadata } = decode(bytes);
    this.state = {};
    for (const [name, t] of Object.entries(tensors)) this.state[name] = new this.ort.Tensor(t.type, t.data, t.dims);
    this.metadata = metadata;
    // What else the step wants in each call: the data, and the settings of the optimizer.
    this.wanted = this.session.inputNames.filter((name) => !(name in this.state));
  }

  // feeds: a tensor, or a number for a setting such as lr, for each name in `wanted`. Returns the outputs that are not fed
  // back; the first output is the loss, here as a number `loss`.
  async step(feeds) {
    const outputs = await this.run(this.session, feeds);
    return { ...outputs, loss: outputs[this.session.outputNames[0]].data[0] };
  }

  // Applies accumulated gradients. settings: those of the optimizer.
  update(settings) {
    return this.run(this.applying, settings);
  }

  async run(session, feeds) {
    const inputs = {}, rest = {};
    for (const name of session.inputNames) {
      const given = this.state[name] ?? feeds[name];
      if (given === undefined) throw new Error(`the step needs a value for its input ${name}`);
      inputs[name] = typeof given === 'number' ? new this.ort.Tensor('float32', [given], []) : given;
    }
    for (const [name, tensor] of Object.entries(await session.run(inputs))) {
      const fed = /^next\((.*)\)$/s.exec(name)?.[1];
      if (fed !== undefined && fed in this.state) this.state[fed] = tensor;
      else rest[name] = tensor;
    }
    return rest;
  }

  // The parts of a safetensors file with everything that is needed to go on: fs.promises.writeFile and Blob take them.
  // metadata: texts.
  checkpoint(metadata = {}) {
    return encode(this.state, metadata);
  }
}
