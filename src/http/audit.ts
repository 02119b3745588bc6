import type { Access, AuditMode } from './request.js';
import { withRouteConfig } from './route-config.js';
import type { RouteHandler } from './routes.js';

/** Without it, every route that may change data is audited. */
export const Audit = (mode: AuditMode): MethodDecorator => withRouteConfig({ audit: mode });

/** The route returns sent or received content, which could not be erased from the audit log. */
export const HoldsContent = (): MethodDecorator => withRouteConfig({ holdsContent: true });

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const OPEN: ReadonlySet<Access | undefined> = new Set<Access | undefined>([undefined, 'public']);

/**
 * A route whose effect the ledger commits itself is traffic, and is not audited: its event already records the request
 * id and the idempotency key, and an entry would cost a second commit for each message.
 */
export function auditModeOf({ method, config }: Pick<RouteHandler, 'method' | 'config'>): AuditMode {
  if (config.audit !== undefined) return config.audit;
  if (READS.has(method) || OPEN.has(config.access) || config.idempotency === 'accept') return 'never';
  return 'with-change';
}
