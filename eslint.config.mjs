import simpleImportSort from 'eslint-plugin-simple-import-sort';
import tseslint from 'typescript-eslint';

/** Code that runs in the service. Import rules between folders are in .dependency-cruiser.mjs. */
const SOURCE = ['src/**/*.ts'];
const SPECS = ['**/*.spec.ts', '**/*.e2e-spec.ts'];

/**
 * TypeScript programs. This list replaces the project service of typescript-eslint, because one program for all files
 * takes half the time and less memory.
 */
const PROGRAMS = {
  project: ['tsconfig.json', 'console/tsconfig.json', 'examples/*/tsconfig.json'],
  tsconfigRootDir: import.meta.dirname,
};

const NO_CLOCK_NO_ENVIRONMENT = [
  { object: 'Date', property: 'now', message: 'Read the time from Clock.' },
  { object: 'Math', property: 'random', message: 'Get randomness from Clock, or as an argument.' },
  { object: 'process', property: 'env', message: 'Read it from Config.' },
];

/** Import order, in one block: Node.js, packages, folders of this project, neighboring files. */
const IMPORT_ORDER = [['^\\u0000', '^node:', '^@?\\w', '^#', '^\\.\\.', '^\\.']];

/**
 * Types and classes are in PascalCase. Functions and values are in camelCase, constants may be in UPPER_CASE. Property
 * names are not checked: the wire format and SQL decide them.
 */
const NAMING = [
  'error',
  { selector: 'typeLike', format: ['PascalCase'] },
  { selector: 'function', format: ['camelCase', 'PascalCase'] },
  {
    selector: 'variable',
    format: ['camelCase', 'UPPER_CASE', 'PascalCase'],
    leadingUnderscore: 'allow',
    trailingUnderscore: 'allow',
  },
  { selector: 'parameter', format: ['camelCase', 'PascalCase'], leadingUnderscore: 'allowSingleOrDouble' },
  { selector: 'classMethod', format: ['camelCase'], leadingUnderscore: 'allow' },
  { selector: ['parameter', 'variable', 'typeProperty', 'classProperty'], modifiers: ['destructured'], format: null },
];

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'node_modules/**',
      '.posthorn/**',
      'bench/results/**',
      'test/durability/results/**',
      'src/client/openapi.ts',
    ],
  },
  {
    files: ['**/*.ts', '**/*.tsx', '**/*.mjs'],
    plugins: { 'simple-import-sort': simpleImportSort },
    rules: { 'simple-import-sort/imports': ['error', { groups: IMPORT_ORDER }] },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: PROGRAMS },
    rules: {
      '@typescript-eslint/naming-convention': NAMING,
      complexity: ['warn', 15],
      // NestJS injects by the parameter types that exist at run time, so imports of classes must stay value imports.
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // Nest's providers implement hooks and abstract contracts whose methods must return a promise.
      '@typescript-eslint/require-await': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportAllDeclaration', message: 'No barrel files: import from the file that declares it.' },
        {
          selector: "CallExpression[callee.name='forwardRef']",
          message: 'This makes an import cycle: move the shared part into a contract.',
        },
      ],
    },
  },
  {
    files: SOURCE,
    ignores: SPECS,
    rules: {
      'no-restricted-properties': ['error', ...NO_CLOCK_NO_ENVIRONMENT],
      'max-lines': ['error', { max: 480, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // These files may use the clock and the environment: the first two wrap them, and the others do not run in the
    // service.
    files: ['src/kernel/clock.ts', 'src/kernel/config/config.ts', 'src/testing/**', 'src/client/**', 'src/cli/**'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // Markup is longer than code, so a component may have 140 lines.
    files: ['console/src/**/*.{ts,tsx}'],
    ignores: SPECS,
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: PROGRAMS },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-explicit-any': 'error',
      'max-lines': ['error', { max: 420, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 140, skipBlankLines: true, skipComments: true }],
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Render text as text nodes.' },
        { property: 'dangerouslySetInnerHTML', message: 'Render text as text nodes.' },
      ],
      'no-restricted-globals': ['error', { name: 'fetch', message: 'Only api/ calls the service.' }],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='JSON'][callee.property.name='parse']",
          message:
            'Parse JSON that users type with kit/json/read-json.ts: it reports the line, and rejects numbers that the service would store as a different value.',
        },
      ],
    },
  },
  {
    // These files may call `JSON.parse`, because they parse only JSON that a program wrote.
    files: [
      'console/src/{api,kit}/**',
      'console/src/endpoints/endpoint-queries.ts',
      'console/src/events/{EventsScreen.tsx,saved-views.ts}',
      'console/src/portal/{payload-text,portal-queries}.ts',
    ],
    rules: { 'no-restricted-syntax': 'off' },
  },
  { files: ['console/src/api/**'], rules: { 'no-restricted-globals': 'off' } },
  {
    files: [...SPECS, 'test/**/*.ts'],
    rules: {
      'max-lines': ['error', { max: 800, skipBlankLines: true, skipComments: true }],
      // Variables destructured from API responses have the names of the wire format.
      '@typescript-eslint/naming-convention': ['error', { selector: 'typeLike', format: ['PascalCase'] }],
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
);
