import { z } from 'zod';

const LIMIT_DEFAULT = 20;

/** Arguments that mean the same in every tool. */
export const cursor = z.string().max(1024).optional().describe('Where to go on: `next_cursor` of the page before. Send the same other arguments with it.');

export const limit = z.number().int().min(1).max(100).default(LIMIT_DEFAULT)
  .describe('How many to return. Fewer come back when more would not fit; `next_cursor` leads to the rest.');

export const since = z.iso.datetime({ offset: true }).optional().describe('Not before this time (RFC 3339), as in 2026-11-20T00:00:00Z.');

export const until = z.iso.datetime({ offset: true }).optional().describe('Not after this time (RFC 3339).');

export const idempotencyKey = z.uuid().optional()
  .describe('A uuid of your own. Repeat a call whose answer got lost with the same one: it is done once, within a day.');

/** An id with its prefix, as in `evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1`. */
export const id = (prefix: string, what: string): z.ZodString => z.string().min(1).max(200).describe(`${what}: an id that begins with \`${prefix}_\`.`);
