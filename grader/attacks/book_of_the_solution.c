/* Includes the codebooks of the solution. */
/* lab: 07_optimizers/codebook.c honest: adam8_first adam8_codes
   adam8_books adam8_bad adam8_clean adam8_schedules adam8_traffic adam8_large means adafactor
   adafactor_tiny adafactor_apart adafactor_clean adafactor_schedules adafactor_traffic
   bytes choose adam8_resumed adafactor_resumed */
/* state: build error */
#include "solutions/07_optimizers/codebook.c"
