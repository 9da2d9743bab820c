// Models of functions, in the style of PyTorch's dynamo exporter: one function per module, modules of modules, operators
// of the framework as functions of their own (aten_…), attributes that are passed through two calls, defaults, calls in
// branches, and functions that import other versions of operators than the model. Each runs on ONNX Runtime twice, as
// it is and after the pass inline, and must give the same; after that it must become a training step whose gradients
// name the parameters as the model does. ONNX Runtime does not convert functions between versions: there the reference
// is the same model with one version throughout.
//
//     node functions.mjs MFC
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generator } from '../gradient/case.mjs';
import ort, { openSession } from '../gradient/runtime.mjs';

const mfc = process.argv[2];
const scratch = mkdtempSync(join(tmpdir(), 'mfc-functions-'));
const run = (...args) => execFileSync(mfc, [...args, '--quiet'], { stdio: ['ignore', 'pipe', 'pipe'] });

const fn = (name, lines) => `function ${name} {\n${lines.trim().split('\n').map((l) => '  ' + l.trim()).join('\n')}\n}\n`;

// Operators of the framework; `opset` is the version that the library of functions is written in.
const library = (opset) => [
  fn('aten_linear<pkg.torchlib>', `opset ${opset}
    input %x
    input %w
    input %b
    %wt = Transpose(%w, perm=[1,0])
    %p = MatMul(%x, %wt)
    %y = Add(%p, %b)
    output %y`),
  fn('_mean<pkg.torchlib.inner>', `opset ${opset}
    attribute axes
    attribute keepdims=1
    input %x
    ${opset < 18 ? '%y = ReduceMean(%x, axes=$axes ints, keepdims=$keepdims int)'
    : '%a = Constant(value_ints=$axes ints)\n%y = ReduceMean(%x, %a, keepdims=$keepdims int)'}
    output %y`),
  fn('aten_layer_norm<pkg.torchlib>', `opset ${opset}
    opset pkg.torchlib.inner 1
    attribute eps=1e-05
    attribute axes
    input %x
    input %w
    input %b
    %m = _mean<pkg.torchlib.inner>(%x, axes=$axes ints)
    %c = Sub(%x, %m)
    %sq = Mul(%c, %c)
    %v = _mean<pkg.torchlib.inner>(%sq, axes=$axes ints, keepdims=1)
    %e = Constant(value_float=$eps float)
    %ve = Add(%v, %e)
    %s = Sqrt(%ve)
    %n = Div(%c, %s)
    %g = Mul(%n, %w)
    %y = Add(%g, %b)
    output %y`),
  fn('aten_clamp<pkg.torchlib>', `opset ${opset}
    input %x
    input %low
    input %high
    %y = Clip(%x, %low, %high)
    output %y`),
];

const modules = (opset, gate) => [
  fn('Norm<pkg.model>', `opset ${opset}
    opset pkg.torchlib 1
    attribute eps
    input %x
    input %weight
    input %bias
    %y = aten_layer_norm<pkg.torchlib>(%x, %weight, %bias, eps=$eps float, axes=[-1]) name=layer_norm
    output %y`),
  fn('Block<pkg.model>', `opset ${opset}
    opset pkg.torchlib 1
    opset pkg.model 1
    attribute eps=0.001
    input %x
    input %w
    input %b
    input %nw
    input %nb
    ${gate ? 'input %gate' : ''}
    %n = Norm<pkg.model>(%x, %nw, %nb, eps=$eps float) name=norm
    %h = aten_linear<pkg.torchlib>(%n, %w, %b) name=fc
    %low = Constant(value_float=-0.75)
    %a = aten_clamp<pkg.torchlib>(%h, %low) name=clamp
    ${gate ? `%r = If(%gate, then_branch=graph "then" {
      %inner = aten_clamp<pkg.torchlib>(%a, _, %low) name=clamp
      %t = Sub(%a, %inner)
      output %t
    }, else_branch=graph "else" {
      %u = Neg(%a)
      output %u
    })` : '%r = Relu(%a)'}
    %y = Add(%x, %r)
    output %y
    output %h`),
];

