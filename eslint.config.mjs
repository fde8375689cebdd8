// What a line may say. Imports between folders are dependency-cruiser's (.dependency-cruiser.cjs).
import tseslint from 'typescript-eslint';

/** ESLint's recommended mistakes, listed by name; for plain scripts, which no type checker reads, these are all. */
const BASE_RULES = {
  'constructor-super': 'error',
  'for-direction': 'error',
  'getter-return': 'error',
  'no-async-promise-executor': 'error',
  'no-cond-assign': 'error',
  'no-const-assign': 'error',
  'no-constant-binary-expression': 'error',
  'no-control-regex': 'error',
  'no-debugger': 'error',
  'no-dupe-args': 'error',
  'no-dupe-class-members': 'error',
  'no-dupe-else-if': 'error',
  'no-dupe-keys': 'error',
  'no-duplicate-case': 'error',
  'no-empty': 'error',
  'no-empty-pattern': 'error',
  'no-fallthrough': 'error',
  'no-func-assign': 'error',
  'no-import-assign': 'error',
  'no-loss-of-precision': 'error',
  'no-redeclare': 'error',
  'no-self-assign': 'error',
  'no-shadow-restricted-names': 'error',
  'no-sparse-arrays': 'error',
  'no-this-before-super': 'error',
  'no-unreachable': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
  'no-useless-escape': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'use-isnan': 'error',
  'valid-typeof': 'error',
  eqeqeq: 'error',
};

/**
 * How big a piece may grow before something in it wants a name. What is bigger today stands in eslint-suppressions.json, file
 * by file with its count; a count that no longer holds fails the lint, so the list only shrinks:
 * run `npm run lint -- --prune-suppressions` once something is smaller.
 */
const LIMITS = {
  'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
  'max-lines': ['error', { max: 300 }],
  'max-params': ['error', { max: 4 }],
  'max-depth': ['error', { max: 3 }],
  complexity: ['error', { max: 15 }],
};

const UNUSED = {
  argsIgnorePattern: '^_',
  varsIgnorePattern: '^_',
  caughtErrorsIgnorePattern: '^_',
  destructuredArrayIgnorePattern: '^_',
  ignoreRestSiblings: true,
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/generated/**',
      '**/node_modules/**',
      '.cache/**',
      '.recourse/**',
      'coverage/**',
      '**/.venv/**',
      '**/*.d.mts',
      '**/*.d.ts',
    ],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  { rules: BASE_RULES },
  {
    // A spec is as long as what it tells; the rows of test/breaks quote code.
    files: ['**/*.ts', '**/*.tsx', '**/*.mjs'],
    ignores: ['**/*.spec.ts', '**/*.contract.ts', 'test/breaks/**'],
    rules: LIMITS,
  },
  {
    // Markup takes a line for each attribute; what a component works out stands in functions beside it.
    files: ['**/*.tsx'],
    rules: { 'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './apps/console/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      'no-unused-vars': 'off',
      'no-redeclare': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', UNUSED],
      // House style: arrow shorthand for a call whose result nobody reads; numbers in templates.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidOperator: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/restrict-plus-operands': ['error', { allowNumberAndString: true }],
      // There are no enums here, only unions of literals; the search for them took a fifth of the lint.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // Both notations are used on purpose: brackets for names that are data.
      '@typescript-eslint/dot-notation': 'off',
      // A class may be empty when Nest's decorators carry its meaning; a dynamic module is a class with one static function.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Implementing an asynchronous port without awaiting is what memory adapters do.
      '@typescript-eslint/require-await': 'off',
      // `while (true)` is how a loop says that only its body ends it.
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
    },
  },
  {
    // Nest reads a constructor's parameter types at run time, so what looks like a type there is a value.
    files: ['apps/*/src/http/**/*.ts', 'apps/*/src/**/*.module.ts', 'libs/service/src/**/*.ts'],
    rules: {
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true, allowStaticOnly: true }],
    },
  },
  {
    // Here fields change while a function waits, which the rule does not know: it calls the second look needless.
    files: ['libs/event-log/src/**/*.ts', 'libs/kafka/src/**/*.ts', 'test/simulation/src/**/*.ts'],
    rules: { '@typescript-eslint/no-unnecessary-condition': 'off' },
  },
  {
    files: ['**/*.spec.ts', '**/*.contract.ts', '**/*.testing.ts', 'libs/testing/**/*.ts', 'test/**/*.ts'],
    rules: {
      // A spec that meets undefined fails, which is its job; matchers are typed `any` on purpose.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // A fixture's reader names the shape of the file it reads.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
    },
  },
);
