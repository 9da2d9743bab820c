// Safetensors files, for Node.js and the browser: { name: { type, dims, data } } with the types of ONNX Runtime ("float32",
// "int64", …) and typed arrays. `mfc state` writes such a file, `mfc export --state` reads it.

const TYPES = [
  ['F32', 'float32', Float32Array], ['F64', 'float64', Float64Array], ['I64', 'int64', BigInt64Array],
  ['U64', 'uint64', BigUint64Array], ['I32', 'int32', Int32Array], ['U32', 'uint32', Uint32Array],
  ['I16', 'int16', Int16Array], ['U16', 'uint16', Uint16Array], ['F16', 'float16', Uint16Array],
  ['I8', 'int8', Int8Array], ['U8', 'uint8', Uint8Array], ['BOOL', 'bool', Uint8Array],
];
const MAX_HEADER = 100_000_000;

function fail(text) {
  throw new Error(`safetensors: ${text}`);
}

// bytes: a Uint8Array. Returns { tensors, metadata }; the data are copies.
export function decode(bytes) {
  if (bytes.byteLength < 8) fail('shorter than 8 bytes');
  const length = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  const start = 8 + Number(length);
  if (length > BigInt(MAX_HEADER) || start > bytes.byteLength) fail('the header would end behind the file');
  const header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(8, start)));
  const tensors = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const known = TYPES.find(([dtype]) => dtype === entry.dtype) ?? fail(`${name}: unknown type ${entry.dtype}`);
    const [, type, Array_] = known, [begin, end] = entry.data_offsets;
    const count = entry.shape.reduce((a, b) => a * b, 1);
    if (!(begin >= 0 && begin <= end && start + end <= bytes.byteLength)) fail(`${name}: outside of the file`);
    if (end - begin !== count * Array_.BYTES_PER_ELEMENT) fail(`${name}: not as many bytes as its shape says`);
    const copy = new Uint8Array(bytes.subarray(start + begin, start + end)); // Buffer.slice would not copy
    tensors[name] = { type, dims: entry.shape, data: new Array_(copy.buffer, 0, count) };
  }
  return { tensors, metadata: header.__metadata__ ?? {} };
}

// The parts of the file, as Uint8Arrays to be written one behind the other. Tensors of ONNX Runtime will do.
export function encode(tensors, metadata = {}) {
  const header = { __metadata__: metadata }, parts = [];
  let offset = 0;
  const width = (t) => t.data.BYTES_PER_ELEMENT;
  const names = Object.keys(tensors).sort((a, b) => width(tensors[b]) - width(tensors[a])); // so that each is aligned
  for (const name of names) {
    const { type, dims, data } = tensors[name];
    const known = TYPES.find(([, t]) => t === type) ?? fail(`${name}: unknown type ${type}`);
    header[name] = { dtype: known[0], shape: [...dims], data_offsets: [offset, offset += data.byteLength] };
    parts.push(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  let text = new TextEncoder().encode(JSON.stringify(header));
  const padded = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20);
  padded.set(text);
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(padded.length), true);
  return [length, padded, ...parts];
}
