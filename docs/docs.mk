# The handbook, as a book. First pictures of short runs, drawn again when `train` has changed; then doxygen, over
# the pages and the headers; then what a book has and doxygen does not make (tools/book.py).
.PHONY: docs docs-pictures
DRAWN := build/docs/pictures
RUN_loss         := --max_steps 100 --logging_steps 1
RUN_memory       := --max_steps 3
RUN_checkpointed := --max_steps 3 --gradient_checkpointing
PICTURES := loss memory checkpointed pareto lanes overlap ring mpi ranks when-which pipeline growth

docs: docs-pictures
	@$(RM) -r build/docs/html
	@(cat docs/Doxyfile; tools/book.py settings $(if $(INSTRUCTOR),instructor)) | doxygen -
	@tools/book.py finish build/docs/html $(DRAWN)
	@$(PYTHON) tools/links.py build/docs/html
	@echo "build/docs/html/index.html"

# In a handout a lab may be missing or not written yet: then the page says so in the picture's place.
docs-pictures:
	@mkdir -p $(DRAWN)
	@for picture in $(PICTURES); do \
	    $(MAKE) --no-print-directory -s $(DRAWN)/$$picture.svg 2>$(DRAWN)/said || \
	    echo "  no picture of $$picture yet: $$(grep -v '^make' $(DRAWN)/said | tail -n 1)"; done
$(DRAWN)/pareto.svg: $B/bin/pareto
	@echo "  draw    pareto.svg"
	@$(PYTHON) tools/pareto.py $< --fit 16 --effective_batch 4 --picture $@ >/dev/null
$(DRAWN)/mpi.svg $(DRAWN)/ranks.svg: $(DRAWN)/%.svg: docs/%.dot
	@echo "  draw    $*.svg"
	@dot -Tsvg $< -o $@
$(DRAWN)/ring.svg: tools/ring_picture.py
	@echo "  draw    ring.svg"
	@$(PYTHON) $< 4 $@
# What `make bench-growth` has measured.
$(DRAWN)/growth.svg: docs/growth.csv tools/bench/growth.py
	@echo "  draw    growth.svg"
	@$(PYTHON) tools/bench/growth.py --table $< --picture $@ >/dev/null
# One program, with its copies in the stream of its kernels and in another.
$(DRAWN)/overlap.svg: $B/bin/makespan cudasim/clock/overlap.cu machines/t4.json tools/overlap.py
	@echo "  draw    overlap.svg"
	@$(MAKE) --no-print-directory -s cu-build FILE=cudasim/clock/overlap.cu OUT=$(@D)/overlap
	@for n in 1 2; do \
	    CUDASIM_RECORD=$(@D)/overlap-$$n.jsonl $(@D)/overlap $$n >/dev/null && \
	    $< $(@D)/overlap-$$n.jsonl --machine machines/t4.json --trace $(@D)/overlap-$$n.json >/dev/null || exit; done
	@$(PYTHON) tools/overlap.py $(@D)/overlap-1.json $(@D)/overlap-2.json --picture $@ \
	    --text "Copies and kernels of six batches: one after the other in one stream, side by side in two" >/dev/null
# Every way to share a model among four ranks, and the lanes of one of them.
$(DRAWN)/when-which.svg: $B/bin/train $B/bin/makespan tools/table_ranks.py machines/a100.json
	@echo "  draw    when-which.svg"
	@$(PYTHON) tools/table_ranks.py $B/bin/train $B/bin/makespan --ranks 4 --picture $@ >/dev/null
$(DRAWN)/pipeline.svg: $B/bin/train $B/bin/makespan machines/a100.json tools/overlap.py
	@echo "  draw    pipeline.svg"
	@CUDASIM_DRY=1 CUDASIM_RECORD=$(@D)/pipeline.jsonl $< --device gpu --nproc_per_node 4 --pipeline 4 \
	    --gradient_accumulation_steps 8 --max_steps 1 --eval_fraction 0 >/dev/null
	@$B/bin/makespan $(@D)/pipeline.jsonl --machine machines/a100.json --trace $(@D)/pipeline.json >/dev/null
	@$(PYTHON) tools/overlap.py $(@D)/pipeline.json --picture $@ \
	    --text "Four stages and eight micro-batches on a declared machine: forwards and backwards in turn, and the time in which stages wait" >/dev/null
$(DRAWN)/lanes.svg: $B/bin/lanes
	@echo "  draw    lanes.svg"
	@$< --picture $@ >/dev/null
$(DRAWN)/%.svg: $B/bin/train
	@echo "  draw    $(@F)"
	@$(RM) -r $(@D)/$*
	@$< $(RUN_$*) --save_steps 0 --output_dir $(@D)/$* >/dev/null
	@mv $(@D)/$*/$(if $(filter loss,$*),loss,memory).svg $@
