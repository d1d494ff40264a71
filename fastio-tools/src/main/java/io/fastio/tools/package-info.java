/** The command line: what {@code ./fastio} does once the launcher has found a JDK and built the classes. */
@NullMarked
package io.fastio.tools;

import org.jspecify.annotations.NullMarked;
