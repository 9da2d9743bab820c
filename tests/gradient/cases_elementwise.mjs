// Cases of functions of single elements: of one tensor, of several that broadcast, and those that carry no gradient.
import { bool, bytes, c, f, fed, fixed, int, number } from './case.mjs';

const shapes = [[5], [2, 3, 2], []];

// operator, how its input is drawn, opset, sets of attributes
const unary = [
  ['Abs', 'away'], ['Acos', 'inside'], ['Acosh', 'beyond'], ['Asin', 'inside'], ['Asinh'], ['Atan'], ['Atanh', 'inside'],
  ['Cos'], ['Cosh'], ['Erf'], ['Exp'], ['Identity'], ['Log', 'positive'], ['Neg'], ['Reciprocal', 'positive'], ['Sigmoid'],
  ['Sin'], ['Sinh'], ['Softplus'], ['Softsign', 'away'], ['Sqrt', 'positive'], ['Tan'], ['Tanh'], ['Relu', 'away'],
  ['Mish', 'plain', 18], ['HardSwish', 'plain', 14], ['HardSwish', 'plain', 22],
  ['Celu', 'away', 12, ['', 'alpha=0.5']], ['Elu', 'away', 17, ['', 'alpha=0.5']], ['LeakyRelu', 'away', 17, ['', 'alpha=0.3']],
  ['Selu', 'away', 17, ['', 'alpha=1.2, gamma=0.9']], ['Gelu', 'plain', 20, ['', 'approximate="tanh"']],
  ['HardSigmoid', 'plain', 17, ['', 'alpha=0.35, beta=0.4']], ['Swish', 'plain', 24, ['', 'alpha=1.5']],
  ['ThresholdedRelu', [-1, -0.3, 0.2, 0.7, 1.4], 17, ['alpha=0.5', '']], ['Shrink', [-1, -0.3, 0.2, 0.7, 1.4], 17, ['', 'lambd=0.9, bias=0.2']],
];

const plain = unary.flatMap(([op, how = 'plain', opset = 17, attributes = ['']]) =>
  attributes.flatMap((a) => (Array.isArray(how) ? [[5]] : shapes).map((s) => c(op, [f(s, how)], a, { opset, only32: op === 'Shrink' }))));

const pairs = [[[2, 3], [2, 3]], [[2, 3], [3]], [[3, 1], [2, 1, 4]], [[], [2, 2]], [[1, 3], [2, 1]]];
const binary = [['Add'], ['Sub'], ['Mul'], ['Div', 'plain', 'positive'], ['Pow', 'positive', 'plain']].flatMap(([op, a = 'plain', b = 'plain']) =>
  pairs.map(([x, y]) => c(op, [f(x, a), f(y, b)])));

const several = ['Max', 'Min', 'Mean', 'Sum'].flatMap((op) => [
  c(op, [f([4], 'distinct')]),
  c(op, [f([2, 3], [0.1, 0.5, -0.3, 0.9, -0.7, 0.2]), f([3], [0.3, -0.2, 0.4])]),
  c(op, [f([2, 1], [0.6, -0.4]), f([3], [0.1, -0.1, 0.35]), f([1, 2, 3], [0.8, 0.2, -0.6, -0.2, 0.5, 0.05])]),
]);

