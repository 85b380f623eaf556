# What instructors and maintainers do: grade a class, hand out, cut the stubs, pack for a GPU.
.PHONY: grade-all grade-all-run grade-one grade-one-run term similar slides handout gradescope autolab classroom50 report stubs gpu-pack gpu-pack-run gpu-check
GRADED_LAB = $(if $(LAB),$(call lab_named,$(LAB)))
# The number of no lab is said, and not taken for a word that is missing.
why_no_such = $(if $(filter $(LAB),$(LAB_NUMBERS:0%=%)),a lab's number has two digits: LAB=0$(LAB),there is no such lab: make alone lists them)
$(if $(and $(filter command%,$(origin LAB)),$(LAB),$(LABS_HERE)),$(if $(GRADED_LAB),,$(error LAB=$(LAB): $(why_no_such))))

# A term is named where its repositories are made, and on the command line alone.
NAMED_TERM = $(if $(filter command%,$(origin COURSE)),$(COURSE))
$(if $(and $(filter 0,$(MAKELEVEL)),$(NAMED_TERM),$(filter-out course-repo,$(MAKECMDGOALS))),$(error COURSE= names a term for make course-repo; a file of settings is COURSE_FILE=))
# What a command line does not say, course.json does: $(call in_course,key).
in_course = $$(tools/course.py $1 $(if $(COURSE_FILE),--course=$(call in_quotes,$(COURSE_FILE))) $2)
# How the judge of a class is built: with every access looked at where the lab has kernels, and with the hidden checks. Its lines begin
# with +, since make does not see that they start a make.
CLASS_MAKE = hidden=$(if $(HIDDEN_SAID),$(call in_quotes,$(HIDDEN)),$(in_course_hidden)) && $(MAKE) --no-print-directory ACCESS=$(if $(call has_cu,$(GRADED_LAB)),1) $${hidden:+"HIDDEN=$$hidden"}
in_course_hidden = $(call in_course,hidden,--out=$(call in_quotes,$(OUT)))
CLASS_JUDGE = $(if $(GRADED_LAB),$B/bin/grade $B/judge/$(GRADED_LAB) $B/grade/$(GRADED_LAB).json)
OF_CLASS = --lab $(GRADED_LAB) --build $B --in=$(call in_quotes,$(IN)) --out=$(call in_quotes,$(OUT)) $(if $(HIDDEN_SAID),--hidden=$(call in_quotes,$(HIDDEN))) \
	    $(if $(SECRET),--secret=$(call in_quotes,$(SECRET))) $(if $(COURSE_FILE),--course=$(call in_quotes,$(COURSE_FILE))) $(if $(MIN_SANDBOX),--min-sandbox $(MIN_SANDBOX))

# LAB=03 IN=DIR OUT=DIR   JOBS=n  ONLY=failed  REGRADE=names|all|changed  MIN_SANDBOX=1  SECRET=FILE  COURSE_FILE=FILE
# HIDDEN=DIR  BLAME=0  SLURM=1  SHARDS=n  SBATCH='--partition=x'
grade-all:
	@$(if $(and $(GRADED_LAB),$(IN),$(OUT)),,echo "make grade-all LAB=01 IN=folder OUT=folder, for a lab of labs/" >&2; exit 2)
	+@$(CLASS_MAKE) grade-all-run
grade-all-run: $(CLASS_JUDGE)
	@tools/grade_all.py $(OF_CLASS) $(if $(JOBS),--jobs $(JOBS)) $(if $(ONLY),--only $(ONLY)) $(if $(REGRADE),--regrade=$(call in_quotes,$(REGRADE))) \
	    $(if $(BLAME),--blame $(BLAME)) $(if $(SLURM),--slurm $(or $(SHARDS),8) --sbatch $(call in_quotes,$(SBATCH)))
# What one student of a class saw: the same files and inputs. CHECK=name. Nothing in OUT is changed.
grade-one:
	@$(if $(and $(GRADED_LAB),$(IN),$(OUT),$(NAME)),,echo "make grade-one LAB=01 IN=folder OUT=folder NAME=student, as for make grade-all" >&2; exit 2)
	+@$(CLASS_MAKE) grade-one-run
grade-one-run: $(CLASS_JUDGE)
	@tools/grade_one.py $(OF_CLASS) --name=$(call in_quotes,$(NAME)) $(if $(CHECK),--check=$(call in_quotes,$(CHECK)))
# POLICY=policy.json and ROSTER=roster.csv, in every table of grades; what is not said here, course.json says.
by_rules = $(if $(COURSE_FILE),--course=$(call in_quotes,$(COURSE_FILE))) $(if $(POLICY),--policy $(call in_quotes,$(POLICY))) $(if $(ROSTER),--roster $(call in_quotes,$(ROSTER)))
# Pages of a class that was graded into OUT, and scores.csv beside them. A record that is none is said, and the others are there.
report:
	@$(if $(OUT),,echo "make report OUT=folder, the one given to make grade-all" >&2; exit 2)
	@[ -d $(call in_quotes,$(OUT)) ] || { echo $(call in_quotes,report: OUT=$(OUT): there is no such folder) >&2; exit 2; }
	@tools/export.py scores $(call in_quotes,$(OUT)) --output $(call in_quotes,$(OUT)/scores.csv) $(by_rules); csv=$$?; \
	    [ $$csv = 2 ] || tools/report.py $(call in_quotes,$(OUT)) $(ARGS) && exit $$csv
# The figures of the labs, for slides: OUT=DIR  LAB=03
slides:
	@$(if $(and $(OUT),$(or $(GRADED_LAB),$(if $(LAB),,all))),,echo "make slides OUT=folder [LAB=01], for a lab of labs/" >&2; exit 2)
	@tools/slides.py --out=$(call in_quotes,$(OUT)) $(if $(LAB),--lab $(GRADED_LAB))
# Which hand-ins are alike: OUT/similar/index.html. LAB=03 IN=DIR   REFERENCES=DIR,DIR  OUT=DIR  JPLAG=jplag.jar
similar:
	@$(if $(and $(GRADED_LAB),$(IN)),,echo "make similar LAB=01 IN=folder [REFERENCES=folder,...] [OUT=folder] [JPLAG=jplag.jar], for a lab of labs/" >&2; exit 2)
	@tools/similar.py --lab $(GRADED_LAB) --in=$(call in_quotes,$(IN)) --out=$(call in_quotes,$(or $(OUT),build/similar/$(GRADED_LAB))) \
	    $(if $(REFERENCES),--references=$(call in_quotes,$(REFERENCES))) $(if $(JPLAG),--jplag=$(call in_quotes,$(JPLAG)))
# One table of all labs that were graded into folders of CLASS: CLASS/term.csv and CLASS/term.html.
term:
	@$(if $(CLASS),,echo "make term CLASS=folder, with one folder in it for each lab that was graded" >&2; exit 2)
	@tools/class_table.py $(call in_quotes,$(CLASS)) $(if $(COURSE_FILE),--course=$(call in_quotes,$(COURSE_FILE)))

# What lateness costs each, and grades as the LMS reads them: LMS=canvas|moodle|blackboard, COLUMN='its title there'.
.PHONY: late columns
late:
	@$(if $(OUT),,echo "make late OUT=folder POLICY=policy.json [ROSTER=roster.csv]" >&2; exit 2)
	@tools/grades.py late $(call in_quotes,$(OUT)) $(by_rules)
columns:
	@$(if $(and $(OUT),$(filter canvas moodle blackboard,$(LMS))),,echo "make columns OUT=folder LMS=canvas|moodle|blackboard ROSTER=roster.csv [POLICY=policy.json] [COLUMN=title]" >&2; exit 2)
	@tools/grades.py columns $(call in_quotes,$(OUT)) --lms $(call in_quotes,$(LMS)) $(if $(COLUMN),--column=$(call in_quotes,$(COLUMN))) $(by_rules)

# Who moved when a class was graded again: OLD=record or folder NEW=another, or OUT=one folder with its older records.
.PHONY: regrade-diff feedback try-class
regrade-diff:
	@$(if $(or $(OUT),$(and $(OLD),$(NEW))),,echo "make regrade-diff OLD=folder NEW=folder, or two records; or OUT=folder [CSV=file]" >&2; exit 2)
	@tools/regrade_diff.py $(if $(OUT),--out $(call in_quotes,$(OUT)),$(call in_quotes,$(OLD)) $(call in_quotes,$(NEW))) $(if $(CSV),--csv $(call in_quotes,$(CSV)))
# A zip file for each student; with LMS=moodle also one for all in Moodle's layout.
feedback:
	@$(if $(and $(OUT),$(if $(filter-out moodle,$(LMS)),,1)),,echo "make feedback OUT=folder [LMS=moodle] [POLICY=policy.json] [ROSTER=roster.csv] [ARGS=--after-due-date]" >&2; exit 2)
	@tools/feedback.py $(call in_quotes,$(OUT)) $(if $(filter moodle,$(LMS)),--moodle) $(by_rules) $(ARGS)
# One student out of all that OUT has; IN=folder of the hand-ins too, ALSO=another folder that names students.
.PHONY: forget record-to-share
forget:
	@$(if $(and $(STUDENT),$(OUT)),,echo "make forget STUDENT=name OUT=folder [IN=folder] [ALSO=folder]" >&2; exit 2)
	@tools/forget.py $(if $(IN),--in $(call in_quotes,$(IN))) $(if $(ALSO),--also $(call in_quotes,$(ALSO))) -- $(call in_quotes,$(STUDENT)) $(call in_quotes,$(OUT))
# A record without seed, name and paths, for an issue: SUPPORT.md.
record-to-share:
	@$(if $(RECORD),,echo "make record-to-share RECORD=graded/records/name.json [OUT=file]" >&2; exit 2)
	@tools/share_record.py $(call in_quotes,$(RECORD)) $(if $(OUT),--output $(call in_quotes,$(OUT)))
# A class of fourteen, graded in a minute or two: what an instructor sees, before there are students.
try-class:
	@$(MAKE) --no-print-directory graders-run GRADED_LABS=00_bytes
	@tools/try_class.py

handout:
	@$(if $(GRADED_LAB),,echo "make handout LAB=01 [SOLUTIONS=none] [HINTS=2] [AGENTS=no] [OUT=folder] [BUILT=folder]" >&2; exit 2)
	@hints=$(if $(HINTS),$(HINTS),$(call in_course,hints)) && tools/handout.py --lab $(GRADED_LAB) --out $(call in_quotes,$(or $(OUT),build/handout/$(GRADED_LAB))) \
	    $(if $(filter none,$(SOLUTIONS)),--no-solutions) $${hints:+--hints $$hints} $(if $(filter no,$(AGENTS)),--no-rules) $(if $(BUILT),--built $(call in_quotes,$(BUILT)))
# What a term has for itself: a repository for the staff and one for students, without history (docs/terms.md).
# COURSE=2027s LAB=03 OUT=folder   SOLUTIONS=none  HINTS=2  BUILT=folder  STUDENTS=none
.PHONY: course-repo check-terms
course-repo:
	@$(if $(and $(NAMED_TERM),$(GRADED_LAB),$(OUT)),,echo "make course-repo COURSE=2027s LAB=03 OUT=folder [SOLUTIONS=none] [HINTS=2] [BUILT=folder] [STUDENTS=none]" >&2; exit 2)
	@tools/course_repo.py --term=$(call in_quotes,$(NAMED_TERM)) --lab $(GRADED_LAB) --out=$(call in_quotes,$(OUT)) \
	    $(if $(filter none,$(SOLUTIONS)),--no-solutions) $(if $(HINTS),--hints $(HINTS)) $(if $(BUILT),--built $(call in_quotes,$(BUILT))) \
	    $(if $(filter none,$(STUDENTS)),--staff-only)
# Every value that a term can have stands in the place of the present one, wherever that stands.
check-terms:
	@tools/term_values.py check
# What students can be told, for translators, and what they have made of it (docs/translating.md).
.PHONY: sentences languages
sentences:
	@tools/sentences.py write
languages:
	@$(if $(wildcard languages/*.po),,echo "make languages: there is no languages/NAME.po: docs/translating.md says how one begins" >&2; exit 2)
	@for po in languages/*.po; do msgfmt --check-format --check-domain -o "$${po%.po}.mo.new" "$$po" && mv "$${po%.po}.mo.new" "$${po%.po}.mo" || { rm -f "$${po%.po}.mo.new"; exit 2; }; 	    echo "$${po%.po}.mo"; done
# What a copy without git makes handouts and packs of: a list of the files that git tracks here.
.PHONY: manifest
manifest:
	@tools/kit_files.py
# For a handout: the judges of BUILT_LABS as objects, and what else holds an answer (tools/handout.py).
.PHONY: built
built: $(BUILT_LABS:%=$B/built/%.a) $(foreach l,$(BUILT_LABS),$(if $(wildcard grader/labs/$l/probe_kit.c),$B/built/$l-kit.o) $(PROBES_$l:%=$B/built/$l-%.a)) $B/built/shared.a $B/built/planted.o $B/built/pareto.o
$(foreach l,$(BUILT_LABS),$(eval $B/built/$l.a: $(call c_objects,$(call judge_sources,$l))))
$B/built/shared.a: $B/obj/grader/judge_peak.o
$B/built/%.a:
	$(archive)
$(foreach l,$(BUILT_LABS),$(foreach p,$(PROBES_$l),$(eval $B/built/$l-$p.a: $(call c_objects,$(call beside_sources,$l,$p)))))
$B/built/%-kit.o: $B/obj/grader/labs/%/probe_kit.o
	@mkdir -p $(@D)
	@cp $< $@
$B/built/%.o: $B/obj/train/show/%.o
	@mkdir -p $(@D)
	@cp $< $@

# What another system grades with: build/gradescope/autograder.zip and the like, for LAB=. SECRET=FILE  HIDDEN=DIR  COURSE_FILE=FILE
gradescope autolab classroom50:
	@$(if $(GRADED_LAB),,echo "make $@ LAB=01, for a lab of labs/" >&2; exit 2)
	@tools/pack_grader.py $@ $(GRADED_LAB) --out $(call in_quotes,$(or $(OUT),build/$@)) $(if $(SECRET),--secret $(call in_quotes,$(SECRET))) \
	    $(if $(HIDDEN_SAID),--hidden $(call in_quotes,$(HIDDEN))) $(if $(MIN_SANDBOX),--min-sandbox $(MIN_SANDBOX)) $(if $(COURSE_FILE),--course=$(call in_quotes,$(COURSE_FILE)))

# A student's work is never overwritten: labs/ must be as committed, or not there. With LABS= those of that folder are
# cut, and what was there is kept.
STUBS := $(foreach h,$(KNOWN) $(APART),$(if $(wildcard solutions/$h),$h))
OWN_LABS := $(strip $(foreach l,$(LAB_NAMES),$(if $(ROOT_$l),$l)))
stubs:
ifdef OWN_LABS
	@for lab in $(OWN_LABS); do tools/reset.sh $$lab || exit; done
else
	@git diff --quiet HEAD -- labs 2>/dev/null || { \
	    echo "labs/ has changes that are not committed: not overwriting them"; exit 1; }
	@for s in $(STUBS); do mkdir -p labs/$$(dirname $$s); \
	    unifdef -x2 -DSTUB -o labs/$$s solutions/$$s; [ $$? -le 1 ] || exit 1; echo labs/$$s; done
endif

# A pack is made where nvcc is, for a machine that has a GPU and nothing else of what a build takes.
# It needs no BLAS of the CPU's: what is compared there is small.
PACKED := unit train bench bench-ops
gpu-pack:
	@$(MAKE) --no-print-directory BACKEND=cuda CUDA_ARCH=$(or $(CUDA_ARCH),sm_90) BLAS=none ARCH=-march=x86-64-v3 NCCL= PACK=1 gpu-pack-run
gpu-pack-run: $(PACKED:%=$B/bin/%)
	@tools/gpu_pack.sh $B build/gpu-pack $(CUDA_ARCH)
gpu-check:
	@tools/gpu_check.sh $(ARGS)
