// SPDX-License-Identifier: GPL-2.0
/* with_switch on|off PROGRAM [ARGUMENT]...: sets how PROGRAM forks, and runs it. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PR_SET_ASYNC_FORK 0x41464f4b

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: with_switch on|off PROGRAM [ARGUMENT]...\n");
		return 2;
	}
	if (prctl(PR_SET_ASYNC_FORK, !strcmp(argv[1], "on"), 0, 0, 0)) {
		perror("prctl(PR_SET_ASYNC_FORK)");
		return 2;
	}
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
}
