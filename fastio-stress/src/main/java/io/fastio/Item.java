package io.fastio;

/** Something to post, which counts its deliveries and gathers its signals. */
final class Item extends Posted {
    private int deliveries;
    private int signals;

    @Override
    void deliver(int taken) {
        deliveries++;
        signals |= taken;
    }

    /** By this name, so that a case is verified without loading what may be a twin. */
    static Posted fresh() {
        return new Item();
    }

    /** Adds a signal, and pushes the item if that is for us to do. */
    static void post(Posted item, int signal, Inbox inbox) {
        if (item.addSignals(signal)) {
            inbox.push(item);
        }
    }

    static int deliveries(Posted item) {
        return ((Item) item).deliveries;
    }

    static int signals(Posted item) {
        return ((Item) item).signals;
    }
}
