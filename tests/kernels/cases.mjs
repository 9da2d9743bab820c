// Cases of decompositions, by family; see ../gradient/case.mjs for how they are written. Biases keep the kinks of
// activations away.
import { c, f, fed, fixed, int, ints, number } from '../gradient/case.mjs';

const ms = (op, operands, attributes = '', more = {}) => c(`${op}<com.microsoft>`, operands, attributes, more);
const i32 = (values, shape) => fed('i32', values, shape);

const activations = [
  ms('Gelu', [[2, 3, 4]]), ms('BiasGelu', [[2, 3, 4], [4]]), ms('FastGelu', [[2, 3, 4]]), ms('FastGelu', [[2, 3, 4], [4]]),
  ms('QuickGelu', [[2, 3, 4]]), ms('QuickGelu', [[2, 3, 4]], 'alpha=0.9'), ms('Gelu', [[2, 3, 4]], '', { opset: 20 }),
  c('Affine', [[2, 3]], 'alpha=0.5, beta=0.25', { opset: 9 }), c('ScaledTanh', [[2, 3]], 'alpha=0.5, beta=1.5', { opset: 9 }), c('ParametricSoftplus', [[2, 3]], 'alpha=0.5, beta=1.5', { opset: 9 }),
  c('ImageScaler', [[2, 3, 4, 4]], 'scale=0.5, bias=[0.1,-0.2,0.3]', { opset: 9 }),
];

const norms = [
  c('SimplifiedLayerNormalization', [[2, 3, 4], [4]], 'axis=-1, epsilon=0.001'), c('SimplifiedLayerNormalization', [[2, 4], [4]], 'epsilon=1e-05', { opset: 23 }),
  ms('SkipLayerNormalization', [[2, 3, 4], [2, 3, 4], [4], [4]], 'epsilon=0.001'), ms('SkipLayerNormalization', [[2, 3, 4], [2, 3, 4], [4]], 'epsilon=1e-05'),
  ms('SkipLayerNormalization', [[2, 3, 4], [2, 3, 4], [4], [4], [4]], '', { results: ['y', '_', '_', 's'], outputs: ['y', 's'] }),
  ms('SkipLayerNormalization', [[2, 3, 4], [1, 3, 4], [4], [4]], 'epsilon=0.001'),
  ms('SkipSimplifiedLayerNormalization', [[2, 3, 4], [2, 3, 4], [4]], 'epsilon=0.001'),
  ms('SkipSimplifiedLayerNormalization', [[2, 3, 4], [2, 3, 4], [4], [4]], '', { results: ['y', '_', '_', 's'], outputs: ['y', 's'], opset: 18 }),
  ms('EmbedLayerNormalization', [i32([1, 4, 0, 2, 2, 3], [2, 3]), i32([0, 0, 1, 1, 0, 1], [2, 3]), [5, 4], [6, 4], [2, 4], [4], [4], i32([1, 1, 0, 1, 1, 1], [2, 3])], 'epsilon=0.001', { outputs: ['y', 'm'] }),
  ms('EmbedLayerNormalization', [i32([1, 4, 0, 2, 2, 3], [2, 3]), null, [5, 4], [6, 4], null, [4], [4], null, i32([5, 2, 0, 1, 2, 3], [2, 3])], '', { results: ['y', 'm', 's'], outputs: ['y', 'm', 's'] }),
  ms('EmbedLayerNormalization', [i32([1, 4, 0, 2, 2, 3], [2, 3]), null, [5, 4], [6, 4], null, [4], [4]], '', { outputs: ['y', 'm'] }),
];

