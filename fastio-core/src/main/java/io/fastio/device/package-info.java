/** Pins and timers for programs that deal with hardware. */
@NullMarked
package io.fastio.device;

import org.jspecify.annotations.NullMarked;
