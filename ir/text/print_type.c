// Printer of types:
//
//     f32[8,784]  i64[N,?]  f32[] (rank 0)  f32[*] (unknown rank)  sparse f32[3,3]
//     seq(f32[*])  opt(…)  map(i64, f32[*])  opaque("domain", "name")
//     ? (a type message without a kind)  _ (no type)
//
// Denotations follow as words: f32[8 as DATA_BATCH,3] as IMAGE. Unknown protobuf fields follow as
// bytes: f32[8 with x"…"] with x"…" x"…" x"…", for the type message, the message of its kind, and
// its shape.
#include "ir/text/number.h"
#include "ir/text/print.h"

#include <string.h>

void print_dims(struct str *out, const int64_t *dims, int32_t rank) {
    str_add_char(out, '[');
    for (int32_t i = 0; i < rank; i++)
        str_addf(out, "%s%lld", i ? "," : "", (long long)dims[i]);
    str_add_char(out, ']');
}

void print_elem(struct str *out, enum elem e) {
    const char *text = elem_text(e);
    if (text)
        str_add(out, text);
    else
        str_addf(out, "elem%d", (int)e);
}

static void print_dim(struct str *out, struct dim d, struct bytes extra) {
    int64_t x;
    if (d.size >= 0)
        str_addf(out, "%lld", (long long)d.size);
    else if (d.symbol && number_parse_int(d.symbol, strlen(d.symbol), &x))
        str_add_quoted(out, d.symbol, strlen(d.symbol)); // a symbol that looks like a number
    else if (d.symbol)
        print_word(out, d.symbol);
    else
        str_add_char(out, '?');
    if (d.denotation) {
        str_add(out, " as ");
        print_word(out, d.denotation);
    }
    if (extra.n) {
        str_add(out, " with ");
        print_hex(out, extra.at, extra.n);
    }
}

static void print_shape(struct str *out, const struct type *t) {
    if (!t->has_shape) {
        str_add(out, "[*]");
        return;
    }
    str_add_char(out, '[');
    for (int32_t i = 0; i < t->rank; i++) {
        if (i)
            str_add_char(out, ',');
        print_dim(out, t->dims[i], t->dim_extras ? t->dim_extras[i] : (struct bytes){0});
    }
    str_add_char(out, ']');
}

// The reader limits the nesting of types, so recursion is bounded.
void print_type(struct str *out, const struct type *t) {
    if (!t) {
        str_add_char(out, '_');
        return;
    }
    switch (t->kind) {
    case TYPE_NONE:
        str_add_char(out, '?');
        break;
    case TYPE_SPARSE:
        str_add(out, "sparse ");
        // fall through
    case TYPE_TENSOR:
        print_elem(out, t->elem);
        print_shape(out, t);
        break;
    case TYPE_SEQUENCE:
    case TYPE_OPTIONAL:
        str_add(out, t->kind == TYPE_SEQUENCE ? "seq(" : "opt(");
        print_type(out, t->child);
        str_add_char(out, ')');
        break;
    case TYPE_MAP:
        str_add(out, "map(");
        print_elem(out, t->elem);
        str_add(out, ", ");
        print_type(out, t->child);
        str_add_char(out, ')');
        break;
    case TYPE_OPAQUE:
        str_add(out, "opaque(");
        print_quoted(out, t->opaque_domain);
        str_add(out, ", ");
        print_quoted(out, t->opaque_name);
        str_add_char(out, ')');
        break;
    }
    if (t->denotation) {
        str_add(out, " as ");
        print_word(out, t->denotation);
    }
    if (t->extra.n || t->inner_extra.n || t->shape_extra.n) {
        str_add(out, " with ");
        print_hex(out, t->extra.at, t->extra.n);
    }
    if (t->inner_extra.n || t->shape_extra.n)
        print_hex(out, t->inner_extra.at, t->inner_extra.n);
    if (t->shape_extra.n)
        print_hex(out, t->shape_extra.at, t->shape_extra.n);
}
