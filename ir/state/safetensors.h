// Safetensors files: 8 bytes with the length of a header, the header as a JSON object (name ->
// dtype, shape, data_offsets; __metadata__ -> texts), and the elements, little-endian, one tensor
// behind the other. Elements are neither read nor written through memory: they go from file to
// file.
#pragma once

#include "ir/state/tensors.h"

#define SAFETENSORS_MAX_HEADER 100000000 // bytes; the format's own limit

// Whether a file begins like one. A file that cannot be read is none.
bool safetensors_is(const struct source *s, struct mem *mem);

// The tensors, in the order of their elements; they refer to the source. A file is not trusted: its
// lengths and offsets must fit it and each other, and cover all of it.
status safetensors_read(const struct source *s, struct arena *a, struct diags *d,
                        struct tensors *out);

// Writes the file whole or not at all. Tensors with larger elements come first, so that each is
// aligned. DIAG_UNSUPPORTED: an element type that the format does not have. `together`: the file
// becomes visible with these; NULL: at once.
status safetensors_write(const struct tensors *t, const char *path, struct outputs *together,
                         struct diags *d);

// safetensors_types.c: "F32" and so on; NULL or ELEM_NONE: there is no such type.
const char *safetensors_type_name(enum elem e);
enum elem safetensors_type(const char *name);
