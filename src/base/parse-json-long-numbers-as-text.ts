/** Matches texts with a number that a double may not hold exactly: 16 or more digits, or a large exponent. */
const MAYBE_INEXACT = /\d{16}|\d[eE]\+?\d{2}/u;

function exactOrText(_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  const isExact = /^-?\d+$/u.test(source) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isExact ? value : source;
}

/**
 * Parses JSON. A whole number beyond the safe integers, such as a 64-bit id, and a number too large for a double become the text of
 * their digits; other decimals are rounded to doubles as usual.
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseJsonLongNumbersAsText(text: string): unknown {
  return MAYBE_INEXACT.test(text)
    ? JSON.parse(text, exactOrText as Parameters<typeof JSON.parse>[1])
    : JSON.parse(text);
}
