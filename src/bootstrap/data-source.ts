import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BlobChunkEntity, BlobDirectoryEntity } from '#blobs/blobs.entities.js';
import { IdempotencyKeyEntity } from '#http/idempotency.entities.js';
import { ConfigError } from '#kernel/config/config.js';
import { DataKeyEntity } from '#kernel/crypto/keyring.entities.js';
import { connectionOptions } from '#kernel/database/connection.js';
import { ClusterEpochEntity, SeenClockEntity } from '#kernel/database/database.entities.js';
import { VERSION } from '#kernel/version.js';
import { OAuthClientEntity, OAuthCodeEntity, OAuthDeviceEntity } from '#modules/agents/agents.entities.js';
import { ApplicationEndpointEntity, ApplicationEntity } from '#modules/applications/applications.entities.js';
import { AuditLogEntity } from '#modules/audit/audit.entities.js';
import {
  ApiKeyEntity,
  EnvironmentEntity,
  MemberEntity,
  OrganizationEntity,
  ReservedSlugEntity,
  SessionEntity,
} from '#modules/auth/auth.entities.js';
import { TargetPermitEntity } from '#modules/delivery/delivery.entities.js';
import { CircuitEntity, DestinationEntity } from '#modules/destinations/destinations.entities.js';
import {
  DkimKeyEntity,
  DomainDkimKeyEntity,
  DomainEntity,
  DomainMailCountsEntity,
} from '#modules/domains/domains.entities.js';
import { EmailEntity, ScheduledEmailEntity, SuppressionEntity } from '#modules/email/email.entities.js';
import { EndpointEntity, RouteEntity } from '#modules/endpoints/endpoints.entities.js';
import { EventTypeEntity, EventTypeVersionEntity } from '#modules/event-types/event-types.entities.js';
import { MailReportEntity } from '#modules/feedback/feedback.entities.js';
import { AutoReplyEntity, ForwardAddressEntity } from '#modules/inbox/actions/actions.entities.js';
import { AliasEntity, InboxMessageEntity } from '#modules/inbox/inbox.entities.js';
import {
  AttemptEntity,
  DeliveryEntity,
  DueDeliveryEntity,
  EventEntity,
  MessageEntity,
  RequestEntity,
  WorkerEntity,
} from '#modules/ledger/ledger.entities.js';
import { RollupEntity, RollupPartEntity } from '#modules/metrics/metrics.entities.js';
import { PortalSessionEntity } from '#modules/portal/portal.entities.js';
import { PullItemEntity, PullPositionEntity } from '#modules/pull/pull.entities.js';
import { ReplayJobEntity } from '#modules/replay/replay.entities.js';
import { SecretEntity, SecretUseEntity } from '#modules/secrets/secrets.entities.js';
import { SignInCodeEntity } from '#modules/sign-in/sign-in.entities.js';
import { SystemSignalEntity, SystemTellingEntity } from '#modules/system-events/system-events.entities.js';
import { TemplateEntity, TemplateVersionEntity } from '#modules/templates/templates.entities.js';
import { TopicEntity, TopicSubscriptionEntity } from '#modules/topics/topics.entities.js';
import { Tenancy1732100000000 } from '../../migrations/1732100000000-tenancy.js';
import { Destinations1732100100000 } from '../../migrations/1732100100000-destinations.js';
import { Ledger1732100200000 } from '../../migrations/1732100200000-ledger.js';
import { Idempotency1732100300000 } from '../../migrations/1732100300000-idempotency.js';
import { Workers1732100400000 } from '../../migrations/1732100400000-workers.js';
import { Secrets1732200000000 } from '../../migrations/1732200000000-secrets.js';
import { Endpoints1732300000000 } from '../../migrations/1732300000000-endpoints.js';
import { Receiving1732300100000 } from '../../migrations/1732300100000-receiving.js';
import { Pull1732300200000 } from '../../migrations/1732300200000-pull.js';
import { Rollups1732300300000 } from '../../migrations/1732300300000-rollups.js';
import { ReplayJobs1732300400000 } from '../../migrations/1732300400000-replay-jobs.js';
import { Applications1732400000000 } from '../../migrations/1732400000000-applications.js';
import { EventTypes1732400100000 } from '../../migrations/1732400100000-event-types.js';
import { Signatures1732400200000 } from '../../migrations/1732400200000-signatures.js';
import { SystemEvents1732400300000 } from '../../migrations/1732400300000-system-events.js';
import { Recover1732400400000 } from '../../migrations/1732400400000-recover.js';
import { RetriesIndex1732400500000 } from '../../migrations/1732400500000-retries-index.js';
import { RollupEntries1732400600000 } from '../../migrations/1732400600000-rollup-entries.js';
import { WithdrawnIndex1732400700000 } from '../../migrations/1732400700000-withdrawn-index.js';
import { ReservedSlugs1732500400000 } from '../../migrations/1732500400000-reserved-slugs.js';
import { RoutesDestinationIndex1732500500000 } from '../../migrations/1732500500000-routes-destination-index.js';
import { RoutedDeliveriesIndex1732500510000 } from '../../migrations/1732500510000-routed-deliveries-index.js';
import { RequestAnswers1732500600000 } from '../../migrations/1732500600000-request-answers.js';
import { DayTwoJobs1732500800000 } from '../../migrations/1732500800000-day-two-jobs.js';
import { SetAsideIndex1732500810000 } from '../../migrations/1732500810000-set-aside-index.js';
import { CircuitsChangedAt1732501000000 } from '../../migrations/1732501000000-circuits-changed-at.js';
import { EndpointMethods1732502000000 } from '../../migrations/1732502000000-endpoint-methods.js';
import { Duplicates1732502010000 } from '../../migrations/1732502010000-duplicates.js';
import { Domains1732600000000 } from '../../migrations/1732600000000-domains.js';
import { EndpointDomains1732600010000 } from '../../migrations/1732600010000-endpoint-domains.js';
import { Blobs1732601000000 } from '../../migrations/1732601000000-blobs.js';
import { Emails1732602000000 } from '../../migrations/1732602000000-emails.js';
import { ScheduledEmails1732610000000 } from '../../migrations/1732610000000-scheduled-emails.js';
import { ProviderMessageIds1732610100000 } from '../../migrations/1732610100000-provider-message-ids.js';
import { Inbox1732620000000 } from '../../migrations/1732620000000-inbox.js';
import { MailReports1732640000000 } from '../../migrations/1732640000000-mail-reports.js';
import { Members1732650000000 } from '../../migrations/1732650000000-members.js';
import { AuditLog1732650100000 } from '../../migrations/1732650100000-audit-log.js';
import { OrganizationRemoval1732650200000 } from '../../migrations/1732650200000-organization-removal.js';
import { OAuth1732660000000 } from '../../migrations/1732660000000-oauth.js';
import { GrantedKeys1732660010000 } from '../../migrations/1732660010000-granted-keys.js';
import { StreamIndexes1732670000000 } from '../../migrations/1732670000000-stream-indexes.js';
import { AuditSessions1732682000000 } from '../../migrations/1732682000000-audit-sessions.js';
import { AliasFilters1732684000000 } from '../../migrations/1732684000000-alias-filters.js';
import { ListSearch1732686000000 } from '../../migrations/1732686000000-list-search.js';
import { FailingRollups1732686100000 } from '../../migrations/1732686100000-failing-rollups.js';
import { EventJobs1732687000000 } from '../../migrations/1732687000000-event-jobs.js';
import { AttemptExchanges1732687100000 } from '../../migrations/1732687100000-attempt-exchanges.js';
import { PortalOrigins1732688000000 } from '../../migrations/1732688000000-portal-origins.js';
import { PortalSessions1732688100000 } from '../../migrations/1732688100000-portal-sessions.js';
import { AuditPortal1732688200000 } from '../../migrations/1732688200000-audit-portal.js';
import { CodeNetworks1732689000000 } from '../../migrations/1732689000000-code-networks.js';
import { Granters1732689100000 } from '../../migrations/1732689100000-granters.js';
import { ScheduledTurns1732689500000 } from '../../migrations/1732689500000-scheduled-turns.js';
import { OAuthClientTurns1732689600000 } from '../../migrations/1732689600000-oauth-client-turns.js';
import { RotatedGrants1732689610000 } from '../../migrations/1732689610000-rotated-grants.js';
import { PullPositionsTarget1732689700000 } from '../../migrations/1732689700000-pull-positions-target.js';
import { HeldKeys1732689730000 } from '../../migrations/1732689730000-held-keys.js';
import { CheapStatistics1732689740000 } from '../../migrations/1732689740000-cheap-statistics.js';
import { RepeatedMailIndex1732689750000 } from '../../migrations/1732689750000-repeated-mail-index.js';
import { KeysFirst1732689760000 } from '../../migrations/1732689760000-keys-first.js';
import { SeenClock1732689763000 } from '../../migrations/1732689763000-seen-clock.js';
import { MailAwaitsDns1732689764000 } from '../../migrations/1732689764000-mail-awaits-dns.js';
import { SuppressionsExpire1732689766000 } from '../../migrations/1732689766000-suppressions-expire.js';
import { DeviceRequests1732689777000 } from '../../migrations/1732689777000-device-requests.js';
import { ClientGrants1732689935000 } from '../../migrations/1732689935000-client-grants.js';
import { DroppedEvents1732690120000 } from '../../migrations/1732690120000-dropped-events.js';
import { TransformLogs1732690140000 } from '../../migrations/1732690140000-transform-logs.js';
import { DroppedIndex1732690150000 } from '../../migrations/1732690150000-dropped-index.js';
import { BodyLimits1732690200000 } from '../../migrations/1732690200000-body-limits.js';
import { TooLargeIndex1732690210000 } from '../../migrations/1732690210000-too-large-index.js';
import { ForwardedRequests1732690300000 } from '../../migrations/1732690300000-forwarded-requests.js';
import { CanceledEmails1732690460000 } from '../../migrations/1732690460000-canceled-emails.js';
import { Templates1732690480000 } from '../../migrations/1732690480000-templates.js';
import { Topics1732690500000 } from '../../migrations/1732690500000-topics.js';
import { UnsubscribeOrigin1732690510000 } from '../../migrations/1732690510000-unsubscribe-origin.js';
import { DomainDkim1732690520000 } from '../../migrations/1732690520000-domain-dkim.js';
import { DomainReputation1732690520100 } from '../../migrations/1732690520100-domain-reputation.js';
import { AliasActions1732690540000 } from '../../migrations/1732690540000-alias-actions.js';
import { ForwardedEmails1732690540100 } from '../../migrations/1732690540100-forwarded-emails.js';
import { RepliesToEmails1732690540200 } from '../../migrations/1732690540200-replies-to-emails.js';
import { TemplateUnsubscribe1732690700000 } from '../../migrations/1732690700000-template-unsubscribe.js';
import { DedupeIdsIndex1732690710000 } from '../../migrations/1732690710000-dedupe-ids-index.js';
import { BlobDirectory1732690720000 } from '../../migrations/1732690720000-blob-directory.js';
import { EmailSignatures1732690730000 } from '../../migrations/1732690730000-email-signatures.js';
import { PulledUrls1732690740000 } from '../../migrations/1732690740000-pulled-urls.js';

