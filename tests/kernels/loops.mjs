// Loops of known length, sequences and decided branches inside of them: each model runs on ONNX Runtime as it is and
// after the pass fold, which must leave none of the operators behind, and must give the same. Then it becomes a training
// step; the gradient of a parameter that the body holds or captures is one, and equals that of the finite difference of
// the loss.
//
//     node loops.mjs MFC
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generator } from '../gradient/case.mjs';
import ort, { openSession } from '../gradient/runtime.mjs';

const mfc = process.argv[2];
const scratch = mkdtempSync(join(tmpdir(), 'mfc-loops-'));
const run = (...args) => execFileSync(mfc, [...args, '--quiet'], { stdio: ['ignore', 'pipe', 'pipe'] });
const CONTROL = /= (If|Loop|Scan|Sequence\w+|SplitToSequence|ConcatFromSequence|Optional\w*)\(/;

const spell = (n, seed) => { const random = generator(seed); return Array.from({ length: n }, () => (random() - 0.5).toFixed(4)).join(','); };
const weights = spell(16, 'w').split(',').map(Number);

// A body that holds its own weight, hands on a state, and collects a result.
const recurrence = `
    param %v : f32[4] = {${spell(4, 'v')}}
    %p = MatMul(%h, %w)
    %q = Add(%p, %v)
    %next = Tanh(%q)
    %seen = ReduceMean(%next, axes=[1], keepdims=0)`;

const cases = {
  'Loop: a count': { grads: ['w', 'v'], text: `
  const %n : i64[] = {5}
  %y, %all = Loop(%n, _, %x, body=graph "body" {
    input %i : i64[]
    input %c : bool[]
    input %h : f32[3,4]${recurrence}
    %go = Identity(%c)
    output %go
    output %next
    output %seen
  })
  output %y
  output %all` },
  'Loop: a count that is a dimension, and a condition that ends it': { grads: ['w'], text: `
  %shape = Shape(%x)
  %one = Constant(value_ints=[1])
  %n = Gather(%shape, %one)
  %two = Constant(value_int=2)
  %many = Mul(%n, %n)
  %flat = Squeeze(%many)
  %yes = Constant(value=bool[] {1})
  %y, %last = Loop(%flat, %yes, %x, %two, body=graph "body" {
    input %i : i64[]
    input %c : bool[]
    input %h : f32[3,4]
    input %k : i64[]
    %p = MatMul(%h, %w)
    %next = Tanh(%p)
    %k1 = Add(%k, %i)
    %limit = Constant(value_int=10)
    %go = Less(%k1, %limit)
    output %go
    output %next
    output %k1
  })
  output %y
  output %last` },
  'Loop in a Loop, with a branch that the iteration decides': { grads: ['w', 'u'], text: `
  param %u : f32[4,4] = {${spell(16, 'u')}}
  const %n : i64[] = {3}
  %y = Loop(%n, _, %x, body=graph "outer" {
    input %i : i64[]
    input %c : bool[]
    input %h : f32[3,4]
    %zero = Constant(value_int=0)
    %is_first = Equal(%i, %zero)
    %branch = If(%is_first, then_branch=graph "then" {
      %t = MatMul(%h, %w)
      output %t
    }, else_branch=graph "else" {
      %e = MatMul(%h, %u)
      output %e
    })
    %z = Loop(%i, %c, %branch, body=graph "inner" {
      input %j : i64[]
      input %d : bool[]
      input %g : f32[3,4]
      %p = MatMul(%g, %w)
      %s = Sigmoid(%p)
      %sum = Add(%s, %branch)
      %go = Identity(%d)
      output %go
      output %sum
    })
    %r = Identity(%c)
    output %r
    output %z
  })
  output %y` },
  'Loop that collects in a sequence': { grads: ['w', 'v'], text: `
  const %n : i64[] = {4}
  %empty = SequenceEmpty(dtype=1)
  %y, %list = Loop(%n, _, %x, %empty, body=graph "body" {
    input %i : i64[]
    input %c : bool[]
    input %h : f32[3,4]
    input %s : seq(f32[*])${recurrence}
    %s1 = SequenceInsert(%s, %next)
    %go = Identity(%c)
    output %go
    output %next
    output %s1
  })
  %all = ConcatFromSequence(%list, axis=0, new_axis=1)
  %minus = Constant(value_int=-2)
  %one = SequenceAt(%list, %minus)
  %length = SequenceLength(%list)
  %fewer = SequenceErase(%list, %minus)
  %joined = ConcatFromSequence(%fewer, axis=1)
  output %all
  output %one
  output %length
  output %joined` },
  'Loop without iterations': { grads: ['w'], text: `
  const %n : i64[] = {0}
  %z = MatMul(%x, %w)
  %y, %none = Loop(%n, _, %z, body=graph "body" {
    input %i : i64[]
    input %c : bool[]
    input %h : f32[3,4]${recurrence}
    %go = Identity(%c)
    output %go
    output %next
    output %seen
    value %seen : f32[3]
  })
  output %y
  output %none` },
  'SplitToSequence': { grads: ['w'], text: `
  %z = MatMul(%x, %w)
  %rows = SplitToSequence(%z, axis=0, keepdims=0)
  %size = Constant(value_int=3)
  %columns = SplitToSequence(%z, %size, axis=1)
  %at = Constant(value_int=1)
  %row = SequenceAt(%rows, %at)
  %column = SequenceAt(%columns, %at)
  %pair = SequenceConstruct(%column, %column)
  %y = ConcatFromSequence(%pair, axis=1)
  output %row
  output %y` },
  'Scan, forward and backward': { grads: ['w', 'v'], text: `
  %last, %all, %back = Scan(%start, %x, %x, num_scan_inputs=2, scan_input_directions=[0,1], scan_input_axes=[0,0],
    scan_output_axes=[1,0], scan_output_directions=[0,1], body=graph "body" {
    input %h : f32[1,4]
    input %a : f32[4]
    input %b : f32[4]
    %axis = Constant(value_ints=[0])
    %a1 = Unsqueeze(%a, %axis)
    %sum = Add(%h, %a1)
    param %v : f32[4] = {${spell(4, 'v')}}
    %p = MatMul(%sum, %w)
    %q = Add(%p, %v)
    %next = Tanh(%q)
    %flat = Squeeze(%next, %axis)
    %other = Mul(%flat, %b)
    output %next
    output %flat
    output %other
  })
  output %last
  output %all
  output %back`.replace(/,\n\s+scan_output/, ', scan_output'), inputs: `  const %start : f32[1,4] = {0,0,0,0}` },
  'Scan along the second axis': { grads: ['w', 'state'], text: `
  %y, %all = Scan(%state, %x, num_scan_inputs=1, scan_input_axes=[-1], body=graph "body" {
    input %h : f32[3]
    input %a : f32[3]
    %next = Add(%h, %a)
    %o = Sin(%next)
    output %next
    output %o
  })
  %z = Transpose(%all, perm=[1,0])
  %m = MatMul(%z, %w)
  output %m`, inputs: '  const %state : f32[3] = {1,2,3}' },
  'Optional': { grads: ['w'], text: `
  %z = MatMul(%x, %w)
  %o = Optional(%z)
  %has = OptionalHasElement(%o)
  %y = If(%has, then_branch=graph "then" {
    %t = OptionalGetElement(%o)
    output %t
  }, else_branch=graph "else" {
    %e = Neg(%x)
    output %e
  })
  output %y` },
};

const model = (one, opset, w = weights) => ['mfc 1', 'ir_version 8', `opset ${opset}`, 'graph "g" {', '  input %x : f32[3,4]', `  param %w : f32[4,4] = {${w.join(',')}}`,
  ...(one.inputs ? [one.inputs] : []), one.text.trimEnd().replace(/^\n/, ''), '}', ''].join('\n');

const newer = (text) => text.replace(/( *)(%\w+) = ReduceMean\(%next, axes=\[1\]/, '$1%ax = Constant(value_ints=[1])\n$1$2 = ReduceMean(%next, %ax');

async function results(path, feeds) {
  const session = await openSession(path);
  return session.run(Object.fromEntries(session.inputNames.filter((n) => n in feeds).map((n) => [n, feeds[n]])));
}

function worstError(want, have) {
  let worst = 0;
  for (const [name, t] of Object.entries(want)) {
    if (t.dims.join() !== have[name].dims.join()) throw new Error(`${name} is [${have[name].dims}], not [${t.dims}]`);
    t.data.forEach((x, i) => { worst = Math.max(worst, Math.abs(Number(x) - Number(have[name].data[i]))); });
  }
  return worst;
}

// The gradients of w against differences of the loss, which the model gives with other weights.
async function differenceError(make, feeds) {
  const at = async (weights) => {
    const step = make(weights), session = await openSession(step), random = generator('loss'), given = { ...feeds };
    for (const m of session.inputMetadata)
      given[m.name] ??= new ort.Tensor('float32', Float32Array.from({ length: m.shape.reduce((a, b) => a * b, 1) }, () => random() - 0.5), m.shape);
    return session.run(given);
  };
  const h = 1e-2, g = (await at(weights))['grad(w)'].data;
  let worst = 0;
  for (const i of [0, 6, 15]) {
    const moved = (s) => at(weights.map((x, k) => (k === i ? x + s * h : x)));
    const up = await moved(1), down = await moved(-1);
    worst = Math.max(worst, Math.abs((Number(up.loss.data[0]) - Number(down.loss.data[0])) / (2 * h) - g[i]));
  }
  return worst / Math.max(...g.map(Math.abs), 1e-2);
}

let failures = 0, n = 0;
for (const [name, one] of Object.entries(cases))
  for (const opset of [17, 21]) {
    const [text, whole, shown, plain, step] = ['m.mfc', 'whole.onnx', 'plain.mfc', 'plain.onnx', 'step.onnx'].map((f) => join(scratch, f));
    n++;
    try {
      const write = (w) => writeFileSync(text, opset < 18 ? model(one, opset, w) : newer(model(one, opset, w)));
      write();
      run('convert', text, whole);
      run('opt', whole, '--passes=inline,upgrade,shapes,fold,dce', '-o', shown);
      const left = readFileSync(shown, 'utf8').split('\n').find((l) => CONTROL.test(l));
      if (left) throw new Error(`stays: ${left.trim()}`);
      run('convert', shown, plain);
      const random = generator(name), feeds = { x: new ort.Tensor('float32', Float32Array.from({ length: 12 }, () => 2 * random() - 1), [3, 4]) };
      const worst = worstError(await results(whole, feeds), await results(plain, feeds));
      if (!(worst <= 1e-6)) throw new Error(`results differ by ${worst}`);
      run(whole, '-o', step, '--budget', 'none', '--loss', 'mse');
      const grads = (await openSession(step)).outputNames.filter((o) => o.startsWith('grad(')).sort();
      const wanted = one.grads.map((g) => `grad(${g})`).sort();
      if (grads.join() !== wanted.join()) throw new Error(`gradients ${grads}`);
      const difference = await differenceError((w) => {
        write(w);
        run(text, '-o', step, '--budget', 'none', '--loss', 'mse');
        return step;
      }, feeds);
      if (!(difference <= 1e-2)) throw new Error(`the gradient of w is off by ${difference}`);
      console.log(`ok   ${name}, opset ${opset}: ${worst.toExponential(1)}, gradient ${difference.toExponential(1)}`);
    } catch (e) {
      failures++;
      console.log(`FAIL ${name}, opset ${opset}: ${(e.stderr?.toString() || e.message).trim().split('\n').slice(0, 3).join(' | ')}`);
    }
  }
rmSync(scratch, { recursive: true });
console.log(`${n} models, ${failures} failed`);
process.exit(failures ? 1 : 0);
