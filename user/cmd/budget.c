/* SPDX-License-Identifier: BSD-2-Clause */
#include "budget.h"

static size_t power_of_two_below(uint64_t n)
{
	size_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return p;
}

struct budget budget_of(uint64_t mem)
{
	uint64_t all = mem ? mem : BUDGET_DEFAULT;

	return (struct budget){
		.ring = power_of_two_below(all / 8),
		.symbols = all / 8 * 3,
		.order = all / 16,
	};
}
