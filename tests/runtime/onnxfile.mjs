// What an ONNX file says about itself, without its weights: metadata, inputs and outputs with their types, initializers and
// constants with their sizes, nodes. A reader of the wire format in a few lines, for files that mfc wrote; payloads are stepped
// over, so that a file of any size costs nothing.
import { openSync, readSync, closeSync, fstatSync } from 'node:fs';

const TYPES = [undefined, 'float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'string', 'bool', 'float16', 'float64',
  'uint32', 'uint64'];
const SIZES = { float32: 4, uint8: 1, int8: 1, uint16: 2, int16: 2, int32: 4, int64: 8, bool: 1, float16: 2, float64: 8, uint32: 4, uint64: 8 };
const BLOCK = 1 << 16;

class Wire {
  constructor(path) {
    this.fd = openSync(path);
    this.size = fstatSync(this.fd).size;
    this.block = Buffer.alloc(BLOCK);
    this.first = -BLOCK;
  }

  byte(at) {
    if (at < this.first || at >= this.first + BLOCK) {
      this.first = at - (at % BLOCK);
      readSync(this.fd, this.block, 0, BLOCK, this.first);
    }
    return this.block[at - this.first];
  }

  varint(at) {
    let value = 0, scale = 1, b;
    do {
      b = this.byte(at++);
      value += (b & 127) * scale;
      scale *= 128;
    } while (b & 128);
    return [value, at];
  }

  // The fields of the message in [from, to): number, and either a value or the range of a nested message or payload.
  * fields([from, to]) {
    while (from < to) {
      let key, value = 0;
      [key, from] = this.varint(from);
      const kind = key % 8, number = (key - kind) / 8;
      if (kind === 0) {
        [value, from] = this.varint(from);
        yield { number, value };
        continue;
      }
      if (kind === 2) [value, from] = this.varint(from);
      else value = kind === 1 ? 8 : 4;
      yield { number, range: [from, from + value] };
      from += value;
    }
  }

  text([from, to]) {
    const bytes = Buffer.alloc(to - from);
    readSync(this.fd, bytes, 0, to - from, from);
    return bytes.toString('utf8');
  }

  numbers(field) { // a repeated integer, packed or not
    if (!field.range) return [field.value];
    const out = [];
    for (let [at, to] = field.range, x; at < to;) {
      [x, at] = this.varint(at);
      out.push(x);
    }
    return out;
  }
}

export const bytesOf = (type, dims) => dims.reduce((a, b) => a * b, SIZES[type] ?? 0);

function tensor(wire, range) {
  const t = { name: '', type: undefined, dims: [] };
  for (const f of wire.fields(range)) {
    if (f.number === 1) t.dims.push(...wire.numbers(f));
    else if (f.number === 2) t.type = TYPES[f.value];
    else if (f.number === 8) t.name = wire.text(f.range);
  }
  return { ...t, bytes: bytesOf(t.type, t.dims) };
}

// name, element type, dims: null where a dimension is not a number, no dims at all where the file gives no shape.
function value(wire, range) {
  const v = { name: '', type: undefined, dims: undefined };
  for (const f of wire.fields(range)) {
    if (f.number === 1) v.name = wire.text(f.range);
    if (f.number !== 2) continue;
    for (const kind of wire.fields(f.range)) {
      if (kind.number !== 1) continue; // tensor_type
      for (const t of wire.fields(kind.range)) {
        if (t.number === 1) v.type = TYPES[t.value];
        if (t.number === 2)
          v.dims = [...wire.fields(t.range)].map((d) => [...wire.fields(d.range)].find((x) => x.number === 1)?.value ?? null);
      }
    }
  }
  return v;
}

function pair(wire, range) {
  const out = ['', ''];
  for (const f of wire.fields(range)) if (f.number <= 2) out[f.number - 1] = wire.text(f.range);
  return out;
}

function node(wire, range) {
  const n = { name: '', op: '', inputs: [], outputs: [], metadata: {}, constant_bytes: 0 };
  const attributes = [];
  for (const f of wire.fields(range)) {
    if (f.number === 1) n.inputs.push(wire.text(f.range));
    else if (f.number === 2) n.outputs.push(wire.text(f.range));
    else if (f.number === 3) n.name = wire.text(f.range);
    else if (f.number === 4) n.op = wire.text(f.range);
    else if (f.number === 5) attributes.push(f.range);
    else if (f.number === 9) {
      const [key, text] = pair(wire, f.range);
      n.metadata[key] = text;
    }
  }
  if (n.op === 'Constant')
    for (const a of attributes)
      for (const f of wire.fields(a)) if (f.number === 5) n.constant_bytes += tensor(wire, f.range).bytes;
  return n;
}

export function readModel(path) {
  const wire = new Wire(path);
  const model = { metadata: {}, inputs: [], outputs: [], initializers: [], nodes: [] };
  for (const f of wire.fields([0, wire.size])) {
    if (f.number === 14) {
      const [key, text] = pair(wire, f.range);
      model.metadata[key] = text;
    }
    if (f.number !== 7) continue;
    for (const g of wire.fields(f.range)) {
      if (g.number === 1) model.nodes.push(node(wire, g.range));
      else if (g.number === 5) model.initializers.push(tensor(wire, g.range));
      else if (g.number === 11) model.inputs.push(value(wire, g.range));
      else if (g.number === 12) model.outputs.push(value(wire, g.range));
    }
  }
  closeSync(wire.fd);
  return model;
}

// Inputs that have no initializer must be fed.
export function requiredInputs(model) {
  const given = new Set(model.initializers.map((t) => t.name));
  return model.inputs.filter((v) => !given.has(v.name));
}

// Bytes that a step holds from before its start to its end: inputs, initializers, constants.
export function fixedBytes(model) {
  return requiredInputs(model).reduce((n, v) => n + bytesOf(v.type, v.dims ?? []), 0)
    + model.initializers.reduce((n, t) => n + t.bytes, 0) + model.nodes.reduce((n, x) => n + x.constant_bytes, 0);
}