const products = [
  ms('FusedMatMul', [[2, 3, 4], [2, 4, 2]]), ms('FusedMatMul', [[2, 4, 3], [2, 2, 4]], 'transA=1, transB=1, alpha=0.5'),
  ms('FusedMatMul', [[3, 2, 4], [2, 4, 5]], 'transBatchA=1'), ms('FusedMatMul', [[2, 3, 4], [5, 2, 4]], 'transB=1, transBatchB=1'), ms('FusedMatMul', [[3, 2, 4], [2, 3, 5]], 'transA=1, transBatchA=1'),
  ms('TransposeMatMul', [[3, 2], [3, 4]], 'transA=1, alpha=2.0'),
  ms('FusedGemm', [[2, 3], [3, 4], f([4], [4, -4, 5, -5])], 'activation="Relu"'), ms('FusedGemm', [[3, 2], [4, 3], f([4], [4, -4, 5, -5])], 'transA=1, transB=1, alpha=0.5, beta=2.0, activation="LeakyRelu", activation_alpha=0.2'),
  ms('FusedConv', [[1, 2, 5, 5], [3, 2, 3, 3], f([3], [9, -9, 8])], 'activation="Relu", pads=[1,1,1,1]'), ms('FusedConv', [[1, 2, 5, 5], [3, 2, 3, 3]], 'activation="Sigmoid", strides=[2,2]'),
  ms('FusedConv', [[1, 2, 5, 5], [4, 1, 3, 3], f([4], [14, -14, 0, 1])], 'activation="Clip", activation_params=[-7.0,7.0], group=2'), ms('FusedConv', [[1, 2, 5, 5], [3, 2, 1, 1], f([3], [9, -9, 8]), [1, 3, 5, 5]], 'activation="Relu"'),
  ms('FusedConv', [[1, 2, 5, 5], [3, 2, 3, 3], f([3], [9, -9, 8])], 'activation="LeakyRelu", activation_params=[0.1]'), ms('FusedConv', [[1, 2, 5, 5], [3, 2, 3, 3], f([3], [40, -40, 0])], 'activation="HardSigmoid", activation_params=[0.03,0.4]'),
  ms('FusedConv', [[1, 2, 5, 5], [3, 2, 3, 3], [3]], 'activation="Tanh", dilations=[2,1]'),
  ms('NhwcConv', [[1, 5, 5, 2], [3, 2, 3, 3], [3]], 'pads=[1,1,1,1], strides=[2,2]', {
    forward: '%t = Transpose(%x0, perm=[0,3,1,2])\n%u = Conv(%t, %x1, %x2, pads=[1,1,1,1], strides=[2,2])\n%y = Transpose(%u, perm=[0,2,3,1])' }),
  ms('ExpandDims', [[2, 3], { kind: 'constant', elem: 'i32', shape: [], values: [1] }]), ms('Trilu', [[2, 3, 3], int(1)], 'upper=0'), ms('GatherND', [[3, 4], fed('i64', [0, 1, 2, 3], [2, 2])]),
  ms('Pad', [[2, 3], ints([0, 1, 1, 0]), number(0.5)]),
];

const table = (n, half, how) => fixed([n, half], how);
const rotaries = [
  ms('RotaryEmbedding', [[2, 3, 8], fed('i64', [1], [1]), table(6, 2, 'inside'), table(6, 2, 'inside')], 'num_heads=2'),
  ms('RotaryEmbedding', [[2, 3, 8], fed('i64', [0, 1, 2, 2, 1, 4], [2, 3]), table(6, 2, 'inside'), table(6, 2, 'inside')], 'interleaved=1, num_heads=2'),
  ms('RotaryEmbedding', [[2, 2, 3, 6], fed('i64', [0, 1, 2, 2, 1, 4], [2, 3]), table(6, 2, 'inside'), table(6, 2, 'inside')], 'rotary_embedding_dim=4, num_heads=2'),
  ms('RotaryEmbedding', [[2, 2, 3, 4], fed('i64', [0], [1]), table(6, 2, 'inside'), table(6, 2, 'inside')], ''),
  c('RotaryEmbedding', [[2, 2, 3, 4], table(6, 2, 'inside'), table(6, 2, 'inside'), fed('i64', [0, 1, 2, 2, 1, 4], [2, 3])], '', { opset: 23 }),
  c('RotaryEmbedding', [[2, 3, 8], fixed([2, 3, 2]), fixed([2, 3, 2])], 'num_heads=2, interleaved=1', { opset: 23 }),
  c('RotaryEmbedding', [[2, 2, 3, 6], table(6, 2, 'inside'), table(6, 2, 'inside'), fed('i64', [0, 1, 2, 2, 1, 4], [2, 3])], 'rotary_embedding_dim=4', { opset: 23 }),
];

