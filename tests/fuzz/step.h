// The model that the doors of plans are about, and its training step.
#pragma once

#include "frontend/load.h"
#include "passes/plan/step.h"
#include "tests/fuzz/door.h"

static const char step_text[] = "mfc 1\n"
                                "opset 17\n"
                                "graph \"m\" {\n"
                                "  input %x : f32[4,2]\n"
                                "  param %w : f32[2,3] = {1.0,2.0,3.0,4.0,5.0,6.0}\n"
                                "  param %v : f32[3,2] = {1.0,2.0,3.0,4.0,5.0,6.0}\n"
                                "  %h = MatMul(%x, %w)\n"
                                "  %a = Relu(%h)\n"
                                "  %y = MatMul(%a, %v)\n"
                                "  output %y\n"
                                "}\n";

static inline status step_model(struct door *o, struct pool *names, struct model **out) {
    return load_memory(&o->a, names, &o->d, step_text, sizeof step_text - 1, out);
}
