/**
 * @file lab04.h
 * @brief The former name of labs/04_checkpoint/contract.h, kept for one release.
 * @ingroup labs
 */
#include "labs/04_checkpoint/contract.h"
