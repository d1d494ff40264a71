package io.fastio.benchmarks;

/** One row of the benchmark table: a piece of work, measured for fastio, its limit and, if wished, its peers. */
interface Benchmark {
    /** The name it is called by on the command line and in the results. */
    String name();

    /** What is measured, in one line. */
    String description();

    /** Measures and {@linkplain Context#emit emits} results. An exception means that the benchmark itself failed. */
    void run(Context context) throws Exception;
}
