/* Attack 59. Includes itself twice, 200 levels deep: the compiler would be busy for ever. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
#include __FILE__
#include __FILE__
#error "endless"
