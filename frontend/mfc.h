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

// Writes the current model in the format of the file name: .mfc (text), .dot (Graphviz), else ONNX.
// "-" is standard output, in ONNX format. The file appears complete or not at all; it may be the
// file that was loaded. The model stays loaded.
MFC_API int mfc_write(struct mfc *m, const char *file);

// Asks the running call to stop soon. A search ends with its best plan so far; other work fails
// with MFC_CANCELLED. In effect until the next load.
MFC_API void mfc_cancel(struct mfc *m);

#ifdef __cplusplus
}
#endif

#endif
