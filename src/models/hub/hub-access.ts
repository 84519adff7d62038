import { join, resolve } from 'node:path';
import { homedir } from 'node:os';
import { BenchError } from '../../base/bench-error.ts';
import { cacheFolder } from '../../config/cache-folder.ts';

const DEFAULT_ENDPOINT = 'https://huggingface.co';

/** Address, token and caches of the hub, from the environment variables of Hugging Face's tools. */
export type HubAccess = Readonly<ReturnType<typeof hubAccess>>;

/**
 * Reads the hub's settings from the environment. No message contains a token or a URL with a password.
 * @throws BenchError `bad-option` if `HF_ENDPOINT` is not a web address, or `HF_TOKEN` cannot be sent
 */
export function hubAccess(environment: Readonly<Record<string, string | undefined>> = process.env) {
  const value = (name: string): string | undefined => {
    const text = environment[name]?.trim();
    return text === '' ? undefined : text;
  };
  const endpoint = value('HF_ENDPOINT') ?? DEFAULT_ENDPOINT;
  requireEndpoint(endpoint);
  const token = value('HF_TOKEN');
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new BenchError('bad-option', 'HF_TOKEN is not a token: it has spaces or odd characters', 'set it again');
  }
  const caches = value('XDG_CACHE_HOME') ?? join(homedir(), '.cache');
  const home = value('HF_HOME') ?? join(caches, 'huggingface');
  return {
    endpoint: endpoint.replace(/\/+$/, ''),
    // Sent to the endpoint only, and never written.
    token,
    hubCache: resolve(value('HF_HUB_CACHE') ?? join(home, 'hub')),
    // dki-bench's own cache; up to version 0.1 it held hub files, too.
    ownCache: cacheFolder(environment),
  };
}

/** @throws BenchError `bad-option` unless it is a web address without a user name or password */
function requireEndpoint(endpoint: string): void {
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) {
    // The value is left out if it may contain a password.
    const name = endpoint.includes('@') ? 'HF_ENDPOINT' : `HF_ENDPOINT ${endpoint}`;
    throw new BenchError('bad-option', `${name}: not a web address`, `write it as ${DEFAULT_ENDPOINT}`);
  }
  const { username, password } = new URL(endpoint);
  if (username === '' && password === '') return;
  const message = 'HF_ENDPOINT contains a user name or a password';
  throw new BenchError('bad-option', message, 'give the token as HF_TOKEN instead');
}
