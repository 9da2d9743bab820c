// The door of plans: bytes that claim to be a plan for one small model, as ONNX or in the text
// form, into the verification.
#include "frontend/tools/verify_plan.h"
#include "tests/fuzz/step.h"

static status verify(struct door *o, struct model *model, struct model *plan) {
    struct options options = options_make(&o->a);
    struct verified found = {.cost_model = "mine"};
    struct pass_context c = {.arena = &o->a, .diags = &o->d, .options = &options};
    status st = pass_add_options(&options, &o->d);
    if (!st)
        st = step_recall(plan, &options, &o->d);
    return st ? st : verify_plan(model, plan, &c, &found);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    struct door o;
    struct model *model, *plan;
    door_open(&o);
    struct pool names = pool_make(&o.a);
    if (step_model(&o, &names, &model))
        abort();
    status st = load_memory(&o.a, &names, &o.d, bytes, n, &plan);
    if (!st) {
        st = verify(&o, model, plan);
        model_close(plan);
    }
    door_check(&o, st);
    model_close(model);
    door_close(&o);
    return 0;
}
