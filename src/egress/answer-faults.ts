/**
 * Reasons for rejecting a receiver's response. The owner of the receiver sees each as "The answer is not valid
 * HTTP/1.1: …". No sentence contains received bytes. docs/concepts.md lists all of them.
 */
export const ANSWER_FAULTS = {
  noStatusLine: 'it does not begin with a status line',
  isTls: 'it is TLS, so the URL has to begin with https://',
  isHttp2: 'it is HTTP/2, and this client speaks HTTP/1.1',
  badVersion: 'the HTTP version in its status line is unknown',
  badStatus: 'its status line has no status from 100 to 999',
  switchedProtocol: 'it switches the protocol (101), which the request did not ask for',
  bareLineFeed: 'a line ends with a bare LF, and HTTP lines end with CR LF',
  bareCarriageReturn: 'its head contains a bare CR',
  zeroByte: 'its head contains a zero byte',
  noColon: 'a header line has no colon',
  blankFirst: 'its first header line begins with a blank',
  longHead: 'its headers are longer than 64 KB',
  badLength: 'its content-length is not a whole number of at most 15 digits',
  conflictingLengths: 'it has several content-length values that differ',
  badChunkSize: 'the line before a chunk of its body is not a size in hexadecimal',
  longChunkLine: 'the line before a chunk of its body is longer than 4 KB',
  badChunkEnd: 'a chunk of its body is longer than its size says',
  longTrailers: 'the trailers behind its body are longer than 64 KB',
} as const;

export type AnswerFault = keyof typeof ANSWER_FAULTS;
