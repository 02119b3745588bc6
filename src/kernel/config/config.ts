import { inspect } from 'node:util';
import type { AwsCredentials } from './aws-credentials.js';
import { type BlobPlace, parseBlobStore } from './blob-store.js';
import type { RateLimit } from './config-values.js';
import {
  ConfigError,
  ConfigReader,
  isAddress,
  isCidr,
  isDnsServer,
  isHostName,
  isOrigin,
  parseMasterKey,
  withoutCredentials,
} from './config-values.js';
import { type EmailTransport, parseEmailTransport } from './email-transport.js';
import { type OidcProvider, readOidc, SIGNING_ALGORITHMS } from './oidc-provider.js';

export { ConfigError };
export type { RateLimit };

/** Which part of the service this process runs. */
export type Role = (typeof ROLES)[number];

/** A level of pino; `silent` writes nothing. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A sampler of OpenTelemetry, as its specification names it. */
export type SamplerName = (typeof SAMPLERS)[number];

/** The plain values of a `Config`. */
export type ConfigFields = Omit<
  Config,
  | 'baseUrl'
  | 'basePath'
  | 'databaseUrl'
  | 'databaseDirectUrl'
  | 'isPooled'
  | 'masterKey'
  | 'isEmbedded'
  | 'isApi'
  | 'isWorker'
  | 'isListener'
  | 'listensOn'
  | 'alsoListensOn'
  | 'listeningPorts'
  | 'completedWith'
  | 'toJSON'
  | typeof inspect.custom
>;

const ROLES = ['api', 'worker', 'smtp', 'all'] as const;
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
/** Mechanisms without a qualifier: what sends, is allowed to (RFC 7208, section 5). */
const SPF_TERMS =
  /^(?:(?:include|a|mx|ip4|ip6|exists)(?:[:/][A-Za-z0-9.:/_%{}-]+)?)(?: +(?:include|a|mx|ip4|ip6|exists)(?:[:/][A-Za-z0-9.:/_%{}-]+)?)*$/;
const TOPIC_ARN = /^arn:aws(?:-[a-z]+)*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const SECRETS: ReadonlySet<string> = new Set<keyof ConfigFields>([
  'configuredDatabaseUrl',
  'configuredDatabaseDirectUrl',
  'configuredMasterKey',
  'redisUrl',
  'bootstrapApiKey',
  'metricsToken',
  'emailTransport',
  'blobStore',
  'oidc',
  'operatorKey',
]);

/**
 * The configuration of one process: checked once at start, frozen, injected by class.
 *
 * Printing it (console.log, inspect, JSON.stringify) shows `[secret]` in place of a secret.
 */
