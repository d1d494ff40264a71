/** Chips with pins, and what is connected to pins: switches, buttons, encoders, key matrices. */
@NullMarked
package io.fastio.gpio;

import org.jspecify.annotations.NullMarked;
