// The independent check of offsets: it shares nothing with the allocator.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/mem.h"
#include "solver/model/buffers.h"

// Offsets legal, aligned, as fixed, no two live buffers overlap, all within arena_bytes. The error
// names the first buffers that do not fit together.
status offsets_check(const struct buffer *buffers, size_t n, const int64_t *offset,
                     int64_t arena_bytes, struct arena *a, struct diags *d);
