package io.fastio.tools;

import org.jspecify.annotations.Nullable;

/**
 * One thing that {@code doctor} looked at.
 *
 * @param level how much it matters
 * @param subject what was looked at, in a word or two
 * @param observation what was found
 * @param remedy how to mend or improve it; null where nothing needs to be done
 */
record Finding(
        Level level,
        String subject,
        String observation,
        @Nullable String remedy) {
    enum Level {
        /** As fastio wants it. */
        OK("ok"),
        /** fastio works, and could do better. */
        BETTER("note"),
        /** fastio does not work. */
        MISSING("MISSING");

        private final String label;

        Level(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }
    }

    static Finding ok(String subject, String observation) {
        return new Finding(Level.OK, subject, observation, null);
    }

    static Finding better(String subject, String observation, String remedy) {
        return new Finding(Level.BETTER, subject, observation, remedy);
    }

    static Finding missing(String subject, String observation, String remedy) {
        return new Finding(Level.MISSING, subject, observation, remedy);
    }
}