export class Config {
  /** PORT: where the API listens; 0 takes a free port. */
  declare readonly port: number;
  /** HOST: the address the listeners bind to. Loopback when PostgreSQL is embedded (a laptop), else every interface. */
  declare readonly host: string;
  /** BASE_URL without a trailing slash; `null` means `baseUrl` follows the port. */
  declare readonly configuredBaseUrl: string | null;
  /** DATA_DIR as given, perhaps relative: the embedded database, its password and the master key live there. */
  declare readonly dataDir: string;
  /** DATABASE_URL; `null` means that PostgreSQL is to be embedded. Secret. */
  declare readonly configuredDatabaseUrl: string | null;
  /** DATABASE_DIRECT_URL: the same database past the pooler that DATABASE_URL leads to; `null` means that there is none. Secret. */
  declare readonly configuredDatabaseDirectUrl: string | null;
  /** REDIS_URL: where queues and rate limits live; `null` keeps them in PostgreSQL. Secret. */
  declare readonly redisUrl: string | null;
  /** ROLE. */
  declare readonly role: Role;
  /** PROCESSES: how many of them share the ports; `auto` is as many as the machine has cores and memory for. */
  declare readonly processes: number | 'auto';
  /** MASTER_KEY, 32 bytes; `null` only when PostgreSQL is embedded. Secret. */
  declare readonly configuredMasterKey: Buffer | null;
  /** BOOTSTRAP_API_KEY: made an admin key of the first organization when it does not exist yet. Secret. */
  declare readonly bootstrapApiKey: string | null;
  /** PLATFORM_DOMAIN in lower case: the ingest host. */
  declare readonly platformDomain: string;
  /** PLATFORM_ADDRESSES: the public addresses of this installation, which its zone shows and its mail leaves from. */
  declare readonly platformAddresses: readonly string[];
  /** PLATFORM_SPF: more terms of SPF for what sends the platform's mail; `null` means none. */
  declare readonly platformSpf: string | null;
  /** DNS_PORT: where the platform's zone is served; `null` means nowhere, 0 a free port. */
  declare readonly dnsPort: number | null;
  /** EGRESS_ALLOW_CIDRS: networks that the SSRF gate lets through although they are private. */
  declare readonly egressAllowCidrs: readonly string[];
  /** EGRESS_ALLOW_HTTP: whether targets may use plain `http:`. */
  declare readonly egressAllowHttp: boolean;
  /** DNS_SERVERS: name servers (address, or address:port) for what callers name; empty means those of /etc/resolv.conf. */
  declare readonly dnsServers: readonly string[];
  /** TRUST_PROXY: networks of balancers and proxies whose `X-Forwarded-For`, `-Proto` and `-Host` count; empty means nobody's. */
  declare readonly trustProxy: readonly string[];
  /** MCP_ALLOWED_ORIGINS: origins of web pages that may call /mcp besides our own. */
  declare readonly mcpAllowedOrigins: readonly string[];
  /** MCP_ALLOWED_HOSTS: host names under which /mcp is served besides that of BASE_URL; empty means any. */
  declare readonly mcpAllowedHosts: readonly string[];
  /** CONSOLE: whether the API serves the console. */
  declare readonly hasConsole: boolean;
  /** OAUTH_REDIRECT_SCHEMES: private schemes of URIs that clients of OAuth may register, as programs on people's computers do. */
  declare readonly oauthRedirectSchemes: readonly string[];
  /** RATE_LIMIT_KEY: the quota of one API key; `null` means none. */
  declare readonly rateLimitKey: RateLimit | null;
  /** RATE_LIMIT_ORG: the quota of all keys of one organization; `null` means none. */
  declare readonly rateLimitOrg: RateLimit | null;
  /** RATE_LIMIT_PORTAL: the quota of one session of a customers' portal; `null` means none. */
  declare readonly rateLimitPortal: RateLimit | null;
  /** RATE_LIMIT_REGISTRATION: the clients of OAuth that one network may register; `null` means any number. */
  declare readonly rateLimitRegistration: RateLimit | null;
  /** PORTAL_ENDPOINTS_MAX: how many endpoints an application may have for its customer to add one in the portal. */
  declare readonly portalEndpointsMax: number;
  /** IDEMPOTENCY_TTL: how long the answer to an Idempotency-Key is kept. */
  declare readonly idempotencyTtlMs: number;
  /** LOG_LEVEL. */
  declare readonly logLevel: LogLevel;
  /** METRICS_TOKEN: the bearer token that `GET /metrics` asks for on the API's port. Secret. */
  declare readonly metricsToken: string | null;
  /** METRICS_PORT: a port of its own for `/metrics`; `null` means none, 0 a free one. */
  declare readonly metricsPort: number | null;
  /** OTEL_EXPORTER_OTLP_ENDPOINT: where traces go; `null` switches tracing off. */
  declare readonly otlpEndpoint: string | null;
  /** OTEL_TRACES_SAMPLER: which traces are recorded. */
  declare readonly traceSampler: SamplerName;
  /** OTEL_TRACES_SAMPLER_ARG: the share of them for the samplers that take one. */
  declare readonly traceSamplerRatio: number;
  /** OTEL_RESOURCE_ATTRIBUTES, with OTEL_SERVICE_NAME as `service.name`: what every span says of this process. */
  declare readonly traceResource: Readonly<Record<string, string>>;
  /** EXTENSIONS: package names or paths of Nest modules, in the order of loading. */
  declare readonly extensions: readonly string[];
  /** SHUTDOWN_GRACE: how long a process that is to stop goes on serving, so that balancers notice; the drain follows. */
  declare readonly shutdownGraceMs: number;
  /** SHUTDOWN_TIMEOUT: how long a drain may take before the process leaves anyway. */
  declare readonly shutdownTimeoutMs: number;
  /** DELIVERY_CONCURRENCY: deliveries that one worker process has in flight at most. */
  declare readonly deliveryConcurrency: number;
  /** DATABASE_POOL_SIZE: connections that one process opens at most in its main pool. */
  declare readonly databasePoolSize: number;
  /**
   * RECONCILE: whether the dispatcher sweeps for due rows. Only the negative controls of the
   * durability tests switch it off: without the sweep, whatever the queue forgot stays undelivered.
   */
  declare readonly reconcile: boolean;
  /** EXPERIMENTAL_DESTINATIONS: destination types that are offered although they are not finished. */
  declare readonly experimentalDestinations: readonly string[];

