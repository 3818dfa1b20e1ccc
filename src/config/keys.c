// The table of all keys of a config, except those that members of families add (members.c). The
// loader, `fringe config show`, the JSON schema and docs/config.md use it.

#include "internal.h"

#define ANY NULL
#define SECTION(name)
#define END(name)
#define ROW(section, name, kind, ...)                                                              \
    {#section "." #name, KEY_##kind, offsetof(Config, section.name), __VA_ARGS__},

const Key config_own_keys[] = {
    {"mode", KEY_WORD, offsetof(Config, mode), "\"overlap\"", ANY, ANY, ANY,
     "Preset: the defaults of keys of quantization.*, comm.* and lossless.*; explicit keys "
     "override it."},
#include "fringe/keys.def"
};
const int config_own_key_count = sizeof config_own_keys / sizeof config_own_keys[0];
const Key *config_keys = config_own_keys;
int config_key_count = sizeof config_own_keys / sizeof config_own_keys[0];
