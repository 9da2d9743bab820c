// libmfc: turns an ONNX model into a training step that fits into a memory budget.
//
// This header is the library's manual. A complete program:
//
//     struct mfc *m = mfc_new(0);
//     mfc_on_message(m, print_message, NULL);
//     mfc_set(m, "budget", "4GiB");
//     if (!mfc_load(m, "model.onnx") && !mfc_run(m, NULL))
//         mfc_write(m, "plan.onnx");
//     int status = mfc_status(m);
//     mfc_free(m);
//
// Conventions:
// - Results. A function that returns int returns MFC_OK (0) or another value of enum mfc_status.
// The exit codes of the command `mfc` are the same numbers. Messages say what is wrong, where, and
// what to do.
// - Errors. A session remains usable after an error, and can load another model.
// - Threads. One thread at a time uses a session; different sessions can run in parallel.
// mfc_cancel alone may be called from any thread and from a signal handler.
// - Side effects. The library never prints, never exits, installs no signal handlers and has no
// global state.
// - Ownership. The session owns the strings that functions return; they are valid until mfc_free.
// Arguments of a callback are valid until the callback returns. Strings and option values passed to
// the library are copied, unless a function says otherwise.
// - Compatibility. Programs that were built with a version run with every later one of the same
// MAJOR.MINOR, whose shared library has the same soname (libmfc.so.MAJOR.MINOR); from 1.0 on, of
// the same MAJOR. Such versions add functions, options, values of enums, and members at the end of
// structs that a caller gets as a pointer or passes with their size; they change nothing else. What
// a symbol other than mfc_* does is no part of the interface, and none is visible.
//
// The solver alone, without ONNX, is in mfc/solve.h.
#ifndef MFC_H
#define MFC_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MFC_API __attribute__((visibility("default")))
#else
#define MFC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The version of this header; mfc_version() is that of the library.
#define MFC_VERSION_MAJOR 0
#define MFC_VERSION_MINOR 2
#define MFC_VERSION_PATCH 0
// For comparisons: MFC_VERSION_NUMBER >= MFC_VERSION_OF(0, 2, 0)
#define MFC_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define MFC_VERSION_NUMBER                  MFC_VERSION_OF(MFC_VERSION_MAJOR, MFC_VERSION_MINOR, MFC_VERSION_PATCH)

enum mfc_status {
    MFC_OK = 0,
    MFC_INTERNAL = 1,    // a defect of mfc
    MFC_USAGE = 2,       // a wrong option or pass, or calls in the wrong order
    MFC_MALFORMED = 3,   // the input does not follow its format
    MFC_UNSUPPORTED = 4, // the input is valid, but mfc does not support it
    MFC_INFEASIBLE = 5,  // proven: no plan fits the budget
    MFC_NO_PLAN = 6,     // no plan found within the limits of the search
    MFC_IO = 8,          // a file cannot be read or written
    MFC_LIMIT = 9,       // out of memory, or a size limit is exceeded
    MFC_VERIFY = 10,     // a plan failed verification
    MFC_CANCELLED = 130  // stopped by mfc_cancel before there was a result
};

// A number that is not known, or does not apply.
#define MFC_UNKNOWN INT64_MIN

// A session: one model, its options and its messages.
struct mfc;

// The version of the library, such as "0.2.0". The string is static.
MFC_API const char *mfc_version(void);

// Creates a session that allocates at most limit_bytes (0: no limit); an allocation beyond the
// limit makes the call fail with MFC_LIMIT. Returns NULL when there is no memory for the session
// itself. The caller frees it with mfc_free.
MFC_API struct mfc *mfc_new(int64_t limit_bytes);

// Frees a session and everything that it owns. NULL is allowed.
MFC_API void mfc_free(struct mfc *m);

// ---- Messages and progress ----

enum mfc_severity { MFC_NOTE, MFC_WARNING, MFC_ERROR };

// One diagnostic. A pointer that does not apply is NULL, a number -1.
struct mfc_message {
    enum mfc_severity severity;
    enum mfc_status status; // the status that an error of this kind leads to
    const char *code;       // short and stable, such as "malformed"; see `mfc explain CODE`
    const char *text;       // what is wrong and what to do
    const char *file;       // where: the file
    int64_t offset;         // where in a binary file: byte offset
    int64_t line, column;   // where in a text file, from 1
    const char *path;       // where in a graph: "graph/node 17 (Conv conv1)"
    const char *whole;      // all of the above in one line, as the command prints it
};

