// viewer.mjs TRACE...: traces of mfc load in the trace engine of Chrome's Performance panel, which finds a process for each device
// under its name, every slice in its lane, and nothing lost.
import assert from "node:assert/strict";
import fs from "node:fs";
import { TraceModel } from "@paulirish/trace_engine";

function counted(trace, phase) {
  const found = new Map();
  for (const e of trace.traceEvents.filter((x) => x.ph === phase)) found.set(`${e.pid}/${e.tid}`, (found.get(`${e.pid}/${e.tid}`) ?? 0) + 1);
  return found;
}

for (const file of process.argv.slice(2)) {
  const trace = JSON.parse(fs.readFileSync(file, "utf8"));
  const names = trace.traceEvents.filter((e) => e.name === "process_name").map((e) => [e.pid, e.args.name]);
  const model = TraceModel.Model.createWithAllHandlers();
  await model.parse(structuredClone(trace.traceEvents));
  const { Meta, Renderer } = model.parsedTrace().data;
  assert.ok(names.length > 0);
  for (const [pid, name] of names) assert.equal(Meta.processNames.get(pid)?.args.name, name);
  const slices = new Map();
  for (const [pid, process_] of Renderer.processes)
    for (const [tid, thread] of process_.threads) {
      const n = thread.entries.filter((e) => e.ph === "X").length;
      if (n) slices.set(`${pid}/${tid}`, n);
    }
  assert.deepEqual([...slices].sort(), [...counted(trace, "X")].sort());
  console.log(`ok    ${file}: ${names.map((n) => n[1]).join(", ")}`);
}
