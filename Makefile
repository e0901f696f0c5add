# Everything goes through .venv, which is made from the hash-pinned requirements/*.lock; nothing else is touched.
# Runs with GNU make 3.81 (macOS) as well.

VENV := .venv
PY := $(VENV)/bin/python
PIP_INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --no-deps
CLIENTS := .cache/mcp-client-1 .cache/mcp-client-2
SUITE := .cache/schema-suite/json/tests
UV := uv==0.13.9
LOCK := .cache/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --no-header $(if $(UPGRADE),--upgrade)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help install run test bench faults screenshots sbom venv lint types lock clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-11s  %s\n", $$1, $$2}' Makefile

install: $(VENV)/.installed ## the gateway and its command line in .venv, and nothing else

run: $(VENV)/.installed ## start the sample Tool Service and the gateway; Ctrl-C ends both
	@$(PY) scripts/run.py

# One step of a check: its title, its command. The last line of ours says which step failed.
step = @printf '\n== %s\n' '$(1)'; $(2) || { printf '\n$@: FAILED at "%s"\n' '$(1)'; exit 1; }

lint: $(VENV)/.dev ## style, format and import contracts
	$(call step,ruff check,$(PY) -m ruff check .)
	$(call step,ruff format,$(PY) -m ruff format --check .)
	$(call step,import contracts,$(VENV)/bin/lint-imports setup.cfg --no-logo --cache-dir .cache/import-linter)

types: $(VENV)/.dev ## mypy, strict
	$(call step,mypy,$(PY) -m mypy)

test: $(VENV)/.dev $(CLIENTS:=/.made) $(SUITE) ## everything: style, types, import contracts, tests, 100 % branch coverage
	$(call step,ruff check,$(PY) -m ruff check .)
	$(call step,ruff format,$(PY) -m ruff format --check .)
	$(call step,mypy,$(PY) -m mypy)
	$(call step,import contracts,$(VENV)/bin/lint-imports setup.cfg --no-logo --cache-dir .cache/import-linter)
	@rm -rf .cache/coverage
	$(call step,pytest,$(PY) -m coverage run -m pytest --numprocesses auto --dist loadfile)
	$(call step,coverage,{ $(PY) -m coverage combine --quiet && $(PY) -m coverage report; })
	@printf '\ntest: passed\n'

bench: $(VENV)/.installed ## what a call costs beside a bare passthrough (Linux); ARGS='--scenarios fast --connections 64'
	@$(PY) -m bench.run $(ARGS)

screenshots: $(VENV)/.dev ## take the pictures of the console in the README anew (needs Chromium)
	@CONSOLE_SCREENSHOTS=docs/images $(PY) -m pytest -q tests/console/test_screenshots.py -k taken

faults: $(VENV)/.installed ## a real gateway under load while things go wrong, fault by fault (Linux); ARGS='--quick --only sighup'
	@$(PY) -m faults.run $(ARGS)

sbom: $(VENV)/.dev ## what the image is made of, for auditors (CycloneDX); LOCK_OF=otel for the image with traces
	@$(PY) scripts/sbom.py requirements/$(or $(LOCK_OF),runtime).lock build/mcp-gateway.cdx.json

venv: $(VENV)/.dev ## the virtual environment, when a lock or setup.cfg has changed

# Two steps, so that a first run neither waits for the tools of a check nor fails where one of them cannot be had.
$(VENV)/.runtime: requirements/runtime.lock requirements/build.lock scripts/make_venv.sh
	@scripts/make_venv.sh $(VENV) requirements/runtime.lock requirements/build.lock
	@touch $@

$(VENV)/.installed: $(VENV)/.runtime setup.cfg pyproject.toml
	@$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed requirements/dev.lock
	@echo "Adding the tools of requirements/dev.lock"
	@$(PIP_INSTALL) --require-hashes -r requirements/dev.lock
	@touch $@

# The official SDKs, which bring a world of their own, are run as processes from environments of their own.
.cache/%/.made: requirements/%.lock scripts/make_venv.sh
	@mkdir -p .cache
	@scripts/make_venv.sh .cache/$* requirements/$*.lock
	@touch $@

# The official test suite of JSON Schema comes in the source archive of its reference implementation, at the pinned release.
$(SUITE): .cache/schema-suite-tools/.made requirements/runtime.lock scripts/fetch_schema_suite.sh
	@scripts/fetch_schema_suite.sh .cache/schema-suite-tools .cache/schema-suite requirements/runtime.lock
	@touch $@

# Without the checkers of formats that the SBOM's tool asks for: jsonschema imports whatever is there, which costs each
# process of the tests seconds and megabytes that no user has.
FORMATS := arrow fqdn isoduration lark rfc3986-validator rfc3987-syntax uri-template webcolors
lock: .cache/uv/bin/uv ## write requirements/*.lock anew from setup.cfg; UPGRADE=1 takes the newest releases
	$(LOCK) setup.cfg --output-file requirements/runtime.lock
	$(LOCK) setup.cfg --extra otel --constraint requirements/runtime.lock --output-file requirements/otel.lock
	$(LOCK) setup.cfg --extra dev --extra otel --extra openapi requirements/build.in --constraint requirements/runtime.lock \
		$(FORMATS:%=--no-emit-package %) --output-file requirements/dev.lock
	$(LOCK) requirements/build.in --constraint requirements/dev.lock --output-file requirements/build.lock
	$(LOCK) requirements/schema-suite-tools.in --output-file requirements/schema-suite-tools.lock
	$(LOCK) requirements/mcp-client-1.in --output-file requirements/mcp-client-1.lock
	$(LOCK) requirements/mcp-client-2.in --output-file requirements/mcp-client-2.lock

.cache/uv/bin/uv: Makefile
	@mkdir -p .cache
	@"$$(scripts/find_python.sh)" -m venv --clear .cache/uv
	@.cache/uv/bin/python -m pip install --quiet --disable-pip-version-check '$(UV)'
	@touch $@

clean: ## remove everything that was made here
	rm -rf $(VENV) .cache .hypothesis var build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