  /** SMTP_PORT: where mail is received, when ROLE is smtp or all; `null` means nowhere, 0 a free port. */
  declare readonly smtpPort: number | null;
  /** Whether somebody wants mail on that very port: one that is nobody's choice may be taken, by another process of this service say. */
  declare readonly isSmtpPortAsked: boolean;
  /** SMTP_NAME in lower case: what the listener calls itself; `null` means the mail host of PLATFORM_DOMAIN. */
  declare readonly smtpName: string | null;
  /** SMTP_TLS_CERT and SMTP_TLS_KEY: the files of the listener's certificate, with its chain, and of its key; `null` means that there is no STARTTLS. */
  declare readonly smtpTls: { certFile: string; keyFile: string } | null;
  /** SMTP_TRUST_PROXY: networks of balancers that begin each connection with a PROXY header (version 1); empty means nobody's. */
  declare readonly smtpTrustProxy: readonly string[];
  /** EMAIL_TRANSPORT, with AWS_ACCESS_KEY_ID and its like for SES: how mail leaves. Secret, for its login. */
  declare readonly emailTransport: EmailTransport;
  /** BLOB_STORE, with AWS_ACCESS_KEY_ID and its like for a bucket: where raw messages and attachments are kept. Secret, for its credentials. */
  declare readonly blobStore: BlobPlace;
  /** SES_TOPICS: ARNs of the SNS topics that Amazon SES tells us by; empty means that nobody is listened to. */
  declare readonly sesTopics: readonly string[];
  /** SIGN_IN_MAIL_FROM: who mails the codes of the sign-in; `null` means `sign-in@PLATFORM_DOMAIN`. */
  declare readonly signInMailFrom: string | null;
  /** OIDC_*: the identity provider of the installation; `null` means none. Its client secret is secret. */
  declare readonly oidc: OidcProvider | null;
  /** OPERATOR_KEY: what the operator's own calls carry; `null` switches them off. Secret. */
  declare readonly operatorKey: string | null;
  /** AUDIT_RETENTION_DAYS: how long the audit log is kept. */
  declare readonly auditRetentionDays: number;
  /** SMTP_ANSWER_TIMEOUT: how long to wait for one reply of a mail server when sending. It caps the time-outs of RFC 5321. */
  declare readonly smtpAnswerMsMax: number;
  /** BOUNCE_SUPPRESSION_DAYS: how long a bounce suppresses its address; `null` means until the suppression is removed. */
  declare readonly bounceSuppressionDays: number | null;
  /** MAIL_DNS_RETRY: how long a received message waits for name servers that do not answer. */
  declare readonly mailDnsRetryMs: number;
  /** RSPAMD_URL: the rspamd that judges received mail (its normal worker); `null` means none. */
  declare readonly rspamdUrl: string | null;
  /** CLAMD_ADDRESS: host and port of the clamd that looks for viruses in received mail; `null` means none. */
  declare readonly clamdAddress: string | null;

