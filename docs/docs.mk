# The handbook, as a book. First pictures of short runs, drawn again when `train` has changed; then doxygen, over
# the pages and the headers; then what a book has and doxygen does not make (tools/book.py).
.PHONY: docs docs-pictures
DRAWN := build/docs/pictures
RUN_loss         := --max_steps 100 --logging_steps 1
RUN_memory       := --max_steps 3
RUN_checkpointed := --max_steps 3 --gradient_checkpointing
PICTURES := loss memory checkpointed pareto lanes overlap ring mpi

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
	    $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) -s $(DRAWN)/$$picture.svg 2>$(DRAWN)/said || \
	    echo "  no picture of $$picture yet: $$(grep -v '^make' $(DRAWN)/said | tail -n 1)"; done
$(DRAWN)/pareto.svg: $B/bin/pareto
	@echo "  draw    pareto.svg"
	@$(PYTHON) tools/pareto.py $< --fit 16 --effective_batch 4 --picture $@ >/dev/null
$(DRAWN)/mpi.svg: docs/mpi.dot
	@echo "  draw    mpi.svg"
	@dot -Tsvg $< -o $@
$(DRAWN)/ring.svg: tools/ring_picture.py
	@echo "  draw    ring.svg"
	@$(PYTHON) $< 4 $@
# One program, with its copies in the stream of its kernels and in another.
$(DRAWN)/overlap.svg: $B/bin/makespan cudasim/clock/overlap.cu machines/t4.json tools/overlap.py
	@echo "  draw    overlap.svg"
	@$(MAKE) --no-print-directory -s cu-build FILE=cudasim/clock/overlap.cu OUT=$(@D)/overlap
	@for n in 1 2; do \
	    CUDASIM_RECORD=$(@D)/overlap-$$n.jsonl $(@D)/overlap $$n >/dev/null && \
	    $< $(@D)/overlap-$$n.jsonl --machine machines/t4.json --trace $(@D)/overlap-$$n.json >/dev/null || exit; done
	@$(PYTHON) tools/overlap.py $(@D)/overlap-1.json $(@D)/overlap-2.json --picture $@ \
	    --text "Copies and kernels of six batches: one after the other in one stream, side by side in two" >/dev/null
$(DRAWN)/lanes.svg: $B/bin/lanes
	@echo "  draw    lanes.svg"
	@$< --picture $@ >/dev/null
$(DRAWN)/%.svg: $B/bin/train
	@echo "  draw    $(@F)"
	@$(RM) -r $(@D)/$*
	@$< $(RUN_$*) --save_steps 0 --output_dir $(@D)/$* >/dev/null
	@mv $(@D)/$*/$(if $(filter loss,$*),loss,memory).svg $@
