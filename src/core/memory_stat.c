/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where memory is: sizes of blocks in the allocator, and the size of the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/memory.h"

#if defined(TARN_ASAN) || defined(TARN_TSAN)

void mem_visit_classes(void (*visit)(const struct mem_class *class, void *arg), void *arg)
{
	(void)visit;
	(void)arg;
}

#else
#include <mimalloc.h>

struct class_list {
	struct mem_class *classes;
	size_t count, capacity;
};

static struct mem_class *class_of_size(struct class_list *list, size_t size)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->classes[i].block_size == size)
			return &list->classes[i];
	if (list->count == list->capacity) {
		list->capacity = list->capacity > 0 ? list->capacity * 2 : 64;
		/* Not from the heap that is being looked at. */
		struct mem_class *grown = realloc(list->classes,
						  list->capacity * sizeof(*grown));
		if (grown == NULL)
			abort();
		list->classes = grown;
	}
	struct mem_class *class = &list->classes[list->count++];
	*class = (struct mem_class){.block_size = size};
	return class;
}

static bool add_area(const mi_heap_t *heap, const mi_heap_area_t *area, void *block,
		     size_t block_size, void *arg)
{
	(void)heap;
	(void)block;
	(void)block_size;
	struct mem_class *class = class_of_size(arg, area->block_size);
	class->area_count++;
	class->area_bytes += area->committed;
	class->block_count += area->used;
	return true;
}

static int compare_classes(const void *a, const void *b)
{
	const struct mem_class *x = a, *y = b;
	return (x->block_size > y->block_size) - (x->block_size < y->block_size);
}

void mem_visit_classes(void (*visit)(const struct mem_class *class, void *arg), void *arg)
{
	struct class_list list = {NULL, 0, 0};
	mi_heap_visit_blocks(mi_heap_get_default(), false, add_area, &list);
	if (list.count > 0)
		qsort(list.classes, list.count, sizeof(*list.classes), compare_classes);
	for (size_t i = 0; i < list.count; i++)
		visit(&list.classes[i], arg);
	free(list.classes);
}

#endif

size_t mem_process_size(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	size_t total, resident = 0;
	if (f == NULL)
		return 0;
	if (fscanf(f, "%zu %zu", &total, &resident) != 2)
		resident = 0;
	fclose(f);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}
