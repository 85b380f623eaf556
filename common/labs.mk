# Which labs there are: those of labs/, and those in the folder that LABS= names.
LABS_DIR := $(if $(LABS),$(patsubst %/,%,$(call without_space,$(LABS)))/)
$(if $(LABS),$(if $(wildcard $(LABS_DIR)labs/.),,$(error LABS=$(LABS): there is no $(if $(wildcard $(LABS_DIR).),folder labs/ in it,such folder))))
export LABS

# Of each lab's lab.json, by tools/labs_mk.py.
# LAB_NAMES: their folders; HOLES: the files that students write; PRECISE: those of them that are
# compiled once for each precision; APART: files that are not a part of `train`, but of another probe
# of their lab; PROBES_<lab>: the names of those; RUN_<lab>: what labNN calls `train` with. LISTED:
# the lists that it was made of; one that is gone since has left no newer file.
LABS_MADE := build/labs$(if $(LABS),-$(shell printf %s $(call in_quotes,$(LABS)) | cksum | cut -d" " -f1))
LAB_LISTS := $(wildcard labs/*/lab.json $(LABS_DIR)labs/*/lab.json)
-include $(LABS_MADE)/labs.mk
$(if $(WRONG_LABS),$(shell rm $(LABS_MADE)/labs.mk)$(error $(WRONG_LABS)))
LABS_MADE_OF := tools/labs_mk.py tools/lab_files.py labs $(LAB_LISTS) $(and $(LABS),$(LABS_DIR)labs $(wildcard $(LABS_DIR)labs/*))
ifneq ($(if $(CLOSED),,$(LAB_LISTS)),)
$(LABS_MADE)/labs.mk: $(LABS_MADE_OF) $(if $(filter-out $(LAB_LISTS),$(LISTED)),FORCE)
	@if command -v python3 >/dev/null; then python3 $< $(@D) $(LABS_DIR) && echo 'LISTED := $(LAB_LISTS)' >>$@; fi
endif

# `make grade3`, `make grade 03`, the number of no lab, or of one that a handout does not have:
# refused, with the goal that was likely meant.
OF_A_LAB    := bet debug grade handin hint lab reset watch
LABS_HERE   := $(foreach l,$(LAB_NAMES),$(if $(wildcard $(foreach f,README.md tests.c,labs/$l/$f $(LABS_DIR)labs/$l/$f)),$l))
LAB_NUMBERS := $(foreach l,$(LABS_HERE),$(firstword $(subst _, ,$l)))
with_digit   = $(foreach d,0 1 2 3 4 5 6 7 8 9,$1$d%)
NO_LAB      := $(firstword $(filter-out $(foreach n,$(LAB_NUMBERS),$(OF_A_LAB:%=%$n) $(OF_A_LAB:%=%$n-run)),\
    $(filter $(OF_A_LAB) $(foreach w,$(OF_A_LAB),$(call with_digit,$w)),$(MAKECMDGOALS))))
two_digits   = $(strip $(foreach w,$(OF_A_LAB),$(foreach n,$(LAB_NUMBERS),$(if $(filter $1,$w$(n:0%=%)),$w$n))))
why_no_lab   = $(if $(filter $1,$(OF_A_LAB)),a lab's number follows without a space: make $1$(firstword $(LAB_NUMBERS)),$(if \
    $(call two_digits,$1),a lab's number has two digits: make $(call two_digits,$1),there is no such lab: make alone lists them))
$(if $(and $(LABS_HERE),$(NO_LAB)),$(error make $(NO_LAB): $(call why_no_lab,$(NO_LAB))))
