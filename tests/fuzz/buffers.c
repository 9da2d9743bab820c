// The door of buffers (mfc alloc). Those that are read get addresses, which the checker replays.
#include "solver/model/buffers.h"
#include "solver/check/offsets_check.h"
#include "tests/fuzz/door.h"

enum { MAX_BUFFERS = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct door o;
    struct buffers b;
    door_open(&o);
    struct source *s = door_source(&o, bytes, n);
    status st = s ? buffers_read(&o.a, &o.d, s, &b) : ST_LIMIT;
    door_check(&o, st);
    if (!st && b.n <= MAX_BUFFERS) {
        int64_t *offset = ARENA_ARRAY(&o.a, int64_t, b.n);
        for (size_t i = 0; offset && i < b.n; i++)
            offset[i] = (int64_t)i * 64;
        st = offset ? offsets_check(b.buffer, b.n, offset, INT64_MAX, &o.a, &o.d) : ST_LIMIT;
        if (st == ST_INTERNAL)
            abort();
    }
    door_close(&o);
    return 0;
}
