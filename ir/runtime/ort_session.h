// The memory of a session run by run: the requests of a step (ort_events.h) on ONNX Runtime's arena
// (ort_arena.h), with or without memory patterns (ort_pattern.h).
#pragma once

#include "ir/runtime/ort_arena.h"
#include "ir/runtime/ort_pattern.h"

enum { ORT_SESSION_RUNS = 4 };

struct ort_session {
    // Resident bytes of the arena, and of plain mallocs at their peak, after each run. The last run
    // stands for all later ones.
    int64_t run_bytes[ORT_SESSION_RUNS];
    int64_t region_bytes; // of the arena, at the end
};

// `pattern`: memory patterns are on; else they are on for the graph around a branch alone. Outputs
// are released before the next run.
status ort_session_of(const struct ort_events *e, bool pattern, struct arena *a,
                      struct ort_session *out);
