// Measures what ONNX Runtime really needs to run a training step: peak memory, times, and digests of all outputs.
//
//     node measure.mjs STEP.onnx [--level disabled|basic|extended|all] [--runs N] [--threads N] [--arena] [--pattern]
//                      [--package FOLDER] [--initial START.onnx] [--save FILE] [--profile PREFIX] [--optimized FILE]
//
// A fresh process runs the step on inputs that depend on their names alone (parameters that are inputs come from --initial, the
// model that mfc writes there), without ONNX Runtime's arena and memory patterns unless they are asked for. Result, as JSON: `peak_bytes` over
// what was there before the first run; `fixed_bytes`, which were (inputs, initializers, constants); `total_bytes`, both together,
// which is what mfc's budgets are about; per run peak, wall and processor time; `digests` of the first run's outputs; `changed`, the outputs
// that a later run with the same inputs gave other bits; and `plan`, the dev.mfc.* entries of the
// file. --save writes the outputs, for compare.mjs. --package is a folder with another version of ONNX Runtime in it.
import { spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { fixedBytes, readModel, requiredInputs } from './onnxfile.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const LEVELS = ['disabled', 'basic', 'extended', 'all'];
// malloc gives what is larger than a threshold pages of its own, which leave the process when it is freed. Left alone the threshold
// starts at 128 KiB and grows to 32 MiB as large blocks are freed, and tensors under it scatter over the heap, which is never given
// back. Here it is low and stays so: with 128 KiB, workspaces and small tensors of a deep network alone cost 10 MB.
const MALLOC = { MALLOC_MMAP_THRESHOLD_: '32768', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_ARENA_MAX: '1' };

export function measure(step, options = {}) {
  const model = readModel(step);
  const job = {
    step, inputs: requiredInputs(model), outputs: model.outputs, level: 'all', runs: 2, threads: 1, arena: false, pattern: false,
    package: here, ...options,
  };
  const child = spawnSync(process.execPath, ['--expose-gc', resolve(here, 'run_step.mjs')],
    { input: JSON.stringify(job), env: { ...process.env, ...MALLOC }, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (child.status !== 0) throw new Error(`${step} does not run (${child.signal ?? child.status}): ${child.stderr.trim().slice(-2000)}`);
  const result = JSON.parse(child.stdout), fixed_bytes = fixedBytes(model);
  const plan = Object.fromEntries(Object.entries(model.metadata).filter(([k]) => k.startsWith('dev.mfc.'))
    .map(([k, v]) => [k.slice(8), /^-?\d+$/.test(v) ? Number(v) : v]));
  return { step, level: job.level, threads: job.threads, fixed_bytes, total_bytes: fixed_bytes + result.peak_bytes, ...result, plan };
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      level: { type: 'string', default: 'all' }, runs: { type: 'string', default: '2' }, threads: { type: 'string', default: '1' },
      arena: { type: 'boolean', default: false }, pattern: { type: 'boolean', default: false }, package: { type: 'string' },
      initial: { type: 'string' }, save: { type: 'string' }, profile: { type: 'string' }, optimized: { type: 'string' },
    },
  });
  if (positionals.length !== 1 || !LEVELS.includes(values.level)) {
    console.error(`usage: measure.mjs STEP.onnx [--level ${LEVELS.join('|')}] …`);
    process.exit(2);
  }
  const given = Object.fromEntries(Object.entries(values).filter(([, v]) => v !== undefined));
  console.log(JSON.stringify(measure(positionals[0], { ...given, runs: Number(values.runs), threads: Number(values.threads) }), null, 1));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) main();
