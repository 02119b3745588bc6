/** Import rules of the source tree. ARCHITECTURE.md gives the reasons. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const HERE = '^src/modules/([^/]+)/';

/** Pattern for the paths of the files whose classes NestJS modules export. */
const EXPORTED = `^(${exportedFiles().join('|')})$`;

/** Returns the paths of the files whose classes NestJS modules list in `exports`. */
function exportedFiles() {
  const modules = readdirSync('src/modules', { recursive: true }).filter((file) => file.endsWith('.module.ts'));
  return modules.flatMap((file) => {
    const text = readFileSync(path.join('src/modules', file), 'utf8');
    const names = [...text.matchAll(/exports: \[([^\]]*)\]/g)].flatMap(([, list]) => list.match(/\w+/g) ?? []);
    return [...text.matchAll(/import (?:type )?\{([^}]*)\} from '(\.[^']*)\.js'/g)]
      .filter(([, imported]) => imported.match(/\w+/g).some((name) => names.includes(name)))
      .map(([, , from]) => `${path.join('src/modules', path.dirname(file), from)}\\.ts`);
  });
}

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment:
        'Under ESM, an import cycle between decorated classes crashes at load time, and forwardRef does not help.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'engine-is-pure',
      comment: 'The engine is pure decision logic: it imports neither Nest, the database, the queue nor the kernel.',
      severity: 'error',
      from: { path: '^src/engine/', pathNot: '\\.spec\\.ts$' },
      to: {
        pathNot: [
          '^src/engine/',
          '^(node:)?(crypto|buffer|zlib)$',
          '^(node:)?(net|url)$',
          '(^|node_modules/)(ajv|ajv-formats|html-to-text|json-p3|mustache|re2js)(/|$)',
        ],
      },
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
      to: { path: '^src/(?!http/|kernel/|engine/(token-bucket|audit-view|unsafe-numbers|inbound/multipart))' },
    },
    {
      name: 'smtp-edge-knows-its-contracts',
      comment:
        'As src/http is for HTTP: incoming mail enters only through the inbox, and submitted mail only through the ' +
        'email module. Logins follow the access rules and quotas of the HTTP edge.',
      severity: 'error',
      from: { path: '^src/smtp/' },
      to: {
        path:
          '^src/(?!smtp/|kernel/|engine/|http/(client-network|access-rules|caller-quotas|rate-limiter)\\.ts$|' +
          'modules/(inbox/contract|email/email\\.module|email/accept-submitted-message)\\.ts$)',
      },
    },
    {
      name: 'egress-knows-no-context',
      severity: 'error',
      from: { path: '^src/egress/' },
      to: { path: '^src/(?!egress/|kernel/|engine/)' },
    },
    {
      name: 'mail-knows-only-contracts',
      comment:
        'This folder only composes and hands over mail: sender, recipients and content are decided by the caller.',
      severity: 'error',
      from: { path: '^src/mail/' },
      to: { path: '^src/(?!mail/|kernel/|engine/|egress/|modules/[^/]+/[^/]*contract\\.ts$)' },
    },
    {
      name: 'blobs-know-no-context',
      severity: 'error',
      from: { path: '^src/blobs/' },
      to: { path: '^src/(?!blobs/|egress/|kernel/)' },
    },
    {
      name: 'mail-is-composed-in-mail',
      comment:
        'The engine parses every address once, and every message is signed: nodemailer is imported in one file only.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/mail/', '\\.spec\\.ts$'] },
      to: { path: '(^|node_modules/)nodemailer(/|$)' },
    },
    {
      name: 'html-converter-loads-on-first-use',
      comment: 'html-to-text takes 0.1 s to load: the process loads it with its first email, and threads parse mail.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['^src/modules/(email/text-part|inbox/reading/message-body)\\.ts$', '\\.spec\\.ts$'],
      },
      to: { path: '^src/(engine/mail/html-text|modules/email/text-part)\\.ts$', dynamic: false },
    },
    {
      name: 'sockets-open-in-egress',
      comment: 'The SSRF policy holds only if a single module opens outbound connections.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/egress/',
          '^src/engine/',
          '^src/bootstrap/embedded\\.ts$',
          '^src/cli/',
          '\\.spec\\.ts$',
          '/(smtp|metrics|port|port-check|dns)-listener\\.ts$',
        ],
      },
      to: { path: '^(node:)?(net|tls|http|https|http2|dgram)$|(^|node_modules/)(undici|axios|got)(/|$)' },
    },
    {
      name: 'client-stands-alone',
      comment: 'It runs without the service: in programs of users and in the command line.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { path: '^src/(?!client/)' },
    },
    {
      name: 'command-line-uses-the-client',
      comment: 'A command does only what its key can do over HTTP, and it starts without loading the service.',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/(?!cli/|client/|engine/exact-json)' },
    },
    {
      name: 'service-knows-no-client',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(cli|client)/', '^src/posthorn\\.ts$'] },
      to: { path: '^src/(cli|client)/' },
    },
    {
      name: 'contracts-import-only-the-kernel',
      comment: 'A contract that imports nothing from its own context can never be part of a cycle.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/[^/]*contract\\.ts$' },
      to: { path: '^src/(?!kernel/|engine/)', pathNot: '^src/modules/$1/[^/]*contract\\.ts$' },
    },
    {
      name: 'contexts-meet-at-exports',
      comment: 'A context uses the contract files of another context and the providers that its module exports.',
      severity: 'error',
      from: { path: HERE, pathNot: '\\.module\\.ts$' },
      to: { path: '^src/modules/(?!$1/)', pathNot: ['[/.]contract(\\.dto)?\\.ts$', '\\.entities\\.ts$', EXPORTED] },
    },
    {
      name: 'rows-of-other-contexts-are-types',
      comment:
        "A store whose SQL reads another context's table takes the type of its rows from that context's entity. " +
        'Without the class it cannot get a repository, so every other use goes through the contract.',
      severity: 'error',
      from: { path: HERE },
      to: { path: '^src/modules/(?!$1/)[^/]+/[^/]+\\.entities\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'rows-are-read-in-stores',
      comment: "Other code of a context knows another context's data by its contract, not by its tables.",
      severity: 'error',
      from: { path: HERE, pathNot: '\\.(store|entities)\\.ts$' },
      to: { path: '^src/modules/(?!$1/)[^/]+/[^/]+\\.entities\\.ts$' },
    },
    {
      name: 'modules-import-modules',
      comment: "Only the module file of a context may import another context's module.",
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/[^/]+\\.module\\.ts$' },
      to: { path: '^src/modules/(?!$1/)', pathNot: ['(\\.module|[/.]contract)\\.ts$', EXPORTED] },
    },
    {
      name: 'adapters-know-only-contracts',
      severity: 'error',
      from: { path: '^src/adapters/' },
      to: { path: '^src/(?!adapters/|kernel/|engine/|egress/|modules/[^/]+/contract\\.ts$)' },
    },
    {
      name: 'nobody-imports-the-composition-root',
      comment: 'This includes the code for extensions only: their public API and their test kit.',
      severity: 'error',
      from: { path: '^src/.+/', pathNot: '^src/(bootstrap|programs|testing)/' },
      to: { path: '^src/([^/]+\\.ts$|bootstrap/|programs/|extension/index\\.ts$|testing/)' },
    },
    {
      name: 'sql-lives-in-stores',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '\\.(store|entities|module)\\.ts$',
          '^src/kernel/(database/(connection|database|joined-data-source|pipelined-transaction|planned-pool|tenant-repository)|kernel\\.module|concurrency/queue)(\\.spec)?\\.ts$',
          '^src/bootstrap/(data-source|migrate|embedded|extensions)(\\.spec)?\\.ts$',
          '^src/extension/declaration\\.ts$',
          '^src/bootstrap/embedded/',
        ],
      },
      to: { path: '(^|node_modules/)(typeorm|pg)(/|$)' },
    },
    {
      name: 'queues-live-in-queues',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['\\.(queue|processor|module)(\\.spec)?\\.ts$', '^src/kernel/concurrency/queue\\.ts$'],
      },
      to: { path: '(^|node_modules/)(bullmq|@nestjs/bullmq)(/|$)' },
    },
    {
      name: 'extensions-use-the-public-face',
      comment: 'Extensions may import only the exports of package.json: everything behind them may change.',
      severity: 'error',
      from: { path: '^(ee|examples)/' },
      to: { path: '^(src|migrations|dist)/', pathNot: '^src/(extension|testing)/index\\.ts$' },
    },
    {
      name: 'console-kit-knows-no-words',
      comment: 'Tables, dialogs and times are generic: they know nothing about the data that they show.',
      severity: 'error',
      from: { path: '^console/src/kit/' },
      to: { path: '^console/src/(?!kit/)' },
    },
    {
      name: 'console-api-stands-alone',
      comment: 'Only this folder calls the service; it uses the types of the client.',
      severity: 'error',
      from: { path: '^console/src/api/' },
      to: { path: '^(console/src/(?!api/)|src/(?!client/openapi\\.ts$))' },
    },
    {
      name: 'console-session-knows-no-screen',
      severity: 'error',
      from: { path: '^console/src/session/' },
      to: { path: '^console/src/(?!session/|api/|kit/)' },
    },
    {
      name: 'console-features-meet-through-links',
      severity: 'error',
      from: { path: '^console/src/(?!app/|api/|kit/|session/)([^/]+)/' },
      to: { path: '^console/src/(?!$1/|api/|kit/|session/)' },
    },
    {
      name: 'console-and-service-meet-at-the-api',
      comment: 'Data that the API does not give to the console is not available to any other client either.',
      severity: 'error',
      from: { path: '^console/', pathNot: '^console/src/api/' },
      to: { path: '^(src|migrations|dist|test)/' },
    },
    {
      name: 'service-knows-no-console',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^console/' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          '^src/engine/',
          '\\.dto\\.ts$',
          '\\.entities\\.ts$',
          'openapi\\.ts$',
          '^console/src/app/(console|portal)\\.tsx$',
          '^console/src/embed/',
          '\\.spec\\.ts$',
        ],
      },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['source', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js'],
    },
  },
};
