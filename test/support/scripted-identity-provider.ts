import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The claims of an ID token, including forged ones. */
export type Claims = Readonly<Record<string, unknown>>;

/** A key pair with its published key id. */
export interface NamedKey {
  kid: string;
  alg: 'RS256' | 'ES256';
  privateKey: KeyObject;
}

/** Returns a new key pair. */
export function namedKey(kid: string, alg: NamedKey['alg'] = 'RS256'): NamedKey {
  const { privateKey } =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, alg, privateKey };
}

/** Returns an ID token in JWS compact serialization, signed by `signature`. */
export function compact(header: object, claims: Claims, signature: (input: string) => Buffer): string {
  const input = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${input}.${signature(input).toString('base64url')}`;
}

/** Returns an ID token that is signed correctly. */
export function signed({ kid, alg, privateKey }: NamedKey, claims: Claims, header: object = {}): string {
  return compact({ alg, kid, typ: 'JWT', ...header }, claims, (input) =>
    sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  );
}

/** Returns an ID token that is signed with a shared secret. */
export function hmacSigned(secret: string | Buffer, claims: Claims): string {
  return compact({ alg: 'HS256', typ: 'JWT' }, claims, (input) => createHmac('sha256', secret).update(input).digest());
}

export const publicPem = ({ privateKey }: NamedKey): string =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

/**
 * An identity provider that returns the answers that a test sets, including forged ones. Each path below the root is a
 * separate issuer.
 */
export class ScriptedIdentityProvider {
  /** The keys that `/jwks` publishes. */
  keys: NamedKey[] = [];
  /** Creates the ID token of the next sign-in. */
  idToken: (claims: Claims) => string = () => '';
  /** The answer of the user info endpoint. Null leaves the endpoint out of the metadata. */
  userInfo: { type: string; body: string } | null = null;
  /** Paths that fail, each with the status of the answer. */
  readonly failing = new Map<string, number>();
  readonly requests: string[] = [];
  /** Changes to the provider's metadata, by issuer. */
  readonly metadata = new Map<string, object>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedIdentityProvider> {
    const server = createServer();
    const made = new ScriptedIdentityProvider(server);
    server.on('request', (request, response) =>
      made.serve(new URL(request.url ?? '/', 'http://localhost').pathname, response),
    );
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  issuer(name = 'one'): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}/${name}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => void this.server.close(() => resolve()));
  }

  /** Returns the claims of a correct token for the authorization request that the browser was redirected to. */
  claims(name: string, asked: URL, person: Claims): Claims {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: this.issuer(name),
      aud: asked.searchParams.get('client_id'),
      sub: 'subject-1',
      nonce: asked.searchParams.get('nonce'),
      iat: now,
      exp: now + 300,
      ...person,
    };
  }

  private pending: Claims = {};

  /** Sets the claims of the ID token that the next code exchange returns. */
  expect(claims: Claims): void {
    this.pending = claims;
  }

  private serve(path: string, response: ServerResponse): void {
    this.requests.push(path);
    const [, name = '', ...rest] = path.split('/');
    const place = rest.join('/');
    const json = (body: unknown): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const failing = this.failing.get(place);
    if (failing !== undefined) return void response.writeHead(failing).end();
    const issuer = this.issuer(name);
    if (place === '.well-known/openid-configuration') {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none'],
        ...(this.userInfo && { userinfo_endpoint: `${issuer}/userinfo` }),
        ...this.metadata.get(name),
      });
    }
    if (place === 'jwks')
      return json({
        keys: this.keys.map(({ kid, alg, privateKey }) => ({
          ...createPublicKey(privateKey).export({ format: 'jwk' }),
          kid,
          alg,
          use: 'sig',
        })),
      });
    if (place === 'token')
      return json({
        access_token: 'an-access-token',
        token_type: 'Bearer',
        expires_in: 60,
        id_token: this.idToken(this.pending),
      });
    if (place === 'userinfo' && this.userInfo)
      return void response.writeHead(200, { 'content-type': this.userInfo.type }).end(this.userInfo.body);
    response.writeHead(404).end();
  }
}
