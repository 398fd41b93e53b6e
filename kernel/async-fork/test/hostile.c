// SPDX-License-Identifier: GPL-2.0
/*
 * Does fork give the child the memory of the moment of the fork, whatever the
 * parent does meanwhile?
 *
 * A worker process owns an arena of pages. What each page holds is known: a
 * version number that no other write has used, from which the value at several
 * places of the page follows. The worker records the versions in shared memory,
 * forks, and at once goes on to write, unmap, protect, move, discard and map
 * pages, in two threads, each on its half of the arena; it may fork again, exit,
 * exec or be killed. The child compares each page that it can read with the
 * record; so does the parent with its own pages when the child has ended.
 *
 * Usage: hostile [--pages N] [--seconds N] [--seed N] [--mib N] [--variant mixed|killed|memory]
 * Compares at least N pages in children, unless the seconds are over before. Prints lines `NAME VALUE`; exit code 1
 * if a page was wrong or a child was lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

enum { PAGE = 4096, TABLE = 512, HALVES = 2, CHILDREN = 3, PLACES = 4, ROUNDS_OF_WORKER = 12, REPORTED = 1000000 };
enum variant { MIXED, KILLED, MEMORY };

static const unsigned place_offset[PLACES] = {0, 1000, 2048, PAGE - 8};

/* What a page of the arena holds; version 0 is a page of zeros. */
struct state {
	uint32_t version;
	uint8_t mapped;
	uint8_t protection;
};

/* In shared memory, out of reach of what is tested. */
struct shared {
	atomic_ulong rounds, forks, fork_errors, pages_compared, pages_wrong;
	atomic_ulong parent_pages_compared, parent_pages_wrong;
	atomic_ulong remote_pages_compared, remote_pages_wrong;
	atomic_ulong children_killed, children_lost, operations;
	atomic_uint next_version, messages;
};

struct child {
	pid_t pid;		/* 0: free */
	bool killed;		/* by the worker, on purpose */
	struct state *record;	/* of the moment of its fork */
};

static struct shared *shared;
static struct state *states;
static char *arena;
static size_t pages;
static enum variant variant;
static struct child children[CHILDREN];
static pthread_mutex_t half_lock[HALVES] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_bool stop;
static int memory_file = -1;

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t draw(uint64_t *random)
{
	return mix((*random)++);
}

static void *map_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return p;
}

static char *address(size_t page)
{
	return arena + page * PAGE;
}

/* What all places of a page hold. */
static uint64_t value(uint32_t version)
{
	return version ? mix(version) : 0;
}

static void fill(char *p, uint32_t version)
{
	for (int place = 0; place < PLACES; place++)
		*(volatile uint64_t *)(p + place_offset[place]) = value(version);
}

static bool page_is(const char *p, uint32_t version, const char *who, size_t page)
{
	uint64_t expected = value(version);

	for (int place = 0; place < PLACES; place++) {
		uint64_t is = *(volatile const uint64_t *)(p + place_offset[place]);

		if (is == expected)
			continue;
		if (atomic_fetch_add(&shared->messages, 1) < 8)
			fprintf(stderr, "%s: page %zu at %u: %016lx, not %016lx of version %u\n", who, page,
				place_offset[place], is, expected, version);
		return false;
	}
	return true;
}

/* A run of pages in a half of the arena. */
struct run {
	size_t first, count;
};

static struct run draw_run(uint64_t *random, int half, size_t longest)
{
	size_t size = pages / HALVES, count, first;

	switch (draw(random) % 4) {
	case 0:
		count = 1;
		break;
	case 1:
		count = TABLE;
		break;
	default:
		count = 1 + draw(random) % longest;
	}
	if (count > longest)
		count = longest;
	first = draw(random) % (size - count + 1);
	if (draw(random) % 2)
		first -= first % TABLE;
	return (struct run){half * size + first, count};
}

static bool run_is_mapped(struct run run)
{
	for (size_t i = run.first; i < run.first + run.count; i++)
		if (!states[i].mapped)
			return false;
	return true;
}

