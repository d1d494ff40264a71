/** The kernel and its public face: the loop, its tasks, their priorities, and the one way in which a task waits. */
@NullMarked
package io.fastio;

import org.jspecify.annotations.NullMarked;
