/** {@code ./fastio demo}: the same load under fastio's priorities, without them, and on the JDK's own virtual threads. */
@NullMarked
package io.fastio.tools.demo;

import org.jspecify.annotations.NullMarked;
