import { BenchError } from '../base/bench-error.ts';

/** The key that clients of OpenAI-compatible servers usually read. */
const usualKeyVariable = 'OPENAI_API_KEY';

/** Environment variable with the key of the server that runs the language model. */
export const engineKeyVariable = 'DKI_BENCH_ENGINE_KEY';

/** Tells an address that no other machine hears. */
export function isOfThisMachine({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/**
 * The key for a server: that of its own variable, else `OPENAI_API_KEY`, which no other machine is sent in the clear.
 * @throws BenchError `bad-option` for one that no header can hold; the message does not show it
 */
export function serverKey(
  address: string,
  ownVariable: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const url = new URL(address);
  const isHeard = url.protocol === 'https:' || isOfThisMachine(url);
  const names = isHeard ? [ownVariable, usualKeyVariable] : [ownVariable];
  const name = names.find((one) => (environment[one] ?? '').trim() !== '');
  if (name === undefined) return undefined;
  const key = environment[name]!.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new BenchError('bad-option', `${name} holds what no key can`, 'a key is one line of ASCII without blanks');
}
