import type { ExecutionContext } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { ApiError } from '#kernel/errors.js';
import type { Caller } from '#kernel/tenant.js';
import { AccessRule, AccessRules } from './access-rules.js';
import { ScopeGuard } from './scope.guard.js';

const caller = (scope: Caller['scope']): Caller => ({
  tenant: { environmentId: 1, organizationId: 'o', mode: 'live' },
  keyId: 'k',
  scope,
});

function guardWith(...providers: object[]): ScopeGuard {
  const rules = new AccessRules({
    getProviders: () => providers.map((instance) => ({ instance })),
  } as unknown as DiscoveryService);
  rules.onModuleInit();
  return new ScopeGuard(rules);
}

const asking = (request: object): ExecutionContext =>
  ({ switchToHttp: () => ({ getRequest: () => request }) }) as unknown as ExecutionContext;

function answer(guard: ScopeGuard, request: object): string {
  try {
    return String(guard.canActivate(asking(request)));
  } catch (error) {
    return (error as ApiError).type;
  }
}

describe('ScopeGuard', () => {
  it.each([
    [
      'a route without an access declaration',
      { edge: {}, caller: caller('admin'), isOperator: true },
      'insufficient_scope',
    ],
    [
      'a request that skipped the authentication hook',
      { edge: null, caller: null, isOperator: false },
      'insufficient_scope',
    ],
    ['a public route', { edge: { access: 'public' }, caller: null, isOperator: false }, 'true'],
    [
      'an anonymous caller on a scoped route',
      { edge: { access: 'read' }, caller: null, isOperator: false },
      'unauthenticated',
    ],
    ['a smaller scope', { edge: { access: 'write' }, caller: caller('read'), isOperator: false }, 'insufficient_scope'],
    ['a larger scope', { edge: { access: 'write' }, caller: caller('admin'), isOperator: false }, 'true'],
    [
      'an admin on an operator route',
      { edge: { access: 'operator' }, caller: caller('admin'), isOperator: false },
      'unauthenticated',
    ],
    [
      "the operator on a tenant's route",
      { edge: { access: 'read' }, caller: null, isOperator: true },
      'unauthenticated',
    ],
    ['the operator on an operator route', { edge: { access: 'operator' }, caller: null, isOperator: true }, 'true'],
  ])('%s', (_case, request, expected) => {
    expect(answer(guardWith(), request)).toBe(expected);
  });

  it('uses the rule of an extension instead, and two rules stop the start', () => {
    class Never extends AccessRule {
      override refusal(): ApiError {
        return new ApiError('not_found', 'No.');
      }
    }
    class Always extends AccessRule {
      override refusal(): undefined {
        return undefined;
      }
    }

    expect(answer(guardWith(new Never()), { edge: { access: 'public' } })).toBe('not_found');
    expect(answer(guardWith(new Always()), { edge: { access: 'admin' }, caller: null })).toBe('true');
    expect(() => guardWith(new Never(), new Always())).toThrow(
      'Two extensions replace the access rule: Never and Always',
    );
  });
});
