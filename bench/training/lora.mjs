// Low-rank adapters against full fine-tuning: predicted and measured memory of the default plan with AdamW, and processor time,
// on ONNX Runtime with its default options. Every plan runs three times in a process of its own (tests/runtime/peak.c); memory
// is that of the loaded step with the highest of the runs, in MiB. Prints a table in Markdown.
//
//     node lora.mjs MFC PEAK RANK MODEL.onnx...     PEAK: build/tests/runtime/ort_peak; models: of bench/runtime/models.py
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [mfc, peak, rank, ...models] = process.argv.slice(2);
const runtime = fileURLToPath(new URL('../../tests/runtime/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'mfc-lora-')), at = (name) => join(scratch, name), MIB = 1 << 20;
process.on('exit', () => rmSync(scratch, { recursive: true }));

function train(model, ...options) {
  const facts = JSON.parse(execFileSync(mfc, [model, '-o', at('step.onnx'), '--optimizer', 'adamw', '--initial', at('start.safetensors'), '--json', '-',
    '-q', ...options], { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }));
  const r = JSON.parse(execFileSync(peak, [runtime, at('step.onnx'), 'default', 'all', '3'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return { promised: (facts.peak_bytes + (facts.session_in_peak ? 0 : facts.session_bytes)) / MIB, measured: Math.max(...r.runs) / MIB, cpu: Math.min(...r.cpu_s), state: statSync(at('start.safetensors')).size / MIB };
}

console.log('| network | | memory | promised | processor time | state |\n|---|---|---|---|---|---|');
for (const model of models) {
  const full = train(model), lora = train(model, '--lora', rank);
  for (const [what, x] of [['full', full], [`LoRA ${rank}`, lora]])
    console.log(`| ${basename(model, '.onnx')} | ${what} | ${x.measured.toFixed(0)} | ${x.promised.toFixed(0)} | ${(x.cpu / full.cpu).toFixed(2)} | ${x.state.toFixed(1)} |`);
}
