import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the id that a provider assigned to an email when accepting the email. The provider's notifications contain only
 * this id. A column without a default locks `emails` briefly. The index contains only rows with an id, and no row has
 * one yet.
 */
export class ProviderMessageIds1732610100000 implements MigrationInterface {
  name = 'ProviderMessageIds1732610100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table emails add column provider_message_id text');
    await runner.query(
      'create index emails_provider_message_id_idx on emails (provider_message_id) where provider_message_id is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table emails drop column provider_message_id');
  }
}
