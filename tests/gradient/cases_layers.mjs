// Cases of layers: convolutions, products, poolings, normalizations, losses, recurrences.
import { c, f, fed, fixed, ints } from './case.mjs';

const convs = [
  ['Conv', [[1, 2, 5], [3, 2, 3]], ''], ['Conv', [[2, 2, 5], [3, 2, 2], [3]], 'strides=[2], pads=[1,0]'],
  ['Conv', [[2, 2, 4, 5], [3, 2, 3, 3], [3]], 'pads=[1,1,1,1]'], ['Conv', [[1, 2, 5, 5], [2, 2, 1, 1], [2]], ''],
  ['Conv', [[1, 2, 6, 5], [2, 2, 3, 2]], 'strides=[2,3], pads=[1,0,0,1]'],
  ['Conv', [[1, 2, 6, 6], [3, 2, 1, 1]], 'strides=[2,2]'], ['Conv', [[2, 4, 5, 5], [4, 2, 3, 3], [4]], 'group=2, dilations=[2,1], pads=[2,1,2,1]'],
  ['Conv', [[1, 3, 5, 4], [3, 1, 3, 3], [3]], 'group=3, pads=[1,1,1,1]'], ['Conv', [[2, 2, 5, 5], [6, 1, 2, 2]], 'group=2, strides=[2,1]'],
  ['Conv', [[1, 2, 5, 6], [2, 2, 3, 3]], 'auto_pad="SAME_UPPER", strides=[2,2]'], ['Conv', [[1, 2, 5, 6], [2, 2, 2, 3]], 'auto_pad="SAME_LOWER"'],
  ['Conv', [[1, 2, 5, 6], [2, 2, 3, 3]], 'auto_pad="VALID", strides=[2,2]'], ['Conv', [[1, 1, 4, 4], [2, 1, 2, 2]], 'pads=[2,2,2,2]'],
  ['Conv', [[1, 2, 3, 4, 3], [2, 2, 2, 2, 2], [2]], 'pads=[1,0,0,0,1,0]'], ['Conv', [[1, 1, 5, 4, 4], [2, 1, 3, 2, 2]], 'strides=[2,2,1]'],
  ['Conv', [[1, 2, 7], [2, 2, 3]], 'strides=[3], dilations=[2], pads=[2,1]'],
  ['ConvTranspose', [[1, 2, 4], [2, 3, 3]], ''], ['ConvTranspose', [[2, 2, 3, 3], [2, 3, 3, 3], [3]], 'strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]'],
  ['ConvTranspose', [[1, 4, 3, 3], [4, 2, 2, 2], [4]], 'group=2, strides=[2,1]'], ['ConvTranspose', [[1, 2, 3, 3], [2, 2, 3, 3]], 'dilations=[2,1], pads=[1,0,1,0]'],
  ['ConvTranspose', [[1, 2, 3, 3], [2, 2, 3, 3]], 'auto_pad="SAME_UPPER", strides=[2,2]'], ['ConvTranspose', [[1, 2, 3, 3], [2, 1, 3, 3]], 'strides=[2,2], output_shape=[7,8]'],
  ['ConvTranspose', [[1, 2, 2, 2, 2], [2, 1, 2, 2, 2]], 'strides=[2,1,2]'],
].map(([op, operands, a]) => c(op, operands, a));

const products = [
  c('Gemm', [[2, 3], [3, 4], [4]]), c('Gemm', [[2, 3], [3, 4]]), c('Gemm', [[3, 2], [4, 3], [2, 1]], 'transA=1, transB=1, alpha=0.5, beta=2.0'),
  c('Gemm', [[2, 3], [4, 3], [2, 4]], 'transB=1'), c('Gemm', [[3, 2], [3, 4], []], 'transA=1, beta=0.3'), c('Gemm', [[2, 3], [3, 4], [4]], '', { opset: 9 }),
  ...[[[2, 3], [3, 4]], [[3], [3, 2]], [[2, 3], [3]], [[3], [3]], [[2, 2, 3], [2, 3, 2]], [[2, 2, 3], [3, 2]], [[2, 3], [2, 3, 2]], [[2, 1, 2, 3], [3, 3, 2]], [[3], [2, 3, 2]], [[2, 2, 3], [3]],
    [[1, 2, 2], [3, 2, 1]]].map((s) => c('MatMul', s)),
  c('Einsum', [[2, 3], [3, 4]], 'equation="ij,jk->ik"'), c('Einsum', [[2, 3, 4], [2, 4, 2]], 'equation="bij,bjk->bik"'),
  c('Einsum', [[2, 3, 2, 2], [2, 4, 2, 2]], 'equation="bqhd,bkhd->bhqk"'), c('Einsum', [[2, 3], [3]], 'equation="ij,j->i"'),
  c('Einsum', [[3, 3]], 'equation="ii->i"'), c('Einsum', [[3, 3]], 'equation="ii"'), c('Einsum', [[2, 3, 3], [3, 2]], 'equation="bii,ic->bc"'), c('Einsum', [[2, 2, 3], [2]], 'equation="iij,i->j"'),
  c('Einsum', [[1, 3], [3, 4]], 'equation="ij,jk->ik"'), c('Einsum', [[1, 3, 4], [2, 4, 2]], 'equation="...ij,...jk->...ik"'),
  c('Einsum', [[2, 3]], 'equation="ij->ji"'), c('Einsum', [[2, 3], [4]], 'equation="ij,k->ijk"'), c('Einsum', [[2, 3]], 'equation="ij->i"'),
  c('Einsum', [[2, 2, 3], [2, 3, 2]], 'equation="...ij,...jk->...ik"'), c('Einsum', [[3], [3]], 'equation="i,i->"'), c('Einsum', [[2, 3], [3, 2], [2, 2]], 'equation="ab,bc,cd->ad"'),
];

