# How the kit is compiled: flavours, flags, a rule for each kind of source; libkit.a, the objects of labs.

# ---- flavours: each set of settings has a folder of its own, so none of them ever needs a clean ----
# A switch that is 0 is off.
$(foreach switch,ACCESS CHECKED DEBUG SAN TRAFFIC,$(if $(filter 0,$($(switch))),$(eval override $(switch) :=)))
# With TRAFFIC=1 a program that runs is followed by a table of what its kernels have read and written.
TRAFFIC ?= $(filter-out 0,$(CUDASIM_TRAFFIC))
counted  = $(if $(TRAFFIC),tools/traffic.py -- )
DEFAULT_BLAS := $(if $(filter x86_64,$(ISA)),onednn,openblas)
# What no word stands for is in the folder's name by a checksum.
UNNAMED := $(strip $(filter-out -march=native -mcpu=native,$(or $(ARCH),-)) $(CFLAGS) $(CPPFLAGS:%=cpp%) $(LDFLAGS:%=ld%) $(LDLIBS:%=lib%) \
  $(if $(DEBUG),$(filter-out -O0 -g3,$(OPT)),$(filter-out -O% -g,$(OPT))) $(filter-out gcc clang,$(CC)) \
  $(if $(filter-out file undefined,$(origin CUDA_HOME)),$(if $(filter cuda,$(BACKEND)),$(CUDA_HOME))) \
  $(if $(filter-out file undefined,$(origin NCCL)),$(if $(filter cuda,$(BACKEND)),$(or $(NCCL),none))))
FLAVOUR := $(subst $(space),-,$(strip \
  $(filter-out sim,$(BACKEND)) $(if $(MPI),mpi) $(CUDA_ARCH) $(filter-out gcc,$(notdir $(CC))) $(if $(SAN),san) $(if $(ACCESS),access,$(if $(TRAFFIC),traffic)) \
  $(if $(PACK),pack) $(if $(CHECKED),checked) $(if $(COVERAGE),coverage) $(if $(FUZZ),fuzz) $(filter-out $(DEFAULT_BLAS),$(BLAS)) \
  $(if $(DEBUG),debug) $(subst -,,$(filter-out $(if $(DEBUG),-O0,-O3),$(filter -O%,$(OPT)))) \
  $(if $(UNNAMED),$(shell printf %s $(call in_quotes,$(UNNAMED)) | cksum | cut -d' ' -f1))))
B := build$(if $(FLAVOUR),/$(FLAVOUR))
# A compiler for another machine has tools beside it: CC=aarch64-linux-gnu-gcc (docs/machines.md).
CROSS    := $(patsubst %gcc,%,$(filter %-gcc,$(CC)))
ifeq ($(origin AR),default)
AR       := $(CROSS)ar
endif
PLATFORM := $(ISA)-$(shell uname -s)
# The simulator, if it is what CUDA is here.
SIM := $(if $(filter sim,$(BACKEND)),$B/libcudasim.a)

