package io.fastio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Keeps docs/semantics.md true: the tests that it names are there, and check the rule under which it names them. */
final class SemanticsPageTest {
    private static final Pattern RULE = Pattern.compile("### ([A-Z]\\d+) ");
    private static final Pattern NAMED = Pattern.compile("`(\\w+)`");

    @Test
    void theTestsNamedUnderARuleCheckIt() throws IOException {
        Path root = Path.of("").toAbsolutePath().getParent();
        Map<String, String> sources = sources(root);
        List<String> wrong = new ArrayList<>();
        TreeSet<String> rules = new TreeSet<>();
        String rule = "";
        boolean tests = false;
        for (String line : Files.readAllLines(root.resolve("docs/semantics.md"))) {
            Matcher m = RULE.matcher(line);
            if (m.lookingAt()) {
                rule = m.group(1);
                assertThat(rules.add(rule)).as("%s stands there once", rule).isTrue();
            }
            tests = line.startsWith("Tests: ") || tests && !line.isBlank();
            for (Matcher named = NAMED.matcher(line); tests && named.find(); ) {
                String source = sources.get(named.group(1));
                if (source == null
                        || !Pattern.compile("void \\w*\\b?" + rule + "_")
                                .matcher(source)
                                .find()) {
                    wrong.add(rule + ": " + named.group(1));
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(rules).contains("S1", "S15", "C8", "T4", "G4", "Y4", "I8", "W3", "B4", "V3");
    }

    private static Map<String, String> sources(Path root) throws IOException {
        Map<String, String> sources = new HashMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path p : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".java"))
                    .filter(f -> f.toString().contains("test"))::iterator) {
                sources.put(p.getFileName().toString().replace(".java", ""), Files.readString(p));
            }
        }
        return sources;
    }
}
