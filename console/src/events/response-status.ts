/** Event type of the events that Posthorn creates for emails. */
const EMAIL_EVENT_TYPE = 'email.send';

/** Returns whether an event is an email, which is sent with SMTP instead of HTTP. */
export const isEmail = ({ event_type: type }: { event_type: string }): boolean => type === EMAIL_EVENT_TYPE;

/** Returns the status code of a response with the name of its protocol, such as `HTTP 503`. */
export function formatResponseStatus(event: { event_type: string }, status: number): string {
  return `${isEmail(event) ? 'SMTP' : 'HTTP'} ${status}`;
}
