// libmfc: turns an ONNX model into a training step that fits the memory there is.
//
// This header is the library's manual. A whole run:
//
//     struct mfc *m = mfc_new(0);
//     mfc_on_message(m, print_message, NULL);
//     if (!mfc_load(m, "model.onnx") && !mfc_run(m, NULL))
//         mfc_write(m, "plan.onnx");
//     int status = mfc_status(m);
//     mfc_free(m);
//
// Rules that hold for all of it:
// - Calls return 0 when they worked, and else one of enum mfc_status, which are also the exit codes
//   of the command. What is wrong, where and what to do about it comes as messages.
// - After a failure the session still answers, and can load another model.
// - A session is used by one thread at a time; several sessions run side by side. mfc_cancel alone
//   may be called from any thread or signal handler.
// - The library never prints, never exits, touches no signals and has no global state.
// - Texts that the library hands out live until the session is freed, those in callbacks until the
//   callback returns.
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
    MFC_INTERNAL = 1,    // a defect in mfc itself
    MFC_USAGE = 2,       // an option, a pass or the order of calls is wrong
    MFC_MALFORMED = 3,   // the input is not what it claims to be
    MFC_UNSUPPORTED = 4, // the input is fine, mfc cannot treat it
    MFC_INFEASIBLE = 5,  // proven: no plan fits the budget
    MFC_NO_PLAN = 6,     // none found within the limits of the search
    MFC_IO = 8,          // the system refused to read or write
    MFC_LIMIT = 9,       // out of memory, or over a size limit
    MFC_VERIFY = 10,     // a plan did not survive its check
    MFC_CANCELLED = 130
};

// A session: one model, its options, what was said about it.
struct mfc;

// The version of the library, such as "0.2.0".
MFC_API const char *mfc_version(void);

// A session that allocates at most limit_bytes for itself (0: no limit); an allocation above it
// fails the call with MFC_LIMIT. NULL: there is not even memory for the session.
MFC_API struct mfc *mfc_new(int64_t limit_bytes);
MFC_API void mfc_free(struct mfc *m); // NULL is fine

// ---- What the library has to say ----

enum mfc_severity { MFC_NOTE, MFC_WARNING, MFC_ERROR };

struct mfc_message {
    enum mfc_severity severity;
    enum mfc_status status; // what an error of this kind leads to
    const char *code;       // short and stable, such as "malformed"; `mfc explain CODE` tells more
    const char *text;       // what is wrong, in words
    const char *file;       // where; NULL or -1 where that is not known
    int64_t offset;         // byte in a binary file
    int64_t line, column;   // in a text file, from 1
    const char *path;       // in a graph: "graph/node 17 (Conv conv1)"
    const char *whole;      // all of it on one line, as the command prints it
};

// Called for each message, in the order in which they were found, before the call that caused them
// returns.
MFC_API void mfc_on_message(struct mfc *m,
                            void (*call)(void *context, const struct mfc_message *message),
                            void *context);

// Called while a long call works, with a line for people; about as often as something happens.
MFC_API void mfc_on_progress(struct mfc *m, void (*call)(void *context, const char *line),
                             void *context);

// The status of the first call since the last load that failed; MFC_OK: all is well.
MFC_API int mfc_status(const struct mfc *m);

// ---- The work ----

// Sets an option by the name that it has on the command line, without the dashes, from text as one
// would type it there: mfc_set(m, "budget", "4GiB"). Flags take "true" and "false". Options outlast
// loads.
MFC_API int mfc_set(struct mfc *m, const char *option, const char *value);

// What there is to set: the i-th option's name, help and default, all NULL behind the last. The
// default is NULL when there is none.
MFC_API void mfc_option(const struct mfc *m, size_t i, const char **name, const char **help,
                        const char **default_text);

// Loads a model in place of the one before, from a file (.onnx, or .mfc for mfc's text form; "-"
// is standard input) or from memory. Weights are not read: the file, or the memory, must stay as it
// is until the next load or mfc_free.
MFC_API int mfc_load(struct mfc *m, const char *file);
MFC_API int mfc_load_memory(struct mfc *m, const void *bytes, size_t n_bytes);

// Runs passes over the model: a list such as "shapes,grad" (`mfc opt --help` names them all), or
// NULL for everything that `mfc model.onnx -o plan.onnx` does: the training step, planned within
// the option "budget" (or for the least memory when there is none; "none" leaves the step as it
// is). With the option "rig" it is planned for several devices. MFC_INFEASIBLE and MFC_NO_PLAN
// leave the model as the unplanned step.
MFC_API int mfc_run(struct mfc *m, const char *passes);

// What a strategy for several devices comes to; times in nanoseconds, as the rig has them.
struct mfc_strategy {
    double makespan;    // of one step
    double load;        // the largest of a device or link: the time per step in a pipeline
    double peak_bytes;  // the largest of a device
    double moved_bytes; // by all transfers
    double energy;      // busy time by power
};

// A cost model of the caller's own: what is to be small when a run plans for several devices, in
// place of the option "objective"; NULL: the option again. It is called for every state that the
// search looks at, from several threads at once, and must always say the same of the same strategy.
// What is not a finite number stands for the worst.
MFC_API void mfc_on_cost(struct mfc *m,
                         double (*call)(void *context, const struct mfc_strategy *strategy),
                         void *context);

// Writes the model as it is now, in the format that the name ends with: .onnx, .mfc (text) or .dot.
// The file appears whole or not at all; it may be the one that was loaded. "-" is standard output
// and gets ONNX.
MFC_API int mfc_write(struct mfc *m, const char *file);

// Asks the call that is running to end soon. A search then ends with the best that it has; other
// work fails with MFC_CANCELLED. Holds until the next load.
MFC_API void mfc_cancel(struct mfc *m);

#ifdef __cplusplus
}
#endif

#endif
