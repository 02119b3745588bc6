import { inspect } from 'node:util';
import type { AwsCredentials } from './aws-credentials.js';
import { type BlobPlace, parseBlobStore } from './blob-store.js';
import type { RateLimit } from './config-values.js';
import {
  ConfigError,
  ConfigReader,
  HOST_NAME,
  isAddress,
  isCidr,
  isDnsServer,
  isHostName,
  isOrigin,
  LISTENING_HOST,
  LOOPBACK,
  parseMasterKey,
  withoutCredentials,
} from './config-values.js';
import { type EmailTransport, parseEmailTransport } from './email-transport.js';
import { readSmtp, readSubmission } from './mail-ports.js';
import { type OidcProvider, readOidc, SIGNING_ALGORITHMS } from './oidc-provider.js';

export { ConfigError };
export type { RateLimit };

export type Role = (typeof ROLES)[number];

export type LogLevel = (typeof LOG_LEVELS)[number];

export type SamplerName = (typeof SAMPLERS)[number];

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
  | 'takesSubmissions'
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
/** SPF terms that allow hosts to send mail: mechanisms without a qualifier (RFC 7208, section 5). */
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
 * The configuration of one process. It is validated once at start, frozen, and injected by class.
 *
 * Printing it (console.log, inspect, JSON.stringify) shows `[secret]` in place of a secret.
 */
