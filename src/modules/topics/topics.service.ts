import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type Page, type PageQuery } from '#kernel/cursors.js';
import { sqlState } from '#kernel/database/database.js';
import { conflict, invalid, noSuch } from '#kernel/errors.js';
import { Ids } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { TopicEntity } from './topics.entities.js';
import { type NewTopic, type TopicChanges, topicKey, TopicsStore } from './topics.store.js';

export type TopicDraft = Omit<NewTopic, 'environmentId' | 'id' | 'key'> & { key: string | undefined };

const LIMIT_DEFAULT = 50;
const KEY_CHARACTERS_MAX = 64;
const UNIQUE_VIOLATION = '23505';

@Injectable()
export class TopicsService {
  constructor(
    private readonly store: TopicsStore,
    private readonly cursors: Cursors,
    private readonly ids: Ids,
  ) {}

  /** Returns topics, newest first. Throws 400 for an invalid cursor. */
  async list(tenant: Tenant, { cursor, limit = LIMIT_DEFAULT }: PageQuery): Promise<Page<TopicEntity>> {
    const list: CursorQuery = { list: 'topics', filters: {} };
    const beforeId = cursor === undefined ? null : this.cursors.read(tenant, list, cursor);
    const rows = await this.store.page(tenant.environmentId, beforeId, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
  }

  /** Creates a topic and returns it. Throws 409 if its key exists, and 422 if no key can be derived from the name. */
  async create({ environmentId }: Tenant, draft: TopicDraft): Promise<TopicEntity> {
    const key = draft.key ?? keyFrom(draft.name);
    if (key === '')
      throw invalid([{ path: 'key', message: 'is required, because the name has no letters and digits of ASCII' }]);
    try {
      return await this.store.insert({ ...draft, environmentId, id: this.ids.next(), key });
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      throw conflict(`A topic with the key ${key} already exists. Choose another key.`, { key });
    }
  }

  /** Returns a topic by id or key. Throws 404 if it does not exist. */
  async find({ environmentId }: Pick<Tenant, 'environmentId'>, reference: string): Promise<TopicEntity> {
    const row = await this.store.find(environmentId, topicKey(reference));
    if (row === null) throw noSuch('topic');
    return row;
  }

  /** Changes a topic and returns it. Throws 404 if it does not exist. */
  async change(tenant: Tenant, reference: string, changes: TopicChanges): Promise<TopicEntity> {
    const { id } = await this.find(tenant, reference);
    if (!(await this.store.update(tenant.environmentId, id, changes))) throw noSuch('topic');
    return this.find(tenant, reference);
  }

  /** Removes a topic and its subscriptions. Throws 404 if it does not exist. */
  async remove(tenant: Tenant, reference: string): Promise<void> {
    const { id } = await this.find(tenant, reference);
    if (!(await this.store.remove(tenant.environmentId, id))) throw noSuch('topic');
  }
}

/** Returns the key derived from a name: `Product news` becomes `product-news`. */
function keyFrom(name: string): string {
  const words =
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, KEY_CHARACTERS_MAX);
}
