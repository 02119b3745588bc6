import { jest } from '@jest/globals';
import { noteAnswer, noteSilence, onReachability, reachability } from './reachability';

describe('reachability', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 1_000 });
    noteAnswer(200, true);
  });
  afterEach(() => jest.useRealTimers());

  it.each([502, 503, 504])('%i, from a proxy: the service is not responding', (status) => {
    noteAnswer(status, false);
    expect(reachability().outage).toEqual({ lastSuccessAt: 1_000 });
  });

  it.each([200, 302, 400, 404, 429, 500, 501, 503])(
    '%i of the service concerns only its own call, and ends an outage',
    (status) => {
      noteSilence();
      noteAnswer(status, true);
      expect(reachability()).toEqual({ outage: null, isSignedOut: false, isReplaced: false });
    },
  );

  it('401: the user is signed out, and the next other response ends that', () => {
    noteAnswer(401, true);
    expect(reachability().isSignedOut).toBe(true);
    noteAnswer(200, true);
    expect(reachability().isSignedOut).toBe(false);
  });

  it('an outage keeps the time of the last successful response, not the time when it began', () => {
    jest.setSystemTime(2_000);
    noteAnswer(200, true);
    jest.setSystemTime(5_000);
    noteAnswer(500, true);
    jest.setSystemTime(9_000);
    noteSilence();
    jest.setSystemTime(12_000);
    noteAnswer(503, false);
    expect(reachability().outage).toEqual({ lastSuccessAt: 2_000 });
  });

  it('successful responses without a change of the state call no listener', () => {
    const listener = jest.fn();
    const stop = onReachability(listener);
    noteAnswer(200, true);
    noteSilence();
    noteSilence();
    noteAnswer(200, true);
    stop();
    expect(listener).toHaveBeenCalledTimes(2);
  });
});
