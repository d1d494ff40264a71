@NullMarked
package io.fastio.time;

import org.jspecify.annotations.NullMarked;
