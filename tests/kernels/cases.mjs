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

// Quantized: constants and values of u8 and i8. A result that is rounded may be one step off.
const u8 = (values, shape = [values.length]) => ({ kind: 'constant', elem: 'u8', shape, values });
const i8 = (values, shape = [values.length]) => ({ kind: 'constant', elem: 'i8', shape, values });
const many = (n, from, to) => Array.from({ length: n }, (_, i) => from + (i * 37 + 11) % (to - from + 1));
const step = (x) => number(x), zero = (x) => u8([x], []), far = { tolerance: 2e-2 };
const qcase = (op, operands, body, more = {}) => ({ ...c(op, operands, '', { body, ...more }), rounds: true, only32: true });
// Multiples of a step, away from 0: rounding does not move them, so that gradients are those of the unrounded function.
const grid = (shape, by = 0.01) => f(shape, Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => by * (i % 2 ? -1 : 1) * (10 + (i * 17) % 60)));
const columns = number(Array.from({ length: 16 }, (_, i) => 0.005 + 0.001 * i), [2, 8]);
const quantizedOps = [
  // x0 is quantized by x1, x2; the result, by its own steps, is dequantized again.
  qcase('QLinearConv', [[1, 2, 5, 5], step(0.01), zero(128), i8(many(36, -100, 100), [2, 2, 3, 3]), number([0.01, 0.02], [2]), i8([0, 0]), step(0.05), zero(120), { kind: 'constant', elem: 'i32', shape: [2], values: [300, -200] }],
    '%q = QuantizeLinear(%x0, %x1, %x2)\n%p = QLinearConv(%q, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, pads=[1,1,1,1])\n%m = MaxPool(%p, kernel_shape=[2,2])\n%y = DequantizeLinear(%m, %x6, %x7)', far),
  qcase('QLinearMatMul', [[2, 3], step(0.01), zero(128), u8(many(12, 0, 255), [3, 4]), step(0.01), zero(120), step(0.05), zero(120)],
    '%q = QuantizeLinear(%x0, %x1, %x2)\n%p = QLinearMatMul(%q, %x1, %x2, %x3, %x4, %x5, %x6, %x7)\n%s = Constant(value_ints=[4,2])\n%r = Reshape(%p, %s)\n%y = DequantizeLinear(%r, %x6, %x7)', far),
  qcase('QuantizeLinear', [[2, 6], step(0.01), zero(100)], '%q = QuantizeLinear(%x0, %x1, %x2)\n%t = Transpose(%q)\n%y = DequantizeLinear(%t, %x1, %x2)', { stays: true }),
  qcase('DequantizeLinear', [[2, 3], i8(many(12, -100, 100), [3, 4]), number([0.01, 0.02, 0.03, 0.01], [4]), i8([1, 2, 3, 4])], '%w = DequantizeLinear(%x1, %x2, %x3, axis=1)\n%y = MatMul(%x0, %w)', { stays: true }),
  qcase('DynamicQuantizeLinear', [[2, 8], i8(many(24, -100, 100), [8, 3]), number([0.01, 0.02, 0.03], [3]), i8([0, 0, 0])],
    '%q, %s, %z = DynamicQuantizeLinear(%x0)\n%t = Mul(%s, %x2)\n%i = MatMulInteger(%q, %x1, %z, %x3)\n%f = Cast(%i, to=1)\n%y = Mul(%f, %t)', far),
  qcase('MatMulInteger', [[2, 8], u8(many(24, 0, 255), [8, 3]), step(0.02), zero(120)],
    '%q, %s, %z = DynamicQuantizeLinear(%x0)\n%t = Mul(%s, %x2)\n%i = MatMulInteger(%q, %x1, %z, %x3)\n%f = Cast(%i, to=1)\n%g = Mul(%f, %t)\n%h = Neg(%f)\n%k = Mul(%h, %s)\n%j = Mul(%k, %x2)\n%y = Add(%g, %j)\n%v = Sub(%g, %j)', { ...far, results: ['v'], outputs: ['v'] }),
  qcase('ConvInteger', [[1, 2, 5, 5], u8(many(36, 0, 255), [2, 2, 3, 3]), step(0.02), zero(128)],
    '%q, %s, %z = DynamicQuantizeLinear(%x0)\n%t = Mul(%s, %x2)\n%i = ConvInteger(%q, %x1, %z, %x3, pads=[1,1,1,1])\n%f = Cast(%i, to=1)\n%y = Mul(%f, %t)', far),
  // A bias that older tools add to the integers.
  qcase('ConvInteger', [[1, 2, 5, 5], u8(many(36, 0, 255), [2, 2, 3, 3]), step(0.02), zero(128), [2], ints([1, 2, 1, 1])],
    '%q, %s, %z = DynamicQuantizeLinear(%x0)\n%t = Mul(%s, %x2)\n%b = Div(%x4, %t)\n%n = Floor(%b)\n%c = Cast(%n, to=6)\n%r = Reshape(%c, %x5)\n%i = ConvInteger(%q, %x1, %z, %x3, pads=[1,1,1,1])\n%a = Add(%i, %r)\n%f = Cast(%a, to=1)\n%y = Mul(%f, %t)', far),
  qcase('MatMulIntegerToFloat<com.microsoft>', [[2, 8], u8(many(24, 0, 255), [8, 3]), step(0.02), zero(120), [3]],
    '%q, %s, %z = DynamicQuantizeLinear(%x0)\n%y = MatMulIntegerToFloat<com.microsoft>(%q, %x1, %s, %x2, %z, %x3, %x4)', far),
  ms('DynamicQuantizeMatMul', [[2, 8], i8(many(24, -100, 100), [8, 3]), number([0.01, 0.02, 0.03], [3]), i8([0, 0, 0]), [3]], '', { ...far, rounds: true }),
  ...['QLinearAdd', 'QLinearMul'].map((op) => qcase(`${op}<com.microsoft>`, [grid([2, 6]), step(0.01), zero(128), grid([2, 6], 0.02), step(0.02), zero(100), step(0.03), zero(120)],
    `%a = QuantizeLinear(%x0, %x1, %x2)\n%b = QuantizeLinear(%x3, %x4, %x5)\n%p = ${op}<com.microsoft>(%a, %x1, %x2, %b, %x4, %x5, %x6, %x7)\n%y = DequantizeLinear(%p, %x6, %x7)`, far)),
  ...[['QLinearSigmoid', '[2,6]', ''], ['QLinearLeakyRelu', '[2,6]', ', alpha=0.2'], ['QLinearSoftmax', '[2,6]', ', axis=-1, opset=13'], ['QLinearAveragePool', '[1,2,4,4]', ', kernel_shape=[2,2]'], ['QLinearGlobalAveragePool', '[1,2,4,4]', '']].map(([op, shape, a]) =>
    qcase(`${op}<com.microsoft>`, [grid(JSON.parse(shape)), step(0.01), zero(128), step(op === 'QLinearSoftmax' ? 1 / 256 : 0.01), zero(op === 'QLinearSoftmax' ? 0 : 100)],
      `%q = QuantizeLinear(%x0, %x1, %x2)\n%p = ${op}<com.microsoft>(%q, %x1, %x2, %x3, %x4${a})\n%y = DequantizeLinear(%p, %x3, %x4)`, { tolerance: 5e-2 })),
  qcase('QLinearConcat<com.microsoft>', [[2, 3], step(0.01), zero(128), [2, 4], step(0.02), zero(100), step(0.02), zero(120)],
    '%a = QuantizeLinear(%x0, %x1, %x2)\n%b = QuantizeLinear(%x3, %x4, %x5)\n%p = QLinearConcat<com.microsoft>(%x6, %x7, %a, %x1, %x2, %b, %x4, %x5, axis=1)\n%y = DequantizeLinear(%p, %x6, %x7)', { tolerance: 4e-2 }),
  qcase('QLinearWhere<com.microsoft>', [{ kind: 'constant', elem: 'bool', shape: [6], values: [1, 0, 1, 1, 0, 0] }, grid([2, 6]), step(0.01), zero(128), grid([2, 6], 0.02), step(0.02), zero(100), step(0.02), zero(120)],
    '%a = QuantizeLinear(%x1, %x2, %x3)\n%b = QuantizeLinear(%x4, %x5, %x6)\n%p = QLinearWhere<com.microsoft>(%x0, %a, %x2, %x3, %b, %x5, %x6, %x7, %x8)\n%y = DequantizeLinear(%p, %x7, %x8)', { tolerance: 4e-2 }),
  qcase('QAttention<com.microsoft>', [[2, 3, 8], i8(many(192, -100, 100), [8, 24]), [24], step(0.01), i8([0], [])],
    '%q, %s, %z = DynamicQuantizeLinear(%x0)\n%y = QAttention<com.microsoft>(%q, %x1, %x2, %s, %x3, _, %z, %x4, num_heads=2)', far),
  qcase('QAttention<com.microsoft>', [[2, 3, 8], i8(many(192, -100, 100), [8, 24]), [24], number(Array.from({ length: 24 }, (_, i) => 0.005 + 0.0003 * i), [24]), i8(many(24, 0, 0), [24]), fed('i32', [2, 3])],
    '%q, %s, %z = DynamicQuantizeLinear(%x0)\n%y = QAttention<com.microsoft>(%q, %x1, %x2, %s, %x3, %x5, %z, %x4, num_heads=2, unidirectional=1)', far),
  qcase('QGemm<com.microsoft>', [[2, 3], step(0.01), zero(128), i8(many(12, -100, 100), [4, 3]), number([0.01, 0.02, 0.03, 0.01], [4]), i8([0, 0, 0, 0]), { kind: 'constant', elem: 'i32', shape: [4], values: [300, -200, 100, 0] }],
    '%q = QuantizeLinear(%x0, %x1, %x2)\n%y = QGemm<com.microsoft>(%q, %x1, %x2, %x3, %x4, %x5, %x6, transB=1)', far),
  qcase('QuantizeLinear<com.microsoft>', [[2, 6], step(0.01), zero(100)], '%q = QuantizeLinear<com.microsoft>(%x0, %x1, %x2)\n%y = DequantizeLinear<com.microsoft>(%q, %x1, %x2)'),
  qcase('DequantizeLinear<com.microsoft>', [[2, 3], i8(many(12, -100, 100), [3, 4]), step(0.02), i8([3], [])], '%w = DequantizeLinear<com.microsoft>(%x1, %x2, %x3)\n%y = MatMul(%x0, %w)'),
  ms('DynamicQuantizeLSTM', [[3, 2, 4], i8(many(32, -100, 100), [1, 4, 8]), i8(many(16, -100, 100), [1, 2, 8]), [1, 16], null, null, null, null, number(0.01, [1]), i8([0], [1]), number(0.01, [1]), i8([0], [1])],
    'hidden_size=2', { outputs: ['y', 'h', 'c'], ...far, rounds: true }),
  ms('DynamicQuantizeLSTM', [[3, 2, 4], i8(many(64, -100, 100), [2, 4, 8]), i8(many(32, -100, 100), [2, 2, 8]), [2, 16], null, null, null, null, columns, i8(many(16, 0, 0), [2, 8]), columns, i8(many(16, 0, 0), [2, 8])],
    'hidden_size=2, direction="bidirectional"', { outputs: ['y', 'h', 'c'], ...far, rounds: true, only32: true }),
  ms('MatMulNBits', [[2, 32], u8(many(64, 0, 255), [4, 1, 16]), number([0.1, 0.2, 0.05, 0.1], [4])], 'K=32, N=4, bits=4, block_size=32'),
  ms('MatMulNBits', [[2, 40], u8(many(96, 0, 255), [3, 2, 16]), number([0.1, 0.2, 0.05, 0.1, 0.2, 0.3], [6]), u8([0x58, 0x9a, 0x63])], 'K=40, N=3, bits=4, block_size=32'),
  ms('MatMulNBits', [[2, 32], u8(many(96, 0, 255), [3, 1, 32]), number([0.01, 0.02, 0.05], [3]), null, null, [3]], 'K=32, N=3, bits=8, block_size=32'),
  ms('MatMulNBits', [[2, 32], u8(many(64, 0, 255), [4, 1, 16]), number([0.1, 0.2, 0.05, 0.1], [4]), number([7.5, 8.25, 6, 9], [4])], 'K=32, N=4, bits=4, block_size=32'),
  ms('MatMulNBits', [[2, 64], u8(many(128, 0, 255), [4, 2, 16]), number([0.1, 0.2, 0.05, 0.1, 0.3, 0.1, 0.2, 0.15], [8]), null, { kind: 'constant', elem: 'i32', shape: [64], values: many(64, 0, 1) }], 'K=64, N=4, bits=4, block_size=32'),
  ...[0, 1].map((kind) => ms('MatMulBnb4', [[2, 10], u8(many(15, 0, 255)), number([0.5, 2], [2])], `K=10, N=3, block_size=16, quant_type=${kind}`)),
  ms('GatherBlockQuantized', [u8(many(64, 0, 255), [4, 16]), ints([3, 0, 1]), number(Array.from({ length: 8 }, (_, i) => 0.05 + 0.01 * i), [4, 2]), [3, 32]], 'block_size=16, bits=4', {
    body: '%t = GatherBlockQuantized<com.microsoft>(%x0, %x1, %x2, block_size=16, bits=4)\n%y = Mul(%t, %x3)' }),
  ms('GatherBlockQuantized', [u8(many(120, 0, 255), [3, 2, 20]), ints([2, 0]), number(Array.from({ length: 12 }, (_, i) => 0.02 + 0.01 * i), [3, 2, 2]), [2, 2, 20], u8(many(12, 100, 150), [3, 2, 2])], '', {
    body: '%t = GatherBlockQuantized<com.microsoft>(%x0, %x1, %x2, %x4, block_size=16, bits=8, quantize_axis=-1)\n%y = Mul(%t, %x3)' }),
];

export default [...activations, ...norms, ...products, ...rotaries, ...attention, ...groups, ...onnx, ...samples, ...moves, ...quantizedOps];
