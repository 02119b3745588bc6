import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from './source-tree.js';

/** Files of a generated source tree, each with its imports. The tree contains nothing else. */
type Tree = Record<string, string[]>;

/** Imports that the rules allow, including one import for each exception of a rule. */
const LAWFUL: Tree = {
  'src/main.ts': ['./app.module.js', './bootstrap/data-source.js', './kernel/clock.js', '#modules/auth/contract.js'],
  'src/app.module.ts': ['./modules/send/send.module.js', '@nestjs/common'],
  'src/bootstrap/data-source.ts': ['typeorm', '../modules/ledger/ledger.entities.js'],
  'src/programs/backup.ts': ['../bootstrap/data-source.js'],
  'src/engine/retry.ts': [],
  'src/engine/signing.ts': ['node:crypto', 'node:net', 'node:url', './retry.js'],
  'src/engine/signing.spec.ts': ['fast-check', './signing.js'],
  'src/kernel/clock.ts': [],
  'src/kernel/hen.ts': ['./egg.js'],
  'src/kernel/database/database.ts': ['pg', '../clock.js'],
  'src/kernel/concurrency/queue.ts': ['bullmq'],
  'src/egress/agent.ts': ['undici', 'node:net', '#engine/retry.js', '#kernel/clock.js'],
  'src/http/access.ts': ['#kernel/clock.js', '#engine/token-bucket.js'],
  'src/http/metrics-listener.ts': ['node:http'],
  'src/engine/token-bucket.ts': [],
  'src/adapters/https.ts': ['#egress/agent.js', '#engine/retry.js', '#kernel/clock.js', '#modules/ledger/contract.js'],
  'src/mail/smtp.ts': [
    '#egress/agent.js',
    '#engine/retry.js',
    '#kernel/clock.js',
    '#modules/ledger/contract.js',
    '#modules/ledger/record.contract.js',
    'nodemailer',
  ],
  'src/blobs/files.ts': ['#kernel/clock.js', '#egress/agent.js'],
  'src/modules/auth/contract.ts': ['#kernel/clock.js', '#engine/retry.js'],
  'src/modules/ledger/contract.ts': ['#kernel/clock.js'],
  'src/modules/ledger/record.contract.ts': ['./contract.js'],
  'src/modules/ledger/ledger.module.ts': ['./ledger.js', '../auth/auth.module.js', '@nestjs/bullmq'],
  'src/modules/auth/auth.module.ts': ['./contract.js', './environments.js'],
  'src/modules/auth/environments.ts': ['./environments.store.js'],
  'src/modules/auth/environments.store.ts': [],
  'src/modules/ledger/ledger.entities.ts': ['typeorm'],
  'src/modules/ledger/ledger.ts': ['./ledger.store.js', '#modules/auth/contract.js', './wake.queue.js'],
  'src/modules/ledger/ledger.store.ts': ['pg', 'typeorm', '#kernel/database/database.js'],
  'src/modules/ledger/wake.queue.ts': ['bullmq', '@nestjs/bullmq', '#kernel/concurrency/queue.js'],
  'src/modules/send/send.module.ts': ['./send.service.js', '../ledger/ledger.module.js', '#modules/ledger/contract.js'],
  'src/modules/send/send.service.ts': [
    '#modules/ledger/contract.js',
    '#http/access.js',
    '#modules/auth/environments.js',
  ],
  'src/modules/send/send.dto.ts': [],
  'src/modules/send/send.store.ts': ['#kernel/clock.js', '#modules/ledger/ledger.entities.js'],
  'src/http/access-rules.ts': ['#kernel/clock.js'],
  'src/modules/email/accept-submitted-message.ts': ['./send-emails.js'],
  'src/modules/email/send-emails.ts': [],
  'src/engine/mail/html-text.ts': [],
  'src/modules/email/text-part.ts': ['#engine/mail/html-text.js'],
  'src/modules/inbox/reading/message-body.ts': ['#engine/mail/html-text.js'],
  'src/smtp/submission-login.ts': [
    '#http/access-rules.js',
    '#kernel/clock.js',
    '#modules/email/accept-submitted-message.js',
  ],
  'src/extension/index.ts': ['#modules/ledger/contract.js', '#http/access.js', '#egress/agent.js'],
  'src/client/openapi.ts': ['./index.js'],
  'console/src/api/client.ts': ['../../../src/client/openapi.js'],
  'console/src/kit/table/Table.ts': ['./cell.js'],
  'console/src/kit/table/cell.ts': [],
  'console/src/session/session.ts': ['../api/client.js', '../kit/table/Table.js'],
  'console/src/events/Row.ts': ['../api/client.js', '../kit/table/Table.js', '../session/session.js'],
  'console/src/app/routes.ts': ['../events/Row.js', '../session/session.js'],
  'test/thing.ts': [],
  'src/posthorn.ts': ['./cli/main.js'],
  'src/cli/main.ts': ['../client/index.js', 'node:http'],
  'src/client/index.ts': ['node:crypto'],
  'src/testing/index.ts': ['./client.js'],
  'src/testing/client.ts': ['../extension/index.js'],
  'ee/audit/audit.ts': ['../../src/extension/index.js', '../../src/testing/index.js', '@nestjs/common', 'typeorm'],
};

