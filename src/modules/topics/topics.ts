import { Injectable } from '@nestjs/common';
import { suppressionKey } from '#engine/mail/addresses.js';
import { type Id, Ids } from '#kernel/ids.js';
import type { Subscription } from './contract.js';
import { type EffectiveSubscription, TopicSubscriptionsStore } from './topic-subscriptions.store.js';
import { topicKey, TopicsStore } from './topics.store.js';

/** A recipient's choice to subscribe to a topic or unsubscribe from it, made with the link in an email. */
export interface RecipientChoice {
  environmentId: number;
  topicId: Id;
  address: string;
  subscription: Subscription;
  emailId: Id;
}

/** Provides topics to the code that sends emails and to the code that serves unsubscribe links. */
@Injectable()
export class Topics {
  constructor(
    private readonly topics: TopicsStore,
    private readonly subscriptions: TopicSubscriptionsStore,
    private readonly ids: Ids,
  ) {}

  /** Returns the id of a topic that is given by id or key. Returns null if it does not exist. */
  async idOf(environmentId: number, reference: string): Promise<Id | null> {
    return (await this.topics.find(environmentId, topicKey(reference)))?.id ?? null;
  }

  /** Returns the subscription of an address, or the topic's default. Returns null if the topic does not exist. */
  subscriptionOf(environmentId: number, topicId: Id, address: string): Promise<EffectiveSubscription | null> {
    return this.subscriptions.effective(environmentId, topicId, suppressionKey(address));
  }

  /** Returns the reason why an address gets no email of a topic. Returns null if the address is subscribed. */
  async refusalOf(environmentId: number, topicId: Id, address: string): Promise<string | null> {
    const found = await this.subscriptionOf(environmentId, topicId, address);
    if (found === null) return 'The topic of the email was deleted.';
    return found.subscription === 'opt_in' ? null : `The address is not subscribed to the topic "${found.key}".`;
  }

  /** Stores a recipient's choice in the caller's transaction. Returns false if it changes nothing. */
  choose({ environmentId, topicId, address, subscription, emailId }: RecipientChoice): Promise<boolean> {
    return this.subscriptions.set({
      environmentId,
      topicId,
      address: suppressionKey(address),
      id: this.ids.next(),
      email: address,
      subscription,
      origin: 'recipient',
      sourceId: emailId,
    });
  }
}