const attention = [
  ms('Attention', [[2, 3, 4], [4, 12], [12]], 'num_heads=2'), ms('Attention', [[2, 3, 4], [4, 12], [12], i32([2, 3], [2])], 'num_heads=2'),
  ms('Attention', [[2, 3, 4], [4, 12], [12], i32([1, 1, 0, 1, 1, 1], [2, 3])], 'num_heads=2'), ms('Attention', [[2, 3, 4], [4, 12], [12]], 'num_heads=2, unidirectional=1'),
  ms('Attention', [[2, 3, 4], [4, 12], [12], i32([1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1], [2, 3, 3])], 'num_heads=2, scale=0.5'),
  ms('Attention', [[2, 3, 4], [4, 10], [10]], 'num_heads=2, qkv_hidden_sizes=[4,4,2]'),
  ms('Attention', [[2, 3, 4], [4, 12], [12], null, [2, 2, 2, 2, 2]], 'num_heads=2, unidirectional=1', { outputs: ['y', 'p'] }),
  ms('Attention', [[2, 3, 4], [4, 12], [12], null, null, [2, 2, 3, 3]], 'num_heads=2'),
  ms('MultiHeadAttention', [[2, 3, 4], [2, 5, 4], [2, 5, 6]], 'num_heads=2'), ms('MultiHeadAttention', [[2, 3, 4], [2, 5, 4], [2, 5, 4], [12]], 'num_heads=2, scale=0.7'),
  ms('MultiHeadAttention', [[2, 3, 2, 3, 4]], 'num_heads=2', { // packed: no kernel for the CPU
    forward: '%q, %k, %v = Split(%x0, axis=3)\n%s = Constant(value_ints=[2,3,8])\n%qr = Reshape(%q, %s)\n%kr = Reshape(%k, %s)\n%vr = Reshape(%v, %s)\n%y = MultiHeadAttention<com.microsoft>(%qr, %kr, %vr, num_heads=2)' }),
  ms('MultiHeadAttention', [[2, 3, 4], [2, 5, 2, 2, 2]], 'num_heads=2', {
    forward: '%k, %v = Split(%x1, axis=3)\n%s = Constant(value_ints=[2,5,4])\n%kr = Reshape(%k, %s)\n%vr = Reshape(%v, %s)\n%y = MultiHeadAttention<com.microsoft>(%x0, %kr, %vr, num_heads=2)' }),
  ms('MultiHeadAttention', [[2, 3, 4], [2, 2, 5, 2], [2, 2, 5, 2]], 'num_heads=2'), ms('MultiHeadAttention', [[2, 3, 4], [2, 3, 4], [2, 3, 4]], 'num_heads=2, unidirectional=1'),
  ms('MultiHeadAttention', [[2, 3, 4], [2, 5, 4], [2, 5, 4], null, i32([4, 5], [2])], 'num_heads=2'),
  ms('MultiHeadAttention', [[2, 3, 4], [2, 5, 4], [2, 5, 4], null, i32([1, 1, 0, 1, 0, 1, 1, 1, 1, 0], [2, 5])], 'num_heads=2'),
  ms('MultiHeadAttention', [[2, 3, 4], [2, 5, 4], [2, 5, 4], null, null, [1, 2, 3, 5]], 'num_heads=2'),
  ms('MultiHeadAttention', [[2, 3, 4], [2, 3, 4], [2, 3, 4], [12], null, null, [2, 2, 2, 2], [2, 2, 2, 2]], 'num_heads=2, unidirectional=1', { outputs: ['y', 'k', 'v'] }),
];

