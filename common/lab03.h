/**
 * @file lab03.h
 * @brief The former name of labs/03_accumulate/contract.h, kept for one release.
 * @ingroup labs
 */
#include "labs/03_accumulate/contract.h"
