package io.fastio;

import java.util.List;

/**
 * Lets the stack trace of what a task failed with go on where it was awaited, as if the await had been a call. The failure
 * itself stays the very object that was thrown, with its type, message, cause and suppressed ones: only its stack trace
 * grows, by a line {@code io.fastio.Task.<awaited by NAME>} and the stack of that task, for each hop from task to task.
 *
 * <p>What is awaited ten thousand times must not grow ten thousand times (F29): each failed task adds those who awaited it
 * first, and an exception that many tasks share takes no more than {@link #MOST_STACKS}. An exception whose stack trace
 * is not writable stays as it is.
 */
final class AwaitTrace {
    /** Those who await one failed task and are shown. */
    static final int MOST_AWAITERS = 3;

    private static final int MOST_STACKS = 16;
    private static final int MOST_FRAMES = 64;
    /**
     * With the frames of reflection, as in every stack trace: the JDK's source launcher takes as many lines off the end of a
     * program's stack trace as it counts of its own.
     */
    private static final StackWalker WALKER = StackWalker.getInstance(StackWalker.Option.SHOW_REFLECT_FRAMES);

    private AwaitTrace() {}

    /** Adds the stack of the caller, a task or thread of that name, to {@code failure}. Any thread. */
    static void add(Throwable failure, String awaiting) {
        StackTraceElement[] before = failure.getStackTrace();
        if (before.length == 0) {
            return; // not writable
        }
        StackTraceElement line = new StackTraceElement("io.fastio.Task", "<awaited by " + awaiting + ">", null, -1);
        int stacks = 0;
        for (StackTraceElement e : before) {
            if (e.getClassName().equals(line.getClassName())
                    && e.getMethodName().startsWith("<awaited by ")) {
                if (++stacks == MOST_STACKS || e.equals(line)) {
                    return;
                }
            }
        }
        List<StackTraceElement> here = WALKER.walk(frames -> frames.dropWhile(f -> isOurs(f.getClassName()))
                .takeWhile(f -> !isBottom(f))
                .limit(MOST_FRAMES)
                .map(StackWalker.StackFrame::toStackTraceElement)
                .toList());
        StackTraceElement[] after = java.util.Arrays.copyOf(before, before.length + 1 + here.size());
        after[before.length] = line;
        for (int i = 0; i < here.size(); i++) {
            after[before.length + 1 + i] = here.get(i);
        }
        failure.setStackTrace(after);
    }

    private static boolean isOurs(String className) {
        return className.equals("io.fastio.AwaitTrace") || className.equals("io.fastio.LoopTask");
    }

    /** The call of a task's body. */
    private static boolean isBottom(StackWalker.StackFrame f) {
        return f.getMethodName().equals("body") && isOurs(f.getClassName());
    }
}
