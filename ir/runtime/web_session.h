// The memory of a session of onnxruntime-web: what loading leaves, and the requests of a step
// (ort_events.h), run after run, on the heap of WebAssembly (web_heap.h).
#pragma once

#include "ir/graph.h"
#include "ir/runtime/ort_events.h"

// `end_at`: the highest end of the heap, counted from the start of the memory. `e` are the requests
// of a run of the step `g`.
status web_session_of(const struct graph *g, const struct ort_events *e, struct arena *a,
                      int64_t *end_at);

// The size of the memory of such a heap, at most: a tenth for what is not modelled, and the growth
// of Emscripten, which adds a fifth, or 96 MiB where that is less.
int64_t web_memory_bytes(int64_t end_at);
