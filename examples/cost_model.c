// A custom cost function: plans a model for a rig, with an objective that weighs the time of a step
// against the bytes that go over the links.
//
//     cost_model MODEL OUTPUT RIG PRICE
//
// PRICE is the cost of a transferred kilobyte in nanoseconds. Build it with
//
//     cc cost_model.c $(pkg-config --cflags --libs mfc) -o cost_model
#include <mfc.h>

#include <stdio.h>
#include <stdlib.h>

static void on_message(void *context, const struct mfc_message *message) {
    (void)context;
    fprintf(stderr, "%s\n", message->whole);
}

// Several threads call it in parallel: it only reads.
static double cost(void *context, const struct mfc_strategy *strategy) {
    const double *price = context;
    return strategy->makespan + *price * strategy->moved_bytes / 1e3;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: cost_model MODEL OUTPUT RIG PRICE\n");
        return MFC_USAGE;
    }
    double price = atof(argv[4]);
    struct mfc *session = mfc_new(0);
    if (!session)
        return MFC_LIMIT;
    mfc_on_message(session, on_message, NULL);
    mfc_on_cost(session, cost, &price);
    int status = mfc_set(session, "rig", argv[3]);
    if (!status)
        status = mfc_set(session, "work", "16000"); // a limit without a clock: deterministic
    if (!status)
        status = mfc_load(session, argv[1]);
    if (!status)
        status = mfc_run(session, NULL);
    if (!status)
        status = mfc_write(session, argv[2]);
    mfc_free(session);
    return status;
}
