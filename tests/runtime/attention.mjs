// A stack of attention layers as text for mfc, with its weights in a file beside it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BATCH = 48, LENGTH = 128, WIDTH = 96, HEADS = 4, LAYERS = 4, CLASSES = 16;

export function writeAttention(folder) {
  const weights = [], lines = [];
  let at = 0, seed = 1;
  const param = (name, dims, scale) => {
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; i++) data[i] = scale * (((seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) / 2 ** 30) - 1);
    lines.push(`  param %${name} : f32[${dims}] = span("attention.bin", ${at}, ${data.byteLength})`);
    weights.push(Buffer.from(data.buffer));
    at += data.byteLength;
  };
  const constant = (name, values) => lines.push(`  const %${name} : i64[${values.length}] = {${values}}`);
  constant('split', [BATCH, LENGTH, HEADS, WIDTH / HEADS]);
  constant('join', [BATCH, LENGTH, WIDTH]);
  lines.push(`  const %scale : f32[] = {${Math.sqrt(HEADS / WIDTH)}}`);
  let x = 'x';
  for (let i = 0; i < LAYERS; i++) {
    const v = (name) => `l${i}.${name}`;
    param(v('g'), [WIDTH], 1);
    param(v('b'), [WIDTH], 0.1);
    for (const w of ['q', 'k', 'v', 'o']) param(v(`w${w}`), [WIDTH, WIDTH], 0.15);
    param(v('up'), [WIDTH, 4 * WIDTH], 0.15);
    param(v('down'), [4 * WIDTH, WIDTH], 0.1);
    lines.push(`  %${v('n')} = LayerNormalization(%${x}, %${v('g')}, %${v('b')})`);
    for (const [w, perm] of [['q', '0,2,1,3'], ['k', '0,2,3,1'], ['v', '0,2,1,3']])
      lines.push(`  %${v(w)}0 = MatMul(%${v('n')}, %${v('w' + w)})`, `  %${v(w)}1 = Reshape(%${v(w)}0, %split)`,
        `  %${v(w)} = Transpose(%${v(w)}1, perm=[${perm}])`);
    lines.push(`  %${v('s0')} = MatMul(%${v('q')}, %${v('k')})`, `  %${v('s1')} = Mul(%${v('s0')}, %scale)`, `  %${v('s')} = Softmax(%${v('s1')}, axis=-1)`,
      `  %${v('a0')} = MatMul(%${v('s')}, %${v('v')})`, `  %${v('a1')} = Transpose(%${v('a0')}, perm=[0,2,1,3])`, `  %${v('a')} = Reshape(%${v('a1')}, %join)`,
      `  %${v('o')} = MatMul(%${v('a')}, %${v('wo')})`, `  %${v('x')} = Add(%${x}, %${v('o')})`, `  %${v('u')} = MatMul(%${v('x')}, %${v('up')})`,
      `  %${v('r')} = Relu(%${v('u')})`, `  %${v('d')} = MatMul(%${v('r')}, %${v('down')})`, `  %${v('y')} = Add(%${v('x')}, %${v('d')})`);
    x = v('y');
  }
  param('head', [WIDTH, CLASSES], 0.2);
  lines.push(`  %mean = ReduceMean(%${x}, axes=[1], keepdims=0)`, '  %logits = MatMul(%mean, %head)');
  const text = ['mfc 1', 'ir_version 8', 'opset 17', 'graph "attention" {', `  input %x : f32[${BATCH},${LENGTH},${WIDTH}]`, ...lines, '  output %logits', '}', ''];
  writeFileSync(join(folder, 'attention.bin'), Buffer.concat(weights));
  writeFileSync(join(folder, 'attention.mfc'), text.join('\n'));
  return join(folder, 'attention.mfc');
}
