/**
 * What runs in the child process: one subject (fastio, a limit or a peer) that answers requests read from standard
 * input with lines on standard output. The parent decides what is asked, how often and in which order.
 */
@NullMarked
package io.fastio.benchmarks.subject;

import org.jspecify.annotations.NullMarked;
