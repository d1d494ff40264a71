package io.fastio;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The rooms of the house and the doors between them: which package of the core may import which. */
final class HouseTest {
    private static final String KERNEL = "io.fastio";

    /** Package to what it may import of fastio, itself aside. */
    private static final Map<String, Set<String>> DOORS = Map.of(
            KERNEL,
            Set.of("io.fastio.time", "io.fastio.carrier", "io.fastio.poll"),
            "io.fastio.time",
            Set.of(),
            "io.fastio.carrier",
            Set.of(),
            "io.fastio.poll",
            Set.of(),
            "io.fastio.sync",
            Set.of(KERNEL),
            "io.fastio.stream",
            Set.of(KERNEL, "io.fastio.poll"),
            "io.fastio.device",
            Set.of(KERNEL, "io.fastio.stream"),
            "io.fastio.context",
            Set.of(KERNEL, "io.fastio.sync"),
            "io.fastio.observe",
            Set.of(KERNEL));

    private static JavaClasses core;

    @BeforeAll
    static void readTheClassesOfTheCore() {
        core = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("module-info"))
                .importPackages(KERNEL);
    }

    @Test
    void everyPackageHasItsDoors() {
        assertThat(packagesOf(core)).contains(KERNEL).isSubsetOf(DOORS.keySet());
    }

    @ParameterizedTest
    @MethodSource("packagesOfTheCore")
    void importsOnlyThroughItsDoors(String room) {
        imports(room, DOORS.get(room)).check(core);
    }

    @Test
    void hasNoPackageCycles() {
        SlicesRuleDefinition.slices()
                .assignedFrom(byPackage())
                .should()
                .beFreeOfCycles()
                .check(core);
    }

    @Test
    void needsNothingButTheJdkAndAnnotations() {
        classes()
                .should()
                .onlyDependOnClassesThat(
                        resideInAnyPackage("io.fastio..", "java..", "javax..", "jdk..", "sun.nio.ch", "org.jspecify.."))
                .check(core);
    }

    /** The rule's broken twin: with its door shut, a class that does import something is found. */
    @Test
    void aShutDoorIsNoticed() {
        JavaClasses someTest = new ClassFileImporter().importClasses(FastioTest.class);

        assertThat(imports(KERNEL, Set.of(), Set.of("java..", "org.junit.."))
                        .evaluate(someTest)
                        .getFailureReport()
                        .getDetails())
                .isNotEmpty()
                .allMatch(detail -> detail.contains("org.assertj"));
    }

    private static ArchRule imports(String room, Set<String> doors) {
        return imports(room, doors, Set.of("java..", "javax..", "jdk..", "sun.nio.ch", "org.jspecify.."));
    }

    private static ArchRule imports(String room, Set<String> doors, Set<String> outside) {
        TreeSet<String> reachable = new TreeSet<>(doors);
        reachable.add(room);
        reachable.addAll(outside);
        return classes().that(resideInAPackage(room)).should().onlyDependOnClassesThat(in(reachable));
    }

    private static DescribedPredicate<JavaClass> in(Set<String> packages) {
        return describe("reside in " + packages, type -> {
            JavaClass element = type.getBaseComponentType();
            return element.isPrimitive()
                    || resideInAnyPackage(packages.toArray(String[]::new)).test(element);
        });
    }

    private static SliceAssignment byPackage() {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                return SliceIdentifier.of(type.getPackageName());
            }

            @Override
            public String getDescription() {
                return "the packages of the core";
            }
        };
    }

    private static Set<String> packagesOfTheCore() {
        return packagesOf(core);
    }

    private static Set<String> packagesOf(JavaClasses classes) {
        return classes.stream().map(JavaClass::getPackageName).collect(Collectors.toCollection(TreeSet::new));
    }
}