const window2 = [2, 2, 5, 6];
const poolings = [
  c('MaxPool', [f([1, 2, 7], 'distinct')], 'kernel_shape=[3], strides=[2]'), c('MaxPool', [f(window2, 'distinct')], 'kernel_shape=[2,2], strides=[2,2]'),
  c('MaxPool', [f(window2, 'distinct')], 'kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]'), c('MaxPool', [f(window2, 'distinct')], 'kernel_shape=[3,3], strides=[1,1], pads=[1,1,1,1]'),
  c('MaxPool', [f(window2, 'distinct')], 'kernel_shape=[3,3], strides=[2,2], ceil_mode=1'), c('MaxPool', [f(window2, 'distinct')], 'kernel_shape=[2,2], dilations=[2,2]'),
  c('MaxPool', [f(window2, 'distinct')], 'kernel_shape=[3,2], auto_pad="SAME_UPPER", strides=[2,2]'), c('MaxPool', [f([1, 1, 4, 4, 3], 'distinct')], 'kernel_shape=[2,2,2], strides=[2,1,1]'),
  c('MaxPool', [f(window2, 'distinct')], 'kernel_shape=[3,3], strides=[2,2]', { opset: 8 }),
  // In floats, windows that do not overlap: as many as fit, with gaps, in one and three dimensions, padded, beyond the edge.
  ...[[window2, 'kernel_shape=[2,2], strides=[2,2]'], [window2, 'kernel_shape=[2,1], strides=[3,2]'], [[2, 2, 7], 'kernel_shape=[2], strides=[2]'],
    [[1, 2, 4, 5, 6], 'kernel_shape=[2,2,2], strides=[2,2,3]'], [window2, 'kernel_shape=[2,2], strides=[2,2], pads=[1,1,0,0]'],
    [[1, 2, 5, 5], 'kernel_shape=[2,2], strides=[2,2], ceil_mode=1']].map(([s, a]) => c('MaxPool', [f(s, 'distinct')], a, { only32: true })),
  ...['AveragePool', 'LpPool'].flatMap((op) => {
    const how = op === 'LpPool' ? 'away' : 'plain', opset = op === 'LpPool' ? 18 : 19;
    return [c(op, [f([1, 2, 7], how)], 'kernel_shape=[3], strides=[2]'), c(op, [f(window2, how)], 'kernel_shape=[2,2], strides=[2,2]'),
      c(op, [f(window2, how)], 'kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]'), c(op, [f(window2, how)], 'kernel_shape=[3,3], strides=[1,1], pads=[0,1,1,0]'),
      c(op, [f(window2, how)], 'kernel_shape=[3,2], auto_pad="SAME_UPPER", strides=[2,2]'), c(op, [f(window2, how)], 'kernel_shape=[2,2], dilations=[2,2]', { opset }),
      c(op, [f(window2, how)], 'kernel_shape=[3,3], strides=[2,2], ceil_mode=1', { opset })];
  }),
  c('AveragePool', [window2], 'kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], count_include_pad=1'), c('AveragePool', [[1, 1, 3, 4, 3]], 'kernel_shape=[2,2,2]'),
  c('AveragePool', [window2], 'kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], ceil_mode=1'),
  c('AveragePool', [window2], 'kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], ceil_mode=1, count_include_pad=1', { opset: 19 }),
  c('LpPool', [f(window2, 'away')], 'kernel_shape=[3,3], p=1'), c('LpPool', [f(window2, 'away')], 'kernel_shape=[2,3], p=3, strides=[2,1]'),
  ...['GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool'].flatMap((op) => [[2, 3, 4], [2, 2, 3, 3], [1, 2, 2, 3, 2]].map((s) => c(op, [f(s, op === 'GlobalMaxPool' ? 'distinct' : 'away')]))),
  c('GlobalLpPool', [f([2, 2, 3, 3], 'away')], 'p=1'), c('GlobalLpPool', [f([2, 2, 3, 3], 'away')], 'p=3'),
  c('MaxUnpool', [[1, 1, 2, 2], ints([5, 7, 13, 15], [1, 1, 2, 2])], 'kernel_shape=[2,2], strides=[2,2]'),
  c('MaxUnpool', [[1, 1, 2, 2], ints([5, 7, 13, 15], [1, 1, 2, 2]), ints([1, 1, 5, 5])], 'kernel_shape=[2,2], strides=[2,2]'),
];

