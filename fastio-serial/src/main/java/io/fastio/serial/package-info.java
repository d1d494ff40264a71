/** Serial ports as streams: opening, settings, listing, modem lines, error counters. */
@NullMarked
package io.fastio.serial;

import org.jspecify.annotations.NullMarked;
