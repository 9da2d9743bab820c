// From a model to a trained model in Node, in four calls that a script of your own can use:
//
//     const files = prepare('model.onnx', 'folder', { options: ['--budget=60%'] });   // plans by mfc
//     const trainer = await resume(ort, files);                     // from the last checkpoint, or from the start
//     await fit(trainer, { files, data, settings: { lr: 1e-3, … }, steps: 1000 });
//     exportModel('model.onnx', files, 'trained.onnx');
//
// and evaluate() for loss and accuracy on other data. finetune.mjs is such a script.
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writevSync } from 'node:fs';
import { join } from 'node:path';
import { Trainer } from './trainer.mjs';

function run(mfc, words) {
  try {
    execFileSync(mfc, [...words, '-q'], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    throw new Error(error.code === 'ENOENT' ? `${mfc} is not there; name the command mfc with --mfc` : `mfc failed, with exit code ${error.status}`);
  }
}

// Options that change the model, or what of it is state: the evaluation model needs them as well as the step.
const OF_BOTH = /^--(head|lora|lora-alpha|train|freeze|loss|loss-input|class-axis|label-type|output|batch|dim|shape|input-value|dequantize)(=|$)/;

// Makes step, evaluation model and starting state in a folder, unless they are there, made of the same words. options: of the
// command mfc, each as '--name=value'.
export function prepare(model, folder, { mfc = 'mfc', options = [], optimizer = 'adamw' } = {}) {
  const at = (name) => join(folder, name), files = { mfc, options, step: at('step.onnx'), evaluation: at('eval.onnx'),
    start: at('start.safetensors'), checkpoint: at('now.safetensors') };
  const words = [model, '--weights=inputs'];
  const made = JSON.stringify([words, options, optimizer]), note = at('made.json');
  mkdirSync(folder, { recursive: true });
  if (existsSync(note) && readFileSync(note, 'utf8') === made) return files;
  run(mfc, [...words, '-o', files.step, '--optimizer', optimizer, '--initial', files.start, ...options]);
  run(mfc, [...words, '-o', files.evaluation, '--eval', '--budget=none', ...options.filter((word) => OF_BOTH.test(word))]);
  writeFileSync(note, made);
  return files;
}

// A trainer (trainer.mjs) with the state of the checkpoint, if there is one, else of the start.
export function resume(ort, files, options = {}) {
  return Trainer.create(ort, files.step, readFileSync(existsSync(files.checkpoint) ? files.checkpoint : files.start), options);
}

// Whoever ends this process at any moment leaves the old checkpoint or the new one.
export function save(trainer, path, metadata) {
  const temporary = `${path}.tmp`, file = openSync(temporary, 'w');
  for (const part of trainer.checkpoint(metadata)) writevSync(file, [part]);
  fsyncSync(file);
  closeSync(file);
  renameSync(temporary, path);
}

export const tensors = (ort, parts) =>
  Object.fromEntries(Object.entries(parts).map(([name, t]) => [name, new ort.Tensor(t.type, t.data, t.dims)]));

const batchSize = (session, data) => session.inputMetadata.find((m) => m.name in data.arrays).shape[0];

// Runs steps until `steps` are done in all, and saves the state every `every` steps and at the end. data: a Dataset, or a function
// from the number of a step to { name: { type, dims, data } }. settings: of the optimizer, or a function from the number of a step
// to them. look: is called with { step, loss } after each step; false ends the loop.
export async function fit(trainer, { files, data, settings, steps, every = 100, look = () => {} }) {
  const size = typeof data === 'function' ? 0 : batchSize(trainer.session, data);
  const batch = typeof data === 'function' ? data : (step) => data.batch(step, size);
  let done = Number(trainer.metadata.steps ?? 0), goes = true;
  while (goes && done < steps) {
    const set = typeof settings === 'function' ? settings(done) : settings;
    const { loss } = await trainer.step({ ...set, ...tensors(trainer.ort, await batch(done)) });
    if (!Number.isFinite(loss)) throw new Error(`step ${done}: the loss is ${loss}; the last checkpoint is from before`);
    goes = await look({ step: done++, loss }) !== false;
    if (done % every === 0 || done === steps || !goes) save(trainer, files.checkpoint, { steps: String(done) });
  }
  trainer.metadata = { ...trainer.metadata, steps: String(done) };
}

// The mean loss over a Dataset with the trainer's present parameters, and the share of labels that the first output of the model
// has as its largest score (its last axis; NaN where there are no such scores).
export async function evaluate(trainer, files, data) {
  trainer.evaluation ??= await trainer.ort.InferenceSession.create(files.evaluation, { logSeverityLevel: 3 });
  const session = trainer.evaluation, [lossName, scoresName] = session.outputNames, { labels } = data.arrays;
  let loss = 0, correct = 0, n = 0, total = 0;
  for (const parts of data.batches(batchSize(session, data))) {
    const all = { ...trainer.state, ...tensors(trainer.ort, parts) };
    const out = await session.run(Object.fromEntries(session.inputNames.map((name) => [name, all[name]])));
    const scores = out[scoresName], classes = scores?.dims.at(-1) ?? 1;
    loss += out[lossName].data[0];
    n++;
    if (!labels || scores.data.length / classes !== parts.labels.data.length) continue;
    parts.labels.data.forEach((label, i) => {
      const row = scores.data.subarray(i * classes, (i + 1) * classes);
      correct += row.indexOf(Math.max(...row)) === Number(label);
      total++;
    });
  }
  if (!n) throw new Error('the data do not fill a batch');
  return { loss: loss / n, accuracy: total ? correct / total : NaN };
}

// The model with the parameters of the checkpoint, for inference.
export function exportModel(model, files, output) {
  run(files.mfc, ['export', model, '--state', files.checkpoint, '-o', output, ...files.options.filter((word) => /^--head=/.test(word))]);
}