const kinks = [
  c('Clip', [f([6], [-2, -0.4, 0.1, 0.45, 0.8, 3]), number(-1), number(0.6)]),
  c('Clip', [f([6], [-2, -0.4, 0.1, 0.45, 0.8, 3]), number(-1)]),
  c('Clip', [f([2, 3], [-2, -0.4, 0.1, 0.45, 0.8, 3]), null, number(0.6)], '', { opset: 13 }),
  c('Clip', [f([2, 3], [-2, -0.4, 0.1, 0.45, 0.8, 3]), f([], [-0.3]), f([], [0.6])]),
  c('Clip', [f([4])]),
  c('Clip', [f([4], [-0.5, -0.1, 0.2, 0.7])], 'min=-0.3, max=0.4', { opset: 6 }),
  c('PRelu', [f([2, 3], 'away'), f([3])]),
  c('PRelu', [f([2, 3, 2, 2], 'away'), f([3, 1, 1])]),
  c('PRelu', [f([2, 3], 'away'), f([1])], '', { opset: 9 }),
  c('Mod', [f([5], [2.3, -1.4, 0.6, 3.1, -2.7]), f([5], [0.9, 0.8, 1.5, -1.3, 1.1])], 'fmod=1'),
  c('Mod', [f([2, 3], [2.3, -1.4, 0.6, 3.1, -2.7, 1.2]), f([3], [0.9, 0.8, 1.5])], 'fmod=1'),
  c('Pow', [f([2, 3]), number(2)]), c('Pow', [f([2, 3]), number(3)]), c('Pow', [f([4]), number(1)]),
  c('Pow', [f([2, 3], 'positive'), number(0.5)]), c('Pow', [f([2, 3], 'positive'), number(-1.5)]),
  c('Pow', [f([2, 3]), int(2)]), c('Pow', [f([2, 3]), int(3)]),
  c('Where', [fed('bool', [1, 0, 1], [3]), [2, 3], [2, 3]]),
  c('Where', [fed('bool', [1, 0], [2, 1]), [3], []]),
  c('Where', [fed('bool', [0], [1]), [2, 3], [1, 3]]),
  c('Cast', [[2, 3]], 'to=1', { only32: true }), c('Cast', [[2, 3]], 'to=11'),
  c('CastLike', [[2, 3], fixed([1])], '', { opset: 19 }),
  c('Dropout', [[2, 6], number(0.4), bool(true)], 'seed=7', { fresh: true }),
  c('Dropout', [[2, 6], null, bool(true)], 'seed=3', { fresh: true, opset: 13 }),
  c('Dropout', [[2, 6], number(0.4)]), c('Dropout', [[2, 6], number(0.4), bool(false)]),
  c('Dropout', [[4]], 'ratio=0.3', { opset: 10 }),
];

// Straight-through: the rounding is taken as absent, so the reference is the pair without it.
const quantized = ['QuantizeLinear', 'DequantizeLinear'].flatMap((op) => [[[6], number(0.01), bytes([128])], [[2, 3], number([0.01, 0.02, 0.03], [3]), bytes([128, 100, 90], [3])]]
  .map((operands) => c(op, operands, '', {
    body: '%q = QuantizeLinear(%x0, %x1, %x2)\n%y = DequantizeLinear(%q, %x1, %x2)', forward: '%y = Identity(%x0)', only32: true,
  })));
// Beyond the range of the integers: -1.285 to 1.275.
quantized.push(c('QuantizeLinear', [f([6], [-2, -1, -0.4, 0.8, 1, 3]), number(0.01), bytes([128])], '', {
  body: '%q = QuantizeLinear(%x0, %x1, %x2)\n%y = DequantizeLinear(%q, %x1, %x2)',
  forward: '%a = Constant(value_float=-1.285)\n%b = Constant(value_float=1.275)\n%y = Clip(%x0, %a, %b)', only32: true,
}));

// No gradient by nature: beside an identity, nothing is added to it.
const nothing = [
  ...['Ceil', 'Floor', 'Round', 'Sign'].map((op) => c(op, [f([2, 3], 'fraction')], '', { body: `%z = ${op}(%x0)\n%y = Add(%z, %x0)`, zero: true })),
  ...['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual'].map((op) => c(op, [f([4], 'distinct'), f([4], 'positive')], '',
    { body: `%z = ${op}(%x0, %x1)\n%y = Where(%z, %x0, %x1)`, zero: true })),
  ...['And', 'Or', 'Xor'].map((op) => c(op, [f([4], 'away'), f([4], 'away')], '',
    { body: `%n = Constant(value=FLOAT[] {0.0})\n%a = Greater(%x0, %n)\n%b = Greater(%x1, %n)\n%z = ${op}(%a, %b)\n%y = Where(%z, %x0, %x1)`, zero: true })),
  c('Not', [f([4], 'away')], '', { body: '%n = Constant(value=FLOAT[] {0.0})\n%a = Greater(%x0, %n)\n%z = Not(%a)\n%y = Where(%z, %x0, %n)', zero: true }),
  ...['ArgMax', 'ArgMin'].map((op) => c(op, [f([3, 2], 'distinct')], '', { body: `%i = ${op}(%x0, axis=0, keepdims=1)\n%y = GatherElements(%x0, %i, axis=0)`, zero: true })),
  c('Hardmax', [f([2, 3], 'distinct')], '', { body: '%h = Hardmax(%x0)\n%y = Mul(%h, %x0)', zero: true }),
  c('Shape', [[2, 3]], '', { body: '%s = Shape(%x0)\n%t = Cast(%s, to=DTYPE)\n%r = ReduceSum(%t)\n%y = Mul(%x0, %r)', zero: true }),
];

export default [...plain, ...binary, ...several, ...kinks, ...quantized, ...nothing];
