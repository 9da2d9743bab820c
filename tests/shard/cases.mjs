// Cases of sharding beside those of the gradient tests: operators without gradients, and sizes that parts divide unevenly.
import { c, f, fed, ints, number } from '../gradient/case.mjs';

const i64 = (values, shape) => fed('i64', values, shape);

const bools = [1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1], numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const flags = (values = bools) => fed('bool', values, [5, 3]), whole = () => fed('i32', numbers, [5, 3]), small = () => fed('u8', numbers, [5, 3]);

const discrete = [
  ...['And', 'Or', 'Xor'].map((op) => c(op, [flags(), flags([...bools].reverse())])), c('Not', [flags()]), ...['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual'].map((op) => c(op, [whole(), fed('i32', [3, 8, 9], [3])])),
  ...['BitwiseAnd', 'BitwiseOr', 'BitwiseXor'].map((op) => c(op, [whole(), whole()], '', { opset: 18 })), c('BitwiseNot', [whole()], '', { opset: 18 }), c('BitShift', [small(), small()], 'direction="LEFT"'),
  ...['Ceil', 'Floor', 'Round', 'Sign', 'IsInf', 'IsNaN'].map((op) => c(op, [[5, 3]])),
];

export default [
  ...discrete,
  c('Conv', [[5, 4, 7, 8], [6, 4, 3, 3], [6]], 'pads=[1,1,1,1]'), c('Conv', [[3, 4, 9, 7], [5, 4, 3, 2]], 'strides=[2,3], pads=[1,0,2,1], dilations=[2,1]'),
  c('Conv', [[3, 6, 7], [9, 2, 3], [9]], 'group=3, pads=[2,0]'), c('Conv', [[2, 4, 8, 8], [4, 1, 3, 3]], 'group=4, auto_pad="SAME_UPPER"'),
  c('ConvTranspose', [[3, 4, 5, 5], [4, 6, 3, 3], [6]], 'strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]'), c('ConvTranspose', [[3, 4, 5], [4, 3, 3]], 'group=2'),
  c('MaxPool', [[5, 3, 8, 9]], 'kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]'), c('MaxPool', [[5, 3, 8, 9]], 'kernel_shape=[2,2], strides=[2,2]', { outputs: ['y', 'y1'] }),
  c('AveragePool', [[3, 4, 9, 8]], 'kernel_shape=[3,2], strides=[2,1], pads=[1,1,1,0]'), c('AveragePool', [[3, 2, 7, 7]], 'kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1'),
  c('MaxUnpool', [[3, 1, 2, 2], i64([0, 3, 8, 15, 16, 19, 30, 31, 33, 36, 40, 47], [3, 1, 2, 2]), ints([3, 1, 4, 4])], 'kernel_shape=[2,2], strides=[2,2]'),
  c('MatMul', [[520, 5], [5, 510]], '', { large: true }), c('Gemm', [[5, 520], [510, 5], [510]], 'transA=1, transB=1', { large: true }), c('MatMul', [[5, 7], [7, 3]]), c('MatMul', [[3, 1, 5, 7], [2, 7, 3]]), c('MatMul', [[7], [3, 7, 5]]), c('MatMul', [[3, 5, 7], [7]]),
  c('Gemm', [[5, 7], [7, 3], [3]], 'alpha=0.5, beta=2.0'), c('Gemm', [[7, 5], [3, 7], [5, 1]], 'transA=1, transB=1'), c('Gemm', [[5, 7], [7, 3]]),
  c('Einsum', [[5, 7], [7, 3]], 'equation="ij,jk->ik"'), c('Einsum', [[2, 3, 5], [2, 4, 5]], 'equation="bid, bjd -> bij"'),
  c('BatchNormalization', [[5, 3, 4, 4], [3], [3], [3], f([3], 'positive')], 'training_mode=1, momentum=0.8', { outputs: ['y', 'y1', 'y2'] }), c('BatchNormalization', [[5, 3, 4], [3], [3], [3], f([3], 'positive')]),
  c('LayerNormalization', [[5, 3, 4], [4], [4]], 'axis=-1', { outputs: ['y', 'y1', 'y2'] }), c('InstanceNormalization', [[3, 5, 4, 4], [5], [5]]), c('GroupNormalization', [[5, 4, 3], [2], [2]], 'num_groups=2', { opset: 18 }),
  c('RMSNormalization', [[5, 3, 4], [4]], '', { opset: 23 }),
  c('Softmax', [[5, 3, 7]], 'axis=1'), c('LogSoftmax', [[5, 7]]), c('Hardmax', [[5, 7]]), c('CumSum', [[5, 7], { kind: 'constant', elem: 'i64', shape: [], values: [1] }]),
  c('ArgMax', [[5, 3, 7]], 'axis=1, keepdims=0'), c('ArgMin', [[5, 3, 7]], 'axis=-1'), c('TopK', [[5, 7], ints([3])], '', { outputs: ['y', 'y1'] }),
  c('ReduceSum', [[5, 3, 7], ints([0, 2])]), c('ReduceSum', [[5, 3, 7]], 'keepdims=0'), c('ReduceMean', [[5, 3, 7]], 'axes=[0,2], keepdims=0'), c('ReduceMean', [[5, 3, 7], ints([1])], '', { opset: 18 }),
  c('ReduceMax', [[5, 3, 7]], 'axes=[0,1]'), c('ReduceMin', [[5, 3, 7]], 'axes=[-1], keepdims=0'), c('ReduceProd', [[5, 3]], 'axes=[0]'), c('ReduceL1', [[5, 3]], 'axes=[0]'), c('ReduceSumSquare', [[5, 3]], 'axes=[1]'),
  c('Reshape', [[6, 4, 5], ints([6, 20])]), c('Reshape', [[6, 4, 5], ints([24, 5])]), c('Reshape', [[24, 5], ints([4, 6, 5])]), c('Reshape', [[6, 4], ints([4, 6])]), c('Flatten', [[3, 4, 5]], 'axis=2'),
  c('Squeeze', [[5, 1, 4]]), c('Squeeze', [[2, 1, 4], ints([1])]), c('Unsqueeze', [[5, 4], ints([1])]), c('Transpose', [[5, 3, 4]], 'perm=[2,0,1]'), c('Concat', [[5, 3], [5, 4]], 'axis=1'), c('Split', [[5, 6], ints([2, 4])], 'axis=1', { outputs: ['y', 'y1'] }),
  c('Slice', [[5, 6, 7], ints([1]), ints([5]), ints([1]), ints([2])]), c('Pad', [[5, 3, 4], ints([0, 1, 0, 0, 2, 0])]), c('Tile', [[5, 3], ints([1, 2])]), c('Trilu', [[5, 3, 3]]), c('Expand', [[5, 1], ints([3, 5, 4])]), c('ConstantOfShape', [ints([5, 3])]),
  c('Gather', [[5, 7], i64([0, 3, 4, 1, 2, 0], [2, 3])]), c('GatherElements', [[5, 3], i64([0, 3, 4, 1, 2, 0, 1, 2, 3], [3, 3])]), c('OneHot', [i64([0, 3, 4, 1, 2], [5]), { kind: 'constant', elem: 'i64', shape: [], values: [6] }, number([0, 1], [2])]),
  c('ScatterElements', [[5, 3], i64([0, 3, 4, 1, 2, 0, 1, 2, 3], [3, 3]), [3, 3]], 'axis=0, reduction="add"'), c('ScatterElements', [[5, 3], i64([0, 3, 4, 1, 2, 0], [2, 3]), [2, 3]], 'axis=0'),
  c('ScatterND', [[5, 3, 4], i64([0, 3, 4, 1, 0, 3], [3, 2, 1]), [3, 2, 3, 4]], 'reduction="add"'),
  c('SoftmaxCrossEntropyLoss', [[5, 7], i64([0, 3, 6, 1, 2], [5])], '', { outputs: ['y', 'y1'] }), c('SoftmaxCrossEntropyLoss', [[5, 4, 3], i64([0, 3, 3, 1, 2, 0, 0, 1, 2, 3, 1, 1, 0, 2, 3], [5, 3])], 'reduction="sum"'),
  c('NegativeLogLikelihoodLoss', [[5, 7], i64([0, 3, 6, 1, 2], [5])], 'reduction="none"'), c('NegativeLogLikelihoodLoss', [[5, 7], i64([0, 3, 6, 1, 2], [5])]),
  c('DepthToSpace', [[5, 8, 2, 3]], 'blocksize=2'), c('SpaceToDepth', [[5, 2, 4, 6]], 'blocksize=2'), c('LRN', [[5, 6, 3, 3]], 'size=3'), c('GlobalAveragePool', [[5, 3, 4, 4]]), c('GlobalMaxPool', [[5, 3, 4]]), c('LpPool', [[5, 3, 7]], 'kernel_shape=[2]'),
  c('Where', [fed('bool', [1, 0, 1, 1, 0], [5, 1]), [5, 3], [3]]), c('Clip', [[5, 3], number(-0.5), number(0.5)]), c('PRelu', [[5, 3, 4], [3, 1]]), c('Sum', [[5, 3], [3], [5, 1]]), c('Cast', [[5, 3]], 'to=11'),
];
