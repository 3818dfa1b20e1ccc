// Keys that a user sets although nothing reads them. A key may have a condition on the words of
// other keys; where it is not met, the key has no effect. The keys that a member of a family brings
// along have the condition that the member is chosen.

#include "internal.h"

// A condition has terms, separated by blanks, which must all hold: "KEY=A|B", the word of KEY is A
// or B ("A" also stands for "A:ARGUMENT"; a list has one of these words; no word: it is empty), or
// "KEY!=A|B". Text without '=' names the command that alone reads the keys.
static const struct {
    const char *keys, *condition;
} conditions[] = {
    {"data.undirected", "data.format=auto|edges|npz|mtx|ogb"},
    {"data.fitted", "data.transforms=standardize|one-hot"},
    {"partition.seed", "partition.method!=blocks|file"},
    {"partition.balance", "partition.method=metis"},
    {"stream.order stream.score stream.refine stream.epsilon stream.capacity stream.votes "
     "stream.balance stream.passes",
     "partition.method=srp"},
    {"stream.window", "partition.method=srp stream.refine=during|both"},
    {"stream.iterations", "partition.method=srp stream.refine!=none"},
    {"stream.strict", "data.format=auto|events"},
    {"stream.snapshot_every stream.checkpoint_every", "`fringe stream`"},
    {"program.iterations program.tolerance program.restart program.start program.pairs "
     "program.blocks program.codec",
     "`fringe program`"},
    {"model.hidden model.post model.skip quantization.before", "model.layer!=sgc"},
    {"model.norm", "model.layer!=sgc model.post=norm"},
    {"model.activation", "model.layer!=sgc model.post=activation"},
    {"model.slope", "model.layer!=sgc model.post=activation model.activation=leaky-relu"},
    {"model.dropout", "model.layer!=sgc model.post=dropout"},
    {"model.steps", "model.layer=appnp"},
    {"model.alpha", "model.layer=appnp|gcn2"},
    {"model.theta", "model.layer=gcn2"},
    {"model.mix", "model.layer=sgc"},
    {"model.gain", "model.weights="},
    {"train.momentum", "train.optimizer=sgd"},
    {"train.betas train.eps", "train.optimizer=adam|adamw"},
    {"train.sample_period", "train.sample=importance"},
    {"train.lr_step_size", "train.lr_schedule=step|inverse"},
    {"train.lr_gamma", "train.lr_schedule=step|plateau|exponential"},
    {"train.lr_patience", "train.lr_schedule=plateau"},
    {"quantization.exchanges quantization.memory", "quantization.codec!=fp32"},
    {"quantization.alpha", "quantization.codec!=fp32 quantization.memory=difference|auto"},
    {"quantization.refresh", "quantization.codec!=fp32 quantization.memory=anchor"},
    {"quantization.assign quantization.initial_bits quantization.scale_dtype",
     "quantization.codec=integer"},
    {"quantization.bits quantization.period quantization.delay",
     "quantization.codec=integer quantization.assign=adaptive|random"},
    {"quantization.group_size quantization.lambda quantization.sensitivity quantization.time "
     "quantization.wait quantization.link quantization.solver",
     "quantization.codec=integer quantization.assign=adaptive"},
    {"quantization.solver_limit",
     "quantization.codec=integer quantization.assign=adaptive quantization.solver=glpk"},
    {"comm.smooth_decay", "comm.schedule=stale comm.smooth!=none"},
    {"gradients.memory", "gradients.codec!=none"},
    {"gradients.wire", "gradients.codec!=none|keys|lowrank"},
    {"gradients.bits gradients.scale_dtype gradients.bits_rule",
     "gradients.codec!=none|keys|sketch|lowrank"},
    {"gradients.sketch_buckets gradients.sketch_groups gradients.sketch_tables "
     "gradients.sketch_bins gradients.recalibrate",
     "gradients.codec=sketch"},
    {"gradients.bucket gradients.down gradients.top", "gradients.codec!=none|lowrank"},
    {"gradients.rank", "gradients.codec=lowrank"},
    {"gradients.bits_period",
     "gradients.codec!=none|keys|sketch|lowrank gradients.bits_rule!=fixed"},
    {"gradients.rounding", "gradients.codec!=none|mean|keys|sketch|lowrank"},
    {"gradients.alpha", "gradients.codec!=none|lowrank gradients.memory=difference"},
    {"gradients.refresh", "gradients.codec!=none|lowrank gradients.memory=anchor"},
    {"run.precision_error", "run.precision=auto"},
    {"run.bf16_sums", "run.backend!=cuda run.precision!=fp32"},
    {"run.spmm run.device_messages", "run.backend=cuda|auto"},
    {"run.panels", "run.backend!=cuda"},
};

// ---- reading a condition

bool config_next_term(const char **at, Term *term) {
    char text[CONFIG_CONDITION], *equals;
    if (**at == 0)
        return false;
    bool command = strchr(*at, '=') == NULL;
    size_t length = command ? strlen(*at) : strcspn(*at, " ");
    snprintf(text, sizeof text, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ' ');
    *term = (Term){0};
    if (command) {
        snprintf(term->words, sizeof term->words, "%s", text);
        return true;
    }
    equals = strchr(text, '=');
    snprintf(term->words, sizeof term->words, "%s", equals + 1);
    term->differs = equals > text && equals[-1] == '!';
    equals[-term->differs] = 0;
    term->key = config_key_find(text);
    assert(term->key != NULL && config_is_text(term->key->kind));
    return true;
}

const char *config_condition_of(const Key *key, char member[CONFIG_CONDITION]) {
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (text_lists(conditions[i].keys, key->path))
            return conditions[i].condition;
    return config_member_of(key, member) ? member : "";
}

