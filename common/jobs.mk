# A goal takes as many steps side by side as there are cores, 8 at most; -j says otherwise. Of several goals one may need what another
# removes (make clean all): they go one by one, unless -j is given. A grade runs as many checks side by side.
ifndef SIDE_BY_SIDE
SIDE_BY_SIDE := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
SIDE_BY_SIDE := $(if $(filter 1 2 3 4 5 6 7,$(SIDE_BY_SIDE)),$(SIDE_BY_SIDE),8)
export SIDE_BY_SIDE
endif
$(call one_of,SIDE_BY_SIDE,1 2 3 4 5 6 7 8)
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(SIDE_BY_SIDE)
endif
