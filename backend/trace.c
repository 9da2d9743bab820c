// A plan as a trace: see trace.h. Times are microseconds in this format; costs are nanoseconds.
#include "backend/trace.h"

#include "backend/timeline.h"

struct trace {
    struct str *out;
    const struct timeline *t;
    uint32_t n_arrows;
    bool has_events; // a comma is due
};

// Transfers have a lane of their own beside what computes.
enum lane { LANE_COMPUTE = 1, LANE_TRANSFER };

static enum lane lane_of(const struct trace *x, uint32_t step) {
    return x->t->work[step] == WORK_TRANSFER ? LANE_TRANSFER : LANE_COMPUTE;
}

static void begin(struct trace *x, const char *phase, uint32_t device, enum lane lane) {
    str_addf(x->out, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%d", x->has_events ? ",\n" : "\n", phase,
             device + 1, lane);
    x->has_events = true;
}

// Without costs a step is a microsecond.
static void add_time(struct trace *x, const char *key, int64_t ns) {
    if (x->t->has_costs)
        str_addf(x->out, ",\"%s\":%lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
    else
        str_addf(x->out, ",\"%s\":%lld", key, (long long)ns);
}

static void name_device(struct trace *x, uint32_t device) {
    const char *name = x->t->device_name[device];
    begin(x, "M", device, LANE_COMPUTE);
    str_add(x->out, ",\"name\":\"process_name\",\"args\":{\"name\":");
    str_add_json(x->out, *name ? name : "plan");
    str_add(x->out, "}}");
    begin(x, "M", device, LANE_COMPUTE);
    str_add(x->out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"compute\"}}");
    if (x->t->n_devices == 1)
        return;
    begin(x, "M", device, LANE_TRANSFER);
    str_add(x->out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"transfers\"}}");
}

static void add_slice(struct trace *x, uint32_t i) {
    const struct timeline *t = x->t;
    node_id id = t->order[i];
    const struct node *n = graph_node(t->graph, id);
    begin(x, "X", t->device[i], lane_of(x, i));
    add_time(x, "ts", t->start[i]);
    add_time(x, "dur", t->end[i] - t->start[i]);
    str_add(x->out, ",\"name\":");
    str_add_json(x->out, node_called(t->graph, id));
    str_addf(x->out, ",\"cat\":\"%s\"", work_name(t->work[i]));
    // Names of colours that viewers know; others give each slice one by its name.
    if (t->work[i] == WORK_AGAIN)
        str_add(x->out, ",\"cname\":\"thread_state_iowait\"");
    str_addf(x->out, ",\"args\":{\"step\":%u,\"operator\":", i + 1);
    str_add_json(x->out, n->type);
    int64_t made = 0;
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t s = t->storage.of[n->out[k].i];
        if (s && t->storage.first[s].i == n->out[k].i)
            made += t->storage.bytes[s];
    }
    str_addf(x->out, ",\"makes_bytes\":%lld", (long long)made);
    if (t->work[i] == WORK_AGAIN) {
        str_add(x->out, ",\"repeats\":");
        str_add_json(x->out, node_called(t->graph, timeline_origin(t->graph, id)));
    }
    str_add(x->out, "}}");
}

static void add_counter(struct trace *x, uint32_t i) {
    const struct timeline *t = x->t;
    begin(x, "C", t->device[i], LANE_COMPUTE);
    add_time(x, "ts", t->start[i]);
    str_add(x->out, ",\"name\":\"memory\",\"args\":{");
    for (int h = 0; h < HOLDER_COUNT_; h++)
        str_addf(x->out, "%s\"%s\":%lld", h ? "," : "", holder_name((enum holder)h),
                 (long long)t->held[i][h]);
    str_add(x->out, "}}");
}

static void add_arrow(struct trace *x, uint32_t from, uint32_t to, const char *name) {
    const struct timeline *t = x->t;
    uint32_t id = ++x->n_arrows;
    begin(x, "s", t->device[from], lane_of(x, from));
    add_time(x, "ts", t->end[from]);
    str_addf(x->out, ",\"id\":%u,\"cat\":\"transfer\",\"name\":", id);
    str_add_json(x->out, name);
    str_add(x->out, "}");
    begin(x, "f", t->device[to], lane_of(x, to));
    add_time(x, "ts", t->start[to]);
    str_addf(x->out, ",\"id\":%u,\"bp\":\"e\",\"cat\":\"transfer\",\"name\":", id);
    str_add_json(x->out, name);
    str_add(x->out, "}");
}

static void add_arrows(struct trace *x, uint32_t i) {
    const struct timeline *t = x->t;
    const struct node *n = graph_node(t->graph, t->order[i]);
    for (uint32_t k = 0; k < n->n_in; k++) {
        const struct value *v = graph_value(t->graph, n->in[k]);
        if (n->in[k].i && v->def.i && t->device[t->step_of[v->def.i]] != t->device[i])
            add_arrow(x, t->step_of[v->def.i], i, v->name);
    }
}

status trace_print(struct str *out, const struct model *plan, struct diags *d) {
    struct arena scratch = arena_make(out->arena->mem);
    struct timeline t;
    struct trace x = {.out = out, .t = &t};
    status st = timeline_make(plan, &scratch, d, &t);
    if (st == ST_OK) {
        str_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        for (uint32_t device = 0; device < t.n_devices; device++)
            name_device(&x, device);
        for (uint32_t i = 0; i < t.n_steps; i++) {
            add_slice(&x, i);
            add_counter(&x, i);
            add_arrows(&x, i);
        }
        str_add(out, "\n]}\n");
        st = out->failed ? diag_out_of_memory(d) : ST_OK;
    }
    arena_free(&scratch);
    return st;
}
