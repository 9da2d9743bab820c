// Cases of operators that reduce, move, pick or place elements.
import { c, f, fed, int, ints, number } from './case.mjs';

const how = { ReduceL1: 'away', ReduceL2: 'away', ReduceLogSum: 'positive', ReduceMax: 'distinct', ReduceMin: 'distinct', ReduceProd: 'positive' };
const reductions = ['L1', 'L2', 'LogSum', 'LogSumExp', 'Max', 'Mean', 'Min', 'Prod', 'Sum', 'SumSquare'].flatMap((tail) => {
  const op = 'Reduce' + tail, x = (s) => f(s, how[op] ?? 'plain'), first = tail === 'Sum' ? 13 : 18;
  return [
    c(op, [x([2, 3, 2]), ints([1])], '', { opset: first }), c(op, [x([2, 3, 2]), ints([0, -1])], 'keepdims=0', { opset: first }), c(op, [x([2, 3])], '', { opset: 18 }),
    c(op, [x([2, 3])], 'keepdims=0', { opset: 18 }), c(op, [x([2, 3, 2])], 'axes=[1]', { opset: 11 }), c(op, [x([2, 3, 2])], 'axes=[-3,2], keepdims=0', { opset: 12 }),
    c(op, [x([2, 3])], 'noop_with_empty_axes=1', { opset: 18 }), c(op, [x([4])], 'keepdims=0', { opset: 17 }),
  ];
}).concat([
  c('ReduceProd', [f([2, 3], [0.5, 0, 1.2, -0.7, 0.4, 0.9])], 'axes=[1]'), c('ReduceProd', [f([2, 3], [0.5, 0, 0, -0.7, 0.4, 0.9])], 'axes=[1]'),
  c('CumSum', [[2, 4], int(1)]), c('CumSum', [[2, 4], int(0)], 'reverse=1'), c('CumSum', [[2, 4], int(-1)], 'exclusive=1'), c('CumSum', [[5], int(0)], 'exclusive=1, reverse=1'),
  c('CumProd', [f([2, 4], 'positive'), int(1)], '', { opset: 26 }), c('CumProd', [f([2, 4, 2], [0.5, 0, 1.2, -0.7, 0.4, 0.9, 0, 0.3, 0, 1.1, 0.8, -0.4, 0.6, 0.2, 0, 0.7]), int(-2)], 'exclusive=1', { opset: 26 }),
  c('CumProd', [f([4, 3], 'away'), int(0)], 'reverse=1', { opset: 26 }), c('CumProd', [f([5], 'away'), int(0)], 'exclusive=1, reverse=1', { opset: 26 }),
  c('TopK', [f([2, 5], 'distinct'), ints([3])], '', { outputs: ['y', 'i'] }), c('TopK', [f([5, 2], 'distinct'), ints([2])], 'axis=0, largest=0', { outputs: ['y', 'i'] }),
  c('TopK', [f([2, 5], 'distinct')], 'k=2', { outputs: ['y', 'i'], opset: 9 }),
]);