/** All entities of the database. Listed by name instead of by glob, so that a missing file prevents the start. */
export const ENTITIES = [
  AliasEntity,
  ApiKeyEntity,
  ApplicationEndpointEntity,
  ApplicationEntity,
  AttemptEntity,
  AuditLogEntity,
  AutoReplyEntity,
  BlobChunkEntity,
  BlobDirectoryEntity,
  CircuitEntity,
  ClusterEpochEntity,
  DataKeyEntity,
  DeliveryEntity,
  DestinationEntity,
  DkimKeyEntity,
  DomainDkimKeyEntity,
  DomainEntity,
  DomainMailCountsEntity,
  DueDeliveryEntity,
  EmailEntity,
  EndpointEntity,
  EnvironmentEntity,
  EventEntity,
  EventTypeEntity,
  EventTypeVersionEntity,
  ForwardAddressEntity,
  IdempotencyKeyEntity,
  InboxMessageEntity,
  MailReportEntity,
  MemberEntity,
  MessageEntity,
  OAuthClientEntity,
  OAuthCodeEntity,
  OAuthDeviceEntity,
  OrganizationEntity,
  PortalSessionEntity,
  PullItemEntity,
  PullPositionEntity,
  ReplayJobEntity,
  RequestEntity,
  ReservedSlugEntity,
  RollupEntity,
  RollupPartEntity,
  RouteEntity,
  ScheduledEmailEntity,
  SecretEntity,
  SecretUseEntity,
  SeenClockEntity,
  SessionEntity,
  SignInCodeEntity,
  SuppressionEntity,
  SystemSignalEntity,
  SystemTellingEntity,
  TargetPermitEntity,
  TemplateEntity,
  TemplateVersionEntity,
  TopicEntity,
  TopicSubscriptionEntity,
  WorkerEntity,
];
export const MIGRATIONS = [
  Tenancy1732100000000,
  Destinations1732100100000,
  Ledger1732100200000,
  Idempotency1732100300000,
  Workers1732100400000,
  Secrets1732200000000,
  Endpoints1732300000000,
  Receiving1732300100000,
  Pull1732300200000,
  Rollups1732300300000,
  ReplayJobs1732300400000,
  Applications1732400000000,
  EventTypes1732400100000,
  Signatures1732400200000,
  SystemEvents1732400300000,
  Recover1732400400000,
  RetriesIndex1732400500000,
  RollupEntries1732400600000,
  WithdrawnIndex1732400700000,
  ReservedSlugs1732500400000,
  RoutesDestinationIndex1732500500000,
  RoutedDeliveriesIndex1732500510000,
  RequestAnswers1732500600000,
  DayTwoJobs1732500800000,
  SetAsideIndex1732500810000,
  CircuitsChangedAt1732501000000,
  EndpointMethods1732502000000,
  Duplicates1732502010000,
  Domains1732600000000,
  EndpointDomains1732600010000,
  Blobs1732601000000,
  Emails1732602000000,
  ScheduledEmails1732610000000,
  ProviderMessageIds1732610100000,
  Inbox1732620000000,
  MailReports1732640000000,
  Members1732650000000,
  AuditLog1732650100000,
  OrganizationRemoval1732650200000,
  OAuth1732660000000,
  GrantedKeys1732660010000,
  StreamIndexes1732670000000,
  AuditSessions1732682000000,
  AliasFilters1732684000000,
  ListSearch1732686000000,
  FailingRollups1732686100000,
  EventJobs1732687000000,
  AttemptExchanges1732687100000,
  PortalOrigins1732688000000,
  PortalSessions1732688100000,
  AuditPortal1732688200000,
  CodeNetworks1732689000000,
  Granters1732689100000,
  ScheduledTurns1732689500000,
  OAuthClientTurns1732689600000,
  RotatedGrants1732689610000,
  PullPositionsTarget1732689700000,
  HeldKeys1732689730000,
  CheapStatistics1732689740000,
  RepeatedMailIndex1732689750000,
  KeysFirst1732689760000,
  SeenClock1732689763000,
  MailAwaitsDns1732689764000,
  SuppressionsExpire1732689766000,
  DeviceRequests1732689777000,
  ClientGrants1732689935000,
  DroppedEvents1732690120000,
  TransformLogs1732690140000,
  DroppedIndex1732690150000,
  BodyLimits1732690200000,
  TooLargeIndex1732690210000,
  ForwardedRequests1732690300000,
  CanceledEmails1732690460000,
  Templates1732690480000,
  Topics1732690500000,
  UnsubscribeOrigin1732690510000,
  DomainDkim1732690520000,
  DomainReputation1732690520100,
  AliasActions1732690540000,
  ForwardedEmails1732690540100,
  RepliesToEmails1732690540200,
  TemplateUnsubscribe1732690700000,
  DedupeIdsIndex1732690710000,
  BlobDirectory1732690720000,
  EmailSignatures1732690730000,
  PulledUrls1732690740000,
];

