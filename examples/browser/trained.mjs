// The trained model as an ONNX file, made in the browser: a copy of the model that the step was made from, with the numbers of the
// state in place of its initializers. `mfc export` does the same for any model; this one is for models whose initializers are
// stored as raw data and that are for inference already, and writes the same bytes for them.

const GRAPH = 7, INITIALIZER = 5, NAME = 8, RAW_DATA = 9;

// Fields of a protobuf message between two places, as [number, from, to]; numbers are passed over.
function* fields(bytes, at, end) {
  const varint = () => {
    let x = 0, scale = 1, byte;
    do {
      byte = bytes[at++];
      x += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return x;
  };
  while (at < end) {
    const tag = varint(), kind = tag % 8;
    if (kind === 0) {
      varint();
      continue;
    }
    const size = kind === 1 ? 8 : kind === 5 ? 4 : varint();
    if (kind === 2) yield [Math.floor(tag / 8), at, at + size];
    at += size;
  }
}

// model: the bytes of an ONNX file. state: { name: { data } }. Returns new bytes.
export function trainedModel(model, state) {
  const out = model.slice();
  for (const [graph, from, to] of fields(out, 0, out.length))
    for (const [item, begin, end] of graph === GRAPH ? fields(out, from, to) : []) {
      if (item !== INITIALIZER) continue;
      const parts = Object.fromEntries([...fields(out, begin, end)].map(([number, a, b]) => [number, [a, b]]));
      const name = new TextDecoder().decode(out.subarray(...parts[NAME])), tensor = state[name];
      if (!tensor || !parts[RAW_DATA]) continue;
      const bytes = new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength), [a, b] = parts[RAW_DATA];
      if (b - a !== bytes.length) throw new Error(`${name} has another size in the state than in the model`);
      out.set(bytes, a);
    }
  return out;
}
