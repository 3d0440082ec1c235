# Everything a newcomer needs: `make run`. Each target prepares what it needs, once.

PYTHON ?= $(shell for found in python3.11 python3; do \
	$$found -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$found && break; \
done)
VENV := .venv
IN_VENV := $(VENV)/bin/python -m
CODE := app.py contents.py setup.py pages explainers workshop tests benchmarks
BROWSER := explainers/ui/browser
# Two processes; whichever is done first takes over what the other one has not begun.
TWO := -n 2 --dist worksteal
SLOW := browser deploy golden heroes models pages takeaway test_mutations.py
# Without its window Chromium takes a fifth less time for the same pages.
CHROMIUM ?= $(shell for found in chromium-headless-shell chromium chromium-browser google-chrome; do \
	command -v $$found && break; done)
export CHROMIUM
# Two processes on two cores: with threads of their own in each, both would wait for each other.
test test-all test-fast: export OMP_NUM_THREADS = 1
test-all: export ATTENTION_ALL = 1

.DEFAULT_GOAL := help
.PHONY: help run test test-all test-fast check lock images translate bench pictures browser models redis nginx

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s%s\n", $$1, $$2 }' Makefile

run: $(VENV)/app models ## start the app and print its address
	$(IN_VENV) streamlit run app.py

test: $(VENV)/tools browser models redis nginx ## run the tests that every change has to pass, in two processes
	$(IN_VENV) pytest $(TWO)

test-all: $(VENV)/tools browser models redis nginx ## run all tests, also those that wait for a night or for their turn
	$(IN_VENV) pytest $(TWO)

test-fast: $(VENV)/tools ## run the tests that need no browser, no page and no model
	$(IN_VENV) pytest $(TWO) -m "not browser" $(SLOW:%=--ignore=tests/%)

# What runs in the browser is JavaScript with types in its comments. Deno is here for TypeScript's
# compiler, which it brings along: pip installs it, and neither Node nor npm is needed.
check: $(VENV)/tools ## lint, format, types, imports, and known holes in packages
	$(IN_VENV) ruff check $(CODE)
	$(IN_VENV) ruff format --check $(CODE)
	$(IN_VENV) mypy $(CODE)
	$(VENV)/bin/lint-imports --no-logo
	NO_COLOR=1 $(VENV)/bin/deno check --quiet --config $(BROWSER)/jsconfig.json $(BROWSER)
	$(IN_VENV) workshop.catalogue --check
	$(IN_VENV) workshop.images
	$(IN_VENV) workshop.audit

lock: $(VENV)/tools ## name all packages by their hashes anew, after requirements.txt has changed
	$(VENV)/bin/uv pip compile --quiet requirements.txt --output-file requirements.lock
	sed -n 's/^\([^= ]*\)==.*/--no-emit-package=\1/p' requirements.lock | \
		xargs $(VENV)/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 \
		--generate-hashes --no-header --no-annotate requirements.txt --output-file requirements-torch.lock

images: $(VENV)/tools ## name the images of the containers by their digests, as their registry has them
	$(IN_VENV) workshop.images --write

translate: $(VENV)/app ## bring the translations up to date, and say what is missing
	$(IN_VENV) workshop.catalogue

bench: $(VENV)/tools browser models ## measure from a slider to the picture, to start, and attention in tiles
	$(IN_VENV) benchmarks.latency
	$(IN_VENV) benchmarks.heroes
	$(IN_VENV) benchmarks.start
	$(IN_VENV) benchmarks.attention
	$(IN_VENV) benchmarks.resident
	$(IN_VENV) benchmarks.look

pictures: $(VENV)/tools browser models ## photograph every page again, for the docs
	$(IN_VENV) benchmarks.page_pictures

# The files app and tools are empty: they say when the packages were last installed.
# Torch comes from an index of its own where one is named, and from no two that are mixed.
$(VENV)/app: requirements.txt | $(VENV)/bin/pip
	$(if $(TORCH_INDEX),$(IN_VENV) pip install --no-deps --index-url $(TORCH_INDEX) "$$(grep '^torch==' $<)")
	$(IN_VENV) pip install -r requirements.txt
	@touch $@

$(VENV)/tools: requirements-dev.txt $(VENV)/app
	$(IN_VENV) pip install -r requirements.txt -r requirements-dev.txt
	@touch $@

# pip is the last thing that venv makes. Debian's Python has no ensurepip before python3-venv.
$(VENV)/bin/pip:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed (on Debian: apt-get install python3)."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { $(call apt_install,python3-venv); } || \
		{ echo "$(PYTHON) cannot make a virtual environment: it has no ensurepip."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Pages and tests that need a model say so where it cannot be had.
models: $(VENV)/app
	-$(IN_VENV) explainers.models fetch

browser:
	@test -n "$(CHROMIUM)" || { $(call apt_install,chromium-headless-shell fonts-noto-color-emoji); } || \
		{ $(call apt_install,chromium fonts-noto-color-emoji); } || \
		{ echo "The tests need Chromium: install it, or say where it is with CHROMIUM=/path/to/it."; exit 1; }

# Their tests say that they were skipped where these cannot be installed.
redis:
	-@command -v redis-server >/dev/null || { $(call apt_install,redis-server); }

nginx:
	-@command -v nginx >/dev/null || { $(call apt_install,nginx); }

define apt_install
$(if $(filter 0,$(shell id -u)),,sudo) apt-get update && \
$(if $(filter 0,$(shell id -u)),,sudo) env DEBIAN_FRONTEND=noninteractive apt-get install -y $(1)
endef