const channels = (n) => [f([n], 'positive'), f([n])];
const images = [[4, 2, 3, 3], [3, 3, 4], [2, 2, 2, 3, 2]];
const norms = [
  ...images.map((s) => c('BatchNormalization', [f(s), ...channels(s[1]), fixed([s[1]]), fixed([s[1]], 'positive')])),
  ...images.map((s) => c('BatchNormalization', [f(s), ...channels(s[1]), fixed([s[1]]), fixed([s[1]], 'positive')], 'training_mode=1, epsilon=0.01', { results: ['y', 'm', 'v'], outputs: ['y'] })),
  c('BatchNormalization', [[6, 3], ...channels(3), fixed([3]), fixed([3], 'positive')], 'training_mode=1', { results: ['y', 'm', 'v'], outputs: ['y'] }),
  c('BatchNormalization', [[3, 2, 3], ...channels(2), fixed([2]), fixed([2], 'positive')], '', { opset: 9 }),
  ...images.map((s) => c('InstanceNormalization', [f(s), ...channels(s[1])], 'epsilon=0.01')),
  c('GroupNormalization', [[2, 4, 3], ...channels(2)], 'num_groups=2, epsilon=0.01', { opset: 18 }), c('GroupNormalization', [[2, 4, 2, 2], ...channels(4)], 'num_groups=2, epsilon=0.01', { opset: 21, only32: true }),
  c('GroupNormalization', [[2, 3, 4], ...channels(3)], 'num_groups=3', { opset: 21, only32: true }), c('GroupNormalization', [[2, 4, 3], ...channels(4)], 'num_groups=1', { opset: 21, only32: true }),
  c('LayerNormalization', [[2, 3, 5], ...channels(5)]), c('LayerNormalization', [[2, 3, 5], f([5], 'positive')], 'epsilon=0.01'), c('LayerNormalization', [[3, 2, 4], f([2, 4], 'positive'), [2, 4]], 'axis=1'),
  c('LayerNormalization', [[2, 5], ...channels(5)], 'axis=-1', { results: ['y', 'm', 'r'], outputs: ['y'] }),
  c('RMSNormalization', [[2, 3, 5], f([5], 'positive')], '', { opset: 23 }), c('RMSNormalization', [[3, 2, 4], f([2, 4], 'positive')], 'axis=1, epsilon=0.01', { opset: 23 }),
  c('LpNormalization', [f([3, 4], 'away')]), c('LpNormalization', [f([3, 4], 'away')], 'axis=0, p=1'), c('LpNormalization', [f([2, 3, 2], 'away')], 'axis=1, p=2'),
  c('MeanVarianceNormalization', [[2, 2, 3, 2]]), c('MeanVarianceNormalization', [[3, 4, 2]], 'axes=[0,2]'), c('MeanVarianceNormalization', [[3, 5]], 'axes=[1]'),
  c('LRN', [[1, 5, 2, 2]], 'size=3, alpha=0.5, beta=0.75, bias=1.0'), c('LRN', [[2, 4, 3, 1]], 'size=5, alpha=0.3, beta=0.5, bias=2.0'), c('LRN', [[1, 5, 2, 2]], 'size=3, alpha=0.5'),
];

const softs = ['Softmax', 'LogSoftmax'].flatMap((op) => [c(op, [[2, 4]]), c(op, [[2, 3, 2]], 'axis=1'), c(op, [[2, 3, 2]], 'axis=0'), c(op, [[2, 3, 2]], 'axis=1', { opset: 11 }), c(op, [[3]], 'axis=-1')]);

