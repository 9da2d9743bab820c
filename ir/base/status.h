// Whether a call worked. Every fallible function returns a status; the diagnostics that it
// collected (diag.h) say what went wrong. The values are the exit codes of the command; after a
// signal n the command exits with 128 + n instead of ST_OK or ST_INTERRUPTED.
#pragma once

#include <stdbool.h>

typedef enum {
    ST_OK = 0,
    ST_INTERNAL = 1,      // a defect in mfc itself
    ST_USAGE = 2,         // wrong arguments or options
    ST_MALFORMED = 3,     // the input is not what it claims to be
    ST_UNSUPPORTED = 4,   // the input is valid, mfc does not support it
    ST_INFEASIBLE = 5,    // proven: no plan fits the budget
    ST_NO_PLAN = 6,       // none found within the limits of the search
    ST_IO = 8,            // the environment failed
    ST_LIMIT = 9,         // out of memory, or over a size limit
    ST_VERIFY = 10,       // a claim did not survive its check
    ST_INTERRUPTED = 130, // the caller's stop was raised before there was a result
} status;