  #listeningPort: number | null = null;
  readonly #listeningPorts = new Set<number>();

  constructor(fields: ConfigFields) {
    Object.assign(this, fields);
    Object.freeze(this);
  }

  /** Whether this process takes what endpoints receive. */
  get isApi(): boolean {
    return this.role === 'api' || this.role === 'all';
  }

  /** Whether this process delivers, and does what has to be done now and then. */
  get isWorker(): boolean {
    return this.role === 'worker' || this.role === 'all';
  }

  /** Whether this process receives mail. */
  get isListener(): boolean {
    return (this.role === 'smtp' || this.role === 'all') && this.smtpPort !== null;
  }

  /** The public address of the API without a trailing slash. */
  get baseUrl(): string {
    return this.configuredBaseUrl ?? `http://localhost:${this.#listeningPort ?? this.port}`;
  }

  /** The path of BASE_URL without a trailing slash; empty when the service has its host for itself. */
  get basePath(): string {
    return new URL(this.baseUrl).pathname.replace(/\/+$/, '');
  }

  /** Whether PostgreSQL is to be started under `dataDir`. */
  get isEmbedded(): boolean {
    return this.configuredDatabaseUrl === null;
  }

  /** The database: DATABASE_URL or the embedded server. Throws before `completedWith` when embedded. Secret. */
  get databaseUrl(): string {
    if (this.configuredDatabaseUrl === null) throw new Error('The embedded PostgreSQL is not started yet.');
    return this.configuredDatabaseUrl;
  }

  /** For what needs a session of its own: LISTEN, migrations, session locks, the queues. Secret. */
  get databaseDirectUrl(): string {
    return this.configuredDatabaseDirectUrl ?? this.databaseUrl;
  }

  /** Whether DATABASE_URL leads to a pooler, where every transaction may meet another session. */
  get isPooled(): boolean {
    return this.databaseDirectUrl !== this.databaseUrl;
  }

  /** The 32 bytes that wrap every data key. Throws before `completedWith` when embedded without MASTER_KEY. Secret. */
  get masterKey(): Buffer {
    if (this.configuredMasterKey === null) throw new Error('The master key is not provided yet.');
    return this.configuredMasterKey;
  }

  /** Tells the port that PORT=0 became, so that `baseUrl` is right; called once, after listening. */
  listensOn(port: number): void {
    this.#listeningPort = port;
    this.#listeningPorts.add(port);
  }

  /** Tells a port that this process, or a server that it started, listens on besides. */
  alsoListensOn(port: number): void {
    this.#listeningPorts.add(port);
  }

  /** Every port that is known to be our own: nothing is delivered to them. */
  get listeningPorts(): readonly number[] {
    return [...this.#listeningPorts];
  }

  /** The same configuration with what an embedded start finds out: where the database is, and the key. */
  completedWith(databaseUrl: string, masterKey: Buffer): Config {
    return new Config({ ...this, configuredDatabaseUrl: databaseUrl, configuredMasterKey: masterKey });
  }

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(this).map(([name, value]) => [
        name,
        SECRETS.has(name) && value !== null
          ? '[secret]'
          : typeof value === 'string'
            ? withoutCredentials(value)
            : (value as unknown),
      ]),
    );
  }

  [inspect.custom](): Record<string, unknown> {
    return this.toJSON();
  }
}