const lengths = (n, batch) => i32(Array(batch).fill(n - 1), [batch]), total = (n) => ({ kind: 'constant', elem: 'i32', shape: [], values: [n] });
const groups = [
  ms('GroupQueryAttention', [[2, 3, 32], [2, 3, 16], [2, 3, 16], null, null, lengths(3, 2), total(3)], 'num_heads=4, kv_num_heads=2', { outputs: ['y', 'k', 'v'] }),
  ms('GroupQueryAttention', [[2, 3, 64], null, null, null, null, lengths(3, 2), total(3)], 'num_heads=4, kv_num_heads=2, softcap=2.0', { outputs: ['y', 'k', 'v'] }),
  ms('GroupQueryAttention', [[1, 3, 32], [1, 3, 16], [1, 3, 16], [1, 2, 2, 8], [1, 2, 2, 8], lengths(5, 1), total(5)], 'num_heads=4, kv_num_heads=2, scale=0.5', { outputs: ['y', 'k', 'v'] }),
  ms('GroupQueryAttention', [[1, 1, 32], [1, 1, 16], [1, 1, 16], [1, 2, 2, 8], [1, 2, 2, 8], lengths(3, 1), total(3)], 'num_heads=4, kv_num_heads=2', { outputs: ['y', 'k', 'v'] }),
  ms('GroupQueryAttention', [[2, 4, 64], [2, 4, 32], [2, 4, 32], null, null, lengths(4, 2), total(4), table(8, 8, 'inside'), table(8, 8, 'inside')], 'num_heads=4, kv_num_heads=2, do_rotary=1', { outputs: ['y', 'k', 'v'] }),
  ms('GroupQueryAttention', [[2, 4, 64], [2, 4, 32], [2, 4, 32], null, null, lengths(4, 2), total(4), table(8, 8, 'inside'), table(8, 8, 'inside')], 'num_heads=4, kv_num_heads=2, do_rotary=1, rotary_interleaved=1', { outputs: ['y', 'k', 'v'] }),
  ms('GroupQueryAttention', [[2, 1, 64], [2, 1, 32], [2, 1, 32], [2, 2, 3, 16], [2, 2, 3, 16], lengths(4, 2), total(4), table(8, 8, 'inside'), table(8, 8, 'inside')], 'num_heads=4, kv_num_heads=2, do_rotary=1', { outputs: ['y', 'k', 'v'] }),
  ms('GroupQueryAttention', [[1, 6, 32], [1, 6, 16], [1, 6, 16], null, null, lengths(6, 1), total(6)], 'num_heads=4, kv_num_heads=2, local_window_size=3', { outputs: ['y', 'k', 'v'] }),
];

const onnx = [
  c('Attention', [[1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 5, 4]], 'softcap=1.5', { opset: 23 }), c('Attention', [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], fixed([3, 3])], 'softcap=1.5', { opset: 23 }),
  c('Attention', [[1, 4, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], null, [1, 2, 2, 4], [1, 2, 2, 4]], 'is_causal=1', { opset: 23, outputs: ['y', 'k', 'v'] }),
  c('Attention', [[2, 3, 8], [2, 5, 4], [2, 5, 6]], 'q_num_heads=4, kv_num_heads=2', { opset: 23, results: ['y', '_', '_', 's'], outputs: ['y', 's'] }),
  c('Attention', [[1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 5, 4], f([3, 5])], '', { opset: 23 }),
  c('Attention', [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], fixed([3, 3])], 'softcap=1.5, qk_matmul_output_mode=1', { opset: 23, results: ['y', '_', '_', 's'], outputs: ['y', 's'] }),
  c('Attention', [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], fixed([3, 3])], 'softcap=1.5, qk_matmul_output_mode=2', { opset: 23, results: ['y', '_', '_', 's'], outputs: ['y', 's'] }),
  c('Attention', [[2, 2, 3, 4], [2, 2, 5, 4], [2, 2, 5, 4], null, null, null, fed('i64', [4, 5], [2])], '', { opset: 24 }),
];

