import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of topics and of addresses' subscriptions. Takes no lock on existing tables with many rows. */
export class Topics1732690500000 implements MigrationInterface {
  name = 'Topics1732690500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table topics (
        environment_id int not null,
        id uuid not null,
        key text not null,
        name text not null,
        description text,
        default_subscription text not null,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint topics_pkey primary key (environment_id, id),
        constraint topics_environment_id_fkey foreign key (environment_id) references environments (id),
        constraint topics_default_subscription_check check (default_subscription in ('opt_in', 'opt_out'))
      )`);
    await runner.query('create unique index topics_key_idx on topics (environment_id, key)');
    await runner.query(`
      create table topic_subscriptions (
        environment_id int not null,
        topic_id uuid not null,
        address text not null,
        id uuid not null,
        email text not null,
        subscription text not null,
        origin text not null,
        source_id uuid,
        created_at timestamptz not null,
        updated_at timestamptz not null,
        constraint topic_subscriptions_pkey primary key (environment_id, topic_id, address),
        constraint topic_subscriptions_topic_fkey foreign key (environment_id, topic_id)
          references topics (environment_id, id) on delete cascade,
        constraint topic_subscriptions_subscription_check check (subscription in ('opt_in', 'opt_out')),
        constraint topic_subscriptions_origin_check check (origin in ('api', 'recipient'))
      )`);
    await runner.query(
      'create unique index topic_subscriptions_id_idx on topic_subscriptions (environment_id, topic_id, id)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table topic_subscriptions, topics');
  }
}