/**
 * Checks the environment and gives it types. Pure over its argument; unknown variables are
 * ignored, empty ones count as not set.
 *
 * @throws ConfigError for the first variable that can't be used.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const read = new ConfigReader(env);
  const databaseUrl = read.secretUrl('DATABASE_URL', ['postgres:', 'postgresql:']);
  return new Config({
    ...readListeners(read, databaseUrl !== null),
    ...readLimits(read),
    ...readSmtp(read),
    configuredDatabaseUrl: databaseUrl,
    configuredDatabaseDirectUrl: readDirectUrl(read, databaseUrl !== null),
    configuredMasterKey: readMasterKey(read, databaseUrl !== null),
    redisUrl: read.secretUrl('REDIS_URL', ['redis:', 'rediss:']),
    dataDir: read.text('DATA_DIR') ?? '.posthorn',
    role: readRole(read),
    processes: readProcesses(read),
    bootstrapApiKey: readBootstrapApiKey(read),
    platformDomain: readPlatformDomain(read),
    platformAddresses: read.listOf('PLATFORM_ADDRESSES', isAddress, 'a comma-separated list of IP addresses'),
    platformSpf: read.matching(
      'PLATFORM_SPF',
      SPF_TERMS,
      'terms of SPF such as include:amazonses.com, with spaces between them',
    ),
    dnsPort: readDnsPort(read),
    egressAllowCidrs: read.listOf(
      'EGRESS_ALLOW_CIDRS',
      isCidr,
      'a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8',
    ),
    egressAllowHttp: read.flag('EGRESS_ALLOW_HTTP') ?? false,
    dnsServers: read.listOf(
      'DNS_SERVERS',
      isDnsServer,
      'a comma-separated list of IP addresses, each with an optional :port',
    ),
    hasConsole: read.oneOf('CONSOLE', ['on', 'off']) !== 'off',
    mcpAllowedOrigins: read.listOf(
      'MCP_ALLOWED_ORIGINS',
      isOrigin,
      'a comma-separated list of origins such as https://agents.example.com',
    ),
    mcpAllowedHosts: read.listOf(
      'MCP_ALLOWED_HOSTS',
      isHostName,
      'a comma-separated list of host names such as hooks.example.com',
    ),
    oauthRedirectSchemes: readRedirectSchemes(read),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS) ?? 'info',
    ...readTracing(read),
    otlpEndpoint: read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'], false)?.href ?? null,
    extensions: read.list('EXTENSIONS'),
    reconcile: read.flag('RECONCILE') ?? true,
    experimentalDestinations: read.list('EXPERIMENTAL_DESTINATIONS'),
    emailTransport: readEmailTransport(read),
    blobStore: parseBlobStore(read.text('BLOB_STORE'), readAwsCredentials(read)),
    sesTopics: read.listOf(
      'SES_TOPICS',
      (arn) => TOPIC_ARN.test(arn),
      'a comma-separated list of ARNs such as arn:aws:sns:eu-west-1:123456789012:mail',
    ),
    ...readAccess(read),
    smtpAnswerMsMax: read.durationMs('SMTP_ANSWER_TIMEOUT', '1s', '10m') ?? 600_000,
    bounceSuppressionDays: read.wholeNumber('BOUNCE_SUPPRESSION_DAYS', 1, 3650),
    mailDnsRetryMs: read.durationMs('MAIL_DNS_RETRY', '0s', '1h') ?? 300_000,
    rspamdUrl: read.url('RSPAMD_URL', ['http:', 'https:'], false)?.href ?? null,
    clamdAddress: read.matching('CLAMD_ADDRESS', CLAMD_ADDRESS, 'a host and a port such as clamd:3310 or [::1]:3310'),
  });
}

const CLAMD_ADDRESS = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[1-9]\d{0,4}$/;

type ListenerFields = Pick<
  ConfigFields,
  'port' | 'host' | 'configuredBaseUrl' | 'trustProxy' | 'metricsPort' | 'metricsToken'
>;

function readListeners(read: ConfigReader, isExternal: boolean): ListenerFields {
  const port = read.wholeNumber('PORT', 0, 65535) ?? 3000;
  const metricsPort = read.wholeNumber('METRICS_PORT', 0, 65535);
  if (metricsPort !== null && metricsPort !== 0 && metricsPort === port) {
    throw new ConfigError(`METRICS_PORT must differ from PORT, which is ${port} too.`);
  }
  return {
    port,
    metricsPort,
    metricsToken: read.secret('METRICS_TOKEN'),
    host:
      read.matching('HOST', /^[A-Za-z0-9.:_-]+$/, 'an IP address or a host name') ??
      (isExternal ? '0.0.0.0' : '127.0.0.1'),
    configuredBaseUrl: readBaseUrl(read),
    trustProxy: read.listOf('TRUST_PROXY', isCidr, 'a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8'),
  };
}

type LimitFields = Pick<
  ConfigFields,
  | 'rateLimitKey'
  | 'rateLimitOrg'
  | 'rateLimitPortal'
  | 'rateLimitRegistration'
  | 'portalEndpointsMax'
  | 'idempotencyTtlMs'
  | 'shutdownGraceMs'
  | 'shutdownTimeoutMs'
  | 'deliveryConcurrency'
  | 'databasePoolSize'
>;

function readLimits(read: ConfigReader): LimitFields {
  const keyLimit = read.rateLimit('RATE_LIMIT_KEY');
  const orgLimit = read.rateLimit('RATE_LIMIT_ORG');
  const portalLimit = read.rateLimit('RATE_LIMIT_PORTAL');
  const registrationLimit = read.rateLimit('RATE_LIMIT_REGISTRATION');
  return {
    rateLimitKey: keyLimit === undefined ? { count: 6000, periodMs: 60_000 } : keyLimit,
    rateLimitOrg: orgLimit === undefined ? { count: 12_000, periodMs: 60_000 } : orgLimit,
    rateLimitPortal: portalLimit === undefined ? { count: 600, periodMs: 60_000 } : portalLimit,
    rateLimitRegistration: registrationLimit === undefined ? { count: 10, periodMs: 3_600_000 } : registrationLimit,
    portalEndpointsMax: read.wholeNumber('PORTAL_ENDPOINTS_MAX', 1, 1000) ?? 50,
    idempotencyTtlMs: read.durationMs('IDEMPOTENCY_TTL', '1m', '720h') ?? 86_400_000,
    shutdownGraceMs: read.durationMs('SHUTDOWN_GRACE', '0s', '5m') ?? 5_000,
    shutdownTimeoutMs: read.durationMs('SHUTDOWN_TIMEOUT', '1s', '1h') ?? 30_000,
    deliveryConcurrency: read.wholeNumber('DELIVERY_CONCURRENCY', 1, 100_000) ?? 1024,
    databasePoolSize: read.wholeNumber('DATABASE_POOL_SIZE', 1, 1000) ?? 10,
  };
}

/** Who may come in beside the keys, and how long it is known who did what. */
function readAccess(
  read: ConfigReader,
): Pick<ConfigFields, 'signInMailFrom' | 'oidc' | 'operatorKey' | 'auditRetentionDays'> {
  const operatorKey = read.text('OPERATOR_KEY');
  if (operatorKey !== null && !/^[\x21-\x7e]{32,200}$/.test(operatorKey)) {
    throw new ConfigError(
      'OPERATOR_KEY must be 32 to 200 printable characters without spaces: `openssl rand -base64 32` makes one.',
    );
  }
  if (operatorKey?.startsWith('ek_') === true)
    throw new ConfigError('OPERATOR_KEY must not begin with ek_, as the keys of organizations do.');
  return {
    operatorKey,
    signInMailFrom: read.matching(
      'SIGN_IN_MAIL_FROM',
      /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/,
      'an address such as sign-in@hooks.example.com',
    ),
    auditRetentionDays: read.wholeNumber('AUDIT_RETENTION_DAYS', 1, 3650) ?? 365,
    oidc: readOidc({
      issuer: read.url('OIDC_ISSUER', ['https:', 'http:'], false),
      clientId: read.text('OIDC_CLIENT_ID'),
      clientSecret: read.secret('OIDC_CLIENT_SECRET'),
      groupsClaim: read.matching('OIDC_GROUPS_CLAIM', /^[\w.:/-]{1,100}$/, 'the name of a claim such as groups'),
      roles: read.list('OIDC_ROLES'),
      domains: read.list('OIDC_DOMAINS'),
      trustsEmail: read.flag('OIDC_TRUST_EMAIL') ?? false,
      signingAlgorithms: read.listOf(
        'OIDC_SIGNING_ALGORITHMS',
        (name) => SIGNING_ALGORITHMS.has(name),
        'a comma-separated list of signatures with a public key such as RS256,ES256',
      ),
      organization: read.text('OIDC_ORGANIZATION'),
    }),
  };
}

