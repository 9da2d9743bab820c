// The independent check of offsets. It shares no code with the allocator.
#pragma once

#include "ir/base/diag.h"
#include "ir/base/mem.h"
#include "solver/model/buffers.h"

// Checks that every offset is aligned, equals the fixed offset if there is one, and keeps its
// buffer within arena_bytes, and that no two buffers overlap both in time and in addresses.
// ST_VERIFY and a diagnostic about the first violation otherwise.
status offsets_check(const struct buffer *buffers, size_t n, const int64_t *offset,
                     int64_t arena_bytes, struct arena *a, struct diags *d);
