/* SPDX-License-Identifier: MIT */
/* What the numbers are, exactly, and what they do not say. */
#include "app/cli/report-private.h"

#include <math.h>

static const struct {
  const char *term, *text;
} definitions[] = {
  { "Read (site)", "Where a sublayer takes its input from a mix of rows instead of a residual stream. Read 2l feeds "
                   "attention of layer l, 2l+1 its MLP, 2L the last "
                   "norm. Its sources are the rows that it mixes; reads with one source enter no mean." },
  { "Weights", "With q the read’s query, g its key gain, s_n its source n, and head h owning the d/H coordinates i "
               "from h d/H on,\n"
               "logit_n = Σ_i q_i g_i s_n,i / rms (s_n),   rms (s) = √(mean over all d coordinates of s² + eps),\n"
               "w_n = exp (logit_n) / Σ_m exp (logit_m),   mix_i = Σ_n w_n s_n,i.\n"
               "Nothing is divided by √d. A bias, where there is one, is added to the last source’s logit." },
  { "Windows", "The ids are cut into consecutive windows; a shorter last one is kept if it has two ids. They do not "
               "reset at an end-of-text token." },
  { "Means", "A number of a read is the mean over all counted tokens of all windows, pooled. A number of a checkpoint "
             "is the mean over its reads, each once." },
  { "Loss", "Cross-entropy of the next token, mean over the predicted tokens inside windows, in nat." },
  { "Depth map, consensus, deviation",
    "The depth map is the token mean of the weight, by read, head and source. Its mean over heads is the consensus; "
    "the depth map less "
    "the consensus is the deviation. The largest deviation is that of any read, head and source." },
  { "Slice disagreement", "Of a read with one head. q is cut into S slices, contiguous (blocks of d/S coordinates) or "
                          "interleaved (i mod S). a_s is the softmax over the "
                          "sources of slice s’s part of the logit, α that of the whole logit; KL (a_s ‖ α) = Σ_n a_s,n "
                          "(ln a_s,n − ln α_n), mean over slices and tokens." },
  { "Head disagreement", "Of a read with several heads: mean over heads of KL (w_h ‖ mean over heads of w), mean over "
                         "tokens. It lies between 0 and ln H. It is not the slice "
                         "disagreement, and the two are not comparable." },
  { "Null queries", "Random: d independent standard normals, rescaled to the norm of q, or of each of its slices; then "
                    "used in place of q, with the same g, on the same "
                    "sources. Shuffled: the coordinates of q in another order. Swapped: the query of another read of "
                    "the checkpoint with as many heads, rescaled to the norm of q. "
                    "Each draw gives one number of the checkpoint, made as the trained one is; the null is the mean "
                    "over draws, ± their standard deviation (n − 1)." },
  { "Excess", "Trained less null." },
  { "p", "(1 + k) / (1 + n), where k of n draws give at least as much as training did. “Above its null”: p ≤ 0.05. "
         "“Below”: as few draws are smaller. Else: not distinguishable. "
         "Corrected for reads and heads: against each draw’s largest deviation anywhere." },
  { "Intervals",
    "2.5 % and 97.5 % quantiles of the same number over resamples of the windows (a bootstrap of circular "
    "blocks of consecutive windows, as many as the cube root of their number, rounded up), moved by as much "
    "as brings the resamples’ median to the number itself, since a resample perturbs what the sample has "
    "perturbed already; cut at 0, or at −1 and 1, where the number can lie no farther. A resample also draws "
    "anew among the draws of the null; trained and null come from the same resample. There is none with "
    "fewer than three windows." },
  { "Matched source count", "The slice disagreement over M sources: only reads with N ≥ M of them, of which those "
                            "numbered rint (k (N−1) / (M−1)), k = 0 … M−1, take part." },
  { "Replication", "Pearson correlation between the deviations on the even and on the odd windows." },
  { "Head correlation", "Pearson correlation between the deviations of two heads over reads and sources, mean over "
                        "pairs. Deviations sum to zero over heads, so heads that have "
                        "nothing in common come out near −1/(H − 1), its floor." },
  { "Entropy and contribution", "Token means of −Σ_n w_n ln w_n, whose exponential is an effective number of sources, "
                                "and of the norm of w_n s_n over the head’s coordinates." },
  { "Collinearity", "Cosine between each pair of the 2L+1 sublayer outputs, the embedding first, token by token, mean "
                    "over tokens and pairs." },
  { "Interventions", "The weights w_h of head h at the reads named become: consensus, the mean over heads; "
                     "permute-heads, those of head h+1; uniform, 1/N; top-k, the K largest, "
                     "renormalised; null-query, those of the first random query; a source left out has weight 0 and "
                     "the others are renormalised. Reads where that changes nothing stay as they are. "
                     "The change is the loss under the intervention less the loss without, over the same tokens, with "
                     "the interval of the paired difference." },
  { "Rank correlation", "Spearman’s, between the change of the loss where a source is left out and its mean weight: "
                        "over all cells of the map, and as the mean over reads with three sources or more." },
};

