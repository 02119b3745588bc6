import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { HTTP_CODE_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { auditDiff, auditView } from '#engine/audit-view.js';
import { type AuditActor, type AuditEntry, AuditTrail } from '#kernel/audit.js';
import { Database } from '#kernel/database/database.js';
import { showId } from '#kernel/ids.js';
import { type AuditedRoute, AuditedRoutes } from './audited-routes.js';
import { isFields } from './resource-readers.js';

type Fields = Readonly<Record<string, unknown>>;

const MADE_NOTHING = 200;

/**
 * Commits a route's change and its audit entry in one transaction. If the change has an effect that cannot be part of a
 * transaction, the effect starts after the entry is committed (`Database.commitEarly`, ADR 20).
 *
 * `@Audit()` attaches the interceptor to a route. A global interceptor (`APP_INTERCEPTOR`) would slow down the routes
 * that are not audited.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly routes: AuditedRoutes,
    private readonly trail: AuditTrail,
    private readonly database: Database,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const audited = this.routes.find(context);
    const { shown } = audited.showing;
    const before = typeof shown === 'string' ? null : await shown(context);
    let result: unknown;
    const record = async (): Promise<void> => this.trail.record(await this.entry(audited, context, before, result));
    return of(
      await this.database.accompanied(record, async (settle) => {
        result = await lastValueFrom(next.handle(), { defaultValue: undefined });
        await settle();
        return result;
      }),
    );
  }

  /**
   * Returns whether a POST to a collection created nothing. The response status is then 200, for an existing resource
   * or a dry run.
   */
  private hasMadeNothing({ route, showing }: AuditedRoute, context: ExecutionContext): boolean {
    if (route.method !== 'POST' || showing.about !== 'collection') return false;
    const makes = this.reflector.get<number | undefined>(HTTP_CODE_METADATA, context.getHandler());
    return makes !== MADE_NOTHING && context.switchToHttp().getResponse<FastifyReply>().statusCode === MADE_NOTHING;
  }

  private async entry(
    audited: AuditedRoute,
    context: ExecutionContext,
    shownBefore: Fields | null,
    result: unknown,
  ): Promise<AuditEntry> {
    const { route, showing } = audited;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { caller, removed } = request;
    const answered = isFields(result) ? result : null;
    const now = await afterChange(audited, context, answered);
    const before = shownBefore ?? removed ?? (this.hasMadeNothing(audited, context) ? now : null);
    const changed = before !== null && now !== null ? auditDiff(before, now) : { before, after: now };
    return {
      organizationId: caller?.tenant.organizationId ?? null,
      environmentId: caller?.tenant.environmentId ?? null,
      actor: actorOf(request),
      action: `${route.method} ${route.path}`,
      resourceType: resourceType(audited),
      resourceId: resourceId(audited, request, before ?? (typeof showing.shown === 'string' ? null : now), answered),
      origin: { ip: request.ip, userAgent: request.headers['user-agent'], requestId: request.id },
      before: changed.before && auditView(changed.before),
      after: changed.after && auditView(changed.after),
    };
  }
}

/** Returns the resource after the change, or null after a removal. */
async function afterChange(
  { route, showing: { shown, about } }: AuditedRoute,
  context: ExecutionContext,
  answered: Fields | null,
): Promise<Fields | null> {
  if (route.method === 'DELETE') return about === 'part' && typeof shown !== 'string' ? shown(context) : null;
  if (shown === 'nothing') return answered;
  if (shown === 'content') return outlineOf(answered ?? {});
  const now = await shown(context);
  // The response may show another resource than the changed one, for example the new key after a rotation.
  const made = answered?.['id'];
  return route.method === 'POST' && now !== null && typeof made === 'string' && made !== now['id']
    ? { ...now, made }
    : now;
}

/** Returns the type of the resource: the path segment before the last id (`keys` in `/v1/keys/:id`). */
function resourceType({ route: { method, path }, showing: { about } }: AuditedRoute): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'v1');
  if (method === 'POST' && about === 'collection') return words.at(-1) ?? '';
  const at = words.findLastIndex((word, i) => !word.startsWith(':') && words[i + 1]?.startsWith(':') === true);
  return (at < 0 ? words[0] : words[at]) ?? '';
}

/**
 * Returns the id of the created resource, or of the last resource in the path. The path may name it by id, `uid` or
 * address.
 */
function resourceId(
  { route: { method }, showing: { about, namedBy } }: AuditedRoute,
  { params }: FastifyRequest,
  shown: Fields | null,
  answered: Fields | null,
): string | null {
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const named = Object.values((params ?? {}) as Record<string, string>).at(-1) ?? null;
  const made = text(answered?.['id']) ?? text(answered?.[namedBy]);
  if (method === 'POST' && about === 'collection') return made ?? named;
  return (named !== null && about === 'itself' ? text(shown?.['id']) : null) ?? named ?? made;
}

function actorOf({ caller, isOperator }: Pick<FastifyRequest, 'caller' | 'isOperator'>): AuditActor {
  if (isOperator) return { kind: 'operator', id: null };
  if (caller === null) return { kind: 'unknown', id: null };
  const { keyId, session, portal } = caller;
  if (portal !== undefined) return { kind: 'portal', id: showId('pls', portal.id) };
  if (session !== undefined) {
    const { memberId } = session;
    return {
      ...(memberId === null
        ? { kind: 'key', id: showId('ek', keyId) }
        : { kind: 'member', id: showId('mbr', memberId) }),
      session: showId('ses', session.id),
    };
  }
  return keyId.startsWith('token:')
    ? { kind: 'token', id: keyId.slice('token:'.length) }
    : { kind: 'key', id: showId('ek', keyId) };
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const ID = /^[a-z]+_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Returns only ids, times, counts and flags, because the audit log must not contain content of an erased payload. */
function outlineOf(answered: Fields): Fields {
  return Object.fromEntries(
    Object.entries(answered).filter(
      ([, value]) =>
        typeof value === 'number' ||
        typeof value === 'boolean' ||
        (typeof value === 'string' && (ID.test(value) || TIME.test(value))),
    ),
  );
}