static void set_run(struct run run, struct state state)
{
	for (size_t i = run.first; i < run.first + run.count; i++)
		states[i] = state;
}

static uint32_t new_version(void)
{
	return 1 + atomic_fetch_add(&shared->next_version, 1) % UINT32_MAX;
}

enum writer { STORE, MEMORY_FILE, PROCESS_VM_WRITEV };

/* By a store, or by the kernel into a page that it has taken hold of. */
static void write_page(size_t page, enum writer writer)
{
	static _Thread_local char buffer[PAGE];
	struct iovec from = {buffer, PAGE}, to = {address(page), PAGE};
	uint32_t version = new_version();
	bool done = false;

	if (writer != STORE)
		fill(buffer, version);
	if (writer == MEMORY_FILE)
		done = pwrite(memory_file, buffer, PAGE, (off_t)(uintptr_t)address(page)) == PAGE;
	else if (writer == PROCESS_VM_WRITEV)
		done = process_vm_writev(getpid(), &from, 1, &to, 1, 0) == PAGE;
	if (!done)
		fill(address(page), version);
	states[page].version = version;
}

static void write_run(uint64_t *random, struct run run, bool last_round)
{
	size_t step = 1 + draw(random) % 8;
	enum writer writer = draw(random) % 3;

	if (writer == PROCESS_VM_WRITEV && !last_round)
		writer = STORE;	/* it pins: from then on fork would defer nothing */
	for (size_t i = run.first; i < run.first + run.count; i += step)
		if (states[i].mapped && states[i].protection == (PROT_READ | PROT_WRITE))
			write_page(i, writer);
}

static void map_run(struct run run)
{
	void *p = mmap(address(run.first), run.count * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap of the arena");
		exit(2);
	}
	set_run(run, (struct state){0, 1, PROT_READ | PROT_WRITE});
}

static void unmap_run(struct run run)
{
	if (!munmap(address(run.first), run.count * PAGE))
		set_run(run, (struct state){0});
}

static void protect_run(uint64_t *random, struct run run)
{
	static const int protections[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE};
	int protection = protections[draw(random) % 4];

	if (!run_is_mapped(run) || mprotect(address(run.first), run.count * PAGE, protection))
		return;
	for (size_t i = run.first; i < run.first + run.count; i++)
		states[i].protection = protection;
}

static void discard_run(struct run run)
{
	if (!run_is_mapped(run) || madvise(address(run.first), run.count * PAGE, MADV_DONTNEED))
		return;
	for (size_t i = run.first; i < run.first + run.count; i++)
		states[i].version = 0;
}

/* Freed pages are zero or as they were until they are written: write them at once. */
static void free_run(struct run run)
{
	for (size_t i = run.first; i < run.first + run.count; i++)
		if (!states[i].mapped || states[i].protection != (PROT_READ | PROT_WRITE))
			return;
	if (madvise(address(run.first), run.count * PAGE, MADV_FREE))
		return;
	for (size_t i = run.first; i < run.first + run.count; i++) {
		states[i].version = new_version();
		fill(address(i), states[i].version);
	}
}

static void move_run(uint64_t *random, int half, struct run from)
{
	struct run to = draw_run(random, half, 2 * TABLE);
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (draw(random) % 2 ? MREMAP_DONTUNMAP : 0);

	to.count = from.count;
	if (to.first + to.count > (half + 1) * (pages / HALVES))
		return;
	if (to.first < from.first + from.count && from.first < to.first + to.count)
		return;
	if (!run_is_mapped(from))
		return;
	if (mremap(address(from.first), from.count * PAGE, from.count * PAGE, flags, address(to.first)) == MAP_FAILED) {
		map_run(to);	/* it may have been unmapped before the failure */
		return;
	}
	memcpy(states + to.first, states + from.first, from.count * sizeof(*states));
	for (size_t i = from.first; i < from.first + from.count; i++) {
		states[i].version = 0;
		if (!(flags & MREMAP_DONTUNMAP))
			states[i].mapped = 0;
	}
}

