// Formulas that users write, such as "max(flops / 50, bytes / 10) + 2000": read once, evaluated
// often. Numbers, names from a table, + - * / and ^ (power, binds tightest, from the right),
// parentheses, min(a, b, …) and max(a, b, …).
//
//     static const char *const names[] = {"flops", "bytes", NULL};
//     struct formula *f;
//     struct formula_text t = {text, names, DIAG_MALFORMED, loc_file(path)};
//     status st = formula_parse(t, a, d, &f);
//     double x = formula_value(f, (double[]){flops, bytes}); // may be infinite or NaN
#pragma once

#include "ir/base/diag.h"
#include "ir/base/mem.h"

struct formula;

// A mistake is one diagnostic of that code at that place, which says the column and what is wrong
// there. `names` ends with NULL.
struct formula_text {
    const char *text;
    const char *const *names; // of the variables, NULL-terminated
    enum diag_code code;      // of errors
    struct loc where;         // of the text
};

status formula_parse(struct formula_text text, struct arena *a, struct diags *d,
                     struct formula **out);
// The values are those of the names, in the same order.
double formula_value(const struct formula *f, const double *values);
