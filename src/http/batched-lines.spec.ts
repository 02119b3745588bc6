import { jest } from '@jest/globals';
import { BatchedLines } from './batched-lines.js';

describe('BatchedLines', () => {
  let written: string[];
  let lines: BatchedLines;
  let exit: () => void;

  beforeEach(() => {
    jest.useFakeTimers();
    written = [];
    lines = new BatchedLines({ write: (text) => void written.push(text) }, (work) => (exit = work));
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('writes lines of the same moment together, in order, after a short delay', () => {
    lines.write('a\n');
    lines.write('b\n');
    const before = [...written];
    jest.advanceTimersByTime(20);
    lines.write('c\n');
    jest.advanceTimersByTime(20);

    expect(before).toEqual([]);
    expect(written).toEqual(['a\nb\n', 'c\n']);
  });

  it('holds at most 16 KB', () => {
    for (let i = 0; i < 40; i += 1) lines.write(`${'x'.repeat(999)}\n`);

    expect(written).toHaveLength(2);
    lines.flush();
    expect(written.join('')).toHaveLength(40_000);
  });

  it('writes all held lines when the process ends', () => {
    lines.write('last\n');
    exit();

    expect(written).toEqual(['last\n']);
  });

  it('writes nothing if there are no lines', () => {
    lines.write('a\n');
    lines.flush();
    lines.flush();
    jest.advanceTimersByTime(100);

    expect(written).toEqual(['a\n']);
  });
});
