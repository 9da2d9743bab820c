// The text form of the elements of a payload: kind of number and width, by storage field and
// element type. Printer and parser use the same function and so agree.
#pragma once

#include "ir/tensor.h"
#include "ir/text/number.h"

enum form {
    FORM_HEX, // bytes, no numbers
    FORM_FLOAT,
    FORM_SIGNED,
    FORM_UNSIGNED,
    FORM_VARINT, // signed, packed by protobuf
    FORM_UVARINT // unsigned, packed by protobuf
};

static inline enum form payload_raw_form(enum elem e, enum number *k) {
    switch (e) {
    case ELEM_F16:
        *k = NUMBER_F16;
        return FORM_FLOAT;
    case ELEM_BF16:
        *k = NUMBER_BF16;
        return FORM_FLOAT;
    case ELEM_F32:
    case ELEM_C64: // pairs of real and imaginary part
        *k = NUMBER_F32;
        return FORM_FLOAT;
    case ELEM_F64:
    case ELEM_C128:
        *k = NUMBER_F64;
        return FORM_FLOAT;
    case ELEM_I8:
    case ELEM_I16:
    case ELEM_I32:
    case ELEM_I64:
        return FORM_SIGNED;
    case ELEM_BOOL:
    case ELEM_U8:
    case ELEM_U16:
    case ELEM_U32:
    case ELEM_U64:
        return FORM_UNSIGNED;
    default:
        return FORM_HEX;
    }
}

static inline enum form payload_form(enum payload p, enum elem e, enum number *k) {
    switch (p) {
    case PAYLOAD_RAW:
        return payload_raw_form(e, k);
    case PAYLOAD_FLOATS:
        *k = NUMBER_F32;
        return FORM_FLOAT;
    case PAYLOAD_DOUBLES:
        *k = NUMBER_F64;
        return FORM_FLOAT;
    case PAYLOAD_INT32S:
    case PAYLOAD_INT64S:
        return FORM_VARINT;
    case PAYLOAD_UINT64S:
        return FORM_UVARINT;
    default:
        return FORM_HEX;
    }
}
