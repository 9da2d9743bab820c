// ONNX Runtime for the examples, and made-up inputs for a step: small random floats, integers 0 and 1, the same in every run.
// Packages are loaded from the folder in MFC_NODE_MODULES, or from here.
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const load = createRequire(join(resolve(process.env.MFC_NODE_MODULES ?? here), 'x.js'));

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

function tensor(ort, { name, type, shape }, numbers) {
  const open = shape.find((d) => typeof d !== 'number' || d < 0);
  if (open !== undefined || !arrays[type])
    throw new Error(`input ${name}: ${arrays[type] ? `dimension "${open}" is symbolic; set it with mfc --dim first` : `no random data for type ${type}; use --inputs`}`);
  const size = shape.reduce((a, b) => a * b, 1);
  if (numbers && numbers.length !== size) throw new Error(`input ${name}: ${numbers.length} numbers are given for ${size} elements`);
  const data = numbers ? arrays[type].from(numbers, type.endsWith('64') && type !== 'float64' ? BigInt : Number) : randomData(type, shape, size);
  return new ort.Tensor(type, data, shape);
}

// A tensor for every input of a session of `ort`, the loaded package. `numbers`: flat lists by name, for inputs that are not made up.
export function feedsOf(ort, session, numbers = {}) {
  return Object.fromEntries(session.inputMetadata.map((m) => [m.name, tensor(ort, m, numbers[m.name])]));
}
