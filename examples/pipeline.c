// A compiler pipeline on libmfc: load a model, set options, run passes, write the result.
//
//     pipeline MODEL OUTPUT PASSES|- [OPTION=VALUE]...
//
// "-" instead of passes runs the default pipeline, as the command `mfc` does. Build it with
//
//     cc pipeline.c $(pkg-config --cflags --libs mfc) -o pipeline
#include <mfc.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct mfc *session;

static void on_signal(int number) {
    (void)number;
    mfc_cancel(session); // safe in a signal handler
}

static void on_message(void *context, const struct mfc_message *message) {
    (void)context;
    fprintf(stderr, "%s\n", message->whole);
}

static void on_progress(void *context, const char *line) {
    fprintf(stderr, "%s: %s\n", (const char *)context, line);
}

static int set_option(char *text) {
    char *equals = strchr(text, '=');
    if (equals)
        *equals = 0;
    return mfc_set(session, text, equals ? equals + 1 : "true");
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: pipeline MODEL OUTPUT PASSES|- [OPTION=VALUE]...\n");
        return MFC_USAGE;
    }
    session = mfc_new((int64_t)4 << 30); // mfc itself may allocate 4 GiB
    if (!session)
        return MFC_LIMIT;
    signal(SIGINT, on_signal);
    mfc_on_message(session, on_message, NULL);
    mfc_on_progress(session, on_progress, argv[1]);

    int status = mfc_load(session, argv[1]);
    for (int i = 4; i < argc && !status; i++)
        status = set_option(argv[i]);
    if (!status)
        status = mfc_run(session, strcmp(argv[3], "-") == 0 ? NULL : argv[3]);
    if (!status)
        status = mfc_write(session, argv[2]);
    if (!status)
        printf("%s is written by mfc %s\n", argv[2], mfc_version());
    mfc_free(session);
    return status;
}
