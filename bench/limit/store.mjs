/**
 * Tables and SQL statements of the programs that measure the upper limits. Arrays are sent in PostgreSQL's binary
 * format, as in the service.
 */
import pg from 'pg';

const OID = { bytea: 17, int4: 23, text: 25, uuid: 2950 };
/** Maximum number of rows per statement. */
const BATCH_MAX = 256;

const SCHEMA = `
  create table messages (
    id uuid primary key, destination text not null, event_type text not null, body text not null,
    created_at timestamptz not null default now()
  );
  create table deliveries (
    id uuid primary key, status smallint not null, attempts smallint not null, claimed_until timestamptz, due_at timestamptz
  );
  create index deliveries_due_at_idx on deliveries (due_at) where status = 0;
  create table attempts (
    delivery_id uuid not null, number smallint not null, status_code int not null, duration_ms int not null,
    created_at timestamptz not null default now(), primary key (delivery_id, number)
  );`;

const MAIL_SCHEMA = `
  create table mails (
    id uuid primary key, sender text not null, recipient text not null, sha256 bytea not null, raw bytea not null,
    received_at timestamptz not null default now()
  );
  alter table mails alter column raw set storage external;`;

const KEEP_MAIL = `
  insert into mails (id, sender, recipient, sha256, raw)
  select * from unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::bytea[])`;

const ACCEPT = `
  with message as (
    insert into messages (id, destination, event_type, body)
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
  )
  insert into deliveries (id, status, attempts, claimed_until, due_at)
  select id, 0, 0, now() + interval '60 s', now() + interval '60 s' from unnest($1::uuid[]) as id`;

const RECORD = `
  with outcome as (
    select * from unnest($1::uuid[], $2::int[], $3::int[]) as o (id, status_code, duration_ms)
  ), attempt as (
    insert into attempts (delivery_id, number, status_code, duration_ms) select id, 1, status_code, duration_ms from outcome
  )
  update deliveries d set status = case when o.status_code between 200 and 299 then 1 else 2 end, attempts = 1,
    claimed_until = null, due_at = null
  from outcome o where d.id = o.id`;

// PostgreSQL options that force index scans. The tables grow so fast that their statistics would mislead the planner.
const PLANS =
  '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_generic_plan';

/** @typedef {{ id: Buffer, destination: string, eventType: string, body: string }} Message */
/** @typedef {{ id: Buffer, statusCode: number, durationMs: number }} Outcome */
/** @typedef {{ id: Buffer, sender: string, recipient: string, sha256: Buffer, raw: Buffer }} Mail */

/** @param {string} url */
export const createTables = (url) => create(url, SCHEMA);

/** @param {string} url */
export const createMailTable = (url) => create(url, MAIL_SCHEMA);

/** @param {string} url @param {string} schema */
async function create(url, schema) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(schema);
  await client.end();
}

/**
 * Group commit without a timer: collects values while a statement runs, and writes them with the next statement.
 *
 * @template T
 */
class GroupCommit {
  /** @type {T[]} */
  #waiting = [];
  #isBusy = false;

  /** @param {(batch: T[]) => Promise<void>} write its promise resolves when the batch is committed */
  constructor(write) {
    this.write = write;
  }

