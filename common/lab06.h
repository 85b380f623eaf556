/**
 * @file lab06.h
 * @brief The former name of labs/06_fit/contract.h, kept for one release.
 * @ingroup labs
 */
#include "labs/06_fit/contract.h"
