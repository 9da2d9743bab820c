// Text from models in HTML and SVG. Names in a model are whatever somebody wrote: markup,
// quotes, control characters, bytes that are no UTF-8, marks that turn the direction of writing.
// What comes out is plain text in the document, and shows what was there.
#pragma once

#include "ir/base/str.h"

// For HTML, SVG and XML, in elements and in quoted attributes. Control characters, marks of
// direction and bytes that are no UTF-8 become \xHH or \uHHHH, to be seen.
void markup_add(struct str *out, const char *text);
// The same of at most `most` characters: a longer text loses its middle to an ellipsis.
void markup_add_short(struct str *out, const char *text, size_t most);
