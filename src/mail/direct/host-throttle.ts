/** Maximum number of connections to a host that are being opened, until the host has replied to one of them. */
const OPENING_MAX = 5;
/** Maximum number of connections that are being opened to a host whose last reply was in time. */
const OPENING_MAX_AFTER_REPLY = 20;
/** Time limit of the connection and the first two replies. Shorter than the time limit of the connection alone. */
const REPLY_MS_MAX = 8_000;
/** Number of replies after which a connection is open: the greeting and the reply to EHLO. */
const OPENING_REPLIES = 2;
const SILENT_FOR_MS = 300_000;
/** Duration above which a conversation counts as stalled, and the maximum number of such conversations per host. */
const STALLED_MS = 30_000;
const STALLED_MAX = 20;
const HOSTS_MAX = 5_000;

interface HostState {
  /** Number of connections without a reply to EHLO. */
  opening: number;
  /** Number of connections in `opening` that are older than `REPLY_MS_MAX`. */
  late: number;
  stalled: number;
  /** True if the host's last reply was in time. */
  isResponsive: boolean;
  /** Time on the monotonic clock until which the host counts as silent. */
  silentUntilMs: number;
  waiting: Set<() => void>;
}

/** One conversation with a mail server, which begins before the connection is opened. */
export interface HostConversation {
  noteReply(): void;
  /** Ends the conversation. Further calls do nothing. */
  end(): void;
}

/**
 * Limits the connections per mail server in this process, because many domains may share one slow server.
 *
 * A server that does not reply to EHLO within eight seconds counts as silent for five minutes, or until it replies. To a
 * silent server, only one new connection at a time is opened. All other calls of `enter` return null without waiting.
 *
 * With other options, it also limits the DNS queries per domain: a query counts as a connection.
 */
export class HostThrottle {
  private readonly hosts = new Map<string, HostState>();

  constructor(
    private readonly monotonicMs: () => number = () => performance.now(),
    private readonly options: { replyMsMax?: number | undefined; openingReplies?: number } = {},
  ) {}

  /** Waits until a connection may be opened. Returns null if the host is silent or stalled, or on abort. */
  async enter(name: string, signal: AbortSignal): Promise<HostConversation | null> {
    const host = this.stateOf(name);
    while (!signal.aborted && host.stalled < STALLED_MAX) {
      const isSilent = host.silentUntilMs > this.monotonicMs();
      if (isSilent && (host.opening > host.late || host.opening >= OPENING_MAX_AFTER_REPLY)) return null;
      if (isSilent || host.opening < (host.isResponsive ? OPENING_MAX_AFTER_REPLY : OPENING_MAX))
        return this.begin(host);
      await nextChange(host, signal);
    }
    return null;
  }

  private begin(host: HostState): HostConversation {
    let replies = 0;
    let isLate = false;
    let isOpening = true;
    let isStalled = false;
    host.opening += 1;
    const lateTimer = setTimeout(() => {
      isLate = true;
      host.late += 1;
      host.isResponsive = false;
      host.silentUntilMs = this.monotonicMs() + SILENT_FOR_MS;
      wakeAll(host);
    }, this.options.replyMsMax ?? REPLY_MS_MAX).unref();
    const stalledTimer = setTimeout(() => {
      isStalled = true;
      host.stalled += 1;
      wakeAll(host);
    }, STALLED_MS).unref();
    const settle = (hasReplied: boolean): void => {
      if (!isOpening) return;
      isOpening = false;
      clearTimeout(lateTimer);
      host.opening -= 1;
      host.late -= isLate ? 1 : 0;
      if (hasReplied) {
        host.isResponsive = true;
        host.silentUntilMs = 0;
      }
      wakeAll(host);
    };
    return {
      noteReply: () => {
        replies += 1;
        if (replies >= (this.options.openingReplies ?? OPENING_REPLIES)) settle(true);
      },
      end: () => {
        // A server may reject the connection in its greeting.
        settle(replies > 0 && !isLate);
        clearTimeout(stalledTimer);
        host.stalled -= isStalled ? 1 : 0;
        isStalled = false;
      },
    };
  }

  /** Moves the host to the end of the map, so that the map drops the hosts that were not used for the longest time. */
  private stateOf(name: string): HostState {
    const host = this.hosts.get(name) ?? {
      opening: 0,
      late: 0,
      stalled: 0,
      isResponsive: false,
      silentUntilMs: 0,
      waiting: new Set(),
    };
    this.hosts.delete(name);
    this.hosts.set(name, host);
    const [first] = this.hosts.keys();
    if (this.hosts.size > HOSTS_MAX && first !== undefined) this.hosts.delete(first);
    return host;
  }
}

function nextChange(host: HostState, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      signal.removeEventListener('abort', wake);
      host.waiting.delete(wake);
      resolve();
    };
    signal.addEventListener('abort', wake, { once: true });
    host.waiting.add(wake);
  });
}

function wakeAll({ waiting }: HostState): void {
  for (const wake of [...waiting]) wake();
}