// Sets the function that receives messages, in the order of their discovery, before the call that
// caused them returns. NULL: messages are dropped. `context` is passed through.
MFC_API void mfc_on_message(struct mfc *m,
                            void (*call)(void *context, const struct mfc_message *message),
                            void *context);

// Sets the function that receives human-readable lines of progress during a long call. NULL: none.
MFC_API void mfc_on_progress(struct mfc *m, void (*call)(void *context, const char *line),
                             void *context);

// The state of a search, as numbers.
struct mfc_search {
    int64_t cost;         // of the best schedule so far; MFC_UNKNOWN: there is none yet
    int64_t bound;        // lower bound on it; MFC_UNKNOWN: none is known
    int64_t peak_bytes;   // of the best schedule so far
    int64_t base_cost;    // without recomputation
    int64_t budget_bytes; // of this search
    int32_t round;        // of mfc_run, which searches several times, from 1
    double seconds;       // since the start of this search
};

// Sets the function that is called when a search of mfc_run (for one device) or mfc_solve has found
// a better schedule or bound. NULL: none. Never called in parallel, but perhaps by another thread.
MFC_API void mfc_on_search(struct mfc *m,
                           void (*call)(void *context, const struct mfc_search *search),
                           void *context);

// The status of the first call that failed since the last load; MFC_OK: none failed.
MFC_API int mfc_status(const struct mfc *m);

// ---- Work ----

// Sets an option. `option` is its name on the command line without dashes, `value` the text after
// it: mfc_set(m, "budget", "4GiB"). Flags take "true" and "false". Options stay set across loads.
// MFC_USAGE: there is no such option, or the value is wrong.
MFC_API int mfc_set(struct mfc *m, const char *option, const char *value);

// Lists the options: sets name, help and default of the option with index i, or all three to NULL
// behind the last one. The default is NULL when the option has none.
MFC_API void mfc_option(const struct mfc *m, size_t i, const char **name, const char **help,
                        const char **default_text);

// Loads a model, from a file (.onnx, or .mfc for mfc's text form; "-" is standard input) or from
// memory, and discards the previous one. Weights are not loaded: the file, or the memory, must
// remain unchanged until the next load or mfc_free; the caller still owns the memory. After an
// error the session has no model. MFC_IO: the file cannot be read; MFC_MALFORMED: it is not a valid
// model; MFC_UNSUPPORTED: it uses features that mfc does not support.
MFC_API int mfc_load(struct mfc *m, const char *file);
MFC_API int mfc_load_memory(struct mfc *m, const void *bytes, size_t n_bytes);

// Transforms the model in place. `passes` is a list of passes such as "shapes,grad" (`mfc opt
// --help` lists them), or NULL for the default pipeline, the same as `mfc model.onnx -o plan.onnx`:
// the training step, planned within the option "budget". Without a budget the plan minimizes
// memory; the budget "none" leaves the baseline step. With the option "rig" the step is planned for
// several devices. MFC_INFEASIBLE, MFC_NO_PLAN: there is no plan, and the model is the baseline
// step. MFC_UNSUPPORTED: an operator has no gradient or no shape rule; one run reports all such
// nodes.
MFC_API int mfc_run(struct mfc *m, const char *passes);

// Properties of a strategy for several devices. Times are nanoseconds.
struct mfc_strategy {
    double makespan;    // time of one step
    double load;        // maximum busy time of a device or link: time per step of a pipeline
    double peak_bytes;  // maximum peak of a device
    double moved_bytes; // by all transfers
    double energy;      // busy time by power
};

// Sets a cost function: the objective to minimize when mfc_run plans for several devices, instead
// of the option "objective". NULL: the option again. The search calls it for every strategy that it
// evaluates, from several threads in parallel; equal strategies must get equal costs. A result that
// is not finite counts as the worst cost.
MFC_API void mfc_on_cost(struct mfc *m,
                         double (*call)(void *context, const struct mfc_strategy *strategy),
                         void *context);

// ---- Results ----

