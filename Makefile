# The book: make html from a fresh clone, with Python >= 3.11, make and git. See README.md.
PYTHON ?= python3
# The index that has torch without CUDA; empty: use only the usual one.
export TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
PORT ?= 8000

VENV := .venv/bin/python
SETUP := $(PYTHON) tools/setup.py

.DEFAULT_GOAL := help
.PHONY: help html page serve lab study test lint bench font publish-check setup setup-test setup-lab setup-colab clean clean-all

help:  ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

html: setup  ## build the book: _build/html/index.html
	@$(VENV) tools/build.py

page: setup  ## build one page quickly: make page PAGE=chapters/multi-head.md
	@$(VENV) tools/build.py --page "$(PAGE)"

serve: html  ## build, and serve the book on this machine (PORT=8000)
	@echo "http://localhost:$(PORT)/  (stop with Ctrl+C)"
	@$(VENV) -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

lab: setup-lab  ## open the pages as notebooks in JupyterLab
	@$(VENV) -m jupyterlab --notebook-dir=chapters

study: setup  ## run those long studies whose results are missing
	@$(VENV) -m attnlab.study

test: setup-lab setup-colab html lint  ## build the book and run every test
	@$(VENV) -m pytest -n 2 --dist loadgroup

lint: setup-test  ## style of the Python code and of the Chinese text
	@$(VENV) -m ruff check .
	@$(VENV) -m ruff format --check -q .
	@$(VENV) tools/lint_zh.py

bench: setup-test  ## time the build, weigh the pages
	@$(VENV) tools/bench.py

font: setup-test  ## make the fonts' subsets again
	@$(VENV) -m pip install -q --no-deps -r tools/fonts-requirements.txt
	@$(VENV) tools/make_fonts.py

publish-check: html  ## check what would be published
	@$(VENV) tools/publish.py check

setup:
	@$(SETUP)

setup-test:
	@$(SETUP) test

setup-lab:
	@$(SETUP) lab

setup-colab: setup-test
	@$(VENV) tools/setup_colab.py

clean:  ## remove what was built; keep the environment
	rm -rf _build .pytest_cache .ruff_cache

clean-all: clean  ## and the environment
	rm -rf .venv .venv-colab code/*.egg-info
