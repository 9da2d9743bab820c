// Escapes text from models for HTML and SVG. Names in a model are not trusted: they may contain
// markup, quotes, control characters, invalid UTF-8, or characters that change the writing
// direction.
#pragma once

#include "ir/base/str.h"

// For element content and quoted attributes of HTML, SVG and XML. Control characters, direction
// marks and invalid UTF-8 become visible as \xHH or \uHHHH.
void markup_add(struct str *out, const char *text);
// The same for at most `max` characters: an ellipsis replaces the middle of a longer text.
void markup_add_short(struct str *out, const char *text, size_t max);
