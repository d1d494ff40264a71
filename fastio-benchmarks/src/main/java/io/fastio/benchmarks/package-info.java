/** The frame of the benchmarks: what is run, against what, how it is repeated, judged and shown. */
@NullMarked
package io.fastio.benchmarks;

import org.jspecify.annotations.NullMarked;
