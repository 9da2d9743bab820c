// Whether a call worked. Every fallible function returns a status; what went wrong is told by the
// diagnostics it collected on the way (diag.h). The values are the exit codes of the command.
#pragma once

#include <stdbool.h>

typedef enum {
    ST_OK = 0,
    ST_INTERNAL = 1,    // a defect in mfc itself
    ST_USAGE = 2,       // the caller's words are off
    ST_MALFORMED = 3,   // the input is not what it claims to be
    ST_UNSUPPORTED = 4, // the input is fine, mfc cannot treat it
    ST_INFEASIBLE = 5,  // proven: no plan fits the budget
    ST_NO_PLAN = 6,     // none found within the limits of the search
    ST_IO = 8,          // the environment failed
    ST_LIMIT = 9,       // out of memory, or over a size limit
    ST_VERIFY = 10,     // a claim did not survive its check
    ST_INTERRUPTED = 130,
    ST_TERMINATED = 143,
} status;
