# Everything in two commands: `make demo` and `make test`. What they do is written in bootstrap.py.
PYTHON ?= python3
BOOTSTRAP = @$(PYTHON) bootstrap.py

help:
	@echo 'make demo [DURATION=10]    a tumbling satellite on ROS 2 topics, until Ctrl-C'
	@echo 'make test [ARGS="-k tf"]   all checks, as in continuous integration (ARGS goes to pytest)'
	@echo 'make soak                  the long tests'
	@echo 'make bench [ONLY=key,...]  timings, beside other engines'
	@echo 'make docs                  where the documentation is'
	@echo 'make clean                 remove the private environments and everything built'
	@echo 'Set-up happens by itself, in .venv (bench: .venv-bench). PYTHON=python3.12 (each time) chooses another Python.'

demo:
	$(BOOTSTRAP) demo $(if $(DURATION),--duration $(DURATION)) $(ARGS)

test:
	$(BOOTSTRAP) test $(ARGS)

soak:
	$(BOOTSTRAP) soak $(ARGS)

bench:
	$(BOOTSTRAP) bench $(ARGS)

docs:
	@echo 'Documentation is plain text, nothing needs to be built:'
	@ls README.md CONTRIBUTING.md CHANGELOG.rst docs/*.md 2>/dev/null | sed 's/^/  /'

clean:
	rm -rf .venv .venv-bench build install log dist out *.egg-info .coverage
	rm -rf .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

.PHONY: help demo test soak bench docs clean
