import type { TokenId } from './token-id.ts';

/** A character split over tokens adds at most this many of them to what a stop text can span. */
const SPLIT_CHARACTER_TOKENS = 4;

/**
 * Watches generated tokens for the stop texts. Gives the text before the earliest of them once one is complete,
 * and undefined until then. Only the end of the tokens is looked at each time, so that it costs the same at each.
 */
export function stopTextWatcher(
  stopTexts: readonly string[],
  detokenize: (tokens: readonly TokenId[]) => string,
): (tokens: readonly TokenId[]) => string | undefined {
  if (stopTexts.length === 0) return () => undefined;
  const longestBytes = Math.max(...stopTexts.map((stopText) => Buffer.byteLength(stopText)));
  const tailTokens = longestBytes + SPLIT_CHARACTER_TOKENS;
  return (tokens) => {
    const tail = detokenize(tokens.slice(-tailTokens));
    if (!stopTexts.some((stopText) => tail.includes(stopText))) return undefined;
    const text = detokenize(tokens);
    const found = stopTexts.map((stopText) => text.indexOf(stopText)).filter((index) => index >= 0);
    return found.length === 0 ? undefined : text.slice(0, Math.min(...found));
  };
}

/** Text without an end that is part of a character, or that may be the beginning of a stop text. */
export function textThatStays(text: string, stopTexts: readonly string[]): string {
  const whole = text.replace(/\ufffd+$/, '');
  const beginnings = stopTexts.flatMap((stopText) => Array.from(stopText, (_, index) => stopText.slice(0, index + 1)));
  const held = Math.max(0, ...beginnings.filter((beginning) => whole.endsWith(beginning)).map(({ length }) => length));
  return whole.slice(0, whole.length - held);
}
