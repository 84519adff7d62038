import { BenchError } from '../base/bench-error.ts';
import { isLocalUrl } from '../base/http-request.ts';

/** Environment variables with the API keys of the engine's server, of the judge, and of either. */
export const engineKeyVariable = 'DKI_BENCH_ENGINE_KEY';
export const judgeKeyVariable = 'DKI_BENCH_JUDGE_KEY';
const USUAL_KEY_VARIABLE = 'OPENAI_API_KEY';

/**
 * The API key for a server: from `ownVariable`, else from `OPENAI_API_KEY`, which is never sent unencrypted to another machine.
 * @throws BenchError `bad-option` for a key that cannot be sent in a header; the message does not show it
 */
export function apiKey(
  address: string,
  ownVariable: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const url = new URL(address);
  const isSafe = url.protocol === 'https:' || isLocalUrl(url);
  const names = isSafe ? [ownVariable, USUAL_KEY_VARIABLE] : [ownVariable];
  const name = names.find((one) => (environment[one] ?? '').trim() !== '');
  if (name === undefined) return undefined;
  const key = environment[name]!.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new BenchError('bad-option', `${name}: not a valid key`, 'a key is one line of ASCII without blanks');
}
