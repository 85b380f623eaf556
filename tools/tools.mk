# What instructors and maintainers do: grade a class, hand out, cut the stubs, pack for a GPU.
.PHONY: grade-all grade-all-run handout gradescope autolab classroom report stubs gpu-pack gpu-pack-run gpu-check
GRADED_LAB = $(if $(LAB),$(call lab_named,$(LAB)))

# LAB=03 IN=DIR OUT=DIR   JOBS=n  ONLY=failed  REGRADE=name|all  MIN_SANDBOX=1  SECRET=FILE
# BLAME=0  SLURM=1  SHARDS=n  SBATCH='--partition=x'
grade-all:
	@$(if $(and $(GRADED_LAB),$(IN),$(OUT)),,echo "make grade-all LAB=01 IN=folder OUT=folder, for a lab of labs/" >&2; exit 2)
	@$(MAKE) --no-print-directory ACCESS=$(if $(call has_cu,$(GRADED_LAB)),1) grade-all-run
grade-all-run: $(if $(GRADED_LAB),$B/bin/grade $B/judge/$(GRADED_LAB) $B/grade/$(GRADED_LAB).json)
	@tools/grade_all.py --lab $(GRADED_LAB) --build $B --in=$(call in_quotes,$(IN)) --out=$(call in_quotes,$(OUT)) $(if $(JOBS),--jobs $(JOBS)) \
	    $(if $(ONLY),--only $(ONLY)) $(if $(REGRADE),--regrade=$(call in_quotes,$(REGRADE))) $(if $(MIN_SANDBOX),--min-sandbox $(MIN_SANDBOX)) \
	    $(if $(SECRET),--secret=$(call in_quotes,$(SECRET))) $(if $(BLAME),--blame $(BLAME)) $(if $(SLURM),--slurm $(or $(SHARDS),8) --sbatch $(call in_quotes,$(SBATCH)))
# Pages of a class that was graded into OUT, and scores.csv beside them.
report:
	@$(if $(OUT),,echo "make report OUT=folder, the one given to make grade-all" >&2; exit 2)
	@tools/export.py scores $(call in_quotes,$(OUT)/records) --output $(call in_quotes,$(OUT)/scores.csv)
	@tools/report.py $(call in_quotes,$(OUT)) $(ARGS)

handout:
	@$(if $(GRADED_LAB),,echo "make handout LAB=01 [SOLUTIONS=none] [HINTS=2] [OUT=folder] [BUILT=folder]" >&2; exit 2)
	@tools/handout.py --lab $(GRADED_LAB) --out $(call in_quotes,$(or $(OUT),build/handout/$(GRADED_LAB))) \
	    $(if $(filter none,$(SOLUTIONS)),--no-solutions) $(if $(HINTS),--hints $(HINTS)) $(if $(BUILT),--built $(call in_quotes,$(BUILT)))
# What a copy without git makes handouts and packs of: a list of the files that git tracks here.
.PHONY: manifest
manifest:
	@tools/kit_files.py
# For a handout: the judges of BUILT_LABS as objects, and what else holds an answer (tools/handout.py).
.PHONY: built
built: $(BUILT_LABS:%=$B/built/%.a) $(foreach l,$(BUILT_LABS),$(if $(wildcard grader/labs/$l/probe_kit.c),$B/built/$l-kit.o) $(PROBES_$l:%=$B/built/$l-%.o)) $B/built/shared.a $B/built/planted.o $B/built/pareto.o
$(foreach l,$(BUILT_LABS),$(eval $B/built/$l.a: $(call c_objects,$(call judge_sources,$l))))
$B/built/shared.a: $B/obj/grader/judge_peak.o
$B/built/%.a:
	$(archive)
define built_beside
$B/built/$1-$2.o: $B/obj/$(ROOT_$1)grader/labs/$1/$2/$2.o
	@mkdir -p $$(@D)
	@cp $$< $$@
endef
$(foreach l,$(BUILT_LABS),$(foreach p,$(PROBES_$l),$(eval $(call built_beside,$l,$p))))
$B/built/%-kit.o: $B/obj/grader/labs/%/probe_kit.o
	@mkdir -p $(@D)
	@cp $< $@
$B/built/%.o: $B/obj/train/show/%.o
	@mkdir -p $(@D)
	@cp $< $@

# What another system grades with: build/gradescope/autograder.zip and the like, for LAB=. SECRET=FILE  HIDDEN=DIR
gradescope autolab classroom:
	@$(if $(GRADED_LAB),,echo "make $@ LAB=01, for a lab of labs/" >&2; exit 2)
	@tools/pack_grader.py $@ $(GRADED_LAB) --out $(call in_quotes,$(or $(OUT),build/$@)) $(if $(SECRET),--secret $(call in_quotes,$(SECRET))) \
	    $(if $(HIDDEN_SAID),--hidden $(call in_quotes,$(HIDDEN))) $(if $(MIN_SANDBOX),--min-sandbox $(MIN_SANDBOX))

# A student's work is never overwritten: labs/ must be as committed, or not there.
STUBS := $(foreach h,$(KNOWN) $(APART),$(if $(wildcard solutions/$h),$h))
stubs:
	@git diff --quiet HEAD -- labs 2>/dev/null || { \
	    echo "labs/ has changes that are not committed: not overwriting them"; exit 1; }
	@for s in $(STUBS); do mkdir -p labs/$$(dirname $$s); \
	    unifdef -x2 -DSTUB -o labs/$$s solutions/$$s; [ $$? -le 1 ] || exit 1; echo labs/$$s; done

# A pack is made where nvcc is, for a machine that has a GPU and nothing else of what a build takes.
# It needs no BLAS of the CPU's: what is compared there is small.
PACKED := unit train bench bench-ops
gpu-pack:
	@$(MAKE) --no-print-directory BACKEND=cuda CUDA_ARCH=$(or $(CUDA_ARCH),sm_90) BLAS=none ARCH=-march=x86-64-v3 PACK=1 gpu-pack-run
gpu-pack-run: $(PACKED:%=$B/bin/%)
	@tools/gpu_pack.sh $B build/gpu-pack
gpu-check:
	@tools/gpu_check.sh $(ARGS)
