/** Pattern of a decimal number in the usual notations, including JSON's. */
export const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/** Number of digits up to which a JavaScript number is exact. */
const EXACT_DIGITS = 15;

export function isDecimal(text: string): boolean {
  const [, , whole, fraction] = DECIMAL.exec(text) ?? [];
  return whole !== undefined && whole + (fraction ?? '') !== '';
}

/** Compares two decimals: returns a negative number, 0 or a positive one. Exact for numbers of any length. */
export function compareDecimals(left: string, right: string): number {
  if (left.length <= EXACT_DIGITS && right.length <= EXACT_DIGITS && !hasExponent(left) && !hasExponent(right))
    return Number(left) - Number(right);
  const [a, b] = [partsOf(left), partsOf(right)];
  if (a.sign !== b.sign) return a.sign - b.sign;
  if (a.exponent !== b.exponent) return a.exponent > b.exponent ? a.sign : -a.sign;
  if (a.digits === b.digits) return 0;
  const length = Math.max(a.digits.length, b.digits.length);
  return a.digits.padEnd(length, '0') > b.digits.padEnd(length, '0') ? a.sign : -a.sign;
}

const [ZERO_CODE, NINE_CODE, MINUS_CODE] = [48, 57, 45];

/**
 * Parses a whole number of at most 15 characters, with an optional minus. Returns NaN for any other text. Optimized for
 * speed.
 */
export function exactWhole(text: string): number {
  const start = text.charCodeAt(0) === MINUS_CODE ? 1 : 0;
  if (text.length === start || text.length > EXACT_DIGITS) return NaN;
  let number = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < ZERO_CODE || code > NINE_CODE) return NaN;
    number = number * 10 + code - ZERO_CODE;
  }
  return start === 0 ? number : -number;
}

interface Parts {
  sign: -1 | 0 | 1;
  /** Power of ten: the value of the decimal is `0.digits` times ten to this power. */
  exponent: bigint;
  /** Significant digits, without leading or trailing zeros. */
  digits: string;
}

const ZERO: Parts = { sign: 0, exponent: 0n, digits: '' };

function partsOf(text: string): Parts {
  const [, sign, whole = '', fraction = '', power = '0'] = DECIMAL.exec(text) ?? [];
  const digits = whole + fraction;
  const zeros = digits.length - digits.replace(/^0+/, '').length;
  if (zeros === digits.length) return ZERO;
  return {
    sign: sign === '-' ? -1 : 1,
    exponent: BigInt(power) + BigInt(whole.length - zeros),
    digits: withoutZerosBehind(digits.slice(zeros)),
  };
}

/** Returns the digits without trailing zeros, in linear time. A pattern such as /0+$/ would rescan inner zeros. */
function withoutZerosBehind(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

function hasExponent(text: string): boolean {
  return text.includes('e') || text.includes('E');
}
