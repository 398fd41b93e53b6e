.DEFAULT_GOAL := help

# Public suites beside the project, where they are there; tests that need them are skipped otherwise.
export ZEROLAP_PUBLIC_SUITES ?= $(realpath ../shared/upstream/test-suites)

.PHONY: help setup build demo fleet-demo zero-touch-demo tour async-fork-demo test test-packages test-slow test-sandbox test-fleet fuzz lint format wheel web bench-counted bench-timed bench-load bench-suites bench-frame bench-truth bench-fleet bench-triggers bench-history bench-pages bench-explain bench-posts bench-snapshots bench-house bench-unseen chaos clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup:  ## install what is missing, make .venv, build and install the project
	@scripts/setup

build:  ## build the programs, the web bundle and the extension module again where their sources changed
	@scripts/build

demo: setup  ## find a slowdown in a commit on Redis 7.0.15, with its reason
	@demo/run

fleet-demo: setup  ## compare on two platforms of a fleet, kill an agent in the middle, and get both comparisons
	@demo/fleet

zero-touch-demo: setup  ## label a pull request at a played GitHub and see what comes of it by itself; follow ten commits; 10 minutes
	@demo/zero-touch $(if $(TRANSCRIPT),--transcript $(TRANSCRIPT))

tour: setup  ## make the pictures of docs/tour.md: of the demo's comparison, which is run where there is none, and of pages
	@scripts/tour $(PICTURES)

async-fork-demo: setup  ## build a kernel with Async-fork, and count what fork and Async-fork take in an emulated machine; half an hour, the second time without the kernel
	@demo/async-fork $(if $(SIZES),--sizes $(SIZES))

test: setup  ## run the tests, but for the slow ones
	@scripts/test -m 'not slow'

test-packages: setup  ## run all tests of the Python packages, as CI does
	@scripts/pytest

test-slow: setup  ## run the slow tests: deployments, builds, suites under instruments
	@scripts/pytest -m slow

test-sandbox: setup  ## run hostile builds and servers in the sandbox, and an agent that abuses its credentials
	@scripts/pytest tests/test_hostile_builds.py tests/test_hostile_servers.py tests/test_hostile_files.py tests/test_fleet_permissions.py

test-fleet: setup  ## run the conductor, bus, agents and what can go wrong between them, a short run of chaos included
	@scripts/pytest tests/test_conductor.py tests/test_fleet_*.py

fuzz:  ## run the readers of what others write on random input, each for a minute or SECONDS_EACH=SECONDS
	@scripts/fuzz $(SECONDS_EACH)

lint: setup  ## check form, types and the order of packages
	@scripts/lint

format: setup  ## bring all sources into form
	@scripts/format

wheel: setup  ## build the wheel that installs without Rust and Node
	@scripts/wheel

web: setup  ## check and build the web bundle
	@scripts/web

bench-counted: setup  ## measure how well counted trials repeat; writes .bench/counted.json
	@.venv/bin/python -m benches.counted

bench-timed: setup  ## measure how true timed verdicts are and what they cost; hours; writes .bench/timed.json
	@.venv/bin/python -m benches.timed $(FIGURES)

bench-load: setup  ## measure how cheap and how true the load generator is; half an hour; writes .bench/load.json
	@.venv/bin/python -m benches.load $(FIGURES)

bench-suites: setup  ## measure how the public suites run and how faults in them are found; half an hour; writes .bench/suites.json
	@.venv/bin/python -m benches.suites $(FIGURES)

bench-frame: setup  ## measure how jobs travel, how comparisons survive kills, and what 500 cases and 20,000 open jobs cost; half an hour; writes .bench/frame.json
	@PYTHONPATH=tests .venv/bin/python -m benches.frame $(FIGURES)

bench-truth: setup  ## measure how true verdicts are; twelve hours, in parts: FIGURES="NAME ..." BENCH_SECONDS=3600; writes .bench/truth.json
	@.venv/bin/python -m benches.truth $(FIGURES)

bench-fleet: setup  ## measure what the queue of a fleet costs: 50 simulated agents, 20,000 jobs; 5 minutes; writes .bench/fleet.json
	@PYTHONPATH=tests .venv/bin/python -m benches.fleet $(JOBS)

bench-triggers: setup  ## measure what webhooks and floods cost and refuse, and what a comment is and costs; 8 minutes; writes .bench/triggers.json
	@PYTHONPATH=tests .venv/bin/python -m benches.triggers

bench-history: setup  ## measure how true change points, drifts and searches for commits are; ten minutes; writes .bench/history.json
	@.venv/bin/python -m benches.history $(FIGURES)

bench-pages: setup  ## measure how fast pages are over 10 million points in SQLite and PostgreSQL; half an hour, 10 GB; writes .bench/pages.json
	@PYTHONPATH=tests .venv/bin/python -m benches.pages $(SIZE:%=--size %)

bench-explain: setup  ## measure how well changes and opportunities are explained; an hour, with a clone of a server's repository; writes .bench/explain.json
	@PYTHONPATH=tests .venv/bin/python -m benches.explain $(FIGURES)

bench-posts: setup  ## measure the changes that were published with their figures; one hour, with clones of the servers' repositories; writes .bench/posts.json
	@.venv/bin/python -m benches.posts

bench-snapshots: setup  ## measure what a fork costs over sizes of data, and whether traces show a planted pause; 20 minutes, 16 GB of memory for the largest; writes .bench/snapshots.json
	@.venv/bin/python -m benches.snapshots $(SIZES) $(FIGURES)

bench-house: setup  ## measure how large the project is, what a column costs, and with FIGURES="test_seconds ci_seconds" how long its checks take; writes .bench/house.json
	@.venv/bin/python -m benches.house $(FIGURES)

bench-unseen: setup  ## measure what verdicts see of costs that no case alone shows, planted with SEED=N; writes .bench/unseen.json
	@.venv/bin/python -m benches.unseen $(SEED) $(FIGURES)

chaos: setup  ## kill, cut, fill and falsify what a fleet consists of, 200 times; 15 minutes; writes .bench/chaos.json
	@PYTHONPATH=tests .venv/bin/python -m benches.chaos $(FIGURES)

clean:  ## remove what was built
	@scripts/clean