export class Config {
  /** PORT: the port of the API. 0 selects a free port. */
  declare readonly port: number;
  /** HOST: address or name to listen on. Default: loopback if PostgreSQL is embedded, otherwise every interface. */
  declare readonly host: string;
  /** BASE_URL without a trailing slash. `null`: `baseUrl` is derived from the port. */
  declare readonly configuredBaseUrl: string | null;
  /** DATA_DIR as given, possibly relative: directory of the embedded database, its password and the master key. */
  declare readonly dataDir: string;
  /** DATABASE_URL. `null`: PostgreSQL runs embedded. Secret. */
  declare readonly configuredDatabaseUrl: string | null;
  /** DATABASE_DIRECT_URL: URL of the same database that bypasses its pooler. `null`: there is no pooler. Secret. */
  declare readonly configuredDatabaseDirectUrl: string | null;
  /** REDIS_URL, secret: Redis for queues and rate limits. `null`: queues in PostgreSQL, limits in each process. */
  declare readonly redisUrl: string | null;
  /** ROLE: the parts of the service that this process runs. */
  declare readonly role: Role;
  /**
   * PROCESSES: number of processes that share the ports. `auto` uses as many as the machine's cores and memory allow.
   */
  declare readonly processes: number | 'auto';
  /** MASTER_KEY, 32 bytes. `null` only if PostgreSQL is embedded. Secret. */
  declare readonly configuredMasterKey: Buffer | null;
  /** BOOTSTRAP_API_KEY: admin key of the first organization. A revoked key stays revoked. Secret. */
  declare readonly bootstrapApiKey: string | null;
  /** PLATFORM_DOMAIN in lower case: domain of the installation, which the DNS records of customers point to. */
  declare readonly platformDomain: string;
  /** PLATFORM_ADDRESSES: public IP addresses from which this installation sends mail. Its DNS zone lists them. */
  declare readonly platformAddresses: readonly string[];
  /** PLATFORM_SPF: additional SPF terms for hosts that send the platform's mail. `null`: none. */
  declare readonly platformSpf: string | null;
  /** DNS_PORT: the port of the platform's DNS zone. `null`: the zone is not served. 0 selects a free port. */
  declare readonly dnsPort: number | null;
  /** EGRESS_ALLOW_CIDRS: private networks that the egress policy (SSRF protection) allows. */
  declare readonly egressAllowCidrs: readonly string[];
  /** EGRESS_ALLOW_HTTP: whether targets may use plain `http:`. */
  declare readonly egressAllowHttp: boolean;
  /** DNS_SERVERS: name servers that resolve the host names supplied by callers. Empty: those of /etc/resolv.conf. */
  declare readonly dnsServers: readonly string[];
  /** TRUST_PROXY: networks whose `X-Forwarded-For`, `-Proto` and `-Host` are trusted. Empty: none. */
  declare readonly trustProxy: readonly string[];
  /** MCP_ALLOWED_ORIGINS: web origins that may call /mcp in addition to Posthorn's own. */
  declare readonly mcpAllowedOrigins: readonly string[];
  /** MCP_ALLOWED_HOSTS: host names that serve /mcp in addition to the host of BASE_URL. Empty: any host. */
  declare readonly mcpAllowedHosts: readonly string[];
  /** CONSOLE: whether the API serves the console. */
  declare readonly hasConsole: boolean;
  /**
   * OAUTH_REDIRECT_SCHEMES: private URI schemes that OAuth clients may register for redirects, as desktop programs do.
   */
  declare readonly oauthRedirectSchemes: readonly string[];
  /** RATE_LIMIT_KEY: rate limit of one API key. `null`: unlimited. */
  declare readonly rateLimitKey: RateLimit | null;
  /** RATE_LIMIT_ORG: rate limit of all keys of one organization together. `null`: unlimited. */
  declare readonly rateLimitOrg: RateLimit | null;
  /** RATE_LIMIT_PORTAL: rate limit of one customer portal session. `null`: unlimited. */
  declare readonly rateLimitPortal: RateLimit | null;
  /** RATE_LIMIT_REGISTRATION: limit for OAuth client registrations from one network. `null`: unlimited. */
  declare readonly rateLimitRegistration: RateLimit | null;
  /** PORTAL_ENDPOINTS_MAX: once an application has this many endpoints, its customer cannot add another one. */
  declare readonly portalEndpointsMax: number;
  /** IDEMPOTENCY_TTL: how long the response to an Idempotency-Key is kept. */
  declare readonly idempotencyTtlMs: number;
  /** LOG_LEVEL: minimum level of logged entries. */
  declare readonly logLevel: LogLevel;
  /** METRICS_TOKEN: bearer token that `GET /metrics` requires on the API's port. Secret. */
  declare readonly metricsToken: string | null;
  /** METRICS_PORT: a separate port for `/metrics`. `null`: none. 0 selects a free port. */
  declare readonly metricsPort: number | null;
  /** OTEL_EXPORTER_OTLP_ENDPOINT: destination of traces. `null`: tracing is off. */
  declare readonly otlpEndpoint: string | null;
  /** OTEL_TRACES_SAMPLER: decides which traces are recorded. */
  declare readonly traceSampler: SamplerName;
  /** OTEL_TRACES_SAMPLER_ARG: sampling ratio for the samplers that have one. */
  declare readonly traceSamplerRatio: number;
  /** OTEL_RESOURCE_ATTRIBUTES, plus OTEL_SERVICE_NAME as `service.name`: attributes of every span of this process. */
  declare readonly traceResource: Readonly<Record<string, string>>;
  /** EXTENSIONS: package names or paths of Nest modules, in load order. */
  declare readonly extensions: readonly string[];
  /**
   * SHUTDOWN_GRACE: how long a stopping process continues to serve, so that load balancers notice the stop. The drain
   * follows.
   */
  declare readonly shutdownGraceMs: number;
  /** SHUTDOWN_TIMEOUT: how long a drain may take before the process exits anyway. */
  declare readonly shutdownTimeoutMs: number;
  /** DELIVERY_CONCURRENCY: maximum number of deliveries in flight in one worker process. */
  declare readonly deliveryConcurrency: number;
  /** DATABASE_POOL_SIZE: maximum number of connections in the main pool of one process. */
  declare readonly databasePoolSize: number;
  /**
   * RECONCILE: whether the dispatcher searches the database for due deliveries. Only the durability tests turn it off,
   * to show that deliveries lost by the queue stay undelivered without this search.
   */
  declare readonly reconcile: boolean;
  /** EXPERIMENTAL_DESTINATIONS: unfinished destination types that are offered anyway. */
  declare readonly experimentalDestinations: readonly string[];

