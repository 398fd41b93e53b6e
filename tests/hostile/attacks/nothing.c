/* The same tree without an attack. */
int main(void) { return 0; }
