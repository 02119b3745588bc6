/** `opt_in`: the address receives emails of the topic. `opt_out`: it does not. */
export type Subscription = (typeof SUBSCRIPTIONS)[number];

export const SUBSCRIPTIONS = ['opt_in', 'opt_out'] as const;

/**
 * Emails that the unsubscribe link stops. `true`: all emails of the environment. `topic`: the emails of the topic with
 * this id or key.
 */
export type UnsubscribeSetting = true | { topic: string };

/** JSON schema of a request for an unsubscribe link. `false` requests no link. */
export const UNSUBSCRIBE_SCHEMA = {
  oneOf: [
    { type: 'boolean' },
    {
      type: 'object',
      properties: {
        topic: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          description: 'Id or key of the topic that the link unsubscribes from.',
          example: 'newsletter',
        },
      },
      required: ['topic'],
      additionalProperties: false,
    },
  ],
};