static void advise_or_lock_run(uint64_t *random, struct run run)
{
	char *p = address(run.first);
	size_t size = run.count * PAGE;

	switch (draw(random) % 3) {
	case 0:
		madvise(p, size, MADV_COLD);
		break;
	case 1:
		madvise(p, size, MADV_PAGEOUT);
		break;
	default:
		mlock(p, size);
		munlock(p, size);
	}
}

/* The pipe keeps the page itself; what is read from it is compared with what was there. */
static void splice_page(size_t page)
{
	char buffer[PAGE];
	struct iovec from = {address(page), PAGE};
	int fds[2];

	if (!states[page].mapped || !(states[page].protection & PROT_READ) || pipe(fds))
		return;
	if (vmsplice(fds[1], &from, 1, 0) == PAGE && read(fds[0], buffer, PAGE) == PAGE) {
		atomic_fetch_add(&shared->parent_pages_compared, 1);
		if (!page_is(buffer, states[page].version, "pipe", page))
			atomic_fetch_add(&shared->parent_pages_wrong, 1);
	}
	close(fds[0]);
	close(fds[1]);
}

static void operate(uint64_t *random, int half, bool last_round)
{
	struct run run = draw_run(random, half, 2 * TABLE);

	pthread_mutex_lock(&half_lock[half]);
	atomic_fetch_add(&shared->operations, 1);
	switch (draw(random) % (variant == MEMORY ? 6 : 16)) {
	case 5:
		discard_run(run);
		break;
	case 6:
		unmap_run(run);
		break;
	case 7:
	case 8:
		map_run(run);
		break;
	case 9:
	case 10:
		protect_run(random, run);
		break;
	case 11:
	case 12:
		move_run(random, half, run);
		break;
	case 13:
		free_run(run);
		break;
	case 14:
		advise_or_lock_run(random, run);
		break;
	case 15:
		splice_page(run.first);
		break;
	default:
		write_run(random, run, last_round);
	}
	pthread_mutex_unlock(&half_lock[half]);
}

/*
 * Pages without access in the record get read access first, in the child's own
 * memory; without memory for that they are left out. A wrong page is counted at
 * once: a process that finds one may not live to count all.
 */
static void compare_all(struct state *record, const char *who, atomic_ulong *compared, atomic_ulong *wrong)
{
	unsigned long n = 0;

	for (size_t i = 0; i < pages; i++) {
		if (!record[i].mapped)
			continue;
		if (!(record[i].protection & PROT_READ) && mprotect(address(i), PAGE, PROT_READ)) {
			if (variant != MEMORY || errno != ENOMEM)
				atomic_fetch_add(wrong, 1);
			continue;
		}
		n++;
		if (!page_is(address(i), record[i].version, who, i))
			atomic_fetch_add(wrong, 1);
	}
	atomic_fetch_add(compared, n);
}

static void child_main(struct child *child, uint64_t random)
{
	pid_t self = getpid(), grandchild = draw(&random) % 16 ? -1 : fork();

	/* It compares with the child's record, which is used anew when the child has been killed. */
	if (!grandchild && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != self))
		_exit(0);
	compare_all(child->record, "child", &shared->pages_compared, &shared->pages_wrong);
	if (grandchild > 0)
		waitpid(grandchild, NULL, 0);
	_exit(0);
}

static void fork_child(uint64_t *random)
{
	struct child *child = NULL;
	uint64_t seed_of_child = draw(random);

	for (int i = 0; i < CHILDREN; i++)
		if (!children[i].pid)
			child = &children[i];
	if (!child)
		return;
	for (int half = 0; half < HALVES; half++)
		pthread_mutex_lock(&half_lock[half]);
	memcpy(child->record, states, pages * sizeof(*states));
	child->killed = false;
	child->pid = fork();
	if (!child->pid)
		child_main(child, seed_of_child);
	for (int half = HALVES - 1; half >= 0; half--)
		pthread_mutex_unlock(&half_lock[half]);
	if (child->pid > 0) {
		atomic_fetch_add(&shared->forks, 1);
	} else {
		child->pid = 0;
		atomic_fetch_add(&shared->fork_errors, 1);
	}
}