  /** @param {T} row */
  add(row) {
    this.#waiting.push(row);
    if (this.#isBusy) return;
    this.#isBusy = true;
    setImmediate(() => void this.#flush());
  }

  async #flush() {
    await this.write(this.#waiting.splice(0, BATCH_MAX));
    this.#isBusy = this.#waiting.length > 0;
    // Flushes later, so that requests read in this turn of the event loop share the statement.
    if (this.#isBusy) setImmediate(() => void this.#flush());
  }
}

/** @param {string} url */
async function connect(url) {
  const client = new pg.Client({ connectionString: url, options: PLANS });
  await client.connect();
  return client;
}

/**
 * @param {string} url
 * @param {(committed: Message[]) => void} onCommitted
 * @returns {Promise<(message: Message) => void>}
 */
export async function acceptor(url, onCommitted) {
  const client = await connect(url);
  const group = new GroupCommit(async (/** @type {Message[]} */ batch) => {
    const values = [
      uuids(batch.map((message) => message.id)),
      texts(batch.map((message) => message.destination)),
      texts(batch.map((message) => message.eventType)),
      texts(batch.map((message) => message.body)),
    ];
    await client.query({ name: 'accept', text: ACCEPT, values });
    onCommitted(batch);
  });
  return (message) => group.add(message);
}

/** @param {string} url @returns {Promise<(outcome: Outcome) => void>} */
export async function recorder(url) {
  const client = await connect(url);
  const group = new GroupCommit(async (/** @type {Outcome[]} */ batch) => {
    const values = [
      uuids(batch.map((outcome) => outcome.id)),
      integers(batch.map((outcome) => outcome.statusCode)),
      integers(batch.map((outcome) => outcome.durationMs)),
    ];
    await client.query({ name: 'record', text: RECORD, values });
  });
  return (outcome) => group.add(outcome);
}

/** @param {string} url @param {(committed: Mail[]) => void} onCommitted @returns {Promise<(mail: Mail) => void>} */
export async function mailKeeper(url, onCommitted) {
  const client = await connect(url);
  const group = new GroupCommit(async (/** @type {Mail[]} */ batch) => {
    const values = [
      uuids(batch.map((mail) => mail.id)),
      texts(batch.map((mail) => mail.sender)),
      texts(batch.map((mail) => mail.recipient)),
      byteas(batch.map((mail) => mail.sha256)),
      byteas(batch.map((mail) => mail.raw)),
    ];
    await client.query({ name: 'keep', text: KEEP_MAIL, values });
    onCommitted(batch);
  });
  return (mail) => group.add(mail);
}

/**
 * Writes the header of an array in PostgreSQL's binary format (`array_send`) and returns its length.
 *
 * @param {Buffer} buffer @param {number} oid @param {number} length
 */
function header(buffer, oid, length) {
  for (const [i, word] of [1, 0, oid, length, 1].entries()) buffer.writeInt32BE(word, i * 4);
  return 20;
}

/** @param {Buffer[]} ids */
function uuids(ids) {
  const buffer = Buffer.allocUnsafe(20 + ids.length * 20);
  let offset = header(buffer, OID.uuid, ids.length);
  for (const id of ids) {
    offset = buffer.writeInt32BE(16, offset);
    offset += id.copy(buffer, offset);
  }
  return buffer;
}

/** @param {Buffer[]} values */
function byteas(values) {
  const buffer = Buffer.allocUnsafe(20 + values.reduce((sum, value) => sum + 4 + value.length, 0));
  let offset = header(buffer, OID.bytea, values.length);
  for (const value of values) {
    offset = buffer.writeInt32BE(value.length, offset);
    offset += value.copy(buffer, offset);
  }
  return buffer;
}

/** @param {number[]} numbers */
function integers(numbers) {
  const buffer = Buffer.allocUnsafe(20 + numbers.length * 8);
  let offset = header(buffer, OID.int4, numbers.length);
  for (const number of numbers) offset = buffer.writeInt32BE(number, buffer.writeInt32BE(4, offset));
  return buffer;
}

/** @param {string[]} values */
function texts(values) {
  const sizes = values.map((value) => Buffer.byteLength(value));
  const buffer = Buffer.allocUnsafe(20 + sizes.reduce((sum, size) => sum + 4 + size, 0));
  let offset = header(buffer, OID.text, values.length);
  for (const [i, value] of values.entries()) {
    offset = buffer.writeInt32BE(/** @type {number} */ (sizes[i]), offset);
    offset += buffer.write(value, offset);
  }
  return buffer;
}
