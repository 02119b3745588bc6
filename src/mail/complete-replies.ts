import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpAnswers } from './smtp-answers.js';

/**
 * An envelope to which nodemailer adds the replies to RCPT. `keepError` is called with the error that ended the
 * conversation.
 */
interface SentEnvelope extends Pick<SmtpAnswers, 'rejectedErrors'> {
  keepError?: (error: Error & SmtpAnswers) => void;
}

type Done = (error: (Error & SmtpAnswers) | null, result?: unknown) => void;

/** Members of nodemailer's connection, with internal ones. The tests of `smtp.ts` fail if an upgrade changes them. */
interface Connection {
  _destroyed: boolean;
  _responseQueue: readonly string[];
  _processResponse: (this: Connection) => void;
  _onClose: (this: Connection) => void;
  _onError: (this: Connection, error: Error, type: string, reply: string | false, command: string) => void;
  send: (this: Connection, envelope: SentEnvelope, message: unknown, done: Done) => void;
}

/**
 * Changes nodemailer's SMTP connection so that no reply is lost. nodemailer handles one reply per turn of the event
 * loop, and drops the others if the server closes the connection after a 421. For a refused or interrupted message, it
 * also drops the replies to single recipients, and its pool drops errors of reused connections.
 */
const connection = SMTPConnection.prototype as unknown as Connection;
const { _onClose, _onError, send } = connection;

connection._onClose = function () {
  readQueuedReplies(this);
  _onClose.call(this);
};

connection._onError = function (error, type, reply, command) {
  if (reply === false && command === 'CONN') readQueuedReplies(this);
  _onError.call(this, error, type, reply, command);
};

connection.send = function (envelope, message, done) {
  send.call(this, envelope, message, (error, result) => {
    if (error) {
      if (envelope.rejectedErrors) error.rejectedErrors ??= envelope.rejectedErrors;
      envelope.keepError?.(error);
    }
    done(error, result);
  });
};

function readQueuedReplies(from: Connection): void {
  // The last reply can be incomplete, and then stays in the queue.
  for (let left = from._responseQueue.length; left > 0 && !from._destroyed; left -= 1) from._processResponse();
}
