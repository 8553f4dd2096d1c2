/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats.h"

static __u64 bucket_middle(__u32 b)
{
	__u64 low = hcs_hist_low(b);

	if (b + 1 >= HCS_HIST_BUCKETS)
		return low;
	return low + (hcs_hist_low(b + 1) - low) / 2;
}

void hcw_hist_add(struct hcw_hist *h, __u64 value)
{
	__u32 b = hcs_hist_bucket(value);

	h->bucket[b]++;
	h->n++;
	if (b < h->middle)
		h->below++;
	/* keep below <= (n - 1) / 2 < below + bucket[middle]: the lower median's bucket */
	while (h->below > (h->n - 1) / 2)
		h->below -= h->bucket[--h->middle];
	while (h->below + h->bucket[h->middle] <= (h->n - 1) / 2)
		h->below += h->bucket[h->middle++];
}

__u64 hcw_hist_median(const struct hcw_hist *h)
{
	return h->n ? bucket_middle(h->middle) : 0;
}

__u64 hcw_hist_percentile(const struct hcw_hist *h, double percent)
{
	__u64 want, seen = 0;
	__u32 b;

	if (!h->n)
		return 0;
	want = (__u64)((double)h->n * percent / 100.0);
	if (want >= h->n)
		want = h->n - 1;
	for (b = 0; b < HCS_HIST_BUCKETS; b++) {
		seen += h->bucket[b];
		if (seen > want)
			return bucket_middle(b);
	}
	return 0;
}
