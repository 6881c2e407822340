/* SPDX-License-Identifier: MIT */
/* The same results for programs: one JSON object, keys as design and oracle name them. */
#pragma once

#include "core/field.h"

#include <jansson.h>

G_BEGIN_DECLS

/* {"schema":1,"command":…,"device":…,"precision":…,"seed":…,"checkpoints":[…]} of a run's root dataset (its child
 * "provenance" and its checkpoint children), ending with a newline; g_free. No NaN: null instead. */
char *mhar_json_format (const MharDataset *root);

/* The object of a checkpoint whose weights alone were examined: a new reference. */
json_t *mhar_json_weights (const MharDataset *set);

/* Adds "compare", or "series", to the object of a run, where its root dataset has it (checked). */
void mhar_json_compare (const MharDataset *root, json_t *object);
void mhar_json_series (const MharDataset *root, json_t *object);

/* Adds "interventions" and "ablation_map" to a checkpoint's object, where it has them. */
void mhar_json_interventions (const MharDataset *set, json_t *object);

/* Adds "reads", where it has them. */
void mhar_json_reads (const MharDataset *set, json_t *object);

G_END_DECLS
