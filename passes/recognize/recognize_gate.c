// Activations that multiply x with a function of x: Gelu by erf and by tanh, Swish (SiLU, and
// QuickGelu with alpha = 1.702), HardSwish, Mish.
#include <math.h>

#include "passes/recognize/recognize.h"

// The value is scale * x.
static bool is_scaled(const struct recognize *r, value_id v, value_id x, double scale) {
    if (value_same(v, x))
        return recognize_close(1, scale);
    struct product p = recognize_product(r, v);
    return p.n == 1 && value_same(p.factor[0], x) && recognize_close(p.scale, scale);
}

// The value is scale * x^n.
static bool is_power(const struct recognize *r, value_id v, value_id x, int n, double scale) {
    struct product p = recognize_product(r, v);
    bool same = p.n == n && recognize_close(p.scale, scale);
    for (int i = 0; same && i < n; i++)
        same = value_same(p.factor[i], x);
    return same;
}

// sqrt(2/pi) (x + k x³), or with x in front: sqrt(2/pi) x (1 + k x²).
static bool is_cubic(const struct recognize *r, value_id v, value_id x) {
    const double k = 0.044715;
    struct product p = recognize_product(r, v);
    if (!recognize_close(p.scale, sqrt(2 / acos(-1))))
        return false;
    const struct node *sum = p.n == 1 ? recognize_made_by(r, p.factor[0], OP_Add) : NULL;
    for (int i = 0; sum && i < 2; i++)
        if (value_same(sum->in[i], x) && is_power(r, sum->in[1 - i], x, 3, k))
            return true;
    for (int i = 0; p.n == 2 && i < 2; i++)
        if (value_same(p.factor[i], x) &&
            is_power(r, recognize_beside(r, p.factor[1 - i], 1), x, 2, k))
            return true;
    return false;
}

// y = x/2 (1 + …)
static bool gelu(struct recognize *r, value_id x, value_id gate) {
    value_id of = recognize_beside(r, gate, 1);
    const struct node *erf = recognize_made_by(r, of, OP_Erf),
                      *tanh = recognize_made_by(r, of, OP_Tanh);
    if (erf && is_scaled(r, erf->in[0], x, sqrt(.5)))
        return recognize_become(r, OP_Gelu, VALUES(x), NO_ATTRS);
    return tanh && is_cubic(r, tanh->in[0], x) &&
           recognize_become(r, OP_Gelu, VALUES(x), ATTRS(attr_text("approximate", "tanh")));
}

// y = x sigmoid(alpha x)
static bool swish(struct recognize *r, value_id x, value_id gate) {
    const struct node *s = recognize_made_by(r, gate, OP_Sigmoid);
    if (!s)
        return false;
    if (value_same(s->in[0], x))
        return recognize_become(r, OP_Swish, VALUES(x), NO_ATTRS);
    struct product p = recognize_product(r, s->in[0]);
    return p.n == 1 && value_same(p.factor[0], x) &&
           recognize_become(r, OP_Swish, VALUES(x), ATTRS(attr_float("alpha", p.scale)));
}

static bool mish(struct recognize *r, value_id x, value_id gate) {
    const struct node *t = recognize_made_by(r, gate, OP_Tanh),
                      *s = t ? recognize_made_by(r, t->in[0], OP_Softplus) : NULL;
    return s && value_same(s->in[0], x) && recognize_become(r, OP_Mish, VALUES(x), NO_ATTRS);
}

// y = x hardsigmoid(x) with the slope 1/6
static bool hard_swish(struct recognize *r, value_id x, value_id gate) {
    const struct node *h = recognize_made_by(r, gate, OP_HardSigmoid);
    return h && value_same(h->in[0], x) && recognize_close(node_real(h, "alpha", .2), 1.0 / 6) &&
           recognize_close(node_real(h, "beta", .5), .5) &&
           recognize_become(r, OP_HardSwish, VALUES(x), NO_ATTRS);
}

// y = x/6 clip(x + 3, 0, 6)
static bool clipped_swish(struct recognize *r, value_id x, value_id gate) {
    const struct node *c = recognize_made_by(r, gate, OP_Clip);
    double low, high;
    return c && c->n_in == 3 && value_same(recognize_beside(r, c->in[0], 3), x) &&
           recognize_number(r, c->in[1], &low) && low == 0 &&
           recognize_number(r, c->in[2], &high) && high == 6 &&
           recognize_become(r, OP_HardSwish, VALUES(x), NO_ATTRS);
}

bool recognize_gate(struct recognize *r, const struct node *n) {
    if (n->op != OP_Mul && n->op != OP_Div)
        return false;
    struct product p = recognize_product(r, n->out[0]);
    for (int k = 0; p.n == 2 && k < 2; k++) {
        value_id x = p.factor[k], gate = p.factor[1 - k];
        if (!recognize_read_once(r, gate))
            continue;
        if (recognize_close(p.scale, .5) && gelu(r, x, gate))
            return true;
        if (recognize_close(p.scale, 1.0 / 6) && clipped_swish(r, x, gate))
            return true;
        if (p.scale == 1 && (swish(r, x, gate) || mish(r, x, gate) || hard_swish(r, x, gate)))
            return true;
    }
    return false;
}
