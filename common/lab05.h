/**
 * @file lab05.h
 * @brief The former name of labs/05_fp16/contract.h, kept for one release.
 * @ingroup labs
 */
#include "labs/05_fp16/contract.h"
