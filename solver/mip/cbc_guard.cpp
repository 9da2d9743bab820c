// Catches the exceptions of COIN-OR's libraries: see cbc_guard.h. The only C++ of mfc, because only
// C++ can catch.
#include "solver/mip/cbc_guard.h"

bool cbc_guard(void (*call)(void *), void *context) {
    try {
        call(context);
        return true;
    } catch (...) {
        return false;
    }
}
