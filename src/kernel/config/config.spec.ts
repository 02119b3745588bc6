import { inspect } from 'node:util';
import type { ConfigFields } from './config.js';
import { Config, ConfigError, loadConfig } from './config.js';

type Env = Record<string, string>;

const KEY_HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
const KEY_BYTES = Buffer.from(KEY_HEX, 'hex');
const BOOTSTRAP = 'ek_test_abcdefghij0123456789';

function failure(env: Env): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('loadConfig', () => {
  it.each([
    [{}, [true, true, true]],
    [{ ROLE: 'api' }, [true, false, false]],
    [{ ROLE: 'worker' }, [false, true, false]],
    [{ ROLE: 'smtp' }, [false, false, true]],
    [{ SMTP_PORT: 'off' }, [true, true, false]],
  ])('with %j it serves the API, delivers and receives mail: %j', (env, parts) => {
    const { isApi, isWorker, isListener } = loadConfig(env);

    expect([isApi, isWorker, isListener]).toEqual(parts);
  });

  it('accepts an empty environment and uses the documented defaults', () => {
    const config = loadConfig({});

    expect({ ...config }).toEqual({
      port: 3000,
      host: '127.0.0.1',
      configuredBaseUrl: null,
      dataDir: '.posthorn',
      configuredDatabaseUrl: null,
      configuredDatabaseDirectUrl: null,
      redisUrl: null,
      role: 'all',
      processes: 1,
      configuredMasterKey: null,
      bootstrapApiKey: null,
      platformDomain: 'localhost',
      platformAddresses: [],
      platformSpf: null,
      dnsPort: null,
      egressAllowCidrs: [],
      egressAllowHttp: false,
      trustProxy: [],
      hasConsole: true,
      mcpAllowedOrigins: [],
      mcpAllowedHosts: [],
      oauthRedirectSchemes: ['cursor', 'vscode', 'vscode-insiders'],
      dnsServers: [],
      rateLimitKey: { count: 6000, periodMs: 60_000 },
      rateLimitOrg: { count: 12_000, periodMs: 60_000 },
      rateLimitPortal: { count: 600, periodMs: 60_000 },
      rateLimitRegistration: { count: 10, periodMs: 3_600_000 },
      portalEndpointsMax: 50,
      idempotencyTtlMs: 24 * 3600 * 1000,
      logLevel: 'info',
      metricsToken: null,
      metricsPort: null,
      otlpEndpoint: null,
      traceSampler: 'parentbased_always_on',
      traceSamplerRatio: 1,
      traceResource: { 'service.name': 'posthorn' },
      extensions: [],
      shutdownGraceMs: 5_000,
      shutdownTimeoutMs: 30_000,
      deliveryConcurrency: 1024,
      databasePoolSize: 10,
      reconcile: true,
      experimentalDestinations: [],
      emailTransport: { kind: 'capture' },
      blobStore: { kind: 'postgres' },
      sesTopics: [],
      signInMailFrom: null,
      oidc: null,
      operatorKey: null,
      auditRetentionDays: 365,
      smtpPort: 2525,
      isSmtpPortAsked: false,
      smtpName: null,
      smtpTls: null,
      smtpTrustProxy: [],
      submissionPort: 2587,
      isSubmissionPortAsked: false,
      submissionsPort: null,
      submissionHost: '127.0.0.1',
      rspamdUrl: null,
      smtpAnswerMsMax: 600_000,
      bounceSuppressionDays: null,
      mailDnsRetryMs: 300_000,
      clamdAddress: null,
    } satisfies ConfigFields);
    expect(config.baseUrl).toBe('http://localhost:3000');
  });

  it.each<[Env, Partial<ConfigFields>]>([
    [{ PORT: '0' }, { port: 0 }],
    [{ PORT: '65535' }, { port: 65535 }],
    [{ PORT: '' }, { port: 3000 }],
    [{ PORT: '  ' }, { port: 3000 }],
    [{ HOST: '::' }, { host: '::' }],
    [{ BASE_URL: 'https://hooks.example.com/' }, { configuredBaseUrl: 'https://hooks.example.com' }],
    [{ BASE_URL: 'https://example.com/hooks/' }, { configuredBaseUrl: 'https://example.com/hooks' }],
    [{ DATA_DIR: '/var/lib/posthorn' }, { dataDir: '/var/lib/posthorn' }],
    [
      { DATABASE_URL: 'postgresql://u:p@db/x', MASTER_KEY: KEY_HEX },
      { configuredDatabaseUrl: 'postgresql://u:p@db/x', host: '0.0.0.0' },
    ],
    [{ REDIS_URL: 'rediss://cache:6380/1' }, { redisUrl: 'rediss://cache:6380/1' }],
    [{ ROLE: 'worker' }, { role: 'worker' }],
    [{ ROLE: 'api' }, { role: 'api' }],
    [{ MASTER_KEY: KEY_HEX }, { configuredMasterKey: KEY_BYTES }],
    [{ MASTER_KEY: KEY_HEX.toUpperCase() }, { configuredMasterKey: KEY_BYTES }],
    [{ MASTER_KEY: KEY_BYTES.toString('base64') }, { configuredMasterKey: KEY_BYTES }],
    [{ MASTER_KEY: KEY_BYTES.toString('base64url') }, { configuredMasterKey: KEY_BYTES }],
    [{ BOOTSTRAP_API_KEY: BOOTSTRAP }, { bootstrapApiKey: BOOTSTRAP }],
    [{ PLATFORM_DOMAIN: 'Hooks.Example.COM' }, { platformDomain: 'hooks.example.com' }],
    [{ EGRESS_ALLOW_CIDRS: '127.0.0.0/8, ::1/128,' }, { egressAllowCidrs: ['127.0.0.0/8', '::1/128'] }],
    [{ TRUST_PROXY: '10.0.0.0/8, fd00::/8' }, { trustProxy: ['10.0.0.0/8', 'fd00::/8'] }],
    [
      { EGRESS_ALLOW_CIDRS: '0.0.0.0/0,fd00::/8,::ffff:10.0.0.0/104' },
      { egressAllowCidrs: ['0.0.0.0/0', 'fd00::/8', '::ffff:10.0.0.0/104'] },
    ],
    [{ EGRESS_ALLOW_HTTP: 'true' }, { egressAllowHttp: true }],
    [{ EGRESS_ALLOW_HTTP: 'false' }, { egressAllowHttp: false }],
    [
      { DNS_SERVERS: '1.1.1.1,9.9.9.9:5353,::1,[::1]:53' },
      { dnsServers: ['1.1.1.1', '9.9.9.9:5353', '::1', '[::1]:53'] },
    ],
    [{ RATE_LIMIT_KEY: '10/1' }, { rateLimitKey: { count: 10, periodMs: 1000 } }],
    [{ RATE_LIMIT_KEY: 'off' }, { rateLimitKey: null, rateLimitOrg: { count: 12_000, periodMs: 60_000 } }],
    [{ RATE_LIMIT_ORG: '5/86400' }, { rateLimitOrg: { count: 5, periodMs: 86_400_000 } }],
    [{ IDEMPOTENCY_TTL: '90s' }, { idempotencyTtlMs: 90_000 }],
    [{ IDEMPOTENCY_TTL: '1m' }, { idempotencyTtlMs: 60_000 }],
    [{ IDEMPOTENCY_TTL: '720h' }, { idempotencyTtlMs: 720 * 3_600_000 }],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [
      { METRICS_TOKEN: 'scrape-me', METRICS_PORT: '9464' },
      { metricsToken: 'scrape-me', metricsPort: 9464 },
    ],
    [
      {
        PLATFORM_ADDRESSES: '192.0.2.1, 2001:db8::1',
        PLATFORM_SPF: 'include:amazonses.com ip4:192.0.2.0/24',
        PLATFORM_DOMAIN: 'posthorn.example',
        DNS_PORT: '53',
      },
      {
        platformAddresses: ['192.0.2.1', '2001:db8::1'],
        platformSpf: 'include:amazonses.com ip4:192.0.2.0/24',
        dnsPort: 53,
      },
    ],
    [
      { METRICS_PORT: '0', PORT: '0' },
      { metricsPort: 0, port: 0 },
    ],
    [
      {
        ROLE: 'smtp',
        SMTP_PORT: '25',
        SMTP_NAME: 'MX.example.com',
        SMTP_TLS_CERT: '/tls/cert.pem',
        SMTP_TLS_KEY: '/tls/key.pem',
        SMTP_TRUST_PROXY: '10.0.0.0/8',
      },
      {
        role: 'smtp',
        smtpPort: 25,
        isSmtpPortAsked: true,
        smtpName: 'mx.example.com',
        smtpTls: { certFile: '/tls/cert.pem', keyFile: '/tls/key.pem' },
        smtpTrustProxy: ['10.0.0.0/8'],
      },
    ],
    [{ SMTP_PORT: 'off' }, { smtpPort: null }],
    [{ PORT: '0' }, { smtpPort: 0, submissionPort: 0 }],
    [
      { SUBMISSION_PORT: '587', SUBMISSION_HOST: '10.0.0.1', HOST: '0.0.0.0' },
      { submissionPort: 587, isSubmissionPortAsked: true, submissionHost: '10.0.0.1' },
    ],
    [
      { SUBMISSION_PORT: 'off', SUBMISSIONS_PORT: '465', SMTP_TLS_CERT: '/c.pem', SMTP_TLS_KEY: '/k.pem', HOST: '::' },
      { submissionPort: null, submissionsPort: 465, submissionHost: '::' },
    ],
    [{ HOST: '0.0.0.0' }, { submissionHost: '127.0.0.1' }],
    [
      { ROLE: 'smtp', SMTP_PORT: 'off', SUBMISSION_PORT: '2587' },
      { smtpPort: null, submissionPort: 2587 },
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318/' }, { otlpEndpoint: 'http://otel:4318/' }],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      { traceSampler: 'traceidratio', traceSamplerRatio: 0.25 },
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging, team=a%2Cb', OTEL_SERVICE_NAME: 'hooks' },
      { traceResource: { 'service.name': 'hooks', 'deployment.environment.name': 'staging', team: 'a,b' } },
    ],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=eu' }, { traceResource: { 'service.name': 'eu' } }],
    [{ EXTENSIONS: '@acme/posthorn-kafka, ./ee/audit' }, { extensions: ['@acme/posthorn-kafka', './ee/audit'] }],
    [{ SHUTDOWN_GRACE: '0s' }, { shutdownGraceMs: 0 }],
    [{ SHUTDOWN_TIMEOUT: '2m' }, { shutdownTimeoutMs: 120_000 }],
    [{ DELIVERY_CONCURRENCY: '1' }, { deliveryConcurrency: 1 }],
    [{ DATABASE_POOL_SIZE: '40' }, { databasePoolSize: 40 }],
    [{ RECONCILE: 'false' }, { reconcile: false }],
    [{ EXPERIMENTAL_DESTINATIONS: 'kafka,nats' }, { experimentalDestinations: ['kafka', 'nats'] }],
    [{ SOMETHING_ELSE: 'is ignored' }, {}],
  ])('accepts %j', (env, expected) => {
    expect({ ...loadConfig(env) }).toMatchObject(expected);
  });

  it.each<[Env, string]>([
    [{ PORT: 'abc' }, 'PORT must be a whole number from 0 to 65535, not "abc".'],
    [{ PORT: '65536' }, 'PORT must be a whole number from 0 to 65535, not "65536".'],
    [{ PORT: '-1' }, 'PORT must be a whole number from 0 to 65535, not "-1".'],
    [{ PORT: '80.5' }, 'PORT must be a whole number from 0 to 65535, not "80.5".'],
    [{ PORT: '0x50' }, 'PORT must be a whole number from 0 to 65535, not "0x50".'],
    [{ HOST: 'a b' }, 'HOST must be an IP address or a host name, not "a b".'],
    [{ BASE_URL: 'example.com' }, 'BASE_URL must be a URL that starts with http:// or https://, not "example.com".'],
    [
      { BASE_URL: 'ftp://example.com' },
      'BASE_URL must be a URL that starts with http:// or https://, not "ftp://example.com".',
    ],
    [
      { BASE_URL: 'https://example.com/?a=1' },
      'BASE_URL must be a URL without credentials, query and fragment, such as https://hooks.example.com.',
    ],
    [
      { DATABASE_URL: 'mysql://u:hunter2@db/x' },
      'DATABASE_URL must be a URL that starts with postgres:// or postgresql://.',
    ],
    [
      { DATABASE_URL: 'postgres://u:p@db/x', MASTER_KEY: KEY_HEX, DATABASE_DIRECT_URL: 'mysql://u:hunter2@db/x' },
      'DATABASE_DIRECT_URL must be a URL that starts with postgres:// or postgresql://.',
    ],
    [
      { DATABASE_DIRECT_URL: 'postgres://u:p@db/x' },
      'DATABASE_DIRECT_URL requires DATABASE_URL: set both, or neither.',
    ],
    [
      { DATABASE_URL: 'postgres://u:p@db/x' },
      'MASTER_KEY is required when DATABASE_URL is set: 32 bytes in base64 or hex (`openssl rand -base64 32` makes one). For docker compose: (printf MASTER_KEY=; openssl rand -base64 32; printf POSTGRES_PASSWORD=; openssl rand -hex 24) >> .env',
    ],
    [{ REDIS_URL: 'http://:hunter2@cache' }, 'REDIS_URL must be a URL that starts with redis:// or rediss://.'],
    [
      { ROLE: 'smtp', SMTP_PORT: 'off' },
      'SMTP_PORT must not be off if ROLE is smtp: the process would have nothing to do.',
    ],
    [
      { ROLE: 'smtp', SMTP_PORT: 'off', SUBMISSION_PORT: 'off' },
      'SMTP_PORT must not be off if ROLE is smtp: the process would have nothing to do.',
    ],
    [{ SUBMISSION_PORT: 'on' }, 'SUBMISSION_PORT must be a whole number from 0 to 65535, not "on".'],
    [{ SUBMISSION_HOST: 'a b' }, 'SUBMISSION_HOST must be an IP address or a host name, not "a b".'],
    [{ SUBMISSIONS_PORT: '465' }, 'SUBMISSIONS_PORT requires SMTP_TLS_CERT and SMTP_TLS_KEY: it begins with TLS.'],
    [{ SMTP_PORT: 'on' }, 'SMTP_PORT must be a whole number from 0 to 65535, not "on".'],
    [{ SMTP_NAME: 'mx_1' }, 'SMTP_NAME must be a host name such as mx.example.com, not "mx_1".'],
    [{ SMTP_TLS_CERT: '/tls/cert.pem' }, 'SMTP_TLS_CERT requires SMTP_TLS_KEY and vice versa: set both, or neither.'],
    [
      { SMTP_TRUST_PROXY: '10.0.0.1' },
      'SMTP_TRUST_PROXY must be a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8, not "10.0.0.1".',
    ],
    [{ ROLE: 'API' }, 'ROLE must be one of api, worker, smtp, all, not "API".'],
    [
      { MASTER_KEY: 'short' },
      'MASTER_KEY must be 32 bytes in base64 or hex (`openssl rand -base64 32` makes one); the given value has 5 characters.',
    ],
    [
      { BOOTSTRAP_API_KEY: 'ek_live_tooshort' },
      'BOOTSTRAP_API_KEY must be ek_live_ or ek_test_ followed by 20 to 100 letters and digits.',
    ],
    [
      { BOOTSTRAP_API_KEY: `ek_prod_${'a'.repeat(40)}` },
      'BOOTSTRAP_API_KEY must be ek_live_ or ek_test_ followed by 20 to 100 letters and digits.',
    ],
    [{ DNS_PORT: '53' }, 'DNS_PORT needs PLATFORM_DOMAIN: the domain whose zone is served.'],
    [
      { PLATFORM_ADDRESSES: 'mx.example.com' },
      'PLATFORM_ADDRESSES must be a comma-separated list of IP addresses, not "mx.example.com".',
    ],
    [
      { PLATFORM_SPF: 'v=spf1 -all' },
      'PLATFORM_SPF must be SPF terms such as include:amazonses.com, separated by spaces, not "v=spf1 -all".',
    ],
    [
      { PLATFORM_DOMAIN: 'https://x.y' },
      'PLATFORM_DOMAIN must be a domain name such as hooks.example.com, not "https://x.y".',
    ],
    [{ EGRESS_ALLOW_HTTP: 'yes' }, 'EGRESS_ALLOW_HTTP must be `true` or `false`, not "yes".'],
    [{ RECONCILE: '0' }, 'RECONCILE must be `true` or `false`, not "0".'],
    [
      { LOG_LEVEL: 'verbose' },
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "verbose".',
    ],
    [{ METRICS_PORT: '3000' }, 'METRICS_PORT must differ from PORT, which is also 3000.'],
    [{ DELIVERY_CONCURRENCY: '0' }, 'DELIVERY_CONCURRENCY must be a whole number from 1 to 100000, not "0".'],
    [{ DATABASE_POOL_SIZE: '1e3' }, 'DATABASE_POOL_SIZE must be a whole number from 1 to 1000, not "1e3".'],
    [
      { IDEMPOTENCY_TTL: '24' },
      'IDEMPOTENCY_TTL must be a duration from 1m to 720h such as 30s, 15m or 24h, not "24".',
    ],
    [
      { IDEMPOTENCY_TTL: '59s' },
      'IDEMPOTENCY_TTL must be a duration from 1m to 720h such as 30s, 15m or 24h, not "59s".',
    ],
    [
      { IDEMPOTENCY_TTL: '721h' },
      'IDEMPOTENCY_TTL must be a duration from 1m to 720h such as 30s, 15m or 24h, not "721h".',
    ],
    [{ SHUTDOWN_GRACE: '6m' }, 'SHUTDOWN_GRACE must be a duration from 0s to 5m such as 30s, 15m or 24h, not "6m".'],
    [
      { SHUTDOWN_TIMEOUT: '0s' },
      'SHUTDOWN_TIMEOUT must be a duration from 1s to 1h such as 30s, 15m or 24h, not "0s".',
    ],
    [
      { OTEL_TRACES_SAMPLER: 'sometimes' },
      'OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio, not "sometimes".',
    ],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "2".'],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'staging' },
      'OTEL_RESOURCE_ATTRIBUTES must be `key=value` pairs separated by commas, with percent-encoded values, not "staging".',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'otel:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL that starts with http:// or https://, not "otel:4318".',
    ],
  ])('rejects %j in one line that names the variable', (env, message) => {
    expect(failure(env)).toBe(message);
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0/8',
    '256.0.0.0/8',
    '010.0.0.0/8',
    '::1/129',
    '::1',
    'fe80::1%eth0/64',
    'a/8',
    '1.2.3.4/',
    '1.2.3.4/8/8',
  ])('refuses %s in EGRESS_ALLOW_CIDRS', (cidr) => {
    expect(failure({ EGRESS_ALLOW_CIDRS: `127.0.0.0/8,${cidr}` })).toBe(
      `EGRESS_ALLOW_CIDRS must be a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8, not "${cidr}".`,
    );
  });

  it.each(['dns.google', '1.1.1.1:0', '1.1.1.1:65536', '[::1', '::1]:53', '1.1.1', '1.1.1.1:'])(
    'refuses %s in DNS_SERVERS',
    (server) => {
      expect(failure({ DNS_SERVERS: server })).toBe(
        `DNS_SERVERS must be a comma-separated list of IP addresses, each with an optional :port, not "${server}".`,
      );
    },
  );

  it.each(['off/60', '60', '0/60', '10/0', '10/86401', '-1/60', '1.5/60', '10/60/60', 'OFF'])(
    'rejects %s as a rate limit',
    (limit) => {
      expect(failure({ RATE_LIMIT_KEY: limit })).toBe(
        `RATE_LIMIT_KEY must be COUNT/SECONDS with 1 to 86400 seconds (for example 6000/60), or \`off\`, not "${limit}".`,
      );
    },
  );
});

