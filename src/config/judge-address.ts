import { BenchError } from './bench-error.ts';

/** Environment variable with the key of the judge's server. */
export const judgeKeyVariable = 'DKI_BENCH_JUDGE_KEY';

/** The key that clients of this route usually read. */
const usualKeyVariable = 'OPENAI_API_KEY';

const ROUTE = '/chat/completions';

/**
 * The whole address of the route that answers chats: `http://127.0.0.1:8080`, `…/v1` and `…/v1/chat/completions` are one.
 * @throws BenchError `bad-option` for an address of another kind; a message never shows one, since it may hold a password
 */
export function judgeAddress(given: string): string {
  const refuse = (what: string, hint: string): never => {
    throw new BenchError('bad-option', `--judge: ${what}`, hint);
  };
  if (!URL.canParse(given)) return refuse('is no address', 'give one such as http://127.0.0.1:8080');
  const url = new URL(given);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return refuse(`${url.protocol} is no protocol of a judge`, 'give an address that begins with http:// or https://');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return refuse('holds more than host and path', `drop user, password, query and fragment; a key is read from ${judgeKeyVariable}`); // prettier-ignore
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith(ROUTE)) url.pathname = `${path}${path.endsWith('/v1') ? '' : '/v1'}${ROUTE}`;
  return url.href;
}

/** Tells an address that no other machine hears. */
function isOfThisMachine({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/**
 * The key for the judge's server: `DKI_BENCH_JUDGE_KEY`, else `OPENAI_API_KEY`, which no other machine is sent in the clear.
 * @throws BenchError `bad-option` for one that no header can hold; the message does not show it
 */
export function judgeKey(
  address: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const url = new URL(address);
  const isHeard = url.protocol === 'https:' || isOfThisMachine(url);
  const names = isHeard ? [judgeKeyVariable, usualKeyVariable] : [judgeKeyVariable];
  const name = names.find((one) => (environment[one] ?? '').trim() !== '');
  if (name === undefined) return undefined;
  const key = environment[name]!.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new BenchError('bad-option', `${name} holds what no key can`, 'a key is one line of ASCII without blanks');
}
