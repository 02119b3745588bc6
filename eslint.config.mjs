import simpleImportSort from 'eslint-plugin-simple-import-sort';
import tseslint from 'typescript-eslint';

/** Code that runs in the service. Import rules between folders are in .dependency-cruiser.mjs. */
const SOURCE = ['src/**/*.ts'];
const SPECS = ['**/*.spec.ts', '**/*.e2e-spec.ts'];

/** Named, not found by a project service: one program for all files of a run takes half the time and less memory. */
const PROGRAMS = {
  project: ['tsconfig.json', 'console/tsconfig.json', 'examples/posthorn-nats/tsconfig.json'],
  tsconfigRootDir: import.meta.dirname,
};

const NO_CLOCK_NO_ENVIRONMENT = [
  { object: 'Date', property: 'now', message: 'Take the time from Clock.' },
  { object: 'Math', property: 'random', message: 'Take randomness from Clock, or as an argument.' },
  { object: 'process', property: 'env', message: 'Take it from Config.' },
];

/** Node.js, packages, folders of this project, neighbours: one block. */
const IMPORT_ORDER = [['^\\u0000', '^node:', '^@?\\w', '^#', '^\\.\\.', '^\\.']];

/** Types and classes in PascalCase; functions and values in camelCase, or in UPPER_CASE for constants. Names of fields belong to the wire and to SQL. */
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
      // DI reads parameter types at run time, so classes must stay value imports.
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // Nest's providers implement hooks and abstract contracts whose methods are async by promise.
      '@typescript-eslint/require-await': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportAllDeclaration', message: 'No barrels: import from the file that has it.' },
        {
          selector: "CallExpression[callee.name='forwardRef']",
          message: 'A cycle: move the shared part into a contract.',
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
    // What extensions test themselves with, the client and the command line are no part of the service.
    files: ['src/kernel/clock.ts', 'src/kernel/config/config.ts', 'src/testing/**', 'src/client/**', 'src/cli/**'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // Markup is longer than code: 130 lines a component, where the service has shorter functions.
    files: ['console/src/**/*.{ts,tsx}'],
    ignores: SPECS,
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: PROGRAMS },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-explicit-any': 'error',
      'max-lines': ['error', { max: 420, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 130, skipBlankLines: true, skipComments: true }],
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Texts are text nodes.' },
        { property: 'dangerouslySetInnerHTML', message: 'Texts are text nodes.' },
      ],
      'no-restricted-globals': ['error', { name: 'fetch', message: 'Only api/ asks the service.' }],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='JSON'][callee.property.name='parse']",
          message:
            'What people type is read by kit/json/read-json.ts: it says the line, and refuses numbers that the service would store as others.',
        },
      ],
    },
  },
  {
    // They read what a program wrote.
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
      // Variables destructured from answers have the names of the wire.
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
