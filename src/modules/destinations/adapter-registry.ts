import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ApiError } from '#kernel/errors.js';
import { Adapter, type DeliveryAnswer, DestinationAdapter, type ProbeReport } from '#modules/destinations/contract.js';

const UNSUPPORTED = ['sns', 'pubsub', 'azure', 'kafka', 'nats', 'amqp', 'redis'];

/** The adapters of destination types: every provider that is marked `@Adapter()`, in any module. */
@Injectable()
export class AdapterRegistry implements OnModuleInit {
  private readonly adapters = new Map<string, DestinationAdapter>();

  constructor(private readonly discovery: DiscoveryService) {}

  /** Throws, which stops the start, when two adapters serve one type. */
  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders()) {
      if (this.discovery.getMetadataByDecorator(Adapter, wrapper) !== undefined)
        this.add(wrapper.instance as unknown, wrapper.name as string);
    }
  }

  find(type: string): DestinationAdapter | null {
    return this.adapters.get(type) ?? null;
  }

  /** The adapter of a stored destination's type; one that fails every attempt with the reason when the type left with its extension. */
  serving(type: string): DestinationAdapter {
    return this.find(type) ?? new AbsentAdapter(type);
  }

  /** Why nothing serves a stored destination's type; null for one that is served. */
  absence(type: string): string | null {
    return this.adapters.has(type) ? null : absenceOf(type);
  }

  /** Whether the type is served, or one that the specification names. */
  knows(type: string): boolean {
    return this.offered().includes(type) || this.refusal(type) !== null;
  }

  /** The adapter of a type. Throws 422 when nothing serves it. */
  require(type: string): DestinationAdapter {
    const adapter = this.find(type);
    if (adapter?.isOffered === true) return adapter;
    const refusal = this.refusal(type);
    if (refusal !== null) throw unservable(refusal, refusal);
    const expected = `must be one of ${[...this.offered(), ...UNSUPPORTED].join(', ')}`;
    throw unservable(`type: ${expected}`, expected);
  }

  /** Why a type of the specification is not served yet, in its words; null for one that is, and for an unknown one. */
  refusal(type: string): string | null {
    if (this.adapters.has(type)) return null;
    return UNSUPPORTED.includes(type) ? `${type} delivery isn't supported yet` : null;
  }

  /** The types whose deliveries wait to be fetched. */
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

/** What is accepted meanwhile waits by its schedule, and is delivered when the extension is back in time. */
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