/** Server-side statement timeout of the ordinary connection pool. A transaction can raise it. */
const STATEMENT_TIMEOUT = '30s';
/**
 * Client-side statement timeout, for the case that the server-side timeout has no effect, such as on a dead connection.
 */
const DEADLINE_MS = 900_000;
/** Client-side timeout behind a pooler, where no server-side timeout is set. */
const POOLED_DEADLINE_MS = 35_000;

export interface SourceOptions {
  isPooled?: boolean;
  /** For migrations: disables the statement timeout, and leaves out the entities, whose metadata takes 30 ms of CPU. */
  migratesOnly?: boolean;
}

/** Returns an unconnected data source that includes the entities of extensions. */
export function dataSource(
  url: string,
  poolSize = 4,
  extended: readonly Type[] = [],
  { isPooled = false, migratesOnly = false }: SourceOptions = {},
): DataSource {
  const deadlineMs = isPooled ? POOLED_DEADLINE_MS : DEADLINE_MS;
  const settings = migratesOnly ? [] : [`statement_timeout=${STATEMENT_TIMEOUT}`];
  return new DataSource({
    type: 'postgres',
    url,
    entities: migratesOnly ? [] : [...ENTITIES, ...extended],
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    synchronize: false,
    installExtensions: false,
    poolSize,
    extra: connectionOptions({
      url,
      name: 'posthorn',
      deadlineMs: migratesOnly ? Infinity : deadlineMs,
      settings,
      isPooled,
    }),
    poolErrorHandler: () => undefined,
  });
}

