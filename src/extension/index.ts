/**
 * The complete extension API. Exports are listed by name, because each name must remain compatible. Extensions import
 * the decorators of Nest, TypeORM and BullMQ from those packages, which are peer dependencies: each must be installed
 * only once.
 */
export { Extension } from './declaration.js';
export type { ExtensionDeclaration } from './declaration.js';

export { Adapter, DestinationAdapter, Withheld } from '#modules/destinations/contract.js';
export type {
  DeliveryAnswer,
  Draft,
  MirroredRequest,
  Outgoing,
  ProbeReport,
  SentExchange,
  Target,
} from '#modules/destinations/contract.js';
export type { Answer, AttemptError } from '#engine/outcome.js';
export type { RuledRetryPolicy, RetryRuling } from '#engine/outcome.js';
export type { RetryPolicy } from '#engine/retry.js';
export { signatureHeader } from '#engine/signing.js';

// Outbound connections: the agent for HTTP, and sockets from the dialer for other protocols.
export { EgressAgent } from '#egress/agent.js';
export type { EgressAnswer, EgressRequest } from '#egress/agent.js';
export { Dialer, DialFailed, failureOf } from '#egress/dialer.js';
export type { DialOptions, DialTarget } from '#egress/dialer.js';
export { EgressGate } from '#egress/gate.js';

// Agent tools: providers that extend AgentTools are discovered. Extensions must use this copy of Zod.
export { z } from 'zod';
export { AgentTools, apiPath, readTool, writeTool } from '#modules/agents/contract.js';
export type {
  AgentTool,
  ApiObject,
  ApiPath,
  ApiQuery,
  ApiReader,
  ApiWriter,
  ReadTool,
  TextPart,
  ToolAnswer,
  WriteTool,
} from '#modules/agents/contract.js';

export { CurrentCaller, CurrentTenant, OperatorOnly, Public, Scope } from '#http/access.js';
export { AccessRule, ScopeRule } from '#http/access-rules.js';
export type { Presented } from '#http/access-rules.js';
export { ScopeGuard } from '#http/scope.guard.js';
export { RateLimit } from '#http/rate-limit.js';
export { Audit, HoldsContent } from '#http/audit.js';
export type { Access, AuditMode, RouteQuota } from '#http/request.js';
export { AuditTrail } from '#kernel/audit.js';
export type { AuditActor, AuditEntry, AuditOrigin } from '#kernel/audit.js';
export { Idempotent } from '#http/idempotent.js';
export { Section } from '#http/openapi-sections.js';

// Decorators for the fields of bodies, queries and responses, in addition to those of class-validator.
export {
  CanBeNull,
  CanBeOmitted,
  IsArrayOf,
  IsDateTime,
  IsObjectOf,
  IsStringMap,
  MatchesSchema,
} from '#http/validation.js';
export { ApiError, badRequest, checkFailed, conflict, invalid, notFound, unavailable } from '#kernel/errors.js';
export type { ErrorType, Fault } from '#kernel/errors.js';
export type { Caller, Tenant } from '#kernel/tenant.js';

// Presets for webhook providers.
export { InboundPreset, ProviderPreset } from '#modules/endpoints/presets.contract.js';
export type { GenericSchemeName, GenericSettings } from '#engine/inbound/generic.js';
export { headerOf } from '#engine/inbound/request.js';
export type { ReceivedRequest } from '#engine/inbound/request.js';
export type { ResponseSettings } from '#engine/inbound/response.js';
export type { Recipe } from '#engine/inbound/source.js';

// Email transports.
export { NamedMailTransport, Transport } from '#modules/email/transport.contract.js';
export type {
  RecipientReply,
  Submission as MailSubmission,
  SubmissionReport,
} from '#modules/email/transport.contract.js';

// Blob stores.
export { BlobStorage, NamedBlobStore } from '#blobs/contract.js';
export type { BlobKey, Swept } from '#blobs/contract.js';

// Sends messages from an extension's code.
export { MessageSender } from '#modules/send/message-sender.js';
export type { AcceptedEvent, AcceptedWebhook, ApplicationEvent, SendOptions, Webhook } from '#modules/send/contract.js';
export type { AcceptedEmailAnswer, EmailAttachmentContent, EmailContent } from '#modules/email/contract.js';
export { Tenants } from '#modules/auth/environments/tenants.js';

// Authentication in addition to API keys, acceptance policies, named retry policies, and delivery listeners. Providers
// that extend these classes are discovered.
export { TokenAuthenticator } from '#kernel/authenticator.js';
export type { Identity } from '#kernel/authenticator.js';
export { AcceptancePolicy } from '#modules/ledger/acceptance.contract.js';
export type { Ruling, Submission } from '#modules/ledger/acceptance.contract.js';
export { NamedRetryPolicy } from '#modules/destinations/retry-policies.contract.js';
export type { FailedAttempt } from '#engine/outcome.js';
export { DeliveryListener } from '#modules/delivery/contract.js';
export type { AttemptReport, FailedAttemptReport } from '#modules/delivery/contract.js';

export { Clock } from '#kernel/clock.js';
export { Config } from '#kernel/config/config.js';
export type { Role } from '#kernel/config/config.js';
export { Cursors } from '#kernel/cursors.js';
export { Database } from '#kernel/database/database.js';
export type { Statement } from '#kernel/database/database.js';
export { Ids, parseId, showId } from '#kernel/ids.js';
export type { Id, IdPrefix } from '#kernel/ids.js';
export { Loop } from '#kernel/concurrency/loop.js';
export type { LoopDelay } from '#kernel/concurrency/loop.js';
export { Metrics } from '#kernel/observability/metrics.js';
export { Notifications } from '#kernel/database/notifications.js';
export { Readiness } from '#kernel/observability/readiness.js';
export type { PartReadiness } from '#kernel/observability/readiness.js';
export { Vault } from '#kernel/crypto/vault.js';

export { SystemEvents } from '#modules/system-events/contract.js';
export type {
  Signal,
  SystemEvent,
  SystemEventData,
  SystemEventListener,
  SystemEventType,
} from '#modules/system-events/contract.js';
