// What the runtime model says of a file, for comparison with the real ONNX Runtime.
#pragma once

#include "ir/runtime/ort_session.h"

// The requests of one run. Errors end the program; `out` is allocated in `a`.
void predicted_events(const char *path, struct arena *a, struct ort_events *out);
