import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const {
  $schema: _schema,
  module: _module,
  ...swc
} = JSON.parse(readFileSync(new URL('./.swcrc', import.meta.url), 'utf8'));

const base = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // Maps the names in `imports` of package.json to the sources. In package.json, these names point to dist.
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^#(kernel|engine|egress|http|modules|sandbox|blobs|mail)/(.*)\\.js$': '<rootDir>/src/$1/$2',
  },
  transform: {
    // Without `module.type`, @swc/jest emits the format that Jest requests, which is ES modules here.
    '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }],
  },
};

// Tests that send requests to real server processes. The processes share one embedded PostgreSQL.
const withServer = {
  ...base,
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

// `npm test` runs `unit` and `api`. `npm run test:all` and CI run all projects (CONTRIBUTING.md).
export default {
  // Time limit of tests and hooks. Many hooks start two servers, which compete with other suites for the CPU.
  testTimeout: 120_000,
  // Suites mostly wait for a server, so at least three run in parallel, even on two cores.
  maxWorkers: Math.max(3, Math.floor(availableParallelism() / 2)),
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  projects: [
    { ...base, displayName: 'unit', testRegex: '/src/.*\\.spec\\.ts$' },
    { ...withServer, displayName: 'api', testRegex: '/test/(api|architecture)/.*\\.(e2e-)?spec\\.ts$' },
    {
      ...withServer,
      displayName: 'system',
      testRegex: '/test/(operations|conformance|extensions|browser)/.*\\.(e2e-)?spec\\.ts$',
    },
    {
      ...withServer,
      displayName: 'durability',
      testRegex: '/test/durability/.*\\.(e2e-)?spec\\.ts$',
      // These suites start many service processes and take minutes each. They run only with POSTHORN_NEMESIS or `npm
      // run nemesis`.
      testPathIgnorePatterns: [
        '/node_modules/',
        ...(process.env.POSTHORN_NEMESIS
          ? []
          : ['/nemesis-(outside|storage|redis|disk|failover|embedded|mail)\\.e2e-spec\\.ts$']),
      ],
    },
  ],
};
