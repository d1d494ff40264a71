package io.fastio;

/** When {@link Asyncio#wait} returns. */
public enum ReturnWhen {
    /** As soon as one of the tasks ended, in whatever way. */
    FIRST_COMPLETED,
    /** As soon as one of them failed; a cancelled one has not failed. If none does, when all ended. */
    FIRST_EXCEPTION,
    /** When all of them ended. */
    ALL_COMPLETED
}
