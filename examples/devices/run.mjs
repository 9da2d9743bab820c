// Runs a split plan (`mfc split PLAN FOLDER`) with ONNX Runtime: one process per device with its own sessions; tensors are sent between
// processes as messages. Each process executes its program in the manifest step by step.
//
//     import { openDevices } from './run.mjs';
//     const devices = await openDevices(folder);          // one process each; session options may follow
//     const outputs = await devices.run({ image: ... });  // name -> { type, dims, data }
//     devices.close();
//
// `onnxruntime-node` is loaded from the folder in MFC_NODE_MODULES, or from here.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);

// ---- The caller: starts the processes, sends the inputs, and routes messages. ----

export async function openDevices(folder, sessionOptions = {}) {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const devices = new Map();
  for (const { name } of manifest.devices)
    devices.set(name, fork(self, [folder, name, JSON.stringify(sessionOptions)], { serialization: 'advanced', env: { ...process.env, MFC_DEVICE: name } }));
  let pending; // the current run
  for (const [name, child] of devices) {
    child.on('message', (m) => {
      if (m.to) devices.get(m.to).send(m);
      else if (m.error) pending?.reject(new Error(`${name}: ${m.error}`));
      else if (m.outputs) pending?.done(m.outputs);
    });
    child.on('exit', (code) => pending?.reject(new Error(`${name} ended with ${code}`)));
  }
  return {
    names: [...devices.keys()],
    run(feeds) {
      return new Promise((settle, reject) => {
        const outputs = {};
        let left = devices.size;
        const done = (some) => {
          Object.assign(outputs, some);
          if (--left === 0) {
            pending = undefined;
            settle(outputs);
          }
        };
        pending = { done, reject };
        for (const child of devices.values()) child.send({ feeds });
      });
    },
    close() {
      pending = undefined;
      for (const child of devices.values()) child.disconnect();
    },
  };
}

// ---- The process of a device. ----

async function serve(folder, name, sessionOptions) {
  const require = createRequire(join(resolve(process.env.MFC_NODE_MODULES ?? dirname(self)), 'x.js'));
  const ort = require('onnxruntime-node');
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const program = manifest.devices.find((d) => d.name === name).steps;
  const sessions = new Map();
  for (const step of program)
    if (step.run) sessions.set(step.run, await ort.InferenceSession.create(join(folder, step.run), { logSeverityLevel: 3, ...sessionOptions }));
  const arrived = new Map(), waiting = new Map(); // from other devices: value -> tensor, value -> resolver

  function take(value) {
    if (!arrived.has(value)) return new Promise((settle) => waiting.set(value, settle));
    const tensor = arrived.get(value);
    arrived.delete(value);
    return tensor;
  }

  async function runOnce(feeds) {
    const held = new Map(Object.entries(feeds));
    for (const step of program) {
      if (step.receive) held.set(step.receive, await take(step.receive));
      if (step.send) process.send({ to: step.to, value: step.send, tensor: held.get(step.send) });
      if (step.run) {
        const inputs = {};
        for (const input of step.inputs) {
          const { type, data, dims } = held.get(input) ?? {};
          if (!type) throw new Error(`input ${input} is missing from the feeds`);
          inputs[input] = new ort.Tensor(type, data, dims);
        }
        const made = await sessions.get(step.run).run(inputs);
        for (const output of step.outputs) {
          const { type, data, dims } = made[output];
          held.set(output, { type, data, dims });
        }
      }
      for (const value of step.free ?? []) held.delete(value);
    }
    return Object.fromEntries(manifest.outputs.filter((o) => held.has(o)).map((o) => [o, held.get(o)]));
  }

  process.on('message', async (m) => {
    if (m.value) {
      const settle = waiting.get(m.value);
      waiting.delete(m.value);
      if (settle) settle(m.tensor);
      else arrived.set(m.value, m.tensor);
    } else {
      try {
        process.send({ outputs: await runOnce(m.feeds) });
      } catch (e) {
        process.send({ error: e.message });
      }
    }
  });
}

if (process.env.MFC_DEVICE && process.send) await serve(process.argv[2], process.argv[3], JSON.parse(process.argv[4]));
