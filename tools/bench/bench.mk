# How fast and in how much memory: steps, techniques, each op by itself.
.PHONY: bench bench-simulator bench-ops bench-busy bench-techniques bench-scaling bench-growth bench-programs bench-check
$B/bin/bench: $(addprefix $B/obj/tools/bench/,bench.o peak.o timing.o) $(call train_with,$(ALL_LABS))
	$(link)
$B/bin/bench-ops: $(addprefix $B/obj/tools/bench/,ops.o cases.o timing.o) $(call train_with,$(ALL_LABS))
	$(link)
$B/bin/bench-techniques: $B/obj/tools/bench/techniques.o $(call train_with,$(ALL_LABS))
	$(link)
# bench times steps, bench-ops each op by itself; DEVICE=gpu: on the GPU (BACKEND=cuda: a real one).
bench: $B/bin/bench $B/bin/bench-techniques
	@$B/bin/bench-techniques $(if $(DEVICE),--device $(DEVICE))
	@$(PYTHON) tools/bench/bench.py $B/bin/bench $(if $(DEVICE),--device $(DEVICE)) $(ARGS)
	@$(if $(ARGS)$(DEVICE)$(HANDOUT),,$(MAKE) --no-print-directory bench-class LAB=03 HAND_INS=60)
# What other programs on the same cores cost a step, against its fair share.
bench-busy: $B/bin/bench
	@$(PYTHON) tools/bench/busy.py $< $(ARGS)
bench-ops: $B/bin/bench-ops
	@$B/bin/bench-ops $(if $(DEVICE),--device $(DEVICE)) $(ARGS)
# What accumulation and checkpointing cost.
bench-techniques: $B/bin/bench-techniques
	@$B/bin/bench-techniques $(if $(DEVICE),--device $(DEVICE))
bench-programs: $B/bin/bench $B/bin/bench-ops
# What kernels cost in the simulator, against plain C.
bench-simulator:
	@$(MAKE) --no-print-directory cu-build FILE=tools/bench/simulator.cu OUT=build/bench/simulator
	@$(MAKE) --no-print-directory cu-build ACCESS=1 FILE=tools/bench/simulator.cu OUT=build/bench/simulator-access
	@$(MAKE) --no-print-directory cu-build FILE=tools/bench/devices.cu OUT=build/bench/devices
	@$(PYTHON) tools/bench/simulator.py build/bench/simulator build/bench/simulator-access build/bench/devices $(ARGS)
# What more ranks give: measured over MPI on the cores there are, and beyond them a lower bound of dry runs.
bench-scaling: $B/bin/train $B/bin/makespan
	@$(MAKE) --no-print-directory mpi >/dev/null
	@$(PYTHON) tools/bench/scaling.py --mpi build/mpi/bin/train --train $B/bin/train --makespan $B/bin/makespan $(ARGS)
# Whether time grows as its formula, size by size; the handbook's figures: ARGS="--table docs/growth.csv".
bench-growth: $B/bin/bench
	@$(PYTHON) tools/bench/growth.py $< $(ARGS)
# That they run and count right, in the simulator as well.
bench-check: $B/bin/bench $B/bin/bench-ops $B/bin/bench-techniques $B/bin/train $B/bin/makespan
	@OMP_NUM_THREADS=2 $(PYTHON) tools/bench/check.py $(wordlist 1,3,$^)
	@$(PYTHON) tools/bench/growth.py $< --rounds 1 --most 2 >/dev/null || test $$? = 1
	@$(PYTHON) tools/bench/scaling.py --train $B/bin/train --makespan $B/bin/makespan --most 4 >/dev/null
