// The training loop of the page, in a worker, so that the page stays responsive. It gets messages { do: 'open' | 'run' | 'pause' |
// 'save' | 'load' | 'model', … } and answers with { is: 'ready' | 'step' | 'look' | 'paused' | 'file' | 'error', … }.
import { Trainer } from '../training/trainer.mjs';
import { OPTIMIZER, TASKS } from './tasks.mjs';
import { trainedModel } from './trained.mjs';

// ONNX Runtime does not say how large its memory is; it is the only one that is made here.
let memory;
const { Memory } = WebAssembly;
WebAssembly.Memory = class extends Memory {
  constructor(...how) {
    super(...how);
    memory = this;
  }
};

const LOOK_EVERY = 15;
let ort, task, trainer, evaluation, model, metadata, running = false, step = 0, own = '';

const bytes = async (path) => {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path} is not there; build the page with build.mjs`);
  return new Uint8Array(await answer.arrayBuffer());
};
const heap = () => memory?.buffer.byteLength ?? 0;
const feedsOf = (parts) => Object.fromEntries(Object.entries(parts).map(([name, t]) => [name, new ort.Tensor(t.type, t.data, t.dims)]));

async function open({ name, planned }) {
  ort = await import('../ort/ort.wasm.min.mjs');
  ort.env.wasm.numThreads = 1; // more of them need a server with headers of its own
  ort.env.wasm.wasmPaths = new URL('../ort/', self.location.href).href;
  task = TASKS[name];
  const at = (end) => bytes(`../models/${name}${end}`);
  metadata = JSON.parse(new TextDecoder().decode(await at('.json')));
  const options = { executionProviders: ['wasm'] };
  trainer = await Trainer.create(ort, await at(planned ? '.plan.onnx' : '.step.onnx'), await at('.safetensors'), options);
  const loaded = heap(); // a step of the runtime alone comes on top
  model = await at('.onnx');
  postMessage({ is: 'ready', heap: loaded, figures: metadata[planned ? 'plan' : 'step'], settings: task.settings });
}

// The model's outputs with the present parameters.
async function evaluate(parts) {
  evaluation ??= await ort.InferenceSession.create(await bytes(`../models/${metadata.name}.eval.onnx`), { logSeverityLevel: 3, executionProviders: ['wasm'] });
  const feeds = { ...trainer.state, ...feedsOf(parts) };
  return evaluation.run(Object.fromEntries(evaluation.inputNames.map((input) => [input, feeds[input]])));
}

async function run({ lr, until }) {
  running = true;
  while (running && step < until) {
    const { loss } = await trainer.step({ ...OPTIMIZER, lr, ...feedsOf(task.batch(own, step)) });
    if (!Number.isFinite(loss)) throw new Error('the loss is not finite; try a lower learning rate');
    postMessage({ is: 'step', step: step++, loss, heap: heap() });
    if (step % LOOK_EVERY === 0) await look();
    await new Promise((done) => setTimeout(done)); // other messages
  }
  running = false;
  postMessage({ is: 'paused', step });
}

async function look() {
  postMessage({ is: 'look', step, heap: heap(), ...await task.look(evaluate) });
}

async function saved() {
  return new Uint8Array(await new Blob(trainer.checkpoint({ steps: String(step) })).arrayBuffer());
}

const doing = {
  open,
  run,
  look,
  pause() { running = false; },
  text(message) { own = message.text; },
  async save() { postMessage({ is: 'file', name: `${metadata.name}.safetensors`, bytes: await saved() }); },
  load(message) {
    trainer.restore(message.bytes);
    step = Number(trainer.metadata.steps ?? 0);
    postMessage({ is: 'loaded', step });
  },
  model() { postMessage({ is: 'file', name: `${metadata.name}-trained.onnx`, bytes: trainedModel(model, trainer.state) }); },
};

self.onmessage = async ({ data }) => {
  try {
    await doing[data.do](data);
  } catch (error) {
    running = false;
    postMessage({ is: 'error', text: String(error.message ?? error) });
  }
};
