# Writes cuda_names[] of grader/cuda_names.h out of the simulator's headers: each macro with one of CUDA's
# names, and each function of the simulator in it.
BEGIN { print "#include \"grader/cuda_names.h\"\nconst CudaName cuda_names[] = {" }
{ line = line $0 }
/\\$/ { next }
match(line, /^#define (cuda|cublas|nccl)[A-Z][A-Za-z0-9_]*/) {
    name = substr(line, RSTART + 8, RLENGTH - 8)
    rest = substr(line, RSTART + RLENGTH)
    while (match(rest, /cudasim_[A-Za-z0-9_]+/)) {
        print "    {\"" substr(rest, RSTART, RLENGTH) "\", \"" name "\"},"
        rest = substr(rest, RSTART + RLENGTH)
    }
}
{ line = "" }
END { print "    {0, 0}};" }
