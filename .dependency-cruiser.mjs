/** The laws of the source tree. ARCHITECTURE.md says why; this file says no. */
const HERE = '^src/modules/([^/]+)/';

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Under ESM a cycle of decorated classes is a crash at load, and forwardRef does not help.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'engine-is-pure',
      comment: 'The engine decides; it does not know Nest, the database, the queue or the kernel.',
      severity: 'error',
      from: { path: '^src/engine/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: ['^src/engine/', '^(node:)?(crypto|buffer|zlib)$', '^(node:)?(net|url)$', '(^|node_modules/)(ajv|ajv-formats|json-p3|re2js)(/|$)'] },
    },
    {
      name: 'kernel-is-a-leaf',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { path: '^src/(?!kernel/)' },
    },
    {
      name: 'edge-knows-no-context',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/(?!http/|kernel/|engine/token-bucket)' },
    },
    {
      name: 'smtp-edge-knows-one-contract',
      comment: 'As src/http is for HTTP: what comes in goes through the door of the inbox.',
      severity: 'error',
      from: { path: '^src/smtp/' },
      to: { path: '^src/(?!smtp/|kernel/|engine/|http/client-network|modules/inbox/contract\\.ts$)' },
    },
    {
      name: 'egress-knows-no-context',
      severity: 'error',
      from: { path: '^src/egress/' },
      to: { path: '^src/(?!egress/|kernel/|engine/)' },
    },
    {
      name: 'mail-knows-only-contracts',
      comment: 'Composing and handing over: who sends what to whom is decided before.',
      severity: 'error',
      from: { path: '^src/mail/' },
      to: { path: '^src/(?!mail/|kernel/|engine/|egress/|modules/[^/]+/[^/]*contract\\.ts$)' },
    },
    {
      name: 'blobs-know-no-context',
      severity: 'error',
      from: { path: '^src/blobs/' },
      to: { path: '^src/(?!blobs/|kernel/)' },
    },
    {
      name: 'mail-is-composed-in-mail',
      comment: 'Addresses are parsed once, by the engine, and every message leaves signed: nodemailer is asked in one place.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/mail/', '\\.spec\\.ts$'] },
      to: { path: '(^|node_modules/)nodemailer(/|$)' },
    },
    {
      name: 'sockets-open-in-egress',
      comment: 'One door out of the process is what makes the SSRF policy true.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/egress/', '^src/engine/', '^src/embedded\\.ts$', '/(smtp|metrics|trial|dns)-listener\\.ts$'] },
      to: { path: '^(node:)?(net|tls|http|https|http2|dgram)$|(^|node_modules/)(undici|axios|got)(/|$)' },
    },
    {
      name: 'contracts-import-only-the-kernel',
      comment: 'A contract that imports nothing of its own context can never be part of a cycle.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/[^/]*contract\\.ts$' },
      to: { path: '^src/(?!kernel/|engine/)', pathNot: '^src/modules/$1/[^/]*contract\\.ts$' },
    },
    {
      name: 'contexts-meet-at-contracts',
      severity: 'error',
      from: { path: HERE, pathNot: '\\.module\\.ts$' },
      to: { path: '^src/modules/(?!$1/)', pathNot: '[/.]contract(\\.dto)?\\.ts$' },
    },
    {
      name: 'modules-import-modules',
      comment: 'The module file is the only place where a context may name another context\'s module.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/[^/]+\\.module\\.ts$' },
      to: { path: '^src/modules/(?!$1/)', pathNot: '(\\.module|[/.]contract)\\.ts$' },
    },
    {
      name: 'adapters-know-only-contracts',
      severity: 'error',
      from: { path: '^src/adapters/' },
      to: { path: '^src/(?!adapters/|kernel/|engine/|egress/|modules/[^/]+/contract\\.ts$)' },
    },
    {
      name: 'nobody-imports-the-composition-root',
      comment: 'Nor what is there for extensions only: their public face, and what they test themselves with.',
      severity: 'error',
      from: { path: '^src/.+/', pathNot: '^src/testing/' },
      to: { path: '^src/([^/]+\\.ts$|extension/index\\.ts$|testing/)' },
    },
    {
      name: 'sql-lives-in-stores',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['\\.(store|entities|module)\\.ts$', '^src/kernel/(connection|database|kernel\\.module|planned-pool|queue)(\\.spec)?\\.ts$', '^src/(data-source|migrate|embedded|extensions)(\\.spec)?\\.ts$', '^src/extension/declaration\\.ts$', '^src/embedded/'],
      },
      to: { path: '(^|node_modules/)(typeorm|pg)(/|$)' },
    },
    {
      name: 'queues-live-in-queues',
      severity: 'error',
      from: { path: '^src/', pathNot: ['\\.(queue|processor|module)\\.ts$', '^src/kernel/queue\\.ts$'] },
      to: { path: '(^|node_modules/)(bullmq|@nestjs/bullmq)(/|$)' },
    },
    {
      name: 'extensions-use-the-public-face',
      comment: 'What package.json exports, and nothing else: everything behind it may change.',
      severity: 'error',
      from: { path: '^(ee|examples)/' },
      to: { path: '^(src|migrations|dist)/', pathNot: '^src/(extension|testing)/index\\.ts$' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: ['^src/engine/', '\\.dto\\.ts$', '\\.entities\\.ts$', 'openapi\\.ts$', '^src/kernel/data-source\\.ts$'] },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['source', 'import', 'node', 'default'],
      extensions: ['.ts', '.js'],
    },
  },
};
