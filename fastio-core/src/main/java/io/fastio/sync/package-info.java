/**
 * Ways for tasks to wait for one another: events, flags, locks, semaphores, conditions, barriers and queues.
 *
 * <p>What they have in common:
 *
 * <ul>
 *   <li>Waits are for tasks, first in, first out; a cancel or a timeout ends them at once, and what was handed to a
 *       waiter that will not take it any more passes on to the next (C6).
 *   <li>Whatever wakes is for any thread. On the loop it acts at once and costs no atomic operation beyond a look at what
 *       other threads asked for; from another thread it acts as soon as the step in progress is over.
 *   <li>An object belongs to the loop on which it was first waited for, until that loop is closed: a wait on another
 *       loop is an {@link IllegalStateException}.
 *   <li>An operation that is satisfied at once does not switch, but counts (S14).
 * </ul>
 */
@NullMarked
package io.fastio.sync;

import org.jspecify.annotations.NullMarked;
