package io.fastio.stress;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A broken twin of a case: the same case against a class that lacks one guard. The class is the real one, as compiled,
 * with this guard taken out of its byte code when it is loaded, so that a twin can never fall behind what it is a twin of;
 * a guard that is not there any more is an error.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Repeatable(Twin.All.class)
public @interface Twin {
    /** What is taken out. */
    enum Guard {
        /** The call is an atomic read-modify-write: it becomes a read, a little time, and a write. */
        ATOMICITY,
        /** The call is not made; where it has a value, that is false, zero or null. */
        CALL,
        /** The call, which has a boolean value, is not made; its value is true. */
        REFUSAL,
        /** The call, without arguments and on {@code this}, is made at the beginning of the method. */
        ORDER,
        /** The field, which is looked at a second time, is not read; its value is false, zero or null. */
        READ,
        /** The field is not written. */
        WRITE
    }

    /** Simple binary name of the class, in the package of the case. */
    String of();

    /** The method. */
    String in();

    /** The call or the field. */
    String lacks();

    /** Which of several such in the method, from 1; 0: all. */
    int which() default 0;

    /** In what way it is lacking. */
    Guard guard();

    /** The twins of a case. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    @interface All {
        /** Each of them. */
        Twin[] value();
    }
}
