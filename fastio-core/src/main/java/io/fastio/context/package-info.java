/**
 * Ways to live beside a loop: work that other threads, interrupts and hosts hand to it ({@link AsyncContext}), chores that
 * run between its steps ({@link BackgroundTasks}), and several loops side by side.
 */
@NullMarked
package io.fastio.context;

import org.jspecify.annotations.NullMarked;