// Writes the current model in the format of the file name: .mfc (text), .dot (Graphviz), else ONNX.
// "-" is standard output, in ONNX format. The file appears complete or not at all; it may be the
// file that was loaded. The model stays loaded. The options "weights" and "annotate" change the
// form; "initial", "update" and "split" name further files, which appear together with this one.
MFC_API int mfc_write(struct mfc *m, const char *file);

// The same with the format by name: "onnx", "mfc", "dot"; after mfc_run(m, NULL) also "json" (the
// figures and the order), "html" (the report) and "trace" (for Perfetto). No further files.
MFC_API int mfc_write_as(struct mfc *m, const char *format, const char *file);

// The same into memory. The session owns the bytes until its next mfc_write_memory, load or
// mfc_free. External data of the model stays in its files, if they can be found from the current
// folder. MFC_USAGE: the model needs a data file beside it.
MFC_API int mfc_write_memory(struct mfc *m, const char *format, const void **bytes,
                             size_t *n_bytes);

enum mfc_role {
    MFC_ROLE_FORWARD,
    MFC_ROLE_BACKWARD, // with the optimizer
    MFC_ROLE_RECOMPUTED,
    MFC_ROLE_TRANSFER, // between devices
    MFC_ROLE_CONTROL   // enforces the order on the runtime
};

// A node of a plan.
struct mfc_plan_node {
    const char *name, *op_type;
    const char *origin; // the node of the baseline step that it is, or recomputes
    const char *device; // "": the only one
    int32_t role;       // enum mfc_role
    int32_t n_tensors;  // its outputs: tensors[first_tensor], …
    size_t first_tensor;
    int64_t cost;            // MFC_UNKNOWN: control nodes, or no costs
    int64_t workspace_bytes; // while it runs
};

// A tensor that a node of a plan computes.
struct mfc_plan_tensor {
    const char *name;
    int64_t bytes;
    int64_t address; // in the static layout; MFC_UNKNOWN: persistent, or of no bytes
    size_t from, to; // the nodes that compute it and read it last; to = n_nodes: a result
};

// Figures of a plan; docs/plans.md explains them. Of one that is not known, the value is
// MFC_UNKNOWN, or NAN. Bytes include persistent memory, except those of the layout.
struct mfc_plan {
    int64_t budget_bytes;     // MFC_UNKNOWN: the plan minimizes memory
    int64_t peak_bytes;       // on the runtime
    int64_t baseline_bytes;   // of the baseline step on the runtime
    int64_t persistent_bytes; // parameters, inputs, constants
    int64_t session_bytes;    // that ONNX Runtime needs for the graph
    int64_t arena_bytes;      // of the static layout
    int64_t cost, base_cost;  // of the plan and of the baseline step
    int64_t bound;            // no plan within the budget costs less
    int64_t min_bytes;        // no plan has a lower peak
    double overhead;          // (cost - base_cost) / base_cost
    double min_overhead;      // by the bound
    int64_t session_in_peak;  // whether the peak and the budget count session_bytes; 0 or 1
    int64_t n_recomputed;     // nodes
    const char *outcome;      // "optimal" or "feasible"; NULL: the step is not planned
    const char *runtime;      // of the peaks
    // The order, with addresses.
    const struct mfc_plan_node *nodes;
    size_t n_nodes;
    const struct mfc_plan_tensor *tensors;
    size_t n_tensors;
};

// The plan that mfc_run(m, NULL) has made. MFC_USAGE: it has made none. The session owns the answer
// until the next run, load or mfc_free.
MFC_API int mfc_get_plan(struct mfc *m, const struct mfc_plan **out);

// ---- Training ----

// Writes the state that the loaded training step starts with, as `mfc state` does. `model`: the
// model that the step was made from, if the step does not hold its weights; or NULL.
MFC_API int mfc_write_state(struct mfc *m, const char *model, const char *file);

// Puts the trained parameters of a state into the loaded model, the one that the step was made
// from, and switches training mode off, as `mfc export` does; mfc_write then writes it. The file
// must stay unchanged until the next load or mfc_free. After an error the session has no model.
MFC_API int mfc_export(struct mfc *m, const char *state_file);

// ---- Ending early ----

// Asks the running call to stop soon. A search ends with its best plan so far; other work fails
// with MFC_CANCELLED. In effect until the next load, or the end of the next mfc_solve.
MFC_API void mfc_cancel(struct mfc *m);

#ifdef __cplusplus
}
#endif

#endif
