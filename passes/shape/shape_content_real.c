// Shape arithmetic on floats: exporters compute sizes by way of floats, such as
// Cast(Floor(Mul(Cast(size), scale))). A term holds the bits of a double. Each result is rounded to
// its element type, as a runtime does.
#include <math.h>
#include <string.h>

#include "ir/half.h"
#include "passes/shape/shape_content.h"

double shape_content_real(struct term t) {
    double x;
    memcpy(&x, &t.x, sizeof x);
    return t.known ? x : (double)NAN;
}

struct term shape_content_of_real(double x, enum elem e) {
    struct term t = {.known = true};
    double rounded = e == ELEM_F32   ? (double)(float)x
                     : e == ELEM_F16 ? half_to_double(half_from_double(x))
                     : e == ELEM_F64 ? x
                                     : (double)NAN;
    if (isnan(rounded))
        return (struct term){0};
    memcpy(&t.x, &rounded, sizeof rounded);
    return t;
}

struct term shape_content_binary(enum op op, struct term a, struct term b, enum elem result) {
    double x = shape_content_real(a), y = shape_content_real(b);
    if (!a.known || !b.known)
        return (struct term){0};
    switch (op) {
    case OP_Add:
        return shape_content_of_real(x + y, result);
    case OP_Sub:
        return shape_content_of_real(x - y, result);
    case OP_Mul:
        return shape_content_of_real(x * y, result);
    case OP_Div:
        return shape_content_of_real(x / y, result);
    case OP_Pow:
        return shape_content_of_real(pow(x, y), result);
    case OP_Max:
        return shape_content_of_real(x > y ? x : y, result);
    case OP_Min:
        return shape_content_of_real(x < y ? x : y, result);
    case OP_Less:
        return term_of(x < y);
    case OP_LessOrEqual:
        return term_of(x <= y);
    case OP_Greater:
        return term_of(x > y);
    case OP_GreaterOrEqual:
        return term_of(x >= y);
    case OP_Equal:
        return term_of(x <= y && x >= y);
    default:
        return (struct term){0};
    }
}

struct term shape_content_unary(enum op op, struct term a, enum elem result) {
    double x = shape_content_real(a);
    if (!a.known)
        return (struct term){0};
    switch (op) {
    case OP_Abs:
        return shape_content_of_real(fabs(x), result);
    case OP_Ceil:
        return shape_content_of_real(ceil(x), result);
    case OP_Exp:
        return shape_content_of_real(exp(x), result);
    case OP_Floor:
        return shape_content_of_real(floor(x), result);
    case OP_Log:
        return shape_content_of_real(log(x), result);
    case OP_Neg:
        return shape_content_of_real(-x, result);
    case OP_Reciprocal:
        return shape_content_of_real(1 / x, result);
    case OP_Round: // ties to even
        return shape_content_of_real(rint(x), result);
    case OP_Sign:
        return shape_content_of_real((x > 0) - (x < 0), result);
    case OP_Sqrt:
        return shape_content_of_real(sqrt(x), result);
    default:
        return (struct term){0};
    }
}
