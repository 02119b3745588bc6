import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a provider called an email when it took it: its notifications name nothing else. A column without a default (the emails'
 * lock is held for a moment), and an index of those rows alone that have it: none has when it is made.
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
