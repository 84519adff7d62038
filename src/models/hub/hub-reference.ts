import { join } from 'node:path';
import { BenchError } from '../../base/bench-error.ts';
import { cacheFolder } from '../../config/cache-folder.ts';

/** Prefix of names on the hub: `hf:org/repo/file.gguf`, or `hf:org/repo` for all files of a model. */
export const hubPrefix = 'hf:';

const DEFAULT_ENDPOINT = 'https://huggingface.co';
const DEFAULT_REVISION = 'main';
const PART = '[A-Za-z0-9][A-Za-z0-9._-]*';
const REFERENCE = new RegExp(`^${hubPrefix}(${PART})/(${PART})(?:@(${PART}))?(?:/(${PART}(?:/${PART})*))?$`);

/** One repository of the hub, at one revision. */
export interface HubRepository {
  /** The name as given, without a file. */
  readonly name: string;
  readonly organisation: string;
  readonly repository: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
}

/** A repository, and a file in it if one was named. */
export interface HubReference extends HubRepository {
  readonly file: string | undefined;
}

/** Address, token and cache of the hub, from the environment variables of Hugging Face's own tools. */
export interface HubAccess {
  /** `HF_ENDPOINT`: the hub or a mirror of it, without a trailing slash. */
  readonly endpoint: string;
  /** `HF_TOKEN`: sent to the endpoint only, and never written. */
  readonly token: string | undefined;
  /** Folder of fetched files. */
  readonly cacheFolder: string;
}

/**
 * Parses `hf:org/repo/folder/file` or `hf:org/repo`, either with `@revision` behind the repository. No part can leave the
 * folder of the cache.
 * @throws BenchError `bad-option` for any other form
 */
export function parseHubReference(name: string): HubReference {
  const [, organisation, repository, revision = DEFAULT_REVISION, file] = REFERENCE.exec(name) ?? [];
  if (organisation === undefined || repository === undefined) {
    throw new BenchError(
      'bad-option',
      `${name}: not a valid name on the hub`,
      'write hf:org/repo/file.gguf for a model, hf:org/repo for an embedder; hf:org/repo@revision/… for a revision',
    );
  }
  return {
    name: file === undefined ? name : name.slice(0, -file.length - 1),
    organisation,
    repository,
    revision,
    file,
  };
}

/** Path of a repository's folder in the cache; its last part names repository and revision. */
export function cacheFolderOf(
  { organisation, repository, revision }: HubRepository,
  { cacheFolder }: Pick<HubAccess, 'cacheFolder'>,
): string {
  const folder = revision === DEFAULT_REVISION ? repository : `${repository}@${revision}`;
  return join(cacheFolder, organisation, folder);
}

/** URL of a file. */
export function addressOf({ organisation, repository, revision }: HubRepository, file: string, hub: HubAccess): string {
  return `${hub.endpoint}/${organisation}/${repository}/resolve/${revision}/${file}`;
}

/**
 * Reads the hub's settings from the environment. No message contains a token or a URL with a password.
 * @throws BenchError `bad-option` if `HF_ENDPOINT` is not a web address, or `HF_TOKEN` cannot be sent
 */
export function hubAccess(environment: Readonly<Record<string, string | undefined>> = process.env): HubAccess {
  const endpoint = nonEmpty(environment['HF_ENDPOINT']) ?? DEFAULT_ENDPOINT;
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) {
    throw new BenchError('bad-option', `HF_ENDPOINT ${endpoint}: not an address`, `write it as ${DEFAULT_ENDPOINT}`);
  }
  const { username, password } = new URL(endpoint);
  if (username !== '' || password !== '') {
    throw new BenchError('bad-option', 'HF_ENDPOINT names a user or a password', 'give the token as HF_TOKEN instead');
  }
  const token = nonEmpty(environment['HF_TOKEN']?.trim());
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new BenchError('bad-option', 'HF_TOKEN is not a token: it has spaces or odd characters', 'set it again');
  }
  return {
    endpoint: endpoint.replace(/\/+$/, ''),
    token,
    cacheFolder: join(cacheFolder(environment), 'models'),
  };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
