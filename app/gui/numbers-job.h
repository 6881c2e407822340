/* SPDX-License-Identifier: MIT */
/* A table of numbers made in a worker thread: a deep model's has hundreds of thousands of them. */
#pragma once

#include "app/gui/numbers.h"

G_BEGIN_DECLS

/* `source` without texts, which come of `text` and `tokens` (MharToken) where they are not NULL. Keeps references of
 * everything until it is done. */
void mhar_numbers_new_async (const MharNumbersSource *source, GBytes *text, GArray *tokens, GAsyncReadyCallback callback,
                             gpointer user);
MharNumbers *mhar_numbers_new_finish (GAsyncResult *result);

G_END_DECLS