  /**
   * SMTP_PORT: the port that receives mail if ROLE is smtp or all. `null`: mail is not received. 0 selects a free port.
   */
  declare readonly smtpPort: number | null;
  /** Whether the operator set SMTP_PORT. Only then is it an error if another process already uses the port. */
  declare readonly isSmtpPortAsked: boolean;
  /** SMTP_NAME in lower case: host name that the listener announces. `null`: the mail host of PLATFORM_DOMAIN. */
  declare readonly smtpName: string | null;
  /**
   * SMTP_TLS_CERT and SMTP_TLS_KEY: files of the listener's certificate chain and key. `null`: STARTTLS is not offered.
   */
  declare readonly smtpTls: { certFile: string; keyFile: string } | null;
  /** SMTP_TRUST_PROXY: networks that start each connection with a PROXY header (version 1). Empty: none. */
  declare readonly smtpTrustProxy: readonly string[];
  /** SUBMISSION_PORT: the port on which mail clients submit emails with STARTTLS. `null`: none. 0 selects a free port. */
  declare readonly submissionPort: number | null;
  /** Whether the operator set SUBMISSION_PORT. Only then is it an error if another process already uses the port. */
  declare readonly isSubmissionPortAsked: boolean;
  /** SUBMISSIONS_PORT: the port for submission with TLS from the first byte. `null`: none. 0 selects a free port. */
  declare readonly submissionsPort: number | null;
  /**
   * SUBMISSION_HOST: address or name on which both submission ports listen. Default: HOST if a TLS certificate is
   * configured, otherwise loopback.
   */
  declare readonly submissionHost: string;
  /** EMAIL_TRANSPORT, plus AWS_ACCESS_KEY_ID and related variables for SES. Contains credentials: secret. */
  declare readonly emailTransport: EmailTransport;
  /** BLOB_STORE, plus AWS_ACCESS_KEY_ID and related variables for a bucket. Contains credentials: secret. */
  declare readonly blobStore: BlobPlace;
  /** SES_TOPICS: ARNs of the SNS topics through which Amazon SES reports events. Empty: none are accepted. */
  declare readonly sesTopics: readonly string[];
  /** SIGN_IN_MAIL_FROM: sender address of sign-in codes. `null`: `sign-in@PLATFORM_DOMAIN`. */
  declare readonly signInMailFrom: string | null;
  /** OIDC_*: identity provider of the installation. `null`: none. Contains the client secret. */
  declare readonly oidc: OidcProvider | null;
  /** OPERATOR_KEY: bearer token of operator API calls. `null`: these calls are disabled. Secret. */
  declare readonly operatorKey: string | null;
  /** AUDIT_RETENTION_DAYS: how long the audit log is kept. */
  declare readonly auditRetentionDays: number;
  /** SMTP_ANSWER_TIMEOUT: maximum wait for one reply of a mail server. Caps the timeouts of RFC 5321. */
  declare readonly smtpAnswerMsMax: number;
  /**
   * BOUNCE_SUPPRESSION_DAYS: how long a bounce suppresses its address; `null` means until the suppression is removed.
   */
  declare readonly bounceSuppressionDays: number | null;
  /** MAIL_DNS_RETRY: how long a received message waits for unresponsive name servers. */
  declare readonly mailDnsRetryMs: number;
  /** RSPAMD_URL: URL of the normal worker of the rspamd that scans received mail. `null`: none. */
  declare readonly rspamdUrl: string | null;
  /** CLAMD_ADDRESS: host and port of the clamd that scans received mail for viruses. `null`: none. */
  declare readonly clamdAddress: string | null;

  #listeningPort: number | null = null;
  readonly #listeningPorts = new Set<number>();

  constructor(fields: ConfigFields) {
    Object.assign(this, fields);
    Object.freeze(this);
  }

  get isApi(): boolean {
    return this.role === 'api' || this.role === 'all';
  }

  get isWorker(): boolean {
    return this.role === 'worker' || this.role === 'all';
  }

  get isListener(): boolean {
    return (this.role === 'smtp' || this.role === 'all') && this.smtpPort !== null;
  }

  get takesSubmissions(): boolean {
    return (
      (this.role === 'smtp' || this.role === 'all') && (this.submissionPort !== null || this.submissionsPort !== null)
    );
  }

  get baseUrl(): string {
    return this.configuredBaseUrl ?? `http://localhost:${this.#listeningPort ?? this.port}`;
  }

  /** Path of BASE_URL without a trailing slash. Empty if the service is at the root of its host. */
  get basePath(): string {
    return new URL(this.baseUrl).pathname.replace(/\/+$/, '');
  }

  get isEmbedded(): boolean {
    return this.configuredDatabaseUrl === null;
  }

  /** DATABASE_URL, or the URL of the embedded server. Throws if `completedWith` has not set that URL yet. Secret. */
  get databaseUrl(): string {
    if (this.configuredDatabaseUrl === null) throw new Error('The embedded PostgreSQL is not started yet.');
    return this.configuredDatabaseUrl;
  }

  /** URL for features that need a dedicated session: LISTEN, migrations, session locks, the queues. Secret. */
  get databaseDirectUrl(): string {
    return this.configuredDatabaseDirectUrl ?? this.databaseUrl;
  }

  /** Whether DATABASE_URL points to a pooler, where every transaction may use another session. */
  get isPooled(): boolean {
    return this.databaseDirectUrl !== this.databaseUrl;
  }

