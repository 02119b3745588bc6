import type { CompiledSchema } from '#engine/json-schema/json-schema.js';

/** A schema. `validateAtOnce` is absent if the schema is slow to compile or to validate with. */
export interface KnownSchema {
  text: string;
  validateAtOnce?: CompiledSchema['validateAtOnce'];
}

/** Maximum total size of cached schema texts. In compiled form, these schemas take about 200 MB of memory. */
const BYTES_MAX = 8 * 1024 * 1024;

/** LRU cache of compiled schemas, limited by the size of their text. */
export class CompiledSchemas {
  private readonly kept = new Map<string, { schema: KnownSchema; bytes: number }>();
  private bytes = 0;

  constructor(private readonly bytesMax = BYTES_MAX) {}

  get(key: string): KnownSchema | null {
    const found = this.kept.get(key);
    if (!found) return null;
    this.kept.delete(key);
    this.kept.set(key, found);
    return found.schema;
  }

  keep(key: string, schema: KnownSchema, bytes: number): void {
    this.forget(key);
    this.kept.set(key, { schema, bytes });
    this.bytes += bytes;
    for (const oldest of this.kept.keys()) {
      if (this.bytes <= this.bytesMax) return;
      this.forget(oldest);
    }
  }

  private forget(key: string): void {
    this.bytes -= this.kept.get(key)?.bytes ?? 0;
    this.kept.delete(key);
  }
}
