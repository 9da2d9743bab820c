// Reading JSON files with limits: jansson behind a scan that bounds size, nesting and the number of
// values before anything is built.
#pragma once

#include <jansson.h>

#include "ir/base/diag.h"
#include "ir/base/file.h"

// From now on jansson allocates through this gate, in the whole process: for a command, before it
// reads or makes any JSON. A library must not call it, because its program may use jansson, too.
void json_use_gate(struct mem *mem);

// The parsed file; json_decref() ends it. Duplicate keys and anything after the value are refused.
status json_read(struct arena *scratch, struct diags *d, const struct source *s, json_t **out);

// An integer, also when it is written as a real without a fraction. False: it is not one.
bool json_as_int(const json_t *value, int64_t *out);

// The object says "format": format and "version": 1.
status json_check_format(struct diags *d, const char *file, const json_t *root, const char *format);

// Member `key` as an integer into *out; absent or null leaves *out as it is. `path` may be NULL.
status json_get_int(struct diags *d, struct loc where, const json_t *object, const char *key,
                    int64_t *out);
status json_get_real(struct diags *d, struct loc where, const json_t *object, const char *key,
                     double *out);
status json_get_bool(struct diags *d, struct loc where, const json_t *object, const char *key,
                     bool *out);
// A text that is not empty, and must be there; copied.
status json_get_name(struct arena *a, struct diags *d, struct loc where, const json_t *object,
                     const char *key, const char **out);
