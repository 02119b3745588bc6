import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import type { ModulesContainer } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { lastValueFrom, of, type Observable } from 'rxjs';
import { auditDiff, auditView } from '#engine/audit-view.js';
import type { AuditActor, AuditEntry, AuditTrail } from '#kernel/audit.js';
import type { Database } from '#kernel/database.js';
import { showId } from '#kernel/ids.js';
import { auditModeOf } from './audit.js';
import { readerFor, type ResourceReader } from './resource-readers.js';
import type { RouteHandler } from './routes.js';

type Fields = Readonly<Record<string, unknown>>;

/** What an entry is made of, beside the request. */
interface Audited {
  route: RouteHandler;
  reader: ResourceReader | null;
  isOneUnit: boolean;
}

/**
 * Writes what a route changed into the audit log, before the answer is given: an answer that says that something was done is
 * given only when that is in the log. One instance for each route that is audited, so that no other route pays for it.
 */
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly audited: Audited,
    private readonly trail: AuditTrail,
    private readonly database: Database,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { reader, isOneUnit } = this.audited;
    const before = (await reader?.(context)) ?? null;
    const run = async (): Promise<unknown> => {
      const result: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
      await this.trail.record(await this.entry(context, before, result));
      return result;
    };
    return of(await (isOneUnit ? this.database.joined(run) : run()));
  }

  private async entry(context: ExecutionContext, before: Fields | null, result: unknown): Promise<AuditEntry> {
    const { route, reader } = this.audited;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { caller } = request;
    const answered = isFields(result) ? result : null;
    const now = route.method === 'DELETE' ? null : reader === null ? answered : ((await reader(context)) ?? null);
    const changed = before !== null && now !== null ? auditDiff(before, now) : { before, after: now };
    return {
      organizationId: caller?.tenant.organizationId ?? null,
      environmentId: caller?.tenant.environmentId ?? null,
      actor: actorOf(request),
      action: `${route.method} ${route.path}`,
      resourceType: typeOf(route.path),
      resourceId: resourceId(request, answered),
      origin: { ip: request.ip, userAgent: request.headers['user-agent'], requestId: request.id },
      before: changed.before && auditView(changed.before),
      after: changed.after && auditView(changed.after),
    };
  }
}

/**
 * Puts the interceptor around every route that may change something and is no traffic, inside the unit of work of an
 * `Idempotency-Key`. Called before the routes are made.
 */
export function auditRoutes(routes: readonly RouteHandler[], modules: ModulesContainer, trail: AuditTrail, database: Database): void {
  for (const route of routes) {
    const mode = auditModeOf(route);
    if (mode === 'never') continue;
    const handler = (route.controller.prototype as Record<string, object>)[route.name] as object;
    const around = (Reflect.getMetadata(INTERCEPTORS_METADATA, handler) ?? []) as unknown[];
    const interceptor = new AuditInterceptor({ route, reader: readerFor(route, modules), isOneUnit: mode === 'with-change' }, trail, database);
    Reflect.defineMetadata(INTERCEPTORS_METADATA, [...around.filter((each) => !(each instanceof AuditInterceptor)), interceptor], handler);
  }
}

function actorOf({ caller, isOperator }: Pick<FastifyRequest, 'caller' | 'isOperator'>): AuditActor {
  if (isOperator) return { kind: 'operator', id: null };
  if (caller === null) return { kind: 'unknown', id: null };
  const { keyId } = caller;
  return keyId.startsWith('token:') ? { kind: 'token', id: keyId.slice('token:'.length) } : { kind: 'key', id: showId('ek', keyId) };
}

/** `keys` of `/v1/keys/:id/rotate`: the last word of the path that is followed by an id, or the last of all. */
function typeOf(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'v1');
  const at = words.findLastIndex((word, i) => !word.startsWith(':') && words[i + 1]?.startsWith(':') === true);
  return (at < 0 ? words[0] : words[at]) ?? '';
}

/** The id that the path names last, or that of what was made. */
function resourceId({ params }: FastifyRequest, answered: Fields | null): string | null {
  const last = Object.values((params ?? {}) as Record<string, string>).at(-1);
  const made = answered?.['id'];
  return last ?? (typeof made === 'string' ? made : null);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
