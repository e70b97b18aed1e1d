# What CI calls is what you call: `make check` and `make test`. `make demo` shows it working.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
GROUPS := $(foreach group,base numeric worker cdk dev,--group $(group))

.PHONY: demo test check fix asl synth docs install clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    three kernels, from submission to evidence, on a local AWS emulator"
	@echo "make test    every test          make check   lint, types, layers, sizes"
	@echo "make fix     format and autofix  make asl     render the state machine"
	@echo "make synth   the CDK assembly    make docs    regenerate generated pages"
	@echo "make clean   remove everything that was installed or built"

install: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@sh tools/prerequisites.sh $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --upgrade "pip==26.3"
	$(BIN)/python -m pip install -qq --constraint requirements.lock $(GROUPS) --editable .
	$(BIN)/python -m stacks.layers --platform host
	$(BIN)/python -m nkiport.local.emulator
	@touch $@

demo: install
	@$(BIN)/nkiport demo

test: install
	$(BIN)/python -m pytest -n 2 -m "not local"
	$(BIN)/python -m pytest -m local

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.sizes

fix: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

asl: install
	$(BIN)/python -m statemachine.render

synth: install
	$(BIN)/python -m stacks.layers --platform lambda
	CDK_OUTDIR=cdk.out $(BIN)/python app.py

docs: install
	$(BIN)/python -m tools.docs

clean:
	rm -rf $(VENV) .build .nkiport cdk.out *.egg-info .mypy_cache .ruff_cache .pytest_cache
