// Recognizes masks by their elements: see param_values.h. The elements are read in blocks and
// compared as bits; reading ends with the third distinct number. Almost every tensor of parameters
// has three among its first elements.
#include "passes/param/param_values.h"

#include <string.h>

#include "ir/base/diag.h"
#include "ir/half.h"

enum { BLOCK_BYTES = 4096, MIN_MASK_ELEMENTS = 8 };

// No parameter is this small; what is added to the scores of attention to mask them is.
#define MASK_BOUND -9999.0

struct seen {
    double number[2];
    int n;          // distinct numbers, up to 3
    bool has_bound; // a number of at most MASK_BOUND
    int64_t count;
};

static void see(struct seen *s, double x) {
    s->count++;
    s->has_bound |= x <= MASK_BOUND;
    for (int i = 0; i < s->n && i < 2; i++)
        if (!(s->number[i] < x || s->number[i] > x))
            return;
    if (s->n < 2)
        s->number[s->n] = x;
    s->n += s->n < 3;
}

static void see_block(struct seen *s, enum elem e, const uint8_t *raw, size_t n_bytes) {
    size_t width = e == ELEM_F16 ? 2 : 4;
    for (size_t i = 0; i + width <= n_bytes && s->n < 3; i += width) {
        float f = 0;
        uint16_t h = 0;
        if (e == ELEM_F16)
            memcpy(&h, raw + i, sizeof h);
        else
            memcpy(&f, raw + i, sizeof f);
        see(s, e == ELEM_F16 ? half_to_double(h) : (double)f);
    }
}

enum param_values param_values_of(const struct tensor *t, struct arena *a) {
    bool plain = (t->elem == ELEM_F32 || t->elem == ELEM_F16) && t->data.source &&
                 (t->payload == PAYLOAD_RAW || t->payload == PAYLOAD_EXTERNAL ||
                  (t->payload == PAYLOAD_FLOATS && t->elem == ELEM_F32));
    struct arena scratch = arena_make(a->mem);
    struct diags ignored = diags_make(&scratch);
    struct seen s = {0};
    uint8_t block[BLOCK_BYTES];
    for (int64_t at = 0; plain && at < t->data.n_bytes && s.n < 3; at += BLOCK_BYTES) {
        int64_t left = t->data.n_bytes - at, n = left < BLOCK_BYTES ? left : BLOCK_BYTES;
        if (source_read(t->data.source, &ignored, t->data.offset + at, block, (size_t)n))
            break;
        see_block(&s, t->elem, block, (size_t)n);
    }
    arena_free(&scratch);
    bool has_zero = false, several = s.count >= MIN_MASK_ELEMENTS;
    for (int i = 0; i < s.n && i < 2; i++)
        has_zero |= !(s.number[i] < 0 || s.number[i] > 0);
    if (s.n == 1 && has_zero)
        return PARAM_VALUES_ZERO;
    return s.has_bound || (s.n == 2 && has_zero && several) ? PARAM_VALUES_MASK
                                                            : PARAM_VALUES_OTHER;
}
