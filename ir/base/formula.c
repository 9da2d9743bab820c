// Formulas: see formula.h. A parser by recursive descent turns the text into postfix code; the
// limit on nesting bounds the stack that runs it.
#include "ir/base/formula.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/base/plain.h"

enum code {
    CODE_NUMBER,
    CODE_NAME,
    CODE_NEG,
    CODE_ADD,
    CODE_SUB,
    CODE_MUL,
    CODE_DIV,
    CODE_POW,
    CODE_MIN,
    CODE_MAX
};

struct step {
    enum code code;
    double number; // of CODE_NUMBER
    size_t name;   // of CODE_NAME
};

struct formula {
    VEC(struct step) steps;
};

struct reader {
    struct arena *arena;
    struct diags *d;
    enum diag_code code;
    struct loc where;
    const char *text, *at;
    const char *const *names;
    struct formula *f;
    int depth; // of parentheses, signs and powers
};

// At each depth up to four operands wait for what is nested: max(a, b + c * d ^ (…
enum { STACK = 4 * LIMIT_WIRE_DEPTH + 1 };

__attribute__((format(printf, 3, 4))) static status fail(struct reader *r, const char *at,
                                                         const char *format, ...) {
    struct arena scratch = arena_make(r->arena->mem);
    struct str what = str_make(&scratch);
    va_list args;
    va_start(args, format);
    str_addv(&what, format, args);
    va_end(args);
    status st = diag_error(r->d, r->code, r->where, "column %d of \"%s\": %s",
                           (int)(at - r->text) + 1, r->text, str_text(&what));
    arena_free(&scratch);
    return st;
}

static status emit(struct reader *r, struct step s) {
    return VEC_PUSH(r->arena, &r->f->steps, s) ? ST_OK : diag_out_of_memory(r->d);
}

static char peek(struct reader *r) {
    while (isspace((unsigned char)*r->at))
        r->at++;
    return *r->at;
}

static bool take(struct reader *r, char c) {
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static status sum(struct reader *r);

static status read_number(struct reader *r) {
    char *end;
    const char *start = r->at;
    double x = plain_strtod(start, &end);
    // Of what strtod takes, only decimals.
    if (end == start || start[strspn(start, "0123456789.")] == 'x' || !isfinite(x))
        return fail(r, start, "a number, a name or \"(\" is wanted");
    r->at = end;
    return emit(r, (struct step){.code = CODE_NUMBER, .number = x});
}

static status read_call(struct reader *r, enum code code) {
    status st = sum(r);
    while (!st && take(r, ',')) {
        st = sum(r);
        if (!st)
            st = emit(r, (struct step){.code = code});
    }
    return !st && !take(r, ')') ? fail(r, r->at, "\",\" or \")\" is wanted") : st;
}

static status unknown_name(struct reader *r, const char *start, size_t n) {
    char word[64] = {0};
    memcpy(word, start, n < sizeof word ? n : sizeof word - 1);
    struct arena scratch = arena_make(r->arena->mem);
    struct str known = str_make(&scratch);
    for (size_t i = 0; r->names[i]; i++)
        str_addf(&known, "%s, ", r->names[i]);
    status st =
        fail(r, start, "there is no \"%s\"; there are: %smin(), max()", word, str_text(&known));
    arena_free(&scratch);
    return st;
}

static status read_name(struct reader *r) {
    const char *start = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_')
        r->at++;
    size_t n = (size_t)(r->at - start);
    if (n == 3 && (strncmp(start, "min", n) == 0 || strncmp(start, "max", n) == 0) && take(r, '('))
        return read_call(r, start[1] == 'i' ? CODE_MIN : CODE_MAX);
    for (size_t i = 0; r->names[i]; i++)
        if (strlen(r->names[i]) == n && strncmp(r->names[i], start, n) == 0)
            return emit(r, (struct step){.code = CODE_NAME, .name = i});
    return unknown_name(r, start, n);
}

static status atom(struct reader *r) {
    char c = peek(r);
    if (isalpha((unsigned char)c) || c == '_')
        return read_name(r);
    if (!take(r, '('))
        return read_number(r);
    status st = sum(r);
    return !st && !take(r, ')') ? fail(r, r->at, "\")\" is wanted") : st;
}

// A sign, then a power: -2^2 is -4, and 2^-1 a half.
static status factor(struct reader *r) {
    if (++r->depth > LIMIT_WIRE_DEPTH)
        return fail(r, r->at, "is nested more than %d deep", LIMIT_WIRE_DEPTH);
    bool negative = take(r, '-');
    status st = ST_OK;
    if (negative || take(r, '+')) {
        st = factor(r);
        if (!st && negative)
            st = emit(r, (struct step){.code = CODE_NEG});
    } else {
        st = atom(r);
        if (!st && take(r, '^')) {
            st = factor(r);
            if (!st)
                st = emit(r, (struct step){.code = CODE_POW});
        }
    }
    r->depth--;
    return st;
}

static status product(struct reader *r) {
    status st = factor(r);
    while (!st && (peek(r) == '*' || peek(r) == '/')) {
        enum code code = *r->at++ == '*' ? CODE_MUL : CODE_DIV;
        st = factor(r);
        if (!st)
            st = emit(r, (struct step){.code = code});
    }
    return st;
}

static status sum(struct reader *r) {
    status st = product(r);
    while (!st && (peek(r) == '+' || peek(r) == '-')) {
        enum code code = *r->at++ == '+' ? CODE_ADD : CODE_SUB;
        st = product(r);
        if (!st)
            st = emit(r, (struct step){.code = code});
    }
    return st;
}

status formula_parse(struct formula_text text, struct arena *a, struct diags *d,
                     struct formula **out) {
    struct reader r = {a,         d,         text.code,  text.where,
                       text.text, text.text, text.names, ARENA_NEW(a, struct formula),
                       0};
    if (!r.f)
        return diag_out_of_memory(d);
    status st = sum(&r);
    if (!st && peek(&r))
        st = fail(&r, r.at, "an operator or the end is wanted");
    *out = st ? NULL : r.f;
    return st;
}

double formula_value(const struct formula *f, const double *values) {
    double stack[STACK];
    size_t n = 0;
    for (size_t i = 0; i < f->steps.n; i++) {
        const struct step *s = &f->steps.at[i];
        if (s->code == CODE_NUMBER || s->code == CODE_NAME) {
            assert(n < STACK);
            stack[n++] = s->code == CODE_NUMBER ? s->number : values[s->name];
            continue;
        }
        if (s->code == CODE_NEG) {
            stack[n - 1] = -stack[n - 1];
            continue;
        }
        double y = stack[--n], *x = &stack[n - 1];
        switch (s->code) {
        case CODE_ADD:
            *x += y;
            break;
        case CODE_SUB:
            *x -= y;
            break;
        case CODE_MUL:
            *x *= y;
            break;
        case CODE_DIV:
            *x /= y;
            break;
        case CODE_POW:
            *x = pow(*x, y);
            break;
        case CODE_MIN:
            *x = fmin(*x, y);
            break;
        default:
            *x = fmax(*x, y);
            break;
        }
    }
    return stack[0];
}
