# How make begins and ends. A goal that fails has said why: a grade its score, `train` the option that it does not know. But make
# adds a line about itself, `make: *** [grade01] Error 1`, for each make that runs inside of another, and the score is no longer
# the last thing that one reads. Only a question ends without a word, `make -q`: it runs the lines that begin with +, no others,
# and its status is 1 where there are others. So make runs twice. The outer one is a question, starts the inner one with the same
# goals, and has another line to run where that one leaves the file ENDED. What fails in make itself, as a file that does not
# compile, the inner one reports as ever.
# What make reads, and what that is made of, is never the outer one's goal: made again, it would be read again, without end.
# A program that a recipe starts may start a make of its own: that one knows nothing of this one.
unexport ENDED STEPS OF
OUTER := $(if $(or $(ENDED),$(filter $(KITS_OWN) $(MAKEFILE_LIST) $(LABS_MADE_OF),$(MAKECMDGOALS))),,1)
ifdef OUTER
MAKEFLAGS += --question --no-print-directory
OUTER_GOALS := $(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))
HAS_ENDED := build/.ended-$(shell echo $$PPID)
.PHONY: $(OUTER_GOALS) inner-make
$(OUTER_GOALS): inner-make
	$(if $(shell rm $(HAS_ENDED) 2>/dev/null && echo yes),there is more to do)
inner-make:
	+@tools/inner.sh $(HAS_ENDED) $(MAKE) $(MAKECMDGOALS)
endif
# What follows a program that says itself why it fails, where nothing else is made of what it does. 77 stands for a hole that is not
# filled in: the goal has not failed. And what a goal says that lacks a word.
told    = $(if $(ENDED),|| : >$(ENDED))
quiet77 = || [ $$? -eq 77 ] $(told)
refuse  = echo $(call in_quotes,$1) >&2; (exit 2) $(told)