/**
 * Connects an operator command to the database at `url`. Does not wait until the database is available and does not
 * migrate it.
 *
 * @throws ConfigError if a newer version has migrated the database.
 */
export async function openDatabase(url: string): Promise<DataSource> {
  const source = await dataSource(url).initialize();
  try {
    await refuseNewerSchema(source);
    return source;
  } catch (error) {
    await source.destroy();
    throw error;
  }
}

const namesOf = ({ migrations }: DataSource): string[] =>
  migrations.map(({ name, constructor }) => name ?? constructor.name);

/**
 * Rejects a database with migrations that this build does not contain: a newer build has created tables and columns
 * that this build would misread. Checked only at start, so processes of an older build continue to run during an
 * upgrade (docs/deploy.md, Upgrading).
 *
 * @throws ConfigError with one sentence that names the unknown migration and this build.
 */
export async function refuseNewerSchema(source: DataSource, extension?: string): Promise<void> {
  const table = extension === undefined ? 'migrations' : `${extension}_migrations`;
  const [found] = await source.query<{ oid: string | null }[]>(`select to_regclass(quote_ident($1)) as oid`, [table]);
  if (found?.oid == null) return;
  const known = namesOf(source);
  const rows = await source.query<{ name: string }[]>(
    `select name from "${table}" where name <> all($1) order by timestamp desc, id desc`,
    [known],
  );
  const [newest] = rows;
  if (newest === undefined) return;
  const build = extension === undefined ? `Posthorn ${VERSION}` : `the installed version of the extension ${extension}`;
  const others = rows.length === 1 ? '' : ` and ${rows.length - 1} more`;
  throw new ConfigError(
    `The database was migrated by a newer version: it has the migration ${newest.name}${others}, which ${build} does not contain ` +
      `(its newest is ${known.at(-1) ?? 'none'}). Start the newer version, or restore a backup from before the upgrade.`,
  );
}
