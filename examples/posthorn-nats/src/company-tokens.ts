import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, type Identity, TokenAuthenticator } from 'posthorn';

type Claims = Record<string, unknown>;

/**
 * Authenticates requests with the company's own tokens: HS256 JWTs signed with NATS_JWT_SECRET, with the claims `org`,
 * `mode`, `scope`, `sub` and `exp`.
 */
@Injectable()
export class CompanyTokens extends TokenAuthenticator {
  private readonly secret = process.env['NATS_JWT_SECRET'] ?? '';

  constructor(private readonly clock: Clock) {
    super();
  }

  async identify(token: string): Promise<Identity | null> {
    const [header = '', claims = '', signature = '', ...more] = token.split('.');
    if (this.secret === '' || more.length > 0 || parsed(header)?.['alg'] !== 'HS256') return null;
    const expected = createHmac('sha256', this.secret).update(`${header}.${claims}`).digest();
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    return identityOf(parsed(claims), this.clock.nowMs());
  }
}

/**
 * Returns the identity from the claims of a token with a valid signature. Returns null if a claim is missing or
 * invalid.
 */
function identityOf(claims: Claims | null, nowMs: number): Identity | null {
  const { org, mode, scope, sub, exp } = claims ?? {};
  if (typeof exp !== 'number' || exp * 1000 <= nowMs) return null;
  if (typeof org !== 'string' || typeof sub !== 'string' || sub === '' || sub.length > 200) return null;
  const isKnown = (mode === 'live' || mode === 'test') && (scope === 'read' || scope === 'write' || scope === 'admin');
  return isKnown ? { organization: org, mode, scope, subject: sub } : null;
}

function parsed(part: string): Claims | null {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Claims;
  } catch {
    return null;
  }
}
