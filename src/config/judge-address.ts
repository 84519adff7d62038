import { BenchError } from '../base/bench-error.ts';
import { serverKey } from './server-key.ts';

/** Environment variable with the key of the judge's server. */
export const judgeKeyVariable = 'DKI_BENCH_JUDGE_KEY';

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

/** The key for the judge's server. @see serverKey */
export function judgeKey(
  address: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return serverKey(address, judgeKeyVariable, environment);
}
