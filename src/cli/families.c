// All families whose members a config can name. Checks, help, schema and tests walk this table.

#include "internal.h"

#include "fringe/dataset_events.h"
#include "fringe/gradsync.h"
#include "fringe/srp.h"

static const Family *const families[] = {
    &format_family,      &step_family,          &method_family,  &replay_family,
    &srp_score_family,   &layer_family,         &loss_family,    &optimizer_family,
    &score_family,       &rate_schedule_family, &codec_family,   &rule_family,
    &choice_family,      &schedule_family,      &backend_family, &compressor_family,
    &residual_family,    &bits_rule_family,     &skip_family,    &sample_family,
    &label_input_family,
};

void families_learn(void) {
    config_learn_families(families, FAMILY_COUNT(families));
    config_learn_keys(families, FAMILY_COUNT(families));
}
