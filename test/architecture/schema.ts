import type { DataSource } from 'typeorm';

/** SQL that lists everything that migrations create, as lines of text to compare, without TypeORM's own tables. */
const DUMP = `
  with relation as (
    select c.oid, c.relname, c.relkind, c.reloptions from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relname not like 'migrations%'
  )
  select concat_ws(' ', 'relation', relname, relkind, array_to_string(reloptions, ',')) as line from relation
  union all
  select concat_ws(' ', 'column', relname, a.attname, format_type(a.atttypid, a.atttypmod),
                   case when a.attnotnull then 'not null' end, a.attidentity, pg_get_expr(d.adbin, d.adrelid))
  from relation join pg_attribute a on a.attrelid = relation.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where relkind <> 'S'
  union all
  select concat_ws(' ', 'index', indexname, indexdef) from pg_indexes where schemaname = 'public' and tablename not like 'migrations%'
  union all
  select concat_ws(' ', 'constraint', relname, k.conname, pg_get_constraintdef(k.oid)) from relation join pg_constraint k on k.conrelid = relation.oid
  union all
  select concat_ws(' ', 'type', typname) from pg_type
  where typnamespace = 'public'::regnamespace and typtype in ('e', 'd') or typnamespace = 'public'::regnamespace and typtype = 'c' and typrelid = 0
  union all
  select concat_ws(' ', 'function', proname, md5(prosrc)) from pg_proc where pronamespace = 'public'::regnamespace
  union all
  select concat_ws(' ', 'trigger', relname, t.tgname) from relation join pg_trigger t on t.tgrelid = relation.oid and not t.tgisinternal
  order by 1`;

/** Returns the schema of a database, with one line for each object. */
export async function schemaOf(source: DataSource): Promise<string[]> {
  const rows: { line: string }[] = await source.query(DUMP);
  return rows.map(({ line }) => line);
}