/** A module file of the generated tree that exports a provider from its second import. */
const MODULE_WITH_EXPORTS = 'src/modules/auth/auth.module.ts';

const SOCKETS = [
  'node:net',
  'node:tls',
  'node:http',
  'node:https',
  'node:http2',
  'node:dgram',
  'net',
  'undici',
  'axios',
  'got',
];

/** For each rule, files that break this rule and no other. */
const UNLAWFUL: Record<string, Tree> = {
  // A cycle is reported once, at the import that closes it. LAWFUL already contains the second file of this cycle,
  // `hen.ts`.
  'no-cycles': { 'src/kernel/egg.ts': ['./hen.js'] },
  'engine-is-pure': oneEach('src/engine/impure', [
    '@nestjs/common',
    '#kernel/clock.js',
    'node:fs',
    'fast-check',
    '#modules/auth/contract.js',
  ]),
  'kernel-is-a-leaf': oneEach('src/kernel/branch', [
    '#engine/retry.js',
    '#http/access.js',
    '#modules/ledger/contract.js',
  ]),
  'edge-knows-no-context': oneEach('src/http/knows', [
    '#modules/ledger/contract.js',
    '#engine/retry.js',
    '#egress/agent.js',
  ]),
  'egress-knows-no-context': oneEach('src/egress/knows', ['#modules/ledger/contract.js', '#http/access.js']),
  'sockets-open-in-egress': {
    ...oneEach('src/modules/send/dials', SOCKETS),
    ...oneEach('src/http/dials', ['node:http']),
    ...oneEach('src/kernel/dials', ['undici']),
  },
  'contracts-import-only-the-kernel': {
    'src/modules/send/contract.ts': ['./send.service.js'],
    'src/modules/replay/contract.ts': ['#modules/ledger/contract.js'],
  },
  'contexts-meet-at-exports': oneEach('src/modules/send/reaches', [
    '#modules/ledger/ledger.js',
    '#modules/auth/environments.store.js',
    '../ledger/ledger.store.js',
    '../ledger/ledger.module.js',
  ]),
  'rows-of-other-contexts-are-types': oneEach('src/modules/send/rows.store', ['#modules/ledger/ledger.entities.js']),
  // The second import imports only types.
  'rows-are-read-in-stores': {
    'src/modules/send/rows.service.ts': ['#kernel/clock.js', '#modules/ledger/ledger.entities.js'],
  },
  'modules-import-modules': {
    'src/modules/replay/replay.module.ts': ['#modules/ledger/ledger.js'],
    'src/modules/pull/pull.module.ts': ['../ledger/ledger.js'],
  },
  'adapters-know-only-contracts': oneEach('src/adapters/knows', ['#modules/ledger/ledger.js', '#http/access.js']),
  'mail-knows-only-contracts': oneEach('src/mail/knows', [
    '#modules/ledger/ledger.js',
    '#http/access.js',
    '#blobs/files.js',
  ]),
  'mail-is-composed-in-mail': {
    ...oneEach('src/modules/send/composes', ['nodemailer']),
    ...oneEach('src/adapters/composes', ['nodemailer']),
  },
  'html-converter-loads-on-first-use': {
    ...oneEach('src/modules/email/converts', ['./text-part.js']),
    ...oneEach('src/engine/mail/converts', ['./html-text.js']),
  },
  'blobs-know-no-context': oneEach('src/blobs/knows', [
    '#modules/ledger/contract.js',
    '#http/access.js',
    '#engine/retry.js',
  ]),
  'nobody-imports-the-composition-root': oneEach('src/modules/send/climbs', [
    '../../app.module.js',
    '../../bootstrap/data-source.js',
    '../../programs/backup.js',
    '../../extension/index.js',
    '../../testing/client.js',
  ]),
  'sql-lives-in-stores': {
    ...oneEach('src/modules/send/asks.service', ['pg', 'typeorm']),
    ...oneEach('src/http/asks', ['pg']),
  },
  'client-stands-alone': oneEach('src/client/reaches', ['#kernel/clock.js', '../cli/main.js']),
  'command-line-uses-the-client': oneEach('src/cli/reaches', ['#kernel/clock.js', '#http/access.js']),
  'service-knows-no-client': oneEach('src/modules/send/knows', ['../../client/index.js', '../../cli/main.js']),
  'smtp-edge-knows-its-contracts': oneEach('src/smtp/knows', [
    '#modules/ledger/ledger.js',
    '#modules/email/send-emails.js',
    '#http/access.js',
    '#mail/smtp.js',
  ]),
  'queues-live-in-queues': oneEach('src/modules/send/queues.service', ['bullmq', '@nestjs/bullmq']),
  'extensions-use-the-public-face': oneEach('ee/audit/reaches', [
    '#modules/ledger/ledger.js',
    '#modules/ledger/contract.js',
    '#http/access.js',
    '#kernel/clock.js',
    '../../src/app.module.js',
    '../../src/testing/client.js',
  ]),
  'console-kit-knows-no-words': oneEach('console/src/kit/table/knows', [
    '../../events/Row.js',
    '../../api/client.js',
    '../../session/session.js',
  ]),
  'console-api-stands-alone': oneEach('console/src/api/knows', [
    '../events/Row.js',
    '../kit/table/Table.js',
    '../../../src/kernel/clock.js',
  ]),
  'console-session-knows-no-screen': oneEach('console/src/session/knows', ['../events/Row.js', '../app/routes.js']),
  'console-features-meet-through-links': oneEach('console/src/keys/knows', ['../events/Row.js', '../app/routes.js']),
  'console-and-service-meet-at-the-api': oneEach('console/src/keys/reaches', [
    '../../../src/client/openapi.js',
    '../../../test/thing.js',
  ]),
  'service-knows-no-console': oneEach('src/modules/send/shows', ['../../../console/src/api/client.js']),
  'no-orphans': { 'src/kernel/alone.ts': [] },
};

