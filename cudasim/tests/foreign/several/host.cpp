int next(int x);

int next(int x) {
    return x + 1;
}