describe('Config', () => {
  // RFC 3986, section 3.2: the authority ends at the first "/", "?" or "#".
  it.each([
    'scheme://ann:hunter2#two@db/orders',
    'scheme://ann:hun@hunter2#two@db/orders',
    'scheme://ann:1234#hunter2@db/orders',
    'scheme://ann:1234/hunter2@db/orders',
    'scheme://ann:hun@hunter2/two@db/orders',
    'scheme://ann:1234?hunter2@db/orders',
    'scheme:///ann:hunter2@db/orders',
    'scheme://ann:hunter2%zz@db/orders',
    'scheme://ann:hunter2%ff@db/orders',
  ])('rejects %s, suggests percent-encoding, and shows none of it', (text) => {
    for (const [variable, scheme] of [
      ['DATABASE_URL', 'postgres'],
      ['DATABASE_DIRECT_URL', 'postgresql'],
      ['REDIS_URL', 'rediss'],
      ['EMAIL_TRANSPORT', 'smtp'],
    ] as const) {
      const load = (): unknown =>
        loadConfig({
          DATABASE_URL: 'postgres://db/orders',
          MASTER_KEY: 'a'.repeat(64),
          [variable]: text.replace('scheme', scheme),
        });

      expect(load).toThrow(
        new RegExp(`^${variable} has a character .* percent-encode it there \\(%40 for @, %23 for #`),
      );
      expect(load).not.toThrow(/hunter2|two|1234|zz/);
    }
  });

  it('rejects a URL without slashes, in which the password would be parsed as a path', () => {
    for (const env of [{ DATABASE_URL: 'postgres:ann:hunter2@db/orders' }, { REDIS_URL: 'redis:ann:hunter2@cache' }]) {
      expect(() => loadConfig(env)).toThrow(/must be a URL that starts with/);
      expect(() => loadConfig(env)).not.toThrow(/hunter2/);
    }
  });

  it('accepts a password that contains "@" if its end is unambiguous, and an encoded one', () => {
    expect(
      loadConfig({
        DATABASE_URL: 'postgres://ann:hunter2@two@db:5432/orders?sslmode=require',
        MASTER_KEY: 'a'.repeat(64),
      }).databaseUrl,
    ).toContain('hunter2@two@db');
    expect(loadConfig({ REDIS_URL: 'redis://:hunter2%23two%40%2F%3F%25@cache' }).redisUrl).toContain('%23two');
  });

  it.each([
    'METRICS_TOKEN',
    'BOOTSTRAP_API_KEY',
    'OPERATOR_KEY',
    'OIDC_CLIENT_SECRET',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'MASTER_KEY',
    'DATABASE_URL',
    'REDIS_URL',
    'EMAIL_TRANSPORT',
  ])('rejects a line break in %s, without its value', (variable) => {
    const load = (): unknown =>
      loadConfig({
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
        EMAIL_TRANSPORT: 'ses:eu-west-1',
        [variable]: 'smtp://ek_live_hunter2hunter2hunter2\nhunter2hunter2hunter2',
      });

    expect(load).toThrow(new RegExp(`^${variable} `));
    expect(load).not.toThrow(/hunter2/);
  });

  it.each(['BASE_URL', 'OIDC_ISSUER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'RSPAMD_URL', 'BLOB_STORE'])(
    'never shows credentials in %s, whether it can be parsed or not',
    (variable) => {
      for (const text of ['https://ann:hunter2#x@host', 'ftp://ann:hunter2@host', 'https://ann:hunter2@host']) {
        let shown = '';
        try {
          const config = loadConfig({ OIDC_CLIENT_ID: 'posthorn', [variable]: text });
          shown = JSON.stringify(config) + inspect(config);
        } catch (error) {
          shown = (error as Error).message;
        }

        expect(shown).not.toBe('');
        expect(shown).not.toContain('hunter2');
      }
    },
  );

  it('shows no secret when it is printed', () => {
    const env = {
      DATABASE_URL: 'postgres://u:hunter2@db/x',
      REDIS_URL: 'redis://:hunter2@cache',
      MASTER_KEY: KEY_HEX,
      BOOTSTRAP_API_KEY: BOOTSTRAP,
      METRICS_TOKEN: 'hunter2',
      DATABASE_DIRECT_URL: 'postgres://u:hunter2@direct/x',
    };

    const printed = [
      inspect(loadConfig(env)),
      inspect({ config: loadConfig(env) }),
      JSON.stringify(loadConfig(env)),
    ].join('\n');

    expect(printed).toContain('[secret]');
    expect(printed).toContain('6000');
    expect(printed).not.toMatch(/hunter2|ek_test_|00112233|0, 17, 34|<Buffer/);
  });

  it('cannot be changed', () => {
    expect(() => Object.assign(loadConfig({}), { port: 1 })).toThrow(TypeError);
  });

  it('uses the port that PORT=0 selected, unless BASE_URL is set', () => {
    const free = loadConfig({ PORT: '0' });
    const fixed = loadConfig({ PORT: '0', BASE_URL: 'https://hooks.example.com' });

    free.listensOn(41234);
    fixed.listensOn(41234);

    expect(free.baseUrl).toBe('http://localhost:41234');
    expect(fixed.baseUrl).toBe('https://hooks.example.com');
  });

  it('is behind a pooler if DATABASE_DIRECT_URL is another address, but not if it is the same', () => {
    const external = { DATABASE_URL: 'postgres://pooler/x', MASTER_KEY: KEY_HEX };
    const ways = (direct: string): unknown[] => {
      const config = loadConfig({ ...external, DATABASE_DIRECT_URL: direct });
      return [config.databaseUrl, config.databaseDirectUrl, config.isPooled];
    };

    expect(ways('postgres://db/x')).toEqual(['postgres://pooler/x', 'postgres://db/x', true]);
    expect(ways('postgres://pooler/x')).toEqual(['postgres://pooler/x', 'postgres://pooler/x', false]);
    expect(ways('')).toEqual(['postgres://pooler/x', 'postgres://pooler/x', false]);
  });

  it('has no database and no key before an embedded start, and both after it', () => {
    const config = loadConfig({});

    const completed = config.completedWith('postgres://127.0.0.1/x', KEY_BYTES);

    expect(config.isEmbedded).toBe(true);
    expect(() => config.databaseUrl).toThrow('not started');
    expect(() => config.masterKey).toThrow('not provided');
    expect(completed).toBeInstanceOf(Config);
    expect([completed.databaseUrl, completed.masterKey]).toEqual(['postgres://127.0.0.1/x', KEY_BYTES]);
  });
});