const samples = ['linear', 'nearest', 'cubic'].flatMap((mode) => ['zeros', 'border', 'reflection'].flatMap((padding) => [0, 1].map((align) =>
  c('GridSample', [[2, 2, 3, 4], mode === 'nearest' ? fixed([2, 3, 2, 2]) : f([2, 3, 2, 2], mode === 'cubic' ? 'inside' : 'plain')], `mode="${mode}", padding_mode="${padding}", align_corners=${align}`, { opset: 20 })))).concat([
  c('GridSample', [[1, 2, 3, 4], f([1, 2, 2, 2], [-1.6, 0.3, 0.21, 1.45, 0.9, -0.7, 2.3, -1.2])], 'mode="linear", padding_mode="reflection"', { opset: 20 }),
  c('GridSample', [[1, 2, 3, 4], f([1, 2, 2, 2], [0.35, 0.2, -0.4, -0.4, 0.9, 0.85, -0.65, -0.8])], 'mode="bilinear"', { opset: 16 }), c('GridSample', [[1, 2, 3, 4], [1, 2, 3, 2]], 'mode="bicubic", align_corners=1', { opset: 16 }),
  c('GridSample', [[1, 2, 2, 3, 4], [1, 2, 2, 1, 3]], 'mode="linear", padding_mode="border"', { opset: 20 }), c('GridSample', [[1, 1, 2, 2, 3], fixed([1, 1, 2, 2, 3])], 'mode="nearest"', { opset: 20 }),
  c('AffineGrid', [[2, 2, 3], ints([2, 3, 4, 5])], '', { opset: 20 }), c('AffineGrid', [[1, 2, 3], ints([1, 1, 3, 2])], 'align_corners=1', { opset: 20 }), c('AffineGrid', [[2, 3, 4], ints([2, 1, 2, 3, 2])], '', { opset: 20 }),
  c('DeformConv', [[1, 2, 4, 4], [3, 2, 2, 2], f([1, 8, 3, 3], 'fraction')], '', { opset: 19 }), c('DeformConv', [[2, 2, 4, 4], [2, 1, 2, 2], f([2, 8, 2, 2], 'fraction'), [2], [2, 4, 2, 2]], 'group=2, strides=[2,2]', { opset: 19 }),
  c('DeformConv', [[1, 4, 4, 5], [2, 4, 3, 3], f([1, 36, 4, 5], 'fraction'), [2]], 'offset_group=2, pads=[1,1,1,1]', { opset: 19 }),
  c('DeformConv', [[1, 2, 5, 5], [2, 2, 2, 2], f([1, 8, 3, 3], 'fraction'), null, [1, 4, 3, 3]], 'dilations=[2,2]', { opset: 19 }),
]);

const moves = [
  c('CenterCropPad', [[5, 4], ints([3, 7])], '', { opset: 18 }), c('CenterCropPad', [[5, 4, 3], ints([2, 6])], 'axes=[2,0]', { opset: 18 }), c('CenterCropPad', [[4, 6], ints([3])], 'axes=[-1]', { opset: 18 }),
  c('Compress', [[3, 4], { kind: 'constant', elem: 'bool', shape: [3], values: [1, 0, 1] }], 'axis=0'), c('Compress', [[2, 3], { kind: 'constant', elem: 'bool', shape: [5], values: [0, 1, 0, 0, 1] }]),
  c('TensorScatter', [[2, 4, 3], [2, 2, 3], fed('i64', [1, 2], [2])], '', { opset: 24 }), c('TensorScatter', [[2, 4, 3], [2, 2, 3]], '', { opset: 24 }),
  c('TensorScatter', [[2, 2, 4, 3], [2, 2, 3, 3], fed('i64', [3, 2], [2])], 'mode="circular"', { opset: 24 }),
  c('STFT', [[2, 16, 1], int(4), [8]]), c('STFT', [[1, 20], int(3), null, int(8)], 'onesided=0'), c('STFT', [[2, 16, 1], int(4), [6]], '', { opset: 20 }),
];

export default [...activations, ...norms, ...products, ...rotaries, ...attention, ...groups, ...onnx, ...samples, ...moves];
