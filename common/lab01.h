/**
 * @file lab01.h
 * @brief The former name of labs/01_loop/contract.h, kept for one release.
 * @ingroup labs
 */
#include "labs/01_loop/contract.h"
