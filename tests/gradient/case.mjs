// Cases of operators: a node written down in one line, with its operands, as a model in mfc's text form and as tensors
// to feed. All numbers come from a small generator that starts from the case's own name, so that a case is the same
// whatever stands around it.
import { toHalf } from './half.mjs';
import ort from './runtime.mjs';

const ARRAYS = { f16: Uint16Array, f32: Float32Array, f64: Float64Array, i64: BigInt64Array, i32: Int32Array, bool: Uint8Array, u8: Uint8Array };
const NAMES = { f16: 'float16', f32: 'float32', f64: 'float64', i64: 'int64', i32: 'int32', bool: 'bool', u8: 'uint8' };

export function generator(text) {
  let s = 0x9e3779b9;
  for (const c of text) s = Math.imul(s ^ c.charCodeAt(0), 0x85ebca6b) ^ (s >>> 13);
  return () => { // mulberry32
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), s | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// How the elements of a float operand are drawn. Kinks lie at 0, at equal neighbours or at whole numbers: the draws keep
// away from them by more than the largest step of the differences.
const DRAWS = {
  plain: (r) => 2 * r() - 1,
  away: (r) => (0.15 + 0.85 * r()) * (r() < 0.5 ? -1 : 1),
  positive: (r) => 0.5 + 1.5 * r(),
  inside: (r) => (0.1 + 0.7 * r()) * (r() < 0.5 ? -1 : 1), // of (-1, 1)
  beyond: (r) => 1.5 + r(), // of 1
  fraction: (r) => Math.floor(6 * r() - 3) + 0.2 + 0.6 * r(),
};

function draw(how, n, random) {
  if (Array.isArray(how)) return how;
  if (how !== 'distinct') return Array.from({ length: n }, () => DRAWS[how](random));
  const x = Array.from({ length: n }, (_, i) => (i - n / 2 + 0.3) * 0.11);
  for (let i = n - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [x[i], x[k]] = [x[k], x[i]];
  }
  return x;
}

// Operands: a shape alone is a float input that wants its gradient.
export const f = (shape, how = 'plain') => ({ kind: 'float', shape, how, wanted: true });
export const fixed = (shape, how = 'plain') => ({ kind: 'float', shape, how, wanted: false }); // fed, no gradient asked
export const number = (x, shape = []) => ({ kind: 'constant', elem: 'float', shape, values: [x].flat() });
export const ints = (values, shape) => ({ kind: 'constant', elem: 'i64', shape: shape ?? [values.length], values });
export const int = (x) => ({ kind: 'constant', elem: 'i64', shape: [], values: [x] });
export const bool = (x) => ({ kind: 'constant', elem: 'bool', shape: [], values: [x ? 1 : 0] });
export const bytes = (values, shape = []) => ({ kind: 'constant', elem: 'u8', shape, values });
export const fed = (elem, values, shape) => ({ kind: 'fed', elem, shape: shape ?? [values.length], values });

const count = (shape) => shape.reduce((a, b) => a * b, 1);

// c('Conv', [operands], 'attributes', { opset, … }), where
//   outputs  names what the loss is made of, results what the node gives, when that is more
//   body     replaces the single node, and names the operands %x0, %x1, …
//   forward  replaces it in what is differentiated by differences
//   fresh    wants a new session for every run, because the operator draws random numbers
//   only32   ONNX Runtime takes doubles here, but computes in floats; or the rule has a form for floats alone
//   zero     the operator carries no gradient by its nature, and stands beside one that does
export function c(op, operands, attributes = '', more = {}) {
  return { op, operands: operands.map((o) => (Array.isArray(o) ? f(o) : o)), attributes, opset: 17, ...more };
}

const spell = (elem, values) => (elem.startsWith('f')
  ? values.map((x) => (Number.isInteger(x) ? x.toFixed(1) : String(x))) : values).join(',');

// The model's text and its tensors, with floats of one type.
export function build(one, float) {
  const random = generator(JSON.stringify(one));
  const lines = [], head = [], names = [], feeds = {}, wanted = [];
  one.operands.forEach((o, i) => {
    if (o === null) { names.push('_'); return; }
    const elem = o.kind === 'float' || o.elem === 'float' ? float : o.elem, name = `x${i}`;
    const values = o.kind === 'float' ? draw(o.how, count(o.shape), random) : o.values;
    names.push('%' + name);
    if (o.kind === 'constant') {
      head.push(`  %${name} = Constant(value=${elem}[${o.shape}] {${spell(elem, values)}})`);
      return;
    }
    lines.push(`  input %${name} : ${elem}[${o.shape}]`);
    const data = elem === 'i64' ? BigInt64Array.from(values, BigInt) : ARRAYS[elem].from(values, elem === 'f16' ? toHalf : Number);
    feeds[name] = new ort.Tensor(NAMES[elem], data, o.shape);
    if (o.wanted) wanted.push(name);
  });
  const outputs = one.outputs ?? ['y'];
  const results = (one.results ?? outputs).map((y) => (y === '_' ? y : '%' + y)).join(', ');
  const inside = [...names, ...(one.attributes ? [one.attributes] : [])].join(', ');
  const types = { FLOAT: float, DTYPE: { f16: '10', f32: '1', f64: '11' }[float] };
  const linesOf = (body) => body.replace(/FLOAT|DTYPE/g, (k) => types[k]).split('\n').map((l) => '  ' + l.trim());
  const write = (node) => ['mfc 1', `ir_version ${one.opset > 21 ? 10 : 8}`, `opset ${one.opset}`, ...(one.op.match(/(?<=<).*(?=>)/) ?? []).map((d) => `opset ${d} 1`), 'graph "case" {', ...lines, ...head,
    ...node, ...outputs.map((y) => `  output %${y}`), '}', ''].join('\n');
  const node = one.body ? linesOf(one.body) : [`  ${results} = ${one.op}(${inside})`];
  return { text: write(node), forwardText: write(one.forward ? linesOf(one.forward) : node), feeds, wanted, random };
}