const labels = (values, shape) => fed('i64', values, shape);
const losses = ['SoftmaxCrossEntropyLoss', 'NegativeLogLikelihoodLoss'].flatMap((op) => [
  ...['mean', 'sum', 'none'].map((r) => c(op, [[3, 4], labels([1, 0, 3])], `reduction="${r}"`)),
  c(op, [[2, 3, 2], labels([1, 0, 2, 2], [2, 2])]), c(op, [[3, 4], labels([1, 0, 3]), fixed([4], 'positive')]),
  c(op, [[3, 4], labels([1, 2, 3])], 'ignore_index=2'), c(op, [[2, 3, 2], labels([1, 0, 2, 2], [2, 2]), fixed([3], 'positive')], 'ignore_index=0'),
  c(op, [[3, 4], labels([1, -1, 3]), fixed([4], 'positive')], 'ignore_index=-1, reduction="sum"'),
  c(op, [[3, 4], labels([1, -1, 3])], 'ignore_index=-1, reduction="none"'),
]).concat([
  c('SoftmaxCrossEntropyLoss', [[3, 4], labels([1, 0, 3])], '', { outputs: ['y', 'log_prob'] }),
  c('SoftmaxCrossEntropyLoss', [[2, 3, 2], labels([1, 0, 2, 2], [2, 2])], 'reduction="sum"', { outputs: ['y', 'log_prob'] }),
]);

// X [T,N,I], W [D,gates*H,I], R [D,gates*H,H], B [D,2*gates*H]; then the state.
function recurrent(op, gates, direction, extra = '', { states = false, bias = true, lengths, outputs } = {}) {
  const [T, N, I, H, D] = [3, 2, 2, 2, direction === 'bidirectional' ? 2 : 1];
  const operands = [[T, N, I], [D, gates * H, I], [D, gates * H, H], bias ? [D, 2 * gates * H] : null];
  if (states || lengths) operands.push(lengths ?? null);
  if (states) operands.push([D, N, H], ...(op === 'LSTM' ? [[D, N, H]] : []));
  return c(op, operands, `hidden_size=${H}, direction="${direction}"${extra}`, { outputs: outputs ?? (op === 'LSTM' ? ['y', 'h', 'c'] : ['y', 'h']), only32: true });
}
const recurrences = ['RNN', 'GRU', 'LSTM'].flatMap((op) => {
  const gates = { RNN: 1, GRU: 3, LSTM: 4 }[op];
  return [recurrent(op, gates, 'forward'), recurrent(op, gates, 'reverse', '', { states: true }), recurrent(op, gates, 'bidirectional', '', { states: true }),
    recurrent(op, gates, 'forward', '', { bias: false, outputs: ['y'] })];
}).concat([recurrent('GRU', 3, 'forward', ', linear_before_reset=1'), recurrent('GRU', 3, 'bidirectional', ', linear_before_reset=1', { states: true }),
  recurrent('RNN', 1, 'forward', ', activations=["Sigmoid"]')],
// Clips away from the numbers that are clipped.
[['RNN', 1, 0.25, 0.6], ['GRU', 3, 0.35, 0.6], ['LSTM', 4, 0.3, 0.7]].flatMap(([op, gates, low, high]) => [
  recurrent(op, gates, 'forward', '', { lengths: fed('i32', [3, 1]) }), recurrent(op, gates, 'reverse', '', { lengths: fed('i32', [1, 2]), states: true }),
  recurrent(op, gates, 'bidirectional', '', { lengths: { kind: 'constant', elem: 'i32', shape: [2], values: [2, 3] }, states: true }),
  recurrent(op, gates, 'forward', `, clip=${low}`), recurrent(op, gates, 'reverse', `, clip=${high}`, { lengths: fed('i32', [2, 3]), states: true }),
]),
[recurrent('LSTM', 4, 'forward', ', input_forget=1', { states: true })]);

const attentions = [
  c('Attention', [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], '', { opset: 23 }), c('Attention', [[1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 5, 2]], 'scale=0.7', { opset: 23 }),
  c('Attention', [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]], 'is_causal=1', { opset: 23 }), c('Attention', [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], fixed([3, 3])], '', { opset: 23 }),
  c('Attention', [[1, 4, 3, 2], [1, 2, 3, 2], [1, 2, 3, 2]], '', { opset: 23 }), c('Attention', [[2, 3, 4], [2, 3, 4], [2, 3, 4]], 'q_num_heads=2, kv_num_heads=2', { opset: 23 }),
];

export default [...convs, ...products, ...poolings, ...norms, ...softs, ...losses, ...recurrences, ...attentions];
