/**
 * @file lab00.h
 * @brief The former name of labs/00_bytes/contract.h, kept for one release.
 * @ingroup labs
 */
#include "labs/00_bytes/contract.h"
