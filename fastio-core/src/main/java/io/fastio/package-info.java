/**
 * The kernel and its face: tasks, the loop, priorities, cancellation, groups, and {@link io.fastio.Wait}, the one
 * extension point on which every other way of waiting is built.
 */
@NullMarked
package io.fastio;

import org.jspecify.annotations.NullMarked;