const views = [
  c('Reshape', [[2, 3, 2], ints([3, 4])]), c('Reshape', [[2, 3, 2], ints([0, -1])]), c('Reshape', [[1], ints([], [0])]), c('Reshape', [[2, 6], ints([-1, 1, 3])], 'allowzero=1'),
  c('Flatten', [[2, 3, 2]]), c('Flatten', [[2, 3, 2]], 'axis=0'), c('Flatten', [[2, 3, 2]], 'axis=-1'),
  c('Squeeze', [[1, 3, 1]]), c('Squeeze', [[1, 3, 1], ints([-1])]), c('Squeeze', [[1, 3, 1]], 'axes=[0]', { opset: 11 }),
  c('Unsqueeze', [[2, 3], ints([0, 3])]), c('Unsqueeze', [[], ints([0])]), c('Unsqueeze', [[2, 3]], 'axes=[1]', { opset: 11 }),
  c('Transpose', [[2, 3]]), c('Transpose', [[2, 3, 4]], 'perm=[1,2,0]'), c('Transpose', [[2, 1, 3, 2]], 'perm=[0,2,3,1]'),
  c('Expand', [[3, 1], ints([2, 1, 4])]), c('Expand', [[1], ints([3, 2])]), c('Expand', [[2, 3], ints([1, 1])]),
  c('Concat', [[2, 3], [2, 1], [2, 2]], 'axis=1'), c('Concat', [[2, 3], [1, 3]], 'axis=0'), c('Concat', [[2, 2, 1], [2, 2, 3]], 'axis=-1'), c('Concat', [[3]], 'axis=0'),
  c('Split', [[4, 3]], '', { outputs: ['a', 'b'] }), c('Split', [[2, 6], ints([1, 2, 3])], 'axis=1', { outputs: ['a', 'b', 'c'] }),
  c('Split', [[2, 6], ints([1, 2, 3])], 'axis=-1', { results: ['a', 'b', 'c'], outputs: ['b'] }), c('Split', [[5, 2]], 'num_outputs=3', { outputs: ['a', 'b', 'c'], opset: 18 }),
  c('Split', [[2, 6]], 'axis=1, split=[2,4]', { outputs: ['a', 'b'], opset: 11 }),
  c('Slice', [[4, 5], ints([1]), ints([3])]), c('Slice', [[4, 5], ints([0, 1]), ints([-1, 100]), ints([0, 1])]), c('Slice', [[6, 4], ints([1]), ints([6]), ints([0]), ints([2])]),
  c('Slice', [[5, 4], ints([-1]), ints([-100]), ints([0]), ints([-1])]), c('Slice', [[5, 7], ints([4, 0]), ints([0, 7]), ints([0, -1]), ints([-2, 3])]),
  c('Slice', [[5, 4], ints([1, 0]), ints([4, 4]), ints([0, 1]), ints([1, 2])]), c('Slice', [[5, 3]], 'starts=[1], ends=[4], axes=[0]', { opset: 9 }), c('Slice', [[5], ints([10]), ints([-10]), ints([0]), ints([-2])]),
  c('Pad', [[2, 3], ints([0, 1, 2, 0])]), c('Pad', [[2, 3], ints([1, 1, 0, 0]), number(0.7)]), c('Pad', [[3, 4], ints([1, -1, 0, -1])]), c('Pad', [[3, 4], ints([0, 2, 1, 1])], 'mode="reflect"'),
  c('Pad', [[3, 4], ints([2, 0, 1, 3])], 'mode="edge"'), c('Pad', [[3, 4], ints([2, 1]), null, ints([1])], '', { opset: 18 }), c('Pad', [[3, 4], ints([2, 0, 1, 3])], 'mode="wrap"', { opset: 19 }),
  c('Pad', [[2, 2]], 'pads=[1,0,0,1], value=0.5', { opset: 9 }), c('Pad', [[1, 2, 4, 4], ints([0, 0, 1, 2, 0, 0, 2, 1])], 'mode="reflect"'),
  c('Tile', [[2, 3], ints([2, 1])]), c('Tile', [[2, 1, 2], ints([1, 3, 2])]), c('Tile', [[3], ints([1])]),
  ...['DCR', 'CRD'].flatMap((mode) => [c('DepthToSpace', [[1, 8, 2, 3]], `blocksize=2, mode="${mode}"`), c('DepthToSpace', [[2, 9, 1, 2]], `blocksize=3, mode="${mode}"`)]),
  c('SpaceToDepth', [[1, 2, 4, 6]], 'blocksize=2'), c('SpaceToDepth', [[2, 1, 3, 3]], 'blocksize=3'),
  c('Trilu', [[3, 4]]), c('Trilu', [[2, 3, 3], int(1)]), c('Trilu', [[4, 3], int(-1)], 'upper=0'),
];

const signals = [
  c('DFT', [[2, 6, 1]]), c('DFT', [[2, 6, 2]]), c('DFT', [[2, 6, 1]], 'onesided=1'), c('DFT', [[2, 5, 1]], 'onesided=1'), c('DFT', [[2, 6, 2]], 'inverse=1'), c('DFT', [[2, 3, 4, 2]], 'axis=2'),
  c('DFT', [[2, 6, 1], int(8)]), c('DFT', [[2, 6, 2], int(4)]), c('DFT', [[2, 6, 1], int(8)], 'onesided=1'), c('DFT', [[2, 6, 2], int(8)], 'inverse=1'),
  c('DFT', [[2, 6, 1], null, int(1)], '', { opset: 20 }), c('DFT', [[3, 4, 2], null, int(0)], 'inverse=1', { opset: 20 }), c('DFT', [[3, 4, 1], int(5)], 'onesided=1', { opset: 20 }),
  c('Col2Im', [[1, 8, 6], ints([3, 4]), ints([2, 2])], '', { opset: 18 }), c('Col2Im', [[2, 4, 9], ints([5, 5]), ints([2, 2])], 'strides=[2,2], pads=[1,1,0,0]', { opset: 18 }),
  c('Col2Im', [[1, 8, 4], ints([4, 4]), ints([2, 2])], 'dilations=[2,2]', { opset: 18 }),
  c('ReverseSequence', [[4, 3, 2], fed('i64', [4, 2, 1])]), c('ReverseSequence', [[3, 4], fed('i64', [1, 3, 4])], 'batch_axis=0, time_axis=1'),
];

