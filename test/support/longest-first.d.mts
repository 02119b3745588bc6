import type { Test } from '@jest/test-result';

/** The suites that take a minute and more, longest first. */
export declare const LONG: readonly string[];

/** The order in which Jest starts suites. */
export default class LongestFirst {
  sort(tests: Test[]): Test[];
}