/** OpenTelemetry's own names and defaults. */
function readTracing(read: ConfigReader): Pick<ConfigFields, 'traceSampler' | 'traceSamplerRatio' | 'traceResource'> {
  const name = read.text('OTEL_SERVICE_NAME');
  return {
    traceSampler: read.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS) ?? 'parentbased_always_on',
    traceSamplerRatio: Number(
      read.matching('OTEL_TRACES_SAMPLER_ARG', /^(?:0(?:\.\d+)?|1(?:\.0+)?|\.\d+)$/, 'a number from 0 to 1') ?? 1,
    ),
    traceResource: {
      'service.name': 'posthorn',
      ...read.attributes('OTEL_RESOURCE_ATTRIBUTES'),
      ...(name !== null && { 'service.name': name }),
    },
  };
}

type SmtpFields = Pick<ConfigFields, 'smtpPort' | 'isSmtpPortAsked' | 'smtpName' | 'smtpTls' | 'smtpTrustProxy'>;

function readSmtp(read: ConfigReader): SmtpFields {
  const isOff = read.text('SMTP_PORT') === 'off';
  if (isOff && read.text('ROLE') === 'smtp')
    throw new ConfigError('SMTP_PORT must not be off where ROLE is smtp: there would be nothing to do.');
  const certFile = read.text('SMTP_TLS_CERT');
  const keyFile = read.text('SMTP_TLS_KEY');
  if ((certFile === null) !== (keyFile === null))
    throw new ConfigError('SMTP_TLS_CERT goes with SMTP_TLS_KEY: set both, or neither.');
  return {
    // Whoever does not mind where the API is does not mind here either: several can run side by side then.
    smtpPort: isOff ? null : (read.wholeNumber('SMTP_PORT', 0, 65535) ?? (read.text('PORT') === '0' ? 0 : 2525)),
    isSmtpPortAsked: read.text('SMTP_PORT') !== null || read.text('ROLE') === 'smtp',
    smtpName: read.matching('SMTP_NAME', HOST_NAME, 'a host name such as mx.example.com')?.toLowerCase() ?? null,
    smtpTls: certFile === null || keyFile === null ? null : { certFile, keyFile },
    smtpTrustProxy: read.listOf(
      'SMTP_TRUST_PROXY',
      isCidr,
      'a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8',
    ),
  };
}