const picks = [
  c('Gather', [[4, 3], ints([1, 3, 1])]), c('Gather', [[3, 4], ints([0, -1], [2, 1])], 'axis=1'), c('Gather', [[3, 4], int(2)], 'axis=-1'), c('Gather', [[4], ints([0, 2, 2, 1], [2, 2])]),
  c('Gather', [[5, 2], fed('i64', [4, 0, 4, 1], [2, 2])]), c('Gather', [[2, 4, 2], fed('i32', [3, 3])], 'axis=1'), c('Gather', [[4, 2], fed('i64', [-1, 2])]), c('Gather', [[4, 2], ints([-2])]),
  c('Gather', [[3, 2], fed('i64', [1], [])]),
  c('GatherElements', [[3, 3], fed('i64', [0, 2, 2, 1, 0, 0], [2, 3])]), c('GatherElements', [[3, 3], fed('i64', [0, 2, -1, 1, 1, 0], [3, 2])], 'axis=1'),
  c('GatherND', [[3, 4], fed('i64', [0, 1, 2, 3, 0, 1], [3, 2])]), c('GatherND', [[3, 4], fed('i64', [2, 0, 2], [3, 1])]), c('GatherND', [[2, 3, 2], fed('i64', [2, 0], [2, 1])], 'batch_dims=1'),
  c('GatherND', [[2, 3, 2], fed('i64', [2, 1, 0, 0], [2, 1, 2])], 'batch_dims=1'), c('GatherND', [[3, 4], fed('i64', [-1, -2], [1, 2])]),
  c('ScatterElements', [[3, 3], fed('i64', [0, 2, 1], [1, 3]), [1, 3]]), c('ScatterElements', [[3, 3], fed('i64', [0, 2, 1, 0, 0, 2], [3, 2]), [3, 2]], 'axis=1'),
  c('ScatterElements', [[3, 3], fed('i64', [0, 0, 1, 0, 2, 1], [2, 3]), [2, 3]], 'reduction="add"'), c('ScatterElements', [[4], fed('i64', [-1, 1]), [2]], 'axis=-1'),
  c('Scatter', [[3, 3], fed('i64', [0, 2, 1], [1, 3]), [1, 3]], '', { opset: 9 }), c('Scatter', [[2, 4], fed('i64', [1, 3], [2, 1]), [2, 1]], 'axis=1', { opset: 10 }),
  c('ScatterND', [[4], fed('i64', [1, 3], [2, 1]), [2]]), c('ScatterND', [[3, 4], fed('i64', [2, 0], [2, 1]), [2, 4]]), c('ScatterND', [[3, 2], fed('i64', [0, 1, 0, 1, 2, 0], [3, 2]), [3]], 'reduction="add"'),
];

const image = [1, 2, 3, 4];
const resizes = [
  c('Resize', [image, null, number([1, 1, 2, 2], [4])], 'mode="nearest"'), c('Resize', [image, null, null, ints([1, 2, 6, 8])], 'mode="linear"'),
  c('Resize', [image, null, null, ints([1, 2, 5, 7])], 'mode="linear", coordinate_transformation_mode="align_corners"'),
  c('Resize', [image, null, null, ints([1, 2, 2, 3])], 'mode="linear", coordinate_transformation_mode="pytorch_half_pixel"'),
  c('Resize', [image, null, null, ints([1, 2, 5, 6])], 'mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"'),
  c('Resize', [image, null, null, ints([1, 2, 6, 8])], 'mode="cubic", cubic_coeff_a=-0.75'),
  c('Resize', [[1, 2, 4], null, null, ints([1, 2, 7])], 'mode="linear"'),
  c('Upsample', [image, number([1, 1, 2, 3], [4])], 'mode="nearest"', { opset: 9 }), c('Upsample', [image], 'mode="linear", scales=[1.0,1.0,2.0,2.0]', { opset: 7 }),
].map((one) => ({ ...one, only32: true }));

// Regions inside, across a border, outside, and thinner than a pixel.
const regions = number([0.3, 0.4, 4.2, 5.1, -1.5, 2, 3, 7.5, 12, 12, 14, 15, 1.2, 1.1, 1.4, 4], [4, 4]);
const rois = [['half_pixel', 2], ['output_half_pixel', 2], ['half_pixel', 3]].map(([mode, n]) => ({
  ...c('RoiAlign', [[2, 2, 6, 5], regions, ints([1, 0, 0, 1])], `output_height=2, output_width=3, sampling_ratio=${n}, spatial_scale=0.9, coordinate_transformation_mode="${mode}"`), only32: true,
}));
rois.push({ ...c('RoiAlign', [[1, 1, 6, 5], number([0.3, 0.4, 4.2, 5.1], [1, 4]), ints([0])], 'output_height=2, output_width=2, sampling_ratio=1', { opset: 10 }), only32: true });

export default [...rois, ...signals, ...reductions, ...views, ...picks, ...resizes];
