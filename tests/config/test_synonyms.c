// If this failed, a suggestion would lead to what is not there. tests/cli/wrong_inputs.tsv has the
// answers.

#include "load.h"

static bool shares_a_name(const Meaning *a, const Meaning *b) {
    char names[1024], *rest = names;
    snprintf(names, sizeof names, " %s ", b->names);
    for (const char *name;
         strcmp(a->place, b->place) == 0 && (name = strsep(&rest, " ")) != NULL;) {
        const char *padded = test_text(" %s ", name);
        const char *all = test_text(" %s ", a->names);
        if (name[0] != 0 && strstr(all, padded) != NULL)
            return true;
    }
    return false;
}

// Each row of the table of meanings means something that is there; no name stands in two rows.
TEST(what_other_programs_say_means_what_there_is) {
    const Meaning *row;
    for (int i = 0; (row = synonym_at(i)) != NULL; i++) {
        Choices choice;
        const Key *key = config_key_find(row->place);
        for (int k = 0; k < i; k++)
            if (shares_a_name(synonym_at(k), row))
                fail_msg("%s: '%s' and '%s' share a name", row->place, synonym_at(k)->names,
                         row->names);
        if (config_is_sentence(row->answer))
            continue;
        bool member = strncmp(row->answer, "model.gin_", 10) == 0 || // whose family is not here
                      strncmp(row->answer, "comm.smooth", 11) == 0;
        if (strcmp(row->place, "key") == 0 && !member && config_key_find(row->answer) == NULL)
            fail_msg("'%s' means %s, which is no key", row->names, row->answer);
        if (strcmp(row->place, "section") == 0 && !config_is_section(row->answer))
            fail_msg("'%s' means %s, which is no section", row->names, row->answer);
        if (key != NULL && config_choices(key, choice) > 0 && !config_is_choice(key, row->answer))
            fail_msg("%s: '%s' means %s, which is no word of it", row->place, row->names,
                     row->answer);
        if (strchr(row->place, '.') != NULL && key == NULL)
            fail_msg("%s is no key", row->place);
    }
}

TEST(a_key_of_another_section_is_suggested) {
    refused("{\"run\": {\"dropout\": 0.5}}", "did you mean model.dropout?"); // wrong section
}