function model({ opset, library: of, body, gate }) {
  const random = generator('weights');
  const n = 5, spell = (k) => Array.from({ length: k }, () => (random() - 0.5).toFixed(4)).join(',');
  const weights = [0, 1].flatMap((i) => [`  param %layers.${i}.fc.weight : f32[${n},${n}] = {${spell(n * n)}}`,
    ...['fc.bias', 'norm.weight', 'norm.bias'].map((w) => `  param %layers.${i}.${w} : f32[${n}] = {${spell(n)}}`)]);
  const call = (i, x, results, eps) => `  ${results} = Block<pkg.model>(${[x, ...['fc.weight', 'fc.bias', 'norm.weight', 'norm.bias']
    .map((w) => `layers.${i}.${w}`), ...(gate ? ['gate'] : [])].map((v) => '%' + v).join(', ')}${eps}) name=layers.${i}`;
  return ['mfc 1', 'ir_version 10', `opset ${opset}`, 'opset pkg.model 1', 'opset pkg.torchlib 1', 'opset pkg.torchlib.inner 1',
    ...library(of), ...modules(body, gate),
    'graph "main_graph" {', `  input %x : f32[3,${n}]`, ...(gate ? ['  input %gate : bool[]'] : []), ...weights,
    call(0, 'x', '%block, _', ''), call(1, 'block', '%y, %hidden', ', eps=0.01'), '  output %y', '  output %hidden', '}', ''].join('\n');
}

const cases = [
  { opset: 17, library: 17, body: 17 }, { opset: 18, library: 18, body: 18 }, { opset: 20, library: 20, body: 20, gate: true },
  { opset: 18, library: 17, body: 18 }, { opset: 18, library: 18, body: 16, gate: true }, { opset: 13, library: 13, body: 13 },
  { opset: 17, library: 18, body: 17 }, { opset: 21, library: 18, body: 20 },
];
let failures = 0;
for (const one of cases) {
  const shown = `model of opset ${one.opset}, modules ${one.body}, library ${one.library}${one.gate ? ', with branches' : ''}`;
  const [text, reference, whole, plain, step] = ['f.mfc', 'reference.onnx', 'f.onnx', 'plain.onnx', 'step.onnx'].map((f) => join(scratch, f));
  try {
    const newest = Math.max(one.opset, one.library, one.body);
    writeFileSync(text, model({ ...one, opset: newest, library: newest, body: newest }));
    run('convert', text, reference);
    writeFileSync(text, model(one));
    run('convert', text, whole);
    run('opt', whole, '--passes=inline,upgrade', '-o', plain);
    const random = generator(shown);
    const feeds = { x: new ort.Tensor('float32', Float32Array.from({ length: 15 }, () => 2 * random() - 1), [3, 5]) };
    if (one.gate) feeds.gate = new ort.Tensor('bool', [true], []);
    const [want, have] = [await (await openSession(reference)).run(feeds), await (await openSession(plain)).run(feeds)];
    let worst = 0;
    for (const [name, t] of Object.entries(want)) t.data.forEach((x, i) => { worst = Math.max(worst, Math.abs(x - have[name].data[i])); });
    if (!(worst <= 1e-6)) throw new Error(`results differ by ${worst}`);
    if (!one.gate) {
      run(whole, '-o', step, '--budget', 'none', '--loss', 'mse');
      const names = (await openSession(step)).outputNames.filter((n) => n.startsWith('grad(')).sort();
      const wanted = [0, 1].flatMap((i) => ['fc.bias', 'fc.weight', 'norm.bias', 'norm.weight'].map((w) => `grad(layers.${i}.${w})`));
      if (names.join() !== wanted.join()) throw new Error(`gradients ${names}`);
    }
    console.log(`ok   ${shown}: ${worst.toExponential(1)}`);
  } catch (e) {
    failures++;
    console.log(`FAIL ${shown}: ${(e.stderr?.toString() || e.message).trim().split('\n').slice(0, 3).join(' | ')}`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`${cases.length} models, ${failures} failed`);
process.exit(failures ? 1 : 0);
