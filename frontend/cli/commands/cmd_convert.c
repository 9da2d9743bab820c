// `mfc convert IN OUT`: the same model in another form.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/load.h"
#include "frontend/tools/inspect/inspect.h"
#include "ir/devices.h"

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *m;
    const char *format;
    bool as_picture;
    // A bad name of the output is reported before the long read.
    status st = load_format(&c->diags, c->arguments[1], options_text(&c->options, "to"), &format);
    if (st)
        return st;
    as_picture = strcmp(format, "dot") == 0;
    st = (as_picture ? load_model : load_verbatim)(&c->arena, &names, &c->diags, c->arguments[0],
                                                   &m);
    if (st)
        return st;
    cli_flush_diags(c);
    if (as_picture)
        st = devices_from_metadata(m, &c->diags);
    if (!st)
        st = load_save(m, c->arguments[1], format, NULL, &c->diags);
    const char *json = options_text(&c->options, "json");
    if (!st && json)
        st = inspect_write(m, NULL, json, &c->arena, &c->diags);
    model_close(m);
    return st;
}

static const struct option_spec convert_options[] = {
    {"to", 't', OPTION_CHOICE, "onnx|mfc|dot", NULL, 0, 0,
     "form of the output; otherwise by its name"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write what is in it as JSON, as mfc inspect does; - is stdout"},
    {0}};

const struct command cmd_convert = {
    .name = "convert",
    .summary = "turn a model into ONNX, text (.mfc) or a picture (.dot)",
    .arguments = "IN OUT",
    .description = "IN is ONNX or text; the ending of OUT gives its form: .onnx, .mfc or .dot. "
                   "\"-\" is standard input or output. Nothing is lost between ONNX and text; "
                   "large weights stay in their file, and the text refers to it.",
    .min_arguments = 2,
    .max_arguments = 2,
    .options = convert_options,
    .run = run,
};
