// Measures every node of a model on ONNX Runtime and writes the profile for `mfc --profile`:
//
//     mfc model.onnx -o step.onnx --budget none
//     node examples/profile.mjs step.onnx -o profile.json
//     mfc model.onnx -o plan.onnx --profile profile.json
//
// Options: -o FILE (profile.json), --runs N (5; one more comes first and does not count), --level disabled|basic|extended|all
// (disabled: no node is fused), --threads N (default: ONNX Runtime's), --inputs FILE (a JSON object from names of inputs to flat
// lists of numbers). Other inputs are made up: small random floats, integers 0 and 1. `onnxruntime-node` is loaded from the
// folder in MFC_NODE_MODULES, or from here.
import { mkdtempSync, readFileSync, readdirSync, rmSync, copyFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(join(resolve(process.env.MFC_NODE_MODULES ?? here), 'x.js'));
const ort = require('onnxruntime-node');

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'profile.json' },
    runs: { type: 'string', default: '5' },
    level: { type: 'string', default: 'disabled' },
    threads: { type: 'string' },
    inputs: { type: 'string' },
  },
});
const runs = Number(given.runs), threads = given.threads === undefined ? undefined : Number(given.threads);
if (positionals.length !== 1 || !Number.isInteger(runs) || runs < 1 || (threads !== undefined && !(threads >= 1))) {
  console.error('usage: node profile.mjs MODEL.onnx [-o FILE] [--runs N] [--level LEVEL] [--threads N] [--inputs FILE]');
  process.exit(2);
}

// Deterministic random numbers. Matrices are scaled so that sums stay small; vectors are positive, as variances must be.
let seed = 1;
function unit() {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return seed / 0x80000000;
}
const arrays = { float32: Float32Array, float64: Float64Array, float16: Uint16Array, int64: BigInt64Array, int32: Int32Array,
  bool: Uint8Array, uint8: Uint8Array, int8: Int8Array, uint64: BigUint64Array, uint32: Uint32Array, int16: Int16Array, uint16: Uint16Array };

function randomData(type, shape, size) {
  const wide = 2 / Math.sqrt(shape.slice(1).reduce((a, b) => a * b, 1));
  if (type === 'float32' || type === 'float64')
    return arrays[type].from({ length: size }, () => (shape.length > 1 ? (unit() - 0.5) * wide : unit()));
  if (type === 'float16') // the bits of numbers from 1 to 2
    return arrays[type].from({ length: size }, () => 0x3c00 + Math.trunc(unit() * 1024));
  return arrays[type].from({ length: size }, type.endsWith('64') ? (_, i) => BigInt(i % 2) : (_, i) => i % 2);
}

function tensor({ name, type, shape }, numbers) {
  const open = shape.find((d) => typeof d !== 'number' || d < 0);
  if (open !== undefined || !arrays[type])
    throw new Error(`input ${name}: ${arrays[type] ? `dimension "${open}" is symbolic; set it with mfc --dim first` : `no random data for type ${type}; use --inputs`}`);
  const size = shape.reduce((a, b) => a * b, 1);
  if (numbers && numbers.length !== size) throw new Error(`input ${name}: ${numbers.length} numbers are given for ${size} elements`);
  const data = numbers ? arrays[type].from(numbers, type.endsWith('64') && type !== 'float64' ? BigInt : Number) : randomData(type, shape, size);
  return new ort.Tensor(type, data, shape);
}

const folder = mkdtempSync(join(tmpdir(), 'profile-'));
try {
  const session = await ort.InferenceSession.create(positionals[0], {
    logSeverityLevel: 3, graphOptimizationLevel: given.level, executionMode: 'sequential', enableProfiling: true,
    profileFilePrefix: join(folder, 'p'), ...(threads ? { intraOpNumThreads: threads } : {}),
  });
  const numbers = given.inputs ? JSON.parse(readFileSync(given.inputs, 'utf8')) : {};
  const feeds = Object.fromEntries(session.inputMetadata.map((m) => [m.name, tensor(m, numbers[m.name])]));
  for (let run = 0; run <= runs; run++) await session.run(feeds);
  session.endProfiling();
  const [file] = readdirSync(folder);
  if (!file) throw new Error('ONNX Runtime wrote no profile; use onnxruntime-node 1.23 or later');
  copyFileSync(join(folder, file), given.output);
  console.log(`${given.output}: ${runs} runs of ${positionals[0]}`);
} finally {
  rmSync(folder, { recursive: true });
}
