// A plan as a trace: see trace.h. The format has times in microseconds; costs are nanoseconds.
#include "backend/trace.h"

#include "backend/timeline.h"
#include "ir/json/json_write.h"

struct trace {
    struct json_writer w;
    const struct timeline *t;
    uint32_t n_arrows;
};

// Each device has one lane for nodes, and one for the transfers from each other device, which may
// arrive at the same time.
enum { LANE_COMPUTE = 1, LANE_TRANSFER };

static uint32_t lane_of(const struct trace *x, uint32_t step) {
    const struct timeline *t = x->t;
    const struct node *n = graph_node(t->graph, t->order[step]);
    if (t->work[step] != WORK_TRANSFER || !n->n_in)
        return LANE_COMPUTE;
    node_id from = graph_value(t->graph, n->in[0])->def;
    return LANE_TRANSFER + (from.i ? t->device[t->step_of[from.i]] : t->device[step]);
}

// Begins the object of an event.
static void begin(struct trace *x, const char *phase, uint32_t device, uint32_t lane) {
    json_write_line(&x->w);
    json_write_object(&x->w, NULL);
    json_write_text(&x->w, "ph", phase);
    json_write_int(&x->w, "pid", (int64_t)device + 1);
    json_write_int(&x->w, "tid", lane);
}

// Without costs every step takes a microsecond.
static void add_time(struct trace *x, const char *key, int64_t ns) {
    if (x->t->has_costs)
        json_write_thousandths(&x->w, key, ns);
    else
        json_write_int(&x->w, key, ns);
}

// An event that names a process or a thread.
static void add_name(struct trace *x, uint32_t device, uint32_t lane, const char *of,
                     const char *name) {
    begin(x, "M", device, lane);
    json_write_text(&x->w, "name", of);
    json_write_object(&x->w, "args");
    json_write_text(&x->w, "name", name);
    json_write_end(&x->w);
    json_write_end(&x->w);
}

static void name_device(struct trace *x, uint32_t device) {
    const char *name = x->t->device_name[device];
    add_name(x, device, LANE_COMPUTE, "process_name", *name ? name : "plan");
    add_name(x, device, LANE_COMPUTE, "thread_name", "compute");
    for (uint32_t from = 0; from < x->t->n_devices; from++) {
        struct str text = str_make(x->w.out->arena);
        str_addf(&text, "transfers from %s", x->t->device_name[from]);
        if (from != device)
            add_name(x, device, LANE_TRANSFER + from, "thread_name", str_text(&text));
    }
}

static void add_slice(struct trace *x, uint32_t i) {
    const struct timeline *t = x->t;
    node_id id = t->order[i];
    const struct node *n = graph_node(t->graph, id);
    begin(x, "X", t->device[i], lane_of(x, i));
    add_time(x, "ts", t->start[i]);
    add_time(x, "dur", t->end[i] - t->start[i]);
    json_write_text(&x->w, "name", node_called(t->graph, id));
    json_write_text(&x->w, "cat", timeline_work_name(t->work[i]));
    // A colour name of the viewers; slices without one get a colour by their name.
    if (t->work[i] == WORK_RECOMPUTE)
        json_write_text(&x->w, "cname", "thread_state_iowait");
    json_write_object(&x->w, "args");
    json_write_int(&x->w, "step", (int64_t)i + 1);
    json_write_text(&x->w, "operator", n->type);
    int64_t made = 0;
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t s = t->storage.of[n->out[k].i];
        if (s && t->storage.first[s].i == n->out[k].i)
            made += t->storage.bytes[s];
    }
    json_write_int(&x->w, "makes_bytes", made);
    if (t->work[i] == WORK_RECOMPUTE)
        json_write_text(&x->w, "repeats", node_called(t->graph, timeline_origin(t->graph, id)));
    json_write_end(&x->w);
    json_write_end(&x->w);
}

static void add_counter(struct trace *x, uint32_t i) {
    const struct timeline *t = x->t;
    begin(x, "C", t->device[i], LANE_COMPUTE);
    add_time(x, "ts", t->start[i]);
    json_write_text(&x->w, "name", "memory");
    json_write_object(&x->w, "args");
    for (int h = 0; h < HOLDER_COUNT_; h++)
        json_write_int(&x->w, timeline_holder_name((enum holder)h), t->held[i][h]);
    json_write_end(&x->w);
    json_write_end(&x->w);
}

static void add_arrow(struct trace *x, uint32_t from, uint32_t to, const char *name) {
    const struct timeline *t = x->t;
    uint32_t id = ++x->n_arrows;
    for (int end = 0; end < 2; end++) {
        uint32_t step = end ? to : from;
        begin(x, end ? "f" : "s", t->device[step], lane_of(x, step));
        add_time(x, "ts", end ? t->start[to] : t->end[from]);
        json_write_int(&x->w, "id", id);
        if (end)
            json_write_text(&x->w, "bp", "e"); // bound to the slice around it
        json_write_text(&x->w, "cat", "transfer");
        json_write_text(&x->w, "name", name);
        json_write_end(&x->w);
    }
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
    struct trace x = {.t = &t};
    status st = timeline_make(plan, &scratch, d, &t);
    if (st == ST_OK) {
        x.w = json_write_begin(out, JSON_WRITE_COMPACT);
        json_write_text(&x.w, "displayTimeUnit", "ns");
        json_write_array(&x.w, "traceEvents");
        for (uint32_t device = 0; device < t.n_devices; device++)
            name_device(&x, device);
        for (uint32_t i = 0; i < t.n_steps; i++) {
            add_slice(&x, i);
            add_counter(&x, i);
            add_arrows(&x, i);
        }
        json_write_line(&x.w);
        json_write_end(&x.w);
        json_write_finish(&x.w);
        st = out->failed ? diag_out_of_memory(d) : ST_OK;
    }
    arena_free(&scratch);
    return st;
}
