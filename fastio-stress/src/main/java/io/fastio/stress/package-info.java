/**
 * The interleavings of what threads outside a loop may call, by jcstress, and a broken twin of each.
 *
 * <p>A case is a class with two actors, in the package of what it tests, named after it. Where what is tested is a word in
 * memory (the inbox, a flag, a number of permits) the actors work on a fresh one in each state, and jcstress tries as many as it can.
 * Where a loop takes part, one of the actors <em>is</em> the loop: it runs it on its own thread, once for each state, and
 * meets the other one just before what is tested ({@link io.fastio.stress.Meeting}), so that there are two threads on two
 * processors and nothing to hand over between them. The short form tries hundreds of thousands of the
 * former and, on a busy machine, hundreds to thousands of the latter, sleeps and wakes included.
 *
 * <p>Why jcstress and not a model checker: what is to be shown is the real protocol, with the real virtual threads,
 * {@code LockSupport} and poller, at the speed at which it runs. A checker that takes over the scheduling of threads, as
 * Lincheck does, cannot take over a virtual thread whose scheduler is the loop under test, and a model of the loop in its
 * place would be another program.
 *
 * <p>A {@link io.fastio.stress.Twin} is no copy with an error in it but the class itself, less one guard, made from its
 * byte code in the JVM that runs the case. A twin that is not found out fails the build as a broken rule does, and so does
 * one whose guard is not there any more.
 */
@NullMarked
package io.fastio.stress;

import org.jspecify.annotations.NullMarked;
