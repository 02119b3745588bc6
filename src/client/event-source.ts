export interface ServerSentEvent {
  event: string;
  /** Last event id that was received on the stream, with this event or an earlier one. */
  id: string;
  data: string;
}

/**
 * Parses server-sent events (HTML standard, section 9.2.6). Lines end with CR, LF or both; a colon begins a comment. An
 * empty line dispatches the event before it. An event without a following empty line is dropped.
 */
export class EventSourceParser {
  private rest = '';
  private event = '';
  private id = '';
  private readonly lines: string[] = [];
  private isFirst = true;
  /** Reconnection delay in milliseconds that the service requests. */
  retryMs: number | null = null;

  take(text: string): ServerSentEvent[] {
    const messages: ServerSentEvent[] = [];
    this.rest += this.isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text;
    if (text !== '') this.isFirst = false;
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.rest);
      if (end === null) return messages;
      const line = this.rest.slice(0, end.index);
      this.rest = this.rest.slice(end.index + end[0].length);
      if (line !== '') this.field(line);
      else if (this.lines.length > 0) messages.push(this.message());
      else this.event = '';
    }
  }

  private message(): ServerSentEvent {
    const message = {
      event: this.event === '' ? 'message' : this.event,
      id: this.id,
      data: this.lines.splice(0).join('\n'),
    };
    this.event = '';
    return message;
  }

  private field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.lines.push(value);
    else if (name === 'event') this.event = value;
    else if (name === 'id' && !value.includes('\0')) this.id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}