/** Returns one file for each import, so that no violation hides another. */
function oneEach(stem: string, imports: string[]): Tree {
  const [, folderAndName = stem, suffix = ''] = /^(.*\/[^./]+)(\..*)?$/.exec(stem) ?? [];
  return Object.fromEntries(imports.map((each, i) => [`${folderAndName}-${i}${suffix}.ts`, [each]]));
}

const PACKAGES = [
  'typeorm',
  'pg',
  'bullmq',
  '@nestjs/bullmq',
  '@nestjs/common',
  'undici',
  'axios',
  'got',
  'fast-check',
  'nodemailer',
];

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'posthorn-rules-'));
  for (const file of ['.dependency-cruiser.mjs', 'package.json', 'tsconfig.json'])
    copyFileSync(path.join(ROOT, file), path.join(folder, file));
  for (const name of PACKAGES) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, 'module.exports = {};');
  }
  for (const tree of [LAWFUL, ...Object.values(UNLAWFUL)]) {
    for (const [file, imports] of Object.entries(tree)) write(file, source(imports));
  }
  appendFileSync(path.join(folder, MODULE_WITH_EXPORTS), 'export const metadata = { exports: [thing1] };\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, text: string): void {
  const target = path.join(folder, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

/** Returns a source with these imports. Half are type imports, because the rules apply to types, too. */
function source(imports: string[]): string {
  const lines = imports.map((each, i) => `import ${i % 2 === 0 ? '' : 'type '}{ thing as thing${i} } from '${each}';`);
  return [
    ...lines,
    'export const thing = 1;',
    ...imports.map((_, i) => `export type Of${i} = typeof thing${i};`),
    '',
  ].join('\n');
}

/**
 * Runs dependency-cruiser with the project's rules on the generated tree. Returns `rule from` of every violation,
 * sorted.
 */
function violations(): string[] {
  const cli = path.join(ROOT, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const run = spawnSync(
    process.execPath,
    [cli, '--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src', 'ee', 'console'],
    {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  if (!run.stdout.startsWith('{')) throw new Error(`dependency-cruiser said: ${run.stdout}${run.stderr}`);
  const report = JSON.parse(run.stdout) as { summary: { violations: { rule: { name: string }; from: string }[] } };
  return [...new Set(report.summary.violations.map(({ rule, from }) => `${rule.name} ${from}`))].sort();
}

describe('the import rules', () => {
  it('each report every kind of violation, and no allowed import', () => {
    const seeded = Object.entries(UNLAWFUL).flatMap(([rule, tree]) =>
      Object.keys(tree).map((file) => `${rule} ${file}`),
    );

    expect(violations()).toEqual(seeded.sort());
  });

  it('are all tested above', async () => {
    const { default: config } = (await import(path.join(ROOT, '.dependency-cruiser.mjs'))) as {
      default: { forbidden: { name: string }[] };
    };

    expect(Object.keys(UNLAWFUL).sort()).toEqual(config.forbidden.map(({ name }) => name).sort());
  });
});
