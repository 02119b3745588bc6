import type { Caller, Scope as KeyScope } from '#kernel/tenant.js';
import { Public, Scope } from './access.js';
import { ScopeRule } from './access-rules.js';
import { Idempotent } from './idempotent.js';
import type { Access } from './request.js';
import { routeConfigOf } from './route-config.js';

function caller(scope: KeyScope): Caller {
  return { keyId: 'k', scope, tenant: { environmentId: 1, organizationId: 'o', mode: 'test' } };
}

describe('access to a route', () => {
  it.each<[Access, KeyScope | null, string | undefined]>([
    ['public', null, undefined],
    ['public', 'read', undefined],
    ['read', null, 'unauthenticated'],
    ['read', 'read', undefined],
    ['read', 'admin', undefined],
    ['write', 'read', 'insufficient_scope'],
    ['write', 'write', undefined],
    ['admin', 'write', 'insufficient_scope'],
    ['admin', 'admin', undefined],
  ])('%s with %s: %s', (access, scope, type) => {
    expect(new ScopeRule().refusal(access, { caller: scope && caller(scope), isOperator: false })?.type).toBe(type);
  });
});

it('keeps the configuration of every decorator of a route, in any order', () => {
  class Controller {
    @Scope('write')
    @Idempotent()
    create(): void {}

    @Idempotent('accept')
    @Scope('admin')
    send(): void {}

    @Public({ uncounted: true })
    live(): void {}
  }

  const { create, send, live } = Controller.prototype;
  expect(routeConfigOf(create)).toEqual({ access: 'write', idempotency: 'create' });
  expect(routeConfigOf(send)).toEqual({ access: 'admin', idempotency: 'accept' });
  expect(routeConfigOf(live)).toEqual({ access: 'public', uncounted: true });
});