  /** The 32 bytes that encrypt every data key. Throws if neither MASTER_KEY nor `completedWith` has set it. Secret. */
  get masterKey(): Buffer {
    if (this.configuredMasterKey === null) throw new Error('The master key is not provided yet.');
    return this.configuredMasterKey;
  }

  /** Sets the port that PORT=0 selected, so that `baseUrl` is correct. Called once, after listening. */
  listensOn(port: number): void {
    this.#listeningPort = port;
    this.#listeningPorts.add(port);
  }

  /** Adds a port on which this process, or a server that this process started, also listens. */
  alsoListensOn(port: number): void {
    this.#listeningPorts.add(port);
  }

  /** Known listening ports of this process. Deliveries to these ports are blocked. */
  get listeningPorts(): readonly number[] {
    return [...this.#listeningPorts];
  }

  /** Returns a copy with the URL of the embedded database and the master key. */
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
 * Validates environment variables. The function is pure. Unknown variables are ignored, and empty variables are treated
 * as not set.
 * @throws ConfigError for the first invalid variable.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const read = new ConfigReader(env);
  const databaseUrl = read.secretUrl('DATABASE_URL', ['postgres:', 'postgresql:']);
  const listeners = readListeners(read, databaseUrl !== null);
  const smtp = readSmtp(read);
  return new Config({
    ...listeners,
    ...readLimits(read),
    ...smtp,
    ...readSubmission(read, smtp.smtpTls === null ? LOOPBACK : listeners.host),
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
      'SPF terms such as include:amazonses.com, separated by spaces',
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
    throw new ConfigError(`METRICS_PORT must differ from PORT, which is also ${port}.`);
  }
  return {
    port,
    metricsPort,
    metricsToken: read.secret('METRICS_TOKEN'),
    host: read.matching('HOST', LISTENING_HOST, 'an IP address or a host name') ?? (isExternal ? '0.0.0.0' : LOOPBACK),
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

/** Reads the settings of sign-in methods other than API keys, and of the audit log. */
function readAccess(
  read: ConfigReader,
): Pick<ConfigFields, 'signInMailFrom' | 'oidc' | 'operatorKey' | 'auditRetentionDays'> {
  const operatorKey = read.text('OPERATOR_KEY');
  if (operatorKey !== null && !/^[\x21-\x7e]{32,200}$/.test(operatorKey)) {
    throw new ConfigError(
      'OPERATOR_KEY must be 32 to 200 printable characters without spaces: `openssl rand -base64 32` creates one.',
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
        'a comma-separated list of public-key signature algorithms such as RS256,ES256',
      ),
      organization: read.text('OIDC_ORGANIZATION'),
    }),
  };
}

/** Reads the settings of tracing. Uses OpenTelemetry's own variable names and defaults. */
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

/** Shell command that creates the secrets for docker-compose.yml. test/architecture compares it with that file. */
export const CREATE_SECRETS =
  '(printf MASTER_KEY=; openssl rand -base64 32; printf POSTGRES_PASSWORD=; openssl rand -hex 24) >> .env';

function readMasterKey(read: ConfigReader, isExternal: boolean): Buffer | null {
  const expected = '32 bytes in base64 or hex (`openssl rand -base64 32` makes one)';
  const value = read.text('MASTER_KEY');
  if (value === null) {
    // MASTER_KEY is required with DATABASE_URL: machines that share the database would otherwise generate different
    // keys.
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
  if (!isExternal) throw new ConfigError('DATABASE_DIRECT_URL requires DATABASE_URL: set both, or neither.');
  return url;
}

function readBootstrapApiKey(read: ConfigReader): string | null {
  const value = read.text('BOOTSTRAP_API_KEY');
  if (value !== null && !/^ek_(live|test)_[A-Za-z0-9]{20,100}$/.test(value)) {
    throw new ConfigError('BOOTSTRAP_API_KEY must be ek_live_ or ek_test_ followed by 20 to 100 letters and digits.');
  }
  return value;
}

function readEmailTransport(read: ConfigReader): EmailTransport {
  const transport = parseEmailTransport(read.text('EMAIL_TRANSPORT'), readAwsCredentials(read));
  // Other mail servers look up the name that Posthorn announces, so the name must be public.
  if (transport.kind === 'direct' && !readPlatformDomain(read).includes('.'))
    throw new ConfigError(
      'EMAIL_TRANSPORT=direct: needs PLATFORM_DOMAIN: the name that Posthorn announces to mail servers.',
    );
  return transport;
}

/** Reads the AWS credentials. Uses the variable names of AWS's own tools. */
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
