package io.fastio.stress;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;

/** Puts a {@link Twin} in the place of the class that a case tests. */
public final class Twins {
    /** Which twin of its case a JVM is to take, from 1; absent: the real thing. */
    static final String PROPERTY = "fastio.twin";

    private static final ClassDesc LOOSE = ClassDesc.of("io.fastio.stress.Loose");

    private Twins() {}

    /**
     * To be called by every case in its static initialiser, which runs before anything that it tests is loaded.
     *
     * @return whether this JVM tests a twin
     */
    public static boolean install(MethodHandles.Lookup lookup) {
        int number = Integer.getInteger(PROPERTY, 0);
        if (number == 0) {
            return false;
        }
        Class<?> testCase = lookup.lookupClass();
        Twin twin = testCase.getAnnotationsByType(Twin.class)[number - 1];
        try {
            Class<?> defined = lookup.defineClass(without(twin, testCase));
            if (defined.getClassLoader() != testCase.getClassLoader()) {
                throw new AssertionError(defined + " is not the twin");
            }
            return true;
        } catch (IOException | IllegalAccessException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The class file of {@code twin}. */
    static byte[] without(Twin twin, Class<?> testCase) throws IOException {
        String name = testCase.getPackageName().replace('.', '/') + '/' + twin.of() + ".class";
        byte[] real;
        try (InputStream in = testCase.getClassLoader().getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("there is no class " + name);
            }
            real = in.readAllBytes();
        }
        ClassFile files = ClassFile.of();
        ClassModel model = files.parse(real);
        int[] found = new int[1];
        int[] removed = new int[1];
        MethodTransform inMethod =
                MethodTransform.transformingCode(remover(twin, testCase.getPackageName(), found, removed));
        byte[] bytes = files.transformClass(model, (ClassTransform) (builder, element) -> {
            if (element instanceof java.lang.classfile.MethodModel m
                    && m.methodName().equalsString(twin.in())
                    && m.code().map(code -> has(code, twin)).orElse(false)) {
                builder.transformMethod(m, inMethod);
            } else {
                builder.with(element);
            }
        });
        if (removed[0] == 0) {
            throw new IOException("the guard is not there: " + twin);
        }
        return bytes;
    }

    private static boolean has(CodeModel code, Twin twin) {
        return code.elementStream().anyMatch(e -> isGuard(e, twin));
    }

    private static boolean isGuard(CodeElement e, Twin twin) {
        return switch (twin.guard()) {
            case READ ->
                e instanceof FieldInstruction f
                        && f.opcode() == Opcode.GETFIELD
                        && f.name().equalsString(twin.lacks());
            case WRITE ->
                e instanceof FieldInstruction f
                        && f.opcode() == Opcode.PUTFIELD
                        && f.name().equalsString(twin.lacks());
            case ATOMICITY, CALL, REFUSAL, ORDER ->
                e instanceof InvokeInstruction i && i.name().equalsString(twin.lacks());
        };
    }

    private static CodeTransform remover(Twin twin, String inPackage, int[] found, int[] removed) {
        return new CodeTransform() {
            @Override
            public void accept(CodeBuilder code, CodeElement e) {
                if (!isGuard(e, twin) || twin.which() != 0 && ++found[0] != twin.which()) {
                    code.with(e);
                    return;
                }
                removed[0]++;
                switch (e) {
                    case FieldInstruction f -> dropAccess(code, f);
                    case InvokeInstruction i when twin.guard() == Twin.Guard.ATOMICITY -> loosen(code, i);
                    case InvokeInstruction i -> dropCall(code, i, twin.guard() == Twin.Guard.REFUSAL);
                    default -> throw new AssertionError(e);
                }
            }

            @Override
            public void atStart(CodeBuilder code) {
                if (twin.guard() == Twin.Guard.READ) {
                    code.invokestatic(LOOSE, "gap", ConstantDescs.MTD_void);
                } else if (twin.guard() == Twin.Guard.ORDER) {
                    code.aload(0);
                    code.invokevirtual(ClassDesc.of(inPackage, twin.of()), twin.lacks(), ConstantDescs.MTD_void);
                }
            }
        };
    }

    private static void dropAccess(CodeBuilder code, FieldInstruction f) {
        if (f.opcode() == Opcode.PUTFIELD) {
            pop(code, TypeKind.from(f.typeSymbol()));
            code.pop();
        } else {
            code.pop();
            nothing(code, TypeKind.from(f.typeSymbol()));
        }
    }

    private static void dropCall(CodeBuilder code, InvokeInstruction i, boolean value) {
        MethodTypeDesc type = i.typeSymbol();
        for (int p = type.parameterCount() - 1; p >= 0; p--) {
            pop(code, TypeKind.from(type.parameterType(p)));
        }
        if (i.opcode() != Opcode.INVOKESTATIC) {
            code.pop();
        }
        if (value) {
            code.iconst_1();
        } else {
            nothing(code, TypeKind.from(type.returnType()));
        }
    }

    /** The call becomes one of a method of {@link Loose} by the same name, with the receiver as the first argument. */
    private static void loosen(CodeBuilder code, InvokeInstruction i) {
        MethodTypeDesc type = i.typeSymbol();
        List<ClassDesc> parameters = new ArrayList<>();
        parameters.add(i.owner().asSymbol());
        for (ClassDesc p : type.parameterList()) {
            parameters.add(p.isPrimitive() ? p : ConstantDescs.CD_Object);
        }
        // A call whose value is thrown away has none, if it is one of a VarHandle.
        boolean isVoid = type.returnType().equals(ConstantDescs.CD_void);
        ClassDesc value = isVoid
                ? parameters.getLast()
                : type.returnType().isPrimitive() ? type.returnType() : ConstantDescs.CD_Object;
        code.invokestatic(LOOSE, i.name().stringValue(), MethodTypeDesc.of(value, parameters));
        if (isVoid) {
            pop(code, TypeKind.from(value));
        } else if (!type.returnType().isPrimitive()) {
            code.checkcast(type.returnType());
        }
    }

    private static void pop(CodeBuilder code, TypeKind kind) {
        if (kind.slotSize() == 2) {
            code.pop2();
        } else {
            code.pop();
        }
    }

    private static void nothing(CodeBuilder code, TypeKind kind) {
        switch (kind.asLoadable()) {
            case INT -> code.iconst_0();
            case LONG -> code.lconst_0();
            case FLOAT -> code.fconst_0();
            case DOUBLE -> code.dconst_0();
            case REFERENCE -> code.aconst_null();
            default -> {}
        }
    }
}