function readRole(read: ConfigReader): Role {
  return read.oneOf('ROLE', ROLES) ?? 'all';
}

function readProcesses(read: ConfigReader): number | 'auto' {
  const value =
    read.matching('PROCESSES', /^(?:auto|[1-9]|[1-5]\d|6[0-4])$/, '`auto` or a whole number from 1 to 64') ?? '1';
  return value === 'auto' ? 'auto' : Number(value);
}

function readBaseUrl(read: ConfigReader): string | null {
  const url = read.url('BASE_URL', ['http:', 'https:'], false);
  if (url === null) return null;
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new ConfigError(
      'BASE_URL must be a URL without credentials, query and fragment, such as https://hooks.example.com.',
    );
  }
  return url.href.replace(/\/+$/, '');
}

function readRedirectSchemes(read: ConfigReader): string[] {
  const isScheme = (text: string): boolean =>
    /^[a-z][a-z0-9+.-]*$/.test(text) && !['http', 'https', 'javascript', 'data', 'file'].includes(text);
  const listed = read.listOf(
    'OAUTH_REDIRECT_SCHEMES',
    isScheme,
    'a comma-separated list of private schemes such as cursor,vscode',
  );
  return listed.length > 0 ? listed : ['cursor', 'vscode', 'vscode-insiders'];
}