// ---- does it hold?

// True if `word` is one of "A|B", up to its colon.
static bool is_one_of(const char *words, const char *word) {
    for (const char *at = words;; at += strcspn(at, "|") + 1) {
        size_t length = strcspn(at, "|");
        if (strncmp(at, word, length) == 0 && (word[length] == 0 || word[length] == ':'))
            return true;
        if (at[length] == 0)
            return false;
    }
}

static bool holds(const Term *term, const Config *config) {
    if (term->key == NULL)
        return false;
    const void *at = (const char *)config + term->key->offset;
    if (term->key->kind != KEY_WORDS)
        return is_one_of(term->words, at) != term->differs;
    const ConfigWords *list = at;
    for (int i = 0; i < list->count; i++)
        if (is_one_of(term->words, list->word[i]))
            return !term->differs;
    return term->differs;
}

// A word or a switch that turns its key off asks for nothing.
static bool asks_for_nothing(const Key *key, const Config *config) {
    const void *at = (const char *)config + key->offset;
    if (key->kind == KEY_BOOL)
        return !*(const bool *)at;
    if (config_is_list(key->kind))
        return *(const int *)at == 0;
    return config_is_text(key->kind) &&
           (*(const char *)at == 0 || strcmp((const char *)at, "none") == 0);
}

// The first term of the key's condition that does not hold. False: the key has its effect.
static bool broken_term(const Key *key, const Config *config, Term *term) {
    char member[CONFIG_CONDITION];
    for (const char *at = config_condition_of(key, member); config_next_term(&at, term);)
        if (!holds(term, config))
            return true;
    return false;
}

bool config_is_used(const Key *key, const Config *config) {
    Term term;
    return !broken_term(key, config, &term);
}

void idle_keys_add(IdleKeys *keys, const Config *config) {
    Term term;
    for (int i = 0; i < config_key_count; i++) {
        const Key *key = &config_keys[i];
        bool idle = config->origin[i] > CONFIG_OF_RUN && !asks_for_nothing(key, config) &&
                    broken_term(key, config, &term);
        keys->idle[i] = idle && (keys->configs == 0 || keys->idle[i]);
    }
    keys->configs++;
}

// ---- saying so

// "KEY is A or B", "KEY is not A", "KEY has A", "KEY is empty"
static void put_term(char *out, size_t size, const Term *term) {
    bool list = term->key->kind == KEY_WORDS;
    snprintf(out, size, "%s %s%s", term->key->path,
             term->differs ? "is not"
             : list        ? "has"
                           : "is",
             term->words[0] == 0 ? " empty" : "");
    const char *between = " ";
    for (const char *at = term->words; *at != 0; at += *at == '|') {
        int length = (int)strcspn(at, "|");
        text_add(out, size, between, "%.*s", length, at);
        at += length;
        between = *at != 0 && strchr(at + 1, '|') != NULL ? ", " : " or ";
    }
}

bool config_condition(const Key *key, char out[CONFIG_CONDITION]) {
    char member[CONFIG_CONDITION];
    Term term;
    size_t used = 0;
    out[0] = 0;
    for (const char *at = config_condition_of(key, member); config_next_term(&at, &term);) {
        used +=
            (size_t)snprintf(out + used, CONFIG_CONDITION - used, "%s", used > 0 ? " and " : "");
        if (term.key == NULL)
            snprintf(out + used, CONFIG_CONDITION - used, "the command is %s", term.words);
        else
            put_term(out + used, CONFIG_CONDITION - used, &term);
        used = strlen(out);
    }
    return used > 0;
}

// "quantize, adaqp": the presets that make the term hold.
static void put_presets(char *out, size_t size, const Family *presets, const Term *term) {
    out[0] = 0;
    for (int i = 0; i < presets->count; i++) {
        const char *value = preset_value(family_member(presets, i), "", term->key->path);
        if (value != NULL && is_one_of(term->words, value) != term->differs)
            text_add(out, size, ", ", "%s", family_word(presets, i));
    }
}

// A word as it is, a list as JSON.
static void put_value(char *out, size_t size, const Config *config, const Key *key) {
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    if (key->kind != KEY_WORDS) {
        snprintf(out, size, "%s", (const char *)config + key->offset);
        return;
    }
    json_writer_init(&writer, false);
    config_put(&writer, NULL, config, key);
    snprintf(out, size, "%s", writer.text);
}

static void explain(char *out, size_t size, const Key *key, const Term *term,
                    const Config *config) {
    char where[CONFIG_CONDITION], users[256], value[CONFIG_CONDITION];
    if (term->key == NULL) {
        snprintf(out, size, "%s has no effect here; %s alone uses it", key->path, term->words);
        return;
    }
    const Family *presets = presets_of(term->key->path);
    put_term(where, sizeof where, term);
    put_value(value, sizeof value, config, term->key);
    if (presets != NULL && !config_is_said(config, term->key->path)) {
        put_presets(users, sizeof users, presets, term);
        snprintf(out, size, "%s has no effect with %s=%s, where %s is %s; it is used with %s",
                 key->path, presets->key, preset_word(config, presets), term->key->path, value,
                 users);
    } else {
        snprintf(out, size, "%s has no effect, because %s is %s; it is used where %s", key->path,
                 term->key->path, value, where);
    }
}

void idle_keys_report(const IdleKeys *keys, const Config *config,
                      void (*say)(const char *sentence)) {
    Term term;
    for (int i = 0; i < config_key_count; i++)
        if (keys->idle[i] && broken_term(&config_keys[i], config, &term)) {
            char sentence[2 * CONFIG_CONDITION + 512];
            explain(sentence, sizeof sentence, &config_keys[i], &term, config);
            say(sentence);
        }
}