static void reap(struct child *child, int options)
{
	int status;

	if (!child->pid || waitpid(child->pid, &status, options) != child->pid)
		return;
	child->pid = 0;
	if (!WIFSIGNALED(status))
		return;
	/* Without memory the kernel gives the child up, and says so by SIGKILL. */
	if (child->killed || (variant == MEMORY && WTERMSIG(status) == SIGKILL))
		atomic_fetch_add(&shared->children_killed, 1);
	else
		atomic_fetch_add(&shared->children_lost, 1);
}

static void kill_a_child(void)
{
	struct child *child = children;

	while (child < children + CHILDREN && !child->pid)
		child++;
	if (child < children + CHILDREN) {
		child->killed = true;
		kill(child->pid, SIGKILL);
	}
}

/* Reads a page of a child from outside, maybe before the child has all its tables. */
static void peek(uint64_t *random)
{
	struct child *child = &children[CHILDREN - 1];	/* the first that fork_child() takes */
	size_t page = draw(random) % pages;
	char buffer[PAGE];
	struct iovec to = {buffer, PAGE}, from = {address(page), PAGE};

	if (!child->pid || !child->record[page].mapped || !(child->record[page].protection & PROT_READ))
		return;
	if (process_vm_readv(child->pid, &to, 1, &from, 1, 0) != PAGE)
		return;
	atomic_fetch_add(&shared->remote_pages_compared, 1);
	if (!page_is(buffer, child->record[page].version, "remote", page))
		atomic_fetch_add(&shared->remote_pages_wrong, 1);
}

static void *second_thread(void *argument)
{
	uint64_t random = *(uint64_t *)argument;

	while (!atomic_load(&stop)) {
		operate(&random, 1, false);
		if (draw(&random) % 4 == 0)
			usleep(draw(&random) % 200);
	}
	return NULL;
}

/* One mapping, all pages written but for some holes. */
static void fresh_arena(uint64_t *random)
{
	map_run((struct run){0, pages});
	for (size_t i = 0; i < pages; i++)
		if (draw(random) % 16)
			write_page(i, STORE);
}

/* Does not return if the worker ends in the middle: the children go on. */
static void end_abruptly(uint64_t *random)
{
	usleep(draw(random) % 3000);
	switch (draw(random) % 3) {
	case 0:
		_exit(0);
	case 1:
		execl("/proc/self/exe", "hostile", "--nothing", NULL);
		_exit(2);
	default:
		kill(getpid(), SIGKILL);
	}
}

static void run_round(uint64_t *random, bool last)
{
	unsigned operations = draw(random) % 48;

	fork_child(random);
	for (int i = draw(random) % 8; i > 0 && variant != MEMORY; i--)
		peek(random);
	if (variant == KILLED || draw(random) % 8 == 0) {
		usleep(draw(random) % 2 ? 0 : draw(random) % 2000);
		kill_a_child();
	}
	if (last && variant == MIXED && draw(random) % 2)
		end_abruptly(random);
	for (unsigned i = 0; i < operations; i++) {
		operate(random, 0, last);
		if (draw(random) % 16 == 0)
			fork_child(random);
		if (draw(random) % 16 == 0 && !vfork())
			_exit(0);
		if (draw(random) % 8 == 0 && variant != MEMORY)
			peek(random);
		for (int c = 0; c < CHILDREN; c++)
			reap(&children[c], WNOHANG);
	}
	for (int c = 0; c < CHILDREN; c++)
		reap(&children[c], 0);
	atomic_fetch_add(&shared->rounds, 1);
}

