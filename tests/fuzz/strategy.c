// The door of strategies: a placement problem, a byte of zero, a strategy for it. A strategy that
// is read is replayed.
#include "solver/check/strategy_check.h"
#include "tests/fuzz/door.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct door o;
    struct placement p;
    struct strategy s;
    struct strategy_facts facts;
    size_t at = door_split(bytes, n);
    if (at == n)
        return 0;
    door_open(&o);
    struct source *problem = door_source(&o, bytes, at),
                  *strategy = door_source(&o, bytes + at + 1, n - at - 1);
    status st = problem && strategy ? placement_read(&o.a, &o.d, problem, &p) : ST_LIMIT;
    if (!st)
        st = strategy_read(&o.a, &o.d, strategy, &p, &s);
    if (!st)
        st = strategy_check(&p, &s, &o.a, &o.d, &facts);
    door_check(&o, st);
    door_close(&o);
    return 0;
}
