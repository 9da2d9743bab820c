// ONNX Runtime as tests/runtime installs it, wherever the importing file is.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const from = createRequire(fileURLToPath(new URL('../runtime/package.json', import.meta.url)));
const ort = from('onnxruntime-node');
export default ort;

export function openSession(path) {
  return ort.InferenceSession.create(path, {
    logSeverityLevel: 4, intraOpNumThreads: 1, interOpNumThreads: 1, graphOptimizationLevel: 'basic',
  });
}
