import { jest } from '@jest/globals';
import { answerTo, askEarly, CONSOLE_HEADER, ENVIRONMENT_HEADER } from './early-answers';

const LIST = 'https://example.com/hooks/v1/events';
const of = (url: string, environment = 'live', init: RequestInit = {}): Request =>
  new Request(url, { ...init, headers: { ...CONSOLE_HEADER, [ENVIRONMENT_HEADER]: environment } });

describe('early answers', () => {
  let asked: Request[];
  beforeEach(() => {
    asked = [];
    jest.useFakeTimers({ now: 1_000_000 });
    jest.spyOn(globalThis, 'fetch').mockImplementation(async (request) => {
      asked.push(request as Request);
      return new Response(`answer ${asked.length}`);
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const texts = async (...requests: Request[]): Promise<string[]> => {
    const all = [];
    for (const request of requests) all.push(await (await answerTo(request)).response.text());
    return all;
  };

  it('answers one identical request, however its query is written', async () => {
    await askEarly(of(`${LIST}?status=dlq&status=failed&event_type=a%20b&limit=100`));

    expect(
      await texts(
        of(`${LIST}?limit=100&event_type=a+b&status=dlq&status=failed`),
        of(`${LIST}?limit=100&event_type=a+b&status=dlq&status=failed`),
      ),
    ).toEqual(['answer 1', 'answer 2']);
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['for another environment', of(`${LIST}?limit=100`, 'test')],
    ['with another filter', of(`${LIST}?limit=100&status=dlq`)],
    ['with another method', of(`${LIST}?limit=100`, 'live', { method: 'DELETE' })],
    ['at another path', of('https://example.com/v1/events?limit=100')],
  ])('does not answer a request %s', async (_what, request) => {
    await askEarly(of(`${LIST}?limit=100`));

    expect(await texts(request)).toEqual(['answer 2']);
  });

  it('an early answer expires', async () => {
    await askEarly(of(LIST));
    jest.setSystemTime(1_010_000);

    expect(await texts(of(LIST))).toEqual(['answer 2']);
  });

  it('reports the time of arrival, and whether the request failed', async () => {
    await askEarly(of(LIST));
    jest.setSystemTime(1_005_000);
    expect((await answerTo(of(LIST))).atMs).toBe(1_000_000);

    jest.mocked(globalThis.fetch).mockRejectedValueOnce(new TypeError('Failed to fetch'));
    await expect(askEarly(of(LIST))).rejects.toThrow('Failed to fetch');
    await expect(answerTo(of(LIST))).rejects.toThrow('Failed to fetch');
    expect(await texts(of(LIST))).toEqual(['answer 2']);
  });
});