static void compare_own(void)
{
	for (int half = 0; half < HALVES; half++)
		pthread_mutex_lock(&half_lock[half]);
	compare_all(states, "parent", &shared->parent_pages_compared, &shared->parent_pages_wrong);
	for (size_t i = 0; i < pages; i++)	/* compare_all() has given read access */
		if (states[i].mapped && !(states[i].protection & PROT_READ))
			states[i].protection = PROT_READ;
	for (int half = HALVES - 1; half >= 0; half--)
		pthread_mutex_unlock(&half_lock[half]);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "hostile: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void worker_main(uint64_t seed)
{
	uint64_t random = seed, random_of_thread = mix(seed);
	pthread_t thread;

	memory_file = open("/proc/self/mem", O_RDWR);
	fresh_arena(&random);
	if (variant == MEMORY)
		write_text("/proc/self/make-it-fail", "1");
	pthread_create(&thread, NULL, second_thread, &random_of_thread);
	for (int i = 0; i < ROUNDS_OF_WORKER; i++) {
		run_round(&random, i == ROUNDS_OF_WORKER - 1);
		if (i % 4 == 3)
			compare_own();
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	compare_own();
	_exit(0);
}

/* Waits for the worker and for children that it has left. */
static void run_worker(uint64_t seed)
{
	pid_t worker = fork(), pid;
	int status;

	if (!worker)
		worker_main(seed);
	while ((pid = wait(&status)) > 0)
		if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
			atomic_fetch_add(&shared->children_lost, 1);
}

static void print_results(void)
{
#define PRINT(name) printf(#name " %lu\n", atomic_load(&shared->name))
	PRINT(rounds);
	PRINT(forks);
	PRINT(fork_errors);
	PRINT(operations);
	PRINT(pages_compared);
	PRINT(parent_pages_compared);
	PRINT(remote_pages_compared);
	PRINT(parent_pages_wrong);
	PRINT(remote_pages_wrong);
	PRINT(children_killed);
	PRINT(children_lost);
#undef PRINT
	printf("pages_wrong %lu\n", shared->pages_wrong + shared->parent_pages_wrong + shared->remote_pages_wrong);
}

int main(int argc, char **argv)
{
	unsigned long target = 1000000, seconds = ULONG_MAX, mib = 64, seed = 1;
	const time_t start = time(NULL);
	const size_t table_size = (size_t)TABLE * PAGE;
	char *reserved;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--pages"))
			target = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--mib"))
			mib = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--variant"))
			variant = argv[i + 1][0] == 'k' ? KILLED : argv[i + 1][0] == 'm' && argv[i + 1][1] == 'e' ? MEMORY : MIXED;
	}
	if (argc == 2)
		return strcmp(argv[1], "--nothing") ? 2 : 0;	/* of end_abruptly() */
	if (mib < 8)
		mib = 8;
	pages = mib / 4 * 4 << 8;
	shared = map_shared(sizeof(*shared));
	states = map_shared(pages * sizeof(*states));
	for (int c = 0; c < CHILDREN; c++)
		children[c].record = map_shared(pages * sizeof(*states));
	/* One table of room on both sides, so that no other mapping joins the arena. */
	reserved = mmap(NULL, pages * PAGE + 3 * table_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reserved == MAP_FAILED) {
		perror("mmap of the arena");
		return 2;
	}
	arena = (char *)(((uintptr_t)reserved + 2 * table_size - 1) & ~(table_size - 1));
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	for (uint64_t i = 0; atomic_load(&shared->pages_compared) < target; i++) {
		unsigned long before = atomic_load(&shared->pages_compared);

		if ((unsigned long)(time(NULL) - start) >= seconds)
			break;
		run_worker(mix(seed) + mix(i));
		if (before / REPORTED != atomic_load(&shared->pages_compared) / REPORTED)
			fprintf(stderr, "%lu of %lu pages compared\n", atomic_load(&shared->pages_compared), target);
	}
	print_results();
	return shared->pages_wrong || shared->parent_pages_wrong || shared->remote_pages_wrong || shared->children_lost;
}
