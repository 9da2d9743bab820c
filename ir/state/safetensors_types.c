// The element types of safetensors files and those of ONNX.
#include <string.h>

#include "ir/state/safetensors.h"

static const struct {
    const char *name;
    enum elem elem;
} types[] = {
    {"BOOL", ELEM_BOOL},
    {"U8", ELEM_U8},
    {"I8", ELEM_I8},
    {"F8_E5M2", ELEM_F8E5M2},
    {"F8_E4M3", ELEM_F8E4M3FN},
    {"F8_E8M0", ELEM_F8E8M0},
    {"I16", ELEM_I16},
    {"U16", ELEM_U16},
    {"F16", ELEM_F16},
    {"BF16", ELEM_BF16},
    {"I32", ELEM_I32},
    {"U32", ELEM_U32},
    {"F32", ELEM_F32},
    {"F64", ELEM_F64},
    {"I64", ELEM_I64},
    {"U64", ELEM_U64},
    {"C64", ELEM_C64},
};

const char *safetensors_type_name(enum elem e) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].elem == e)
            return types[i].name;
    return NULL;
}

enum elem safetensors_type(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].elem;
    return ELEM_NONE;
}
