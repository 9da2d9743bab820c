// The measured process of `measure.mjs --web`: a step on onnxruntime-web (one thread), whose memory is one WebAssembly memory that
// grows and never shrinks. Its size after loading and after each run is all that the library, the session and the step hold.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { feedsOf, load } from './feeds.mjs';

// onnxruntime-web does not hand out its memory: it is caught when the module is instantiated.
function catchMemory() {
  const instantiate = WebAssembly.instantiate, caught = {};
  WebAssembly.instantiate = async (source, imports) => {
    const result = await instantiate.call(WebAssembly, source, imports);
    const all = [...Object.values((result.instance ?? result).exports), ...Object.values(imports).flatMap((m) => Object.values(m))];
    caught.memory ??= all.find((x) => x instanceof WebAssembly.Memory);
    return result;
  };
  return caught;
}

// Files of weights beside a step, as mfc writes them.
function dataOf(step) {
  const folder = dirname(resolve(step)), name = basename(step);
  return readdirSync(folder).filter((f) => f.startsWith(`${name}.`) && f.endsWith('.data'))
    .map((path) => ({ path, data: new Uint8Array(readFileSync(join(folder, path))) }));
}

export async function measureWeb(job) {
  const caught = catchMemory(), ort = load('onnxruntime-web');
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(job.step)), {
    executionProviders: ['wasm'], graphOptimizationLevel: job.level, logSeverityLevel: 3, externalData: dataOf(job.step),
  });
  const loaded_bytes = caught.memory.buffer.byteLength, feeds = feedsOf(ort, session, job.inputs), runs = [];
  for (let i = 0; i < job.runs; i++) {
    const cpu = process.cpuUsage();
    await session.run(feeds);
    const used = process.cpuUsage(cpu);
    runs.push({ peak_bytes: caught.memory.buffer.byteLength, cpu_s: (used.user + used.system) / 1e6 });
  }
  return { runs, loaded_bytes, output_bytes: 0 };
}
