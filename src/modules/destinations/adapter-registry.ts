import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ApiError } from '#kernel/errors.js';
import { Adapter, type DeliveryAnswer, DestinationAdapter, type ProbeReport } from '#modules/destinations/contract.js';

const UNSUPPORTED = ['sns', 'pubsub', 'azure', 'kafka', 'nats', 'amqp', 'redis'];

/** The adapters of destination types: all providers marked with `@Adapter()`, in any module. */
@Injectable()
export class AdapterRegistry implements OnModuleInit {
  private readonly adapters = new Map<string, DestinationAdapter>();

  constructor(private readonly discovery: DiscoveryService) {}

  /** Throws if two adapters serve the same type. The service then does not start. */
  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders()) {
      if (this.discovery.getMetadataByDecorator(Adapter, wrapper) !== undefined)
        this.add(wrapper.instance as unknown, wrapper.name as string);
    }
  }

  find(type: string): DestinationAdapter | null {
    return this.adapters.get(type) ?? null;
  }

  /**
   * Returns the adapter for a type. If there is none, returns an adapter whose every attempt fails with an error that
   * says so.
   */
  serving(type: string): DestinationAdapter {
    return this.find(type) ?? new AbsentAdapter(type);
  }

  /** Returns the reason why no adapter serves a stored destination's type, or `null` if an adapter does. */
  absence(type: string): string | null {
    return this.adapters.has(type) ? null : absenceOf(type);
  }

  /** Returns true for types that callers may use, and for types that Posthorn does not support yet (`UNSUPPORTED`). */
  knows(type: string): boolean {
    return this.offered().includes(type) || this.refusal(type) !== null;
  }

  /** Returns the adapter for a type that callers may use. Throws 422 if there is none. */
  require(type: string): DestinationAdapter {
    const adapter = this.find(type);
    if (adapter?.isOffered === true) return adapter;
    const refusal = this.refusal(type);
    if (refusal !== null) throw unservable(refusal, refusal);
    // The set removes duplicates, because an extension may serve a type in `UNSUPPORTED`.
    const expected = `must be one of ${[...new Set([...this.offered(), ...UNSUPPORTED])].join(', ')}`;
    throw unservable(`type: ${expected}`, expected);
  }

  /** Returns the reason why a type in `UNSUPPORTED` cannot be used, or `null` for a supported or unknown type. */
  refusal(type: string): string | null {
    if (this.adapters.has(type)) return null;
    return UNSUPPORTED.includes(type) ? `${type} delivery isn't supported yet` : null;
  }

  pulledTypes(): string[] {
    return [...this.adapters.values()].filter(({ pulled }) => pulled).map(({ type }) => type);
  }

  private offered(): string[] {
    return [...this.adapters.values()].filter(({ isOffered }) => isOffered).map(({ type }) => type);
  }

  private add(adapter: unknown, name: string): void {
    if (!(adapter instanceof DestinationAdapter))
      throw new Error(`${name} is marked @Adapter() but does not extend DestinationAdapter.`);
    const other = this.adapters.get(adapter.type);
    if (other)
      throw new Error(
        `Destination type "${adapter.type}" has two adapters: ${other.constructor.name} and ${name}. Remove one.`,
      );
    this.adapters.set(adapter.type, adapter);
  }
}

/**
 * Adapter of a type whose extension is not loaded. Deliveries are retried, because the extension may be loaded later.
 */
class AbsentAdapter extends DestinationAdapter {
  override readonly pulled = false;

  constructor(override readonly type: string) {
    super();
  }

  override check(): { path: string; message: string }[] {
    return [{ path: 'type', message: absenceOf(this.type) }];
  }

  override async probe(): Promise<ProbeReport> {
    return { ok: false, check: 'schema', detail: absenceOf(this.type) };
  }

  override async deliver(): Promise<DeliveryAnswer> {
    return { answer: { kind: 'error', error: 'adapter' }, durationMs: 0, excerpt: absenceOf(this.type) };
  }
}

function absenceOf(type: string): string {
  return `Nothing serves destinations of type ${type} here: the extension that did is not loaded.`;
}

function unservable(message: string, fault: string): ApiError {
  return new ApiError('validation_failed', message, { check: 'schema', fields: [{ path: 'type', message: fault }] });
}
