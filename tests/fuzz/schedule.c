// The door of schedules: a problem (JSON or CSV), a byte of zero, a schedule for it. A schedule
// that is read is replayed; what the checker says of it is not judged here.
#include "solver/check/schedule_check.h"
#include "tests/fuzz/door.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct door o;
    struct problem p;
    struct schedule s;
    size_t at = door_split(bytes, n);
    if (at == n)
        return 0;
    door_open(&o);
    struct source *problem = door_source(&o, bytes, at),
                  *schedule = door_source(&o, bytes + at + 1, n - at - 1);
    status st = problem && schedule ? problem_read(&o.a, &o.d, problem, &p) : ST_LIMIT;
    if (!st)
        st = schedule_read(&o.a, &o.d, schedule, &p, &s);
    if (!st)
        st = schedule_check(&p, &s, &o.a, &o.d);
    door_check(&o, st);
    door_close(&o);
    return 0;
}
