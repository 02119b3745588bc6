import { Injectable } from '@nestjs/common';
import { suppressionKey } from '#engine/mail/addresses.js';
import { isAtSimulator } from '#engine/mail/simulator.js';
import { Config } from '#kernel/config/config.js';
import { Database } from '#kernel/database/database.js';
import { Ids, showId } from '#kernel/ids.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import { Topics } from '#modules/topics/topics.js';
import { EmailMetrics } from './email.metrics.js';
import { StoredDeliveryEvents } from './stored-delivery-events.js';
import { SuppressionsStore } from './suppressions.store.js';
import type { UnsubscribeLink } from './unsubscribe-links.js';

/** Subscription state that the unsubscribe page shows. */
export interface LinkState {
  /** Null if the link is about all emails, or if its topic was deleted. */
  topic: { key: string; name: string } | null;
  isUnsubscribed: boolean;
}

/** Stores the choices that recipients make with the unsubscribe links. */
@Injectable()
export class Unsubscriptions {
  constructor(
    private readonly topics: Topics,
    private readonly suppressions: SuppressionsStore,
    private readonly facts: StoredDeliveryEvents,
    private readonly systemEvents: SystemEvents,
    private readonly metrics: EmailMetrics,
    private readonly database: Database,
    private readonly ids: Ids,
    private readonly config: Config,
  ) {}

  async stateOf({ environmentId, topicId, address }: UnsubscribeLink): Promise<LinkState> {
    if (topicId === null) {
      const found = await this.suppressions.find(environmentId, { key: suppressionKey(address) });
      return { topic: null, isUnsubscribed: found?.origin === 'unsubscribe' };
    }
    const found = await this.topics.subscriptionOf(environmentId, topicId, address);
    return { topic: found, isUnsubscribed: found?.subscription !== 'opt_in' };
  }

  /**
   * Unsubscribes the recipient from the link's topic. If the link has no topic, suppresses the address. Does nothing if
   * the organization or the topic was deleted. Safe to repeat. However, each call for a simulator address and a link
   * without a topic creates a system event.
   */
  async unsubscribe(link: UnsubscribeLink): Promise<void> {
    const topicKey = await this.topicKeyOf(link);
    if (await this.apply(link, 'opt_out', topicKey)) this.metrics.recordChoice('unsubscribed', link.topicId !== null);
    await this.facts.record(link.environmentId, link.emailId, [
      { address: link.address, kind: 'unsubscribed', subtype: topicKey, detail: null, isPermanent: false },
    ]);
  }

  /** Subscribes the recipient to the link's topic again. Does nothing for a link without a topic. */
  async resubscribe(link: UnsubscribeLink): Promise<void> {
    if (link.topicId === null) return;
    if (await this.apply(link, 'opt_in', await this.topicKeyOf(link))) this.metrics.recordChoice('resubscribed', true);
  }

  /** Returns the key of the link's topic. Null if the link has no topic, or if its topic was deleted. */
  private async topicKeyOf({ environmentId, topicId, address }: UnsubscribeLink): Promise<string | null> {
    if (topicId === null) return null;
    return (await this.topics.subscriptionOf(environmentId, topicId, address))?.key ?? null;
  }

  /** Stores the recipient's choice and its system event in one transaction. Returns false if nothing changed. */
  private apply(link: UnsubscribeLink, subscription: 'opt_in' | 'opt_out', topicKey: string | null): Promise<boolean> {
    const { environmentId, emailId, topicId, address } = link;
    return this.database.transaction(async () => {
      const isChanged =
        topicId === null
          ? await this.suppress(link)
          : await this.topics.choose({ environmentId, topicId, address, subscription, emailId });
      if (!isChanged) return false;
      await this.systemEvents.note({
        environmentId,
        type: subscription === 'opt_out' ? 'email.unsubscribed' : 'email.resubscribed',
        subject: emailId,
        details: {
          email: showId('evt', emailId),
          recipient: address,
          topic: topicId && showId('top', topicId),
          topic_key: topicKey,
        },
      });
      return true;
    });
  }

  /**
   * Suppresses the address. Returns false if it was already suppressed. For a simulator address, suppresses nothing but
   * returns true, so that the system event is still created.
   */
  private async suppress({ environmentId, emailId, address }: UnsubscribeLink): Promise<boolean> {
    if (isAtSimulator(address, this.config.platformDomain)) return true;
    const row = await this.suppressions.add(
      { environmentId, origin: 'unsubscribe', sourceId: emailId, forDays: null },
      { id: this.ids.next(), key: suppressionKey(address), email: address },
    );
    return row !== null;
  }
}
