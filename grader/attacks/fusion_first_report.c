/* Learns once, and reports that again. */
/* lab: 09_fusion/step_graph.c honest: norm_forward norm_clean norm_traffic norm_backward
   back_clean back_schedules back_traffic chunk_rows head_loss head_gradients head_half
   head_memory clip control control_found chains */
/* state: fail */
#include "common/graphed.h"
#include "labs/03_accumulate/contract.h"
#include "labs/09_fusion/contract.h"

StepReport step_graph_run(Graphed *graphed, const Batch *batches, int count) {
    static StepReport report;
    static int runs;
    if (runs++ == 0) {
        report = accumulate_window(graphed->trainer, batches, count);
    }
    return report;
}
