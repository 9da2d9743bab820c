// The border to the C++ code of COIN-OR. Its C interfaces let exceptions pass, above all
// std::bad_alloc, and an exception that nobody catches ends the process.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Calls call(context). False: an exception came out of it. What it had allocated in the library may
// be lost then.
bool cbc_guard(void (*call)(void *), void *context);

#ifdef __cplusplus
}
#endif