/* Where --reads asked. */
static void
define_reads (MharReport *r)
{
  mhar_document_term (
      r->document, "What heads read", "%s",
      "A cell is a head of a read and one of its sources, w its weight for one token. Most, least: the tokens with the "
      "largest and with the smallest w, of equal ones the earlier. By position: mean w over the tokens at position 0, "
      "1, 2–3, 4–7 … of their window; by document position, the same by the number of tokens since the last "
      "end-of-text token or since the text began. By class: of the text that the token covers, white space where all "
      "of it is, else by its first other character letter, digit, punctuation or other; an end-of-text token is other. "
      "By piece: no word where that character is no letter, or the token ends a text; else continuation where a letter "
      "of the same document stands right before it, or begins within it; else first piece.");
  mhar_document_term (
      r->document, "Logit through the last read", "%s",
      "Where the last norm reads over depth, with rms that of the read’s mix, y the next token, u its row of the "
      "output matrix and g the gain of the last norm, head h and source n add w_h,n Σ_i s_n,i g_i u_i / rms over the "
      "head’s coordinates i to the logit of y, and all of them together are that logit. Means over the predicted "
      "tokens. Less the vocabulary’s mean: with u less the mean row of the output matrix.");
}

void
mhar_report_definitions (MharReport *r)
{
  mhar_document_heading (r->document, 1, "Definitions");
  mhar_document_paragraph (r->document, "T tokens counted, L layers, d the width, H routing heads, N sources of a "
                                        "read, S slices. Logarithms are natural.");
  for (guint i = 0; i < G_N_ELEMENTS (definitions); i++)
    mhar_document_term (r->document, definitions[i].term, "%s", definitions[i].text);
  if (mhar_report_has_reads (r))
    define_reads (r);
}

static void
say_replication (MharReport *r)
{
  for (guint c = 0; c < r->sets->len; c++) {
    const MharDataset *set = mhar_report_set (r, c);
    g_autofree char *value = mhar_report_scalar (set, "replication_r"),
                    *correlation = mhar_report_scalar (set, "head_correlation");
    g_autofree char *floor = mhar_report_number (mhar_dataset_real (set, "head_correlation_floor", NAN));

    if (isnan (mhar_dataset_real (set, "replication_r", NAN)))
      continue;
    mhar_document_paragraph (
        r->document,
        "The deviations of " MHAR_CODE "%s" MHAR_PLAIN
        " on even windows correlate with those on odd windows at r = %s. The deviations of two of its "
        "heads correlate at %s on average, where heads that have nothing in common come out near %s.",
        r->names[c], value, correlation, floor);
  }
}

static gint64
least_draws (const MharReport *r)
{
  gint64 least = 0;

  for (guint c = 0; c < r->sets->len; c++) {
    gint64 draws = mhar_dataset_integer (mhar_report_set (r, c), "draws", 0);
    least = draws > 0 && (least == 0 || draws < least) ? draws : least;
  }
  return least;
}

void
mhar_report_caveats (MharReport *r)
{
  gint64 draws = least_draws (r);
  g_autofree char *least = mhar_report_number (1.0 / (1.0 + (double)draws));

  mhar_document_heading (r->document, 1, "Replication, and what these numbers do not say");
  say_replication (r);
  if (draws > 0)
    mhar_document_term (
        r->document, "How small p can be",
        "With %" G_GINT64_FORMAT
        " draws no p is below %s. Where the query is no better than its null, p is uniform, so one in twenty "
        "such results is at 0.05 or below. Checkpoints and controls are not corrected for each other.",
        draws, least);
  mhar_document_term (r->document, "Not distinguishable is not equal",
                      "A result that is not distinguishable from its null was not shown to be the null’s: a larger "
                      "model, more text or more "
                      "draws may tell them apart.");
  mhar_document_term (r->document, "What a null holds fixed",
                      "Null queries meet the sources of the trained model, which were trained with its queries. They "
                      "say what any query would find in these "
                      "sources, not what a model trained with random queries would do.");
  mhar_document_term (r->document, "One text",
                      "Intervals are over windows of one text. They say how far another sample of the same kind of "
                      "text might move a number, not another kind of text, and "
                      "nothing about another training run.");
  mhar_document_term (r->document, "Largest numbers",
                      "The largest of several numbers grows when they are perturbed, so a largest deviation is rather "
                      "too large, the more so the shorter the text; its interval does not take that off.");
  mhar_document_term (r->document, "Interventions",
                      "A model was not trained to be without what is taken away, so a change of the loss bounds what a "
                      "source is worth there and then; a model trained "
                      "without it may do as well.");
}
