// The table of codecs. A config names a member; a wrong name is answered with the list.

#include "family.h"

#include <stdio.h>
#include <string.h>

static const Codec *const codecs[] = {&codec_fp32, &codec_bf16, &codec_integer};
enum { CODECS = sizeof codecs / sizeof codecs[0] };

const Codec *codec_find(const char *name, Error *err) {
    char names[256] = "";
    for (int i = 0; i < CODECS; i++) {
        if (strcmp(codecs[i]->name, name) == 0)
            return codecs[i];
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", codecs[i]->name);
    }
    error_set(err, EXIT_CONFIG, "there is no codec \"%s\"; codecs are: %s", name, names);
    return NULL;
}
