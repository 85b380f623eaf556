# gradeNN: the judge (labs/NN_topic/tests.c in Criterion) and the probe (the submission's objects with
# the kit) are two programs. grade compiles the submission in its sandbox by a recipe written here.
#   FROM=DIR a folder with the lab's files   CHECK=name   SEED=hex   OWN=1   DEVICE=gpu   JUNIT=FILE
.PHONY: graders graders-run $B/bin/record
SUBMITTED := $(if $(filter file default undefined,$(origin FROM)),labs,$(FROM_DIR))

# ---- grade and judge --------------------------------------------------------------------------------
# What has a main() of its own is in no library; nor is anything that belongs to one lab.
GRADER_MAINS := grader/check.c grader/grade.c grader/contained.c grader/beside.c
$B/libgrader.a: $(call c_objects,$(filter-out $(GRADER_MAINS) grader/probe% %_test.c,$(wildcard grader/*.c))) $B/obj/grader/cuda_names.o
	$(archive)
$B/cuda_names.c: grader/cuda_names.awk $(wildcard cudasim/include/*.h)
	@mkdir -p $(@D)
	$Qawk -f $^ >$@.new && mv $@.new $@
$B/obj/grader/cuda_names.o: $B/cuda_names.c
	$(compile)
GRADER_LIBS = $B/libgrader.a $B/libtestkit.a $B/libkit.a $(or $(SIM),$(CLOCK))
$B/bin/grade: private LIBS := -lseccomp
$B/bin/grade: $B/obj/grader/grade.o $(GRADER_LIBS)
	$(link)
# Runs a program as a container would, for tests.
$B/bin/contained: private LIBS := -lseccomp
$B/bin/contained: $B/obj/grader/contained.o $B/obj/kernels/base.o
	$(link)
$B/bin/record:
	@echo "$@ is gone: 'tools/export.py text RECORD' shows a record, 'tools/export.py junit RECORD' writes JUnit XML" >&2; exit 2
$B/judge/%: private LIBS := -lcriterion -lseccomp

# ---- the recipe -------------------------------------------------------------------------------------
# GRADE_CC compiles the submission, where it is to be another compiler than that of the kit. {kit} is
# this folder, {in}, {out}, {define}, {objects} are filled in by grade. Hand-ins see copies of the headers.
GRADE_CC  ?= $(CC)
GRADE_CXX  = $(subst clang,clang++ -Qunused-arguments -gdwarf-aranges,$(subst gcc,g++,$(GRADE_CC)))
RECIPES   := $B/grade$(if $(filter-out $(CC),$(GRADE_CC)),-$(GRADE_CC))
HEADERS   := build/headers$(LABS_MADE:build/labs%=%)
GRADE_SEES = -I{kit}/$(HEADERS) $(if $(filter cuda,$(BACKEND)),$(INCLUDES_CUDA),-I{kit}/$(HEADERS)/cudasim/include) $(DEFINES_OF_KIT) $(CPPFLAGS)
GRADE_C    = $(GRADE_CC) $(GRADE_SEES) $(C_FLAGS) $(UNSET_SHOWS) $(if $(findstring clang,$(GRADE_CC)),-gdwarf-aranges) {define} -c {in} -o {out}
ifeq ($(BACKEND),cuda)
GRADE_CU   = $(NVCC) $(GRADE_SEES) $(CU_FLAGS) {define} -c {in} -o {out}
else
GRADE_CU   = $(GRADE_CXX) -E -x c++ $(CU_FLAGS) -D__CUDACC__ $(GRADE_SEES) {define} -include cudasim_sealed.h {in} -o {out}.i && \
             {kit}/build/cu2cpp {out}.i {out}.ii && \
             $(GRADE_CXX) -x c++-cpp-output $(CU_FLAGS) $(UNSET_SHOWS) $(call see_accesses,$(GRADE_CC)) $(if $(findstring clang,$(GRADE_CC)),-fno-sanitize=function) -c {out}.ii -o {out} \
             $(if $(ACCESS),&& $(see_copies) {out})
endif
# The table of what comes from libraries is filled before main(), and closed: grader/probe_seal.h.
FIXED = $(if $(SIM),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)
# GRADE_LINK,PARTS: function by function, so that of the kit there is what is used and nothing beside it.
BY_FUNCTION = $(if $(SIM),-Wl$(comma)--gc-sections)
GRADE_LINK = $(CC) {kit}/$(OWN_FIRST) {objects} {kit}/$(OWN_LAST) -Wl,--start-group $(addprefix {kit}/,$1) -Wl,--end-group $(LINK_FLAGS) $(FIXED) $(BY_FUNCTION) $(LINK_LIBS) -o {out}
$(HEADERS)/.sum: FORCE
	@$(PYTHON) grader/headers.py $(HEADERS) $(LABS_DIR)

# ---- the probe --------------------------------------------------------------------------------------
# The programs of a lab: of each probe*.c one, with the submission; but probe_kit.c runs what the kit
# does by itself, and is linked here, without any. Beside its own object each has, of these parts, what
# is used: so in none of them is anything that can do or count what the lab asks for ("absent" in
# lab.json; grader/proof/absent.py proves it).
lab_programs = $(basename $(notdir $(wildcard $(ROOT_$1)grader/labs/$1/probe.c $(ROOT_$1)grader/labs/$1/probe_*.c)))
probe_names  = $(filter-out probe_kit,$(lab_programs))
probe_always = $(addprefix $B/obj/grader/,probe.o wire.o picture.o)
probe_object = $B/obj/$(ROOT_$1)grader/labs/$1/$2.o
probe_rest   = $(call c_objects,grader/shape.c grader/param_name.c grader/rank_heap.c $(filter-out %_test.c $(if $(SIM),,grader/probe_ranks.c),$(wildcard grader/probe_*.c $(ROOT_$1)grader/labs/$1/protocol.c $(ROOT_$1)grader/labs/$1/shared.c $(ROOT_$1)grader/labs/$1/part_*.c))) $(GPU_TABLE) $(call other_labs,$1,$(KNOWN))
probe_libs   = $B/grade/$1$(if $(OWN),-own).a $B/libkit.a $(SIM)
# Another probe of a lab: holes that have its name as "probe", and what stands in a folder of that name.
# It has no model. Beside it runs a program of the kit, which in a handout comes built, since it says what is right: the sources there but for probe.c and protocol.c.
apart_parts = $(addprefix $B/obj/,grader/wire.o grader/probe_seal.o grader/probe_filter.o common/lab.o common/crash.o kernels/base.o $(ROOT_$1)grader/labs/$1/$2/probe.o $(ROOT_$1)grader/labs/$1/$2/protocol.o) $(SIM)
all_apart   = $(foreach p,$(PROBES_$1),$(call apart_parts,$1,$p))
beside_of   = $(if $(PROBES_$1),$(PROBES_$1:%=$B/judge/$1-%) $B/judge/beside)
beside_sources = $(filter-out %/probe.c %/protocol.c,$(wildcard $(ROOT_$1)grader/labs/$1/$2/*.c))
beside_built = $(or $(wildcard grader/built/$(PLATFORM)/$1-$2.a),$(call c_objects,$(beside_sources)))
$B/judge/beside: $B/obj/grader/beside.o $B/obj/kernels/base.o
	$(link)
probe_parts  = $(probe_always) $(call probe_object,$1,$2) $(probe_libs)
# In a handout it is an object: it does what a lab asks for.
kit_object   = $(or $(wildcard grader/built/$(PLATFORM)/$1-kit.o),$(if $(filter probe_kit,$(lab_programs)),$(call probe_object,$1,probe_kit)))
kit_parts    = $(probe_always) $(kit_object) $(probe_libs) $(foreach h,$(filter $1/%,$(HOLES)),$(call stand_in,$h))
kit_program  = $(if $(kit_object),$B/grade/$1-kit$(if $(OWN),-own))
# A machine with a GPU and nvcc grades on it as well, in rows without points; GPU= leaves that out.
gpu_build = $(shell MAKEFLAGS=$(call in_quotes,$(filter-out -j% --jobserver-%,$(MAKEFLAGS))) $(MAKE) -s --no-print-directory BACKEND=cuda ACCESS= TRAFFIC= print-build)
GPU ?= $(if $(wildcard /dev/nvidiactl),$(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc))

# ---- one lab ----------------------------------------------------------------------------------------
# The instructor's own checks of a lab, where there are some (HIDDEN=DIR: kept elsewhere).
HIDDEN_SAID := $(HIDDEN)
HIDDEN    ?= grader/hidden
$(if $(HIDDEN_SAID),$(if $(wildcard $(call without_space,$(HIDDEN))/.),,$(error HIDDEN=$(HIDDEN): there is no such folder)))
hidden_of  = $(wildcard $(call without_space,$(HIDDEN))/$1.c)
judge_sources = $(filter-out $(foreach p,$(lab_programs),%/$p.c) %/protocol.c %/shared.c $(wildcard $(ROOT_$1)grader/labs/$1/part_*.c) %_test.c,$(wildcard $(ROOT_$1)grader/labs/$1/*.c))
judge_of   = $(call c_objects,$(ROOT_$1)labs/$1/tests.c $(call judge_sources,$1) $(wildcard $(ROOT_$1)grader/labs/$1/protocol.c) $(call hidden_of,$1))
# In a handout judges are objects: their sources say what is right.
judge_built = $(wildcard grader/built/$(PLATFORM)/$1.a grader/built/$(PLATFORM)/shared.a)
record_of  = build/grades/$(if $(CHECK),one-)$(if $(filter labs,$(SUBMITTED)),,other-)$1.json
# The hand-in is FROM, or the lab's folder in it; or what class grading finds in it.
# In the language of the course, if that is another than English: docs/translating.md.
SPOKEN     = $(if $(shell grep -s '"language"' course.json),tools/say.py)
run_grade  = $(if $(filter labs solutions,$(SUBMITTED)),from=$(ROOT_$1)$(SUBMITTED)/$1,from=$$(tools/from_hand_in.py $1 $(call in_quotes,$(FROM)))) && \
             GRADE_AUTHOR_WAITS=1 $(if $(DEVICE),GRADE_DEVICE=$(DEVICE)) $(SPOKEN) $B/bin/grade --kit "$$(cat VERSION)" --lab $1 --from "$$from" --judge $B/judge/$1 --plan $(ROOT_$1)labs/$1/lab.json \
             --recipes $(RECIPES)/$1.json --cache build/cache --jobs $(SIDE_BY_SIDE) $(if $(CHECK),--check $(call in_quotes,$(CHECK))) $(if $(SEED),--seed $(SEED))
# COMMAND, unless the judges of this handout are for other machines: on_this_platform LAB,COMMAND
on_this_platform = $(if $(and $(HANDOUT),$(if $(judge_built),,1)),$(call refuse,this handout grades on $(notdir $(wildcard grader/built/*)): here is $(PLATFORM)),$2)
# Which are built of each lab that has another probe.
define apart_rules
$B/judge/$1-$2: $(call beside_built,$1,$2) $B/obj/$(ROOT_$1)grader/labs/$1/$2/protocol.o $B/obj/grader/wire.o $B/libkit.a $(SIM)
	$$(link)
endef
$(foreach l,$(LAB_NAMES),$(foreach p,$(PROBES_$l),$(eval $(call apart_rules,$l,$p))))
# Lab 01: what the tests of FROM, labs/ unless it is given, say of six loops.
.PHONY: loops01
LOOPS01 := $B/bin/loops01-$(subst /,_,$(SUBMITTED))
loops01: $(LOOPS01) $(call beside_of,01_loop)
	@$B/judge/beside $B/judge/01_loop-loops home $(LOOPS01) home $(quiet77)
$(LOOPS01): $(call lab_objects,$(SUBMITTED),$(filter 01_loop/%,$(APART))) $(call all_apart,01_loop)
	$(link)
define grade_rules
.PHONY: grade$2 watch$2 debug$2 hint$2 grade$2-run debug$2-run handin$2 reset$2
$B/judge/$1: $(call judge_of,$1) $B/obj/grader/check.o $(call judge_built,$1) $(GRADER_LIBS) $B/judge/$1.parts $(call beside_of,$1)
	$$(link)
# Changes with the list, so that checks which are taken away are gone from the judge too.
$B/judge/$1.parts: FORCE
	@mkdir -p $$(@D)
	@echo '$(call judge_of,$1)' | cmp -s - $$@ || echo '$(call judge_of,$1)' >$$@
$B/grade/$1$(if $(OWN),-own).a: $(call probe_rest,$1)
	$$(archive)
ifneq ($(call kit_program,$1),)
$(call kit_program,$1): $(call kit_parts,$1)
	$$(call say,link   )
	$Q$(CC) -Wl,--start-group $(call kit_parts,$1) -Wl,--end-group $(LINK_FLAGS) $(BY_FUNCTION) $(LINK_LIBS) -o $$@
endif
$(RECIPES)/$1.json: $(OWN_FIRST) $(OWN_LAST) $(probe_always) $(foreach p,$(call probe_names,$1),$(call probe_object,$1,$p)) $(call probe_libs,$1) $(call all_apart,$1) $(call kit_program,$1) $(HEADERS)/.sum FORCE
	@printf '%s\n' $$(call in_quotes,c $$(GRADE_C)) $$(call in_quotes,cu $$(GRADE_CU)) \
	    $(foreach p,$(call probe_names,$1),$$(call in_quotes,link:$p $$(call GRADE_LINK,$(call probe_parts,$1,$p)))) \
	    $(foreach p,$(PROBES_$1),$$(call in_quotes,link:probe_$p $$(call GRADE_LINK,$(call apart_parts,$1,$p)))) \
	    'read $(HEADERS) build/cu2cpp $(CUDA_HOME)' \
	    'linked $(sort $(OWN_FIRST) $(OWN_LAST) $(foreach p,$(call probe_names,$1),$(call probe_parts,$1,$p)) $(call all_apart,$1)) $(CUDA_HOME)' \
	    'kit $(call kit_program,$1)' | $(PYTHON) grader/recipe.py $$@ $(HEADERS)/.sum
grade$2:
	@$(if $(call has_cu,$1),$$(if $$(GPU),$$(MAKE) --no-print-directory BACKEND=cuda $$(gpu_build)/grade/$1.json))
	@$$(if $$(and $(filter $1,$(GPU_ONLY)),$$(filter cpu,$$(DEVICE))),$$(call refuse,lab $2 is graded on the simulated GPU alone: it asks for what a CPU does not have),\
	    $(call on_this_platform,$1,$$(MAKE) --no-print-directory ACCESS=$(if $(call has_cu,$1),1) $$@-run $$(told)))
debug$2:
	@$$(if $$(CHECK),$(call on_this_platform,$1,$$(MAKE) --no-print-directory ACCESS=$(if $(call has_cu,$1),1) $$@-run $$(told)),\
	    $$(call refuse,which check? make debug$2 CHECK=name$$(comma) for name in: $(CHECKS_$1)))
watch$2:
	@$(call on_this_platform,$1,tools/watch.py $1 $$(foreach s,CHECK DEVICE SEED OWN,$$(if $$($$s),$$(call in_quotes,$$s=$$($$s)))) $$(told))
grade$2-run: $B/bin/grade $B/judge/$1 $(RECIPES)/$1.json
	@mkdir -p build/grades build/cache
	@$$(if $$(JUNIT),$$(RM) $$(call record_of,$1))
	@( $$(call run_grade,$1) --output $$(call record_of,$1) $$(if $$(MIN_SANDBOX),--min-sandbox $$(MIN_SANDBOX)) \
	    $(if $(call has_cu,$1),$$(if $$(GPU),--gpu-recipes $$(gpu_build)/grade/$1.json)) \
	    $$(if $$(JUNIT),; status=$$$$?; [ -e $$(call record_of,$1) ] || exit $$$$status; tools/export.py junit $$(call record_of,$1) --output '$$(JUNIT)' && exit $$$$status) ) $$(told)
debug$2-run: $B/bin/grade $B/judge/$1 $(RECIPES)/$1.json
	@mkdir -p build/debug build/cache && $$(RM) build/debug/command
	@$$(if $$(RUN),export GRADE_RUN=$$(call in_quotes,$$(RUN));) $$(call run_grade,$1) --output build/debug/record.json --debug build/debug && SOURCE=$$$$from tools/debug.py $1 $$(call in_quotes,$$(CHECK)) $$(told)
handin$2:
	@tools/handin.py --lab $1 $$(if $$(NAME),--name $$(call in_quotes,$$(NAME))) $$(if $$(ANYWAY),--anyway) $$(told)
reset$2:
	@tools/reset.sh $1 $$(FILE) $$(told)
hint$2:
	@tools/hint.py $1 '$$(TASK)' $$(told)
endef
lacking = $(firstword $(foreach f,labs/$1/tests.c grader/labs/$1/probe.c,$(if $(wildcard $(ROOT_$1)$f),,$f)))
GRADED := $(foreach l,$(LAB_NAMES),$(if $(call lacking,$l),,$l))
$(foreach l,$(GRADED),$(eval $(call grade_rules,$l,$(call number_of,$l))))
# A lab that is being written.
define ungraded_rules
.PHONY: grade$2 watch$2 debug$2 handin$2
grade$2 watch$2 debug$2 handin$2:
	@$$(call refuse,lab $2 has no $(call lacking,$1): nothing is graded)
endef
$(foreach l,$(filter-out $(GRADED),$(if $(HANDOUT),,$(LAB_NAMES))),$(eval $(call ungraded_rules,$l,$(call number_of,$l))))

# Everything that grader/proof/grader_proof.py runs.
graders:
	@$(MAKE) --no-print-directory graders-run GRADED_LABS='$(foreach l,$(GRADED),$(if $(call has_cu,$l),,$l))'
	@$(MAKE) --no-print-directory ACCESS=1 graders-run GRADED_LABS='$(foreach l,$(GRADED),$(if $(call has_cu,$l),$l))'
graders-run: $B/bin/grade $B/bin/contained $(foreach l,$(GRADED_LABS),$B/judge/$l $(RECIPES)/$l.json)