/** Creates what docker-compose.yml refuses to start without; test/architecture compares it with the file. */
export const CREATE_SECRETS =
  '(printf MASTER_KEY=; openssl rand -base64 32; printf POSTGRES_PASSWORD=; openssl rand -hex 24) >> .env';

function readMasterKey(read: ConfigReader, isExternal: boolean): Buffer | null {
  const expected = '32 bytes in base64 or hex (`openssl rand -base64 32` makes one)';
  const value = read.text('MASTER_KEY');
  if (value === null) {
    // A generated key would differ between machines that share the database.
    if (isExternal)
      throw new ConfigError(
        `MASTER_KEY is required when DATABASE_URL is set: ${expected}. For docker compose: ${CREATE_SECRETS}`,
      );
    return null;
  }
  const key = parseMasterKey(value);
  if (key === null)
    throw new ConfigError(`MASTER_KEY must be ${expected}; the given value has ${value.length} characters.`);
  return key;
}

function readDirectUrl(read: ConfigReader, isExternal: boolean): string | null {
  const url = read.secretUrl('DATABASE_DIRECT_URL', ['postgres:', 'postgresql:']);
  if (url === null) return null;
  if (!isExternal) throw new ConfigError('DATABASE_DIRECT_URL goes with DATABASE_URL: set both, or neither.');
  return url;
}

function readBootstrapApiKey(read: ConfigReader): string | null {
  const value = read.text('BOOTSTRAP_API_KEY');
  if (value !== null && !/^ek_(live|test)_[A-Za-z0-9]{20,100}$/.test(value)) {
    throw new ConfigError('BOOTSTRAP_API_KEY must be ek_live_ or ek_test_ and 20 to 100 letters and digits after it.');
  }
  return value;
}

function readEmailTransport(read: ConfigReader): EmailTransport {
  const transport = parseEmailTransport(read.text('EMAIL_TRANSPORT'), readAwsCredentials(read));
  // Other servers look up what we call ourselves.
  if (transport.kind === 'direct' && !readPlatformDomain(read).includes('.'))
    throw new ConfigError('EMAIL_TRANSPORT=direct: needs PLATFORM_DOMAIN: the name that mail servers are told.');
  return transport;
}

/** Under the names that AWS's own tools read. */
function readAwsCredentials(read: ConfigReader): AwsCredentials | null {
  const [accessKeyId, secretAccessKey, sessionToken] = [
    read.secret('AWS_ACCESS_KEY_ID'),
    read.secret('AWS_SECRET_ACCESS_KEY'),
    read.secret('AWS_SESSION_TOKEN'),
  ];
  return accessKeyId === null || secretAccessKey === null
    ? null
    : { accessKeyId, secretAccessKey, ...(sessionToken !== null && { sessionToken }) };
}

function readDnsPort(read: ConfigReader): number | null {
  const port = read.wholeNumber('DNS_PORT', 0, 65535);
  if (port !== null && !readPlatformDomain(read).includes('.'))
    throw new ConfigError('DNS_PORT needs PLATFORM_DOMAIN: the domain whose zone is served.');
  return port;
}

function readPlatformDomain(read: ConfigReader): string {
  return (
    read.matching('PLATFORM_DOMAIN', HOST_NAME, 'a domain name such as hooks.example.com') ?? 'localhost'
  ).toLowerCase();
}
