import { z } from 'zod';

const LIMIT_DEFAULT = 20;

export const cursor = z.string().max(1024).optional().describe('A `next_cursor`.');

export const limit = z.number().int().min(1).max(100).default(LIMIT_DEFAULT).describe('At most.');

export const since = z.iso.datetime({ offset: true }).optional().describe('RFC 3339.');

export const until = z.iso.datetime({ offset: true }).optional().describe('RFC 3339.');

export const idempotencyKey = z.uuid().optional().describe('Once per key.');

/** Schema of an id such as `evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1`. */
export const id = (prefix: string): z.ZodString => z.string().min(1).max(200).describe(`\`${prefix}_…\`.`);
