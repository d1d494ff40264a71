package io.fastio.benchmarks.subject;

/**
 * A CPU-bound program of about 1 µs a pass: the mix of operations that Dhrystone and pystone are made of (assignments,
 * record fields, array elements, calls, string comparisons), none of which waits.
 */
final class Pystone {
    private static final int MIX_PER_PASS = 100;
    private static final String FIRST = "DHRYSTONE PROGRAM, 1'ST STRING";
    private static final String SECOND = "DHRYSTONE PROGRAM, 2'ND STRING";

    private static final class Item {
        private Item next = this;
        private int discriminator;
        private int value;
        private String text = FIRST;
    }

    private final Item head = new Item();
    private final int[] line = new int[51];
    private final int[][] table = new int[51][51];
    private int count;
    private char letter = 'A';

    Pystone() {
        head.next = new Item();
        head.next.next = head;
    }

    /** One pass. Returns something that depends on all of its work. */
    int pass() {
        for (int i = 1; i <= MIX_PER_PASS; i++) {
            mix(i);
        }
        return count;
    }

    private void mix(int i) {
        int a = 2;
        int b = 3;
        String text = (i & 1) == 0 ? FIRST : SECOND;
        boolean same = text.equals(head.text);
        while (a < b) {
            int c = 5 * a - b;
            fill(a, c + i);
            a++;
        }
        records(i);
        for (char c = 'A'; c <= letter; c++) {
            if (c == 'C') {
                count++;
            }
        }
        letter = (char) ('A' + (count + i) % 3);
        head.text = same ? SECOND : text;
        count += (b * a) / i % 7;
    }

    private void fill(int index, int value) {
        int at = index + 5;
        line[at] = value;
        line[at + 1] = line[at];
        line[at + 30] = at;
        for (int i = at; i <= at + 1; i++) {
            table[at][i] = at;
        }
        table[at][at - 1]++;
        table[at + 20][at] = line[at];
        count += table[at][at - 1] & 1;
    }

    private void records(int i) {
        Item next = head.next;
        head.value = 5;
        next.value = head.value;
        if (next.discriminator == 0) {
            next.value = 6 + line[8] % 5;
            next.discriminator = i & 1;
        } else {
            next.discriminator = 0;
            next.value = head.value + table[7][7] % 9;
        }
        count += next.value & 3;
    }
}
