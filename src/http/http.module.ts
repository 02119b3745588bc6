import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { Clock } from '#kernel/clock.js';
import { redisConnection } from '#kernel/concurrency/queue.js';
import { Config } from '#kernel/config/config.js';
import { AccessRules } from './access-rules.js';
import { AuditInterceptor } from './audit.interceptor.js';
import { AuditedRoutes } from './audited-routes.js';
import { AuthenticationHook } from './authentication-hook.js';
import { CallerQuotas } from './caller-quotas.js';
import { CredentialLookupLimiter } from './credential-lookup-limiter.js';
import { EnvelopeFilter } from './envelope.filter.js';
import { ExpiredKeys } from './expired-keys.js';
import { HealthController } from './health.controller.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IdempotencyStore } from './idempotency.store.js';
import { IdempotencyReleaseRetry } from './idempotency-release-retry.js';
import { IdempotentWork } from './idempotent-work.js';
import { MetricsController } from './metrics.controller.js';
import { MetricsListener } from './metrics-listener.js';
import { OrganizationQuota } from './organization-quota.js';
import { OwnOriginGuard } from './pages/own-origin.guard.js';
import { PageStyleController } from './pages/style.controller.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimitInterceptor, RouteQuotas } from './rate-limit.interceptor.js';
import { MemoryRateLimiter, RateLimiter } from './rate-limiter.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';
import { ScopeGuard } from './scope.guard.js';

/** The HTTP edge. Needs the kernel's providers and a global `Authenticator`. `configureApp` installs it on an app. */
@Global()
@Module({
  imports: [DiscoveryModule],
  controllers: [HealthController, MetricsController, PageStyleController],
  providers: [
    AccessRules,
    AuditedRoutes,
    AuditInterceptor,
    IdempotencyStore,
    EnvelopeFilter,
    ExpiredKeys,
    CredentialLookupLimiter,
    IdempotencyInterceptor,
    IdempotencyReleaseRetry,
    IdempotentWork,
    MetricsListener,
    OrganizationQuota,
    OwnOriginGuard,
    AuthenticationHook,
    CallerQuotas,
    RateLimitInterceptor,
    RouteQuotas,
    ScopeGuard,
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useExisting: ScopeGuard },
    { provide: APP_FILTER, useExisting: EnvelopeFilter },
    { provide: RateLimiter, useFactory: makeLimiter, inject: [Config, Clock] },
  ],
  exports: [
    AccessRules,
    AuditedRoutes,
    CallerQuotas,
    IdempotencyStore,
    EnvelopeFilter,
    CredentialLookupLimiter,
    IdempotencyInterceptor,
    IdempotentWork,
    OrganizationQuota,
    OwnOriginGuard,
    RateLimiter,
    AuthenticationHook,
    RateLimitInterceptor,
    RouteQuotas,
    ScopeGuard,
  ],
})
export class HttpModule {}

/** Returns a rate limiter: shared by all nodes through Redis if that is configured, otherwise for this process only. */
function makeLimiter(config: Config, clock: Clock): RateLimiter {
  const redis = redisConnection(config);
  const nowMs = (): number => clock.nowMs();
  return redis ? new RedisRateLimiter(redis, nowMs) : new MemoryRateLimiter(nowMs);
}
