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
  // One row per line of package.json's `imports`: there they lead to dist, here to the sources.
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^#(kernel|engine|egress|http|modules|sandbox|blobs|mail)/(.*)\\.js$': '<rootDir>/src/$1/$2',
  },
  transform: {
    // No `module.type`: @swc/jest then emits what Jest asks for, which is ES modules here.
    '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false }],
  },
};

// These suites speak to real server processes, on one embedded PostgreSQL that all of them share.
const withServer = {
  ...base,
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

// What `npm test` runs is `unit` and `api`; `npm run test:all` and CI run all of them (CONTRIBUTING.md).
export default {
  // Many a hook starts two servers, each of them seconds of a core that others want too.
  testTimeout: 60_000,
  // Much of a suite is waiting for what a server does: three at a time even where there are two cores only.
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
      // Minutes each, for whole fleets: with POSTHORN_NEMESIS, or by `npm run nemesis`.
      testPathIgnorePatterns: [
        '/node_modules/',
        ...(process.env.POSTHORN_NEMESIS
          ? []
          : ['/nemesis-(outside|storage|redis|disk|failover|embedded|mail)\\.e2e-spec\\.ts$']),
      ],
    },
  ],
};
