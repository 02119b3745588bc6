import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface ProvidedAccount {
  email: string;
  name?: string;
  email_verified?: boolean;
  groups?: string[];
}

/** An identity provider in the test's process. It is a certified implementation, and signs in the `current` account. */
export class TestIdentityProvider {
  /** The account that signs in next. Null cancels the sign-in. */
  current: ProvidedAccount | null = null;
  readonly requests: string[] = [];
  private provider: Provider | null = null;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TestIdentityProvider> {
    const server = createServer();
    const made = new TestIdentityProvider(server);
    server.on('request', (request, response) => {
      made.requests.push(`${request.method} ${request.url?.split('?', 1)[0]}`);
      void made.serve(request, response);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get issuer(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /** Registers the only client. */
  register(redirectUri: string): void {
    const { issuer } = this;
    this.provider = quietly(
      () =>
        new Provider(issuer, {
          clients: [
            {
              client_id: 'posthorn',
              client_secret: 'a-secret-of-the-client',
              redirect_uris: [redirectUri],
              token_endpoint_auth_method: 'client_secret_post',
            },
          ],
          claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
          cookies: { keys: ['test'] },
          features: { devInteractions: { enabled: false } },
          interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
          pkce: { required: () => true },
          findAccount: (_context: unknown, sub: string) => ({
            accountId: sub,
            claims: async () => ({ sub, ...(JSON.parse(Buffer.from(sub, 'base64url').toString()) as ProvidedAccount) }),
          }),
        }),
    );
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => void this.server.close(() => resolve()));
  }

  private async serve(
    request: Parameters<Parameters<typeof createServer>[1] & object>[0],
    response: Parameters<Parameters<typeof createServer>[1] & object>[1],
  ): Promise<void> {
    const { provider, current } = this;
    if (provider === null) return void response.writeHead(503).end();
    if (request.url?.startsWith('/interaction/') !== true) return void provider.callback()(request, response);
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (current === null) return provider.interactionFinished(request, response, { error: 'access_denied' });
    if (prompt.name === 'login') {
      const accountId = Buffer.from(JSON.stringify(current)).toString('base64url');
      return provider.interactionFinished(request, response, { login: { accountId, remember: false } });
    }
    const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params['client_id']) });
    grant.addOIDCScope('openid email profile');
    return provider.interactionFinished(
      request,
      response,
      { consent: { grantId: await grant.save() } },
      { mergeWithLastSubmission: true },
    );
  }
}

/** Runs `make` without the library's long warning that it is not set up for production. */
function quietly<T>(make: () => T): T {
  const { info, warn } = console;
  console.info = console.warn = () => undefined;
  try {
    return make();
  } finally {
    Object.assign(console, { info, warn });
  }
}

/**
 * Follows redirects with cookies per origin until a URL begins with `stopAt`. Returns this URL without requesting it.
 */
export async function followFrom(start: string, stopAt: string): Promise<string> {
  const jars = new Map<string, Map<string, string>>();
  let url = new URL(start);
  for (let hops = 0; hops < 20; hops += 1) {
    if (url.href.startsWith(stopAt)) return url.href;
    const jar = jars.get(url.origin) ?? new Map<string, string>();
    jars.set(url.origin, jar);
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
    });
    for (const set of answer.headers.getSetCookie()) {
      const [name = '', ...value] = (set.split(';', 1)[0] ?? '').split('=');
      jar.set(name, value.join('='));
    }
    const location = answer.headers.get('location');
    if (location === null)
      throw new Error(`${url.href} answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
    url = new URL(location, url);
  }
  throw new Error('Too many redirects.');
}