# ---- flags: the kit's, then yours (CPPFLAGS, CFLAGS, LDFLAGS, LDLIBS) -------------------------------
WARN   := -Wall -Wextra -Wshadow -Wundef -Wwrite-strings -Wdouble-promotion -Wvla -Wstrict-prototypes -Wmissing-prototypes
STRICT := -Wconversion -Wno-sign-conversion
SANITIZE := $(if $(FUZZ),-fsanitize=fuzzer-no-link )$(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
BLAS_onednn   := -ldnnl
BLAS_openblas := -lopenblas
INCLUDES := -I. $(LABS_DIR:%/=-I%)
# With MPI=1 the compiler stays the kit's: MPI's own wrapper is asked for flags alone.
MPI_FLAGS := $(if $(MPI),$(call of_mpi,cflags,compile))
DEFINES_OF_KIT := $(if $(MPI),-DWITH_MPI -DOMPI_SKIP_MPICXX $(MPI_FLAGS:-I%=-isystem %)) $(if $(filter none,$(BLAS)),,-DBLAS_$(shell echo $(BLAS) | tr a-z A-Z)) $(if $(CHECKED),-DCHECKED)
# A program takes of an object the functions that it uses, where it is linked with --gc-sections.
SECTIONS := -ffunction-sections -fdata-sections
C_FLAGS = -std=gnu11 $(OPT) $(ARCH) $(SECTIONS) -fopenmp -fno-math-errno -fno-trapping-math $(WARN) \
          $(SANITIZE) $(if $(WERROR),-Werror) $(if $(COVERAGE),--coverage) $(COMPILER_FLAGS) $(CFLAGS)
# clang finds the vector math library by a flag, writes the index by which lines are found only when
# told to, and warns of simd loops that it leaves as they are. gcc turns a loop that copies into one
# instruction, which takes longer to start than most of the kit's rows to copy (docs/performance.md).
COMPILER_FLAGS = $(if $(findstring clang,$(CC)),-Wno-pass-failed -gdwarf-aranges $(if $(filter x86_64,$(ISA)),-fveclib=libmvec),-fno-tree-loop-distribute-patterns)
# What labs ask is compiled so that a variable which was never set holds the same each time, and no lucky 0
# (common/unset.h).
UNSET_SHOWS := -ftrivial-auto-var-init=pattern
LINK_FLAGS = -fopenmp $(SANITIZE) $(if $(COVERAGE),--coverage) $(LINK_CUDA) $(LDFLAGS)
LINK_LIBS  = $(BLAS_$(BLAS)) $(MPI_LIBS) -ljansson -lm $(LIBS_CUDA) $(LDLIBS)

# ---- rules: what is built is said in a word, on a terminal how far it is; V=1 shows the commands ----
Q := $(if $(V),,@)
say = $(if $(V),,@$(if $(STEPS),tools/step.sh $(STEPS) $(OF),echo "  $1 $(@:$B/%=%)"))
define compile
@mkdir -p $(@D)
$(call say,compile)
$Q$(CC) $(INCLUDES) $(INCLUDES_CUDA) -MMD -MP $(DEFINES_OF_KIT) $(CPPFLAGS) $(REAL) $(C_FLAGS) $(UNSET) $(MORE_WARN) -c $< -o $@
endef
define link
@mkdir -p $(@D)
$(call say,link   )
$Q$(CC) $(filter %.o,$^) $(filter %.a,$^) $(LINK_FLAGS) $(LINK_LIBS) $(LIBS) -o $@
endef
define archive
@mkdir -p $(@D)
@$(RM) $@
$(call say,archive)
$Q$(AR) rcs $@ $^
endef
# Objects of labs: UNSET_SHOWS. The recipes of hand-ins have it too (grader/grader.mk).
$(foreach d,obj gpu,$(foreach f,labs solutions $(FROM_DIR),$(eval $B/$d/$(LABS_DIR)$f/% $B/$d/$f/%: private UNSET := $$(UNSET_SHOWS))))
# From a .c and a .cu one object, or for a source that is compiled once for each precision one of each.
# compile_cu is in cudasim/cudasim.mk.
define object_rules
$B/obj/%$1.o: %.c
	$$(compile)
$B/gpu/%$1.o: %.cu build/cu2cpp
	$$(compile_cu)
endef
$(foreach p,.f32 .f16 .bf16,$(eval $(call object_rules,$p)))
$(eval $(call object_rules,))
$B/obj/%.f32.o $B/gpu/%.f32.o:   private REAL := -DREAL_F32
$B/obj/%.f16.o $B/gpu/%.f16.o:   private REAL := -DREAL_F16
$B/obj/%.bf16.o $B/gpu/%.bf16.o: private REAL := -DREAL_BF16
each_precision = $1.f32.o $1.f16.o $1.bf16.o
c_objects = $(patsubst %.c,$B/obj/%.o,$1)

# ---- libkit.a: kernels and common, no lab; libtestkit.a: what unit tests and judges share -----------
# Ops are compiled once for each precision; these work on floats, or are not ops.
PLAIN   := base blas gemm ops threads adamw adam8 adafactor sumsq scale unscale
OPS     := $(filter-out $(PLAIN) ops_gpu %_test,$(basename $(notdir $(wildcard kernels/*.c))))
KERNELS := $(PLAIN:%=$B/obj/kernels/%.o) $(foreach op,$(OPS),$(call each_precision,$B/obj/kernels/$(op)))
GPU_OPS := $(foreach op,$(basename $(notdir $(wildcard kernels/*.cu))),\
             $(if $(filter $(PLAIN),$(op)),$B/gpu/kernels/$(op).o,$(call each_precision,$B/gpu/kernels/$(op))))
COMMON  := $(call c_objects,$(filter-out %_test.c,$(wildcard common/*.c)))
# Labs write some of the GPU's ops, so its table is outside of the kit's own library.
GPU_TABLE := $B/obj/kernels/ops_gpu.o
$(KERNELS) $(COMMON) $(GPU_TABLE): private MORE_WARN := $(STRICT)
$B/libkit.a: $(KERNELS) $(COMMON) $(GPU_OPS)
	$(archive)
$B/libtestkit.a: $(call c_objects,$(filter-out %/alone.c %_test.c,$(wildcard common/testkit/*.c)))
	$(archive)
# The runtime with all that is in it, and no lab: that it links is a test by itself.
$B/bin/alone: $B/obj/common/testkit/alone.o $B/libkit.a $(SIM)
	@mkdir -p $(@D)
	$(call say,link   )
	$Q$(CC) $< -Wl,--whole-archive $B/libkit.a -Wl,--no-whole-archive $(SIM) $(LINK_FLAGS) $(LINK_LIBS) -o $@

# ---- lab files: from solutions/, from labs/, from any folder like it --------------------------------
# place_of FOLDER,HOLE   the file, if it is there; those of a lab of LABS= are in that folder
# lab_objects FOLDERS[,HOLES]   for each hole the objects of the first folder that has the file; where
#                               none has, what stands in for it, made from lab.json by tools/labs_mk.py
place_of    = $(wildcard $(if $(filter labs solutions,$1),$(ROOT_$(firstword $(subst /, ,$2))))$1/$2)
first_place = $(firstword $(foreach f,$1,$(call place_of,$f,$2)))
hole_path   = $B/$(if $(filter %.cu,$1),gpu,obj)/$(basename $1)
hole_object = $(if $(filter $(PRECISE),$2),$(call each_precision,$(call hole_path,$1)),$(call hole_path,$1).o)
stand_in    = $B/absent/$(basename $1).o
lab_objects = $(foreach h,$(or $2,$(HOLES)),$(if $(call first_place,$1,$h),$(call hole_object,$(call first_place,$1,$h),$h),$(call stand_in,$h)))
$B/absent/%.o: $(LABS_MADE)/absent/%.c
	$(compile)
# In a handout the labs that have no solution are the student's own.
SOLVED   := $(call lab_objects,solutions)
ALL_LABS := $(call lab_objects,solutions labs,$(KNOWN))

-include $(shell find $B/obj $B/gpu $B/absent -name '*.d' 2>/dev/null)
