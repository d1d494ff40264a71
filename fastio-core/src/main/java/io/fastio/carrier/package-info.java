@NullMarked
package io.fastio.carrier;

import org.jspecify.annotations.NullMarked;
