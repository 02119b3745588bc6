import { Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { Clock } from '#kernel/clock.js';
import { Database } from '#kernel/database/database.js';
import { type ColumnValues, TenantRepository, type TenantWhere } from '#kernel/database/tenant-repository.js';
import { type Id, parseId } from '#kernel/ids.js';
import { TopicEntity } from './topics.entities.js';

export type NewTopic = Omit<TopicEntity, 'createdAt' | 'updatedAt'>;

/** Identifies a topic in its environment. */
export type TopicKey = { id: Id } | { key: string };

export type TopicChanges = Partial<Pick<TopicEntity, 'name' | 'description'>>;

@Injectable()
export class TopicsStore {
  private readonly rows: TenantRepository<TopicEntity>;

  constructor(
    database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new TenantRepository(database, TopicEntity);
  }

  /** Inserts a topic and returns it. Throws a unique violation if its key already exists. */
  async insert(topic: NewTopic): Promise<TopicEntity> {
    const now = this.clock.now();
    const row = { ...topic, createdAt: now, updatedAt: now };
    await this.rows.insert(row);
    return row;
  }

  /** Returns a topic, or null if it does not exist. Uses the index topics_pkey or topics_key_idx. */
  find(environmentId: number, by: TopicKey): Promise<TopicEntity | null> {
    return this.rows.findOne({ environmentId, ...by });
  }

  /** Returns a page of topics, newest first. Reads the index topics_pkey in descending order. */
  page(environmentId: number, beforeId: Id | null, limit: number): Promise<TopicEntity[]> {
    const where: TenantWhere<TopicEntity> = { environmentId };
    if (beforeId !== null) where.id = LessThan(beforeId);
    return this.rows.find({ where, order: { id: 'DESC' }, take: limit });
  }

  /** Uses the index topics_pkey. Returns false if the topic does not exist. */
  async update(environmentId: number, id: Id, changes: TopicChanges): Promise<boolean> {
    const values: ColumnValues<TopicEntity> = { ...changes, updatedAt: this.clock.now() };
    return (await this.rows.update({ environmentId, id }, values)) > 0;
  }

  /** Removes a topic and its subscriptions. Returns false if it does not exist. Uses their primary key indexes. */
  async remove(environmentId: number, id: Id): Promise<boolean> {
    return (await this.rows.delete({ environmentId, id })) > 0;
  }
}

/** Parses a reference to a topic. A text that is not an id is a key. */
export function topicKey(reference: string): TopicKey {
  const id = parseId('top', reference);
  return id === null ? { key: reference } : { id };
}
