import { homedir } from 'node:os';
import { join } from 'node:path';
import { BenchError } from '../bench-error.ts';

/** Begins the name of what lies on the hub: `hf:org/repo/file.gguf`, or `hf:org/repo` for all of a model's files. */
export const hubPrefix = 'hf:';

const DEFAULT_ENDPOINT = 'https://huggingface.co';
const DEFAULT_REVISION = 'main';
const PART = '[A-Za-z0-9][A-Za-z0-9._-]*';
const REFERENCE = new RegExp(`^${hubPrefix}(${PART})/(${PART})(?:@(${PART}))?(?:/(${PART}(?:/${PART})*))?$`);

/** Files of one repository of the hub, at one revision. */
export interface HubRepository {
  /** As it was named, without a file. */
  readonly name: string;
  readonly organisation: string;
  readonly repository: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
}

/** A repository, and the file in it where one was named. */
export interface HubReference extends HubRepository {
  readonly file: string | undefined;
}

/** What the hub is reached by; from the environment, as Hugging Face's own tools take it. */
export interface HubAccess {
  /** `HF_ENDPOINT`: the hub, or a mirror of it; without a slash at its end. */
  readonly endpoint: string;
  /** `HF_TOKEN`: sent to the endpoint alone, and written nowhere. */
  readonly token: string | undefined;
  /** Where what was fetched is kept: `dki-bench/models` in `XDG_CACHE_HOME`, or in `~/.cache`. */
  readonly cacheFolder: string;
}

/**
 * Takes apart `hf:org/repo/folder/file`, `hf:org/repo`, and either with `@revision` behind the repository.
 * @throws BenchError `bad-option` for what is not of that form; none of its parts can leave the folder of the cache
 */
export function parseHubReference(name: string): HubReference {
  const [, organisation, repository, revision = DEFAULT_REVISION, file] = REFERENCE.exec(name) ?? [];
  if (organisation === undefined || repository === undefined) {
    throw new BenchError(
      'bad-option',
      `${name}: not the name of something on the hub`,
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

/** The folder of the cache that holds the files of a repository; its last part names repository and revision. */
export function cacheFolderOf(
  { organisation, repository, revision }: HubRepository,
  { cacheFolder }: HubAccess,
): string {
  const folder = revision === DEFAULT_REVISION ? repository : `${repository}@${revision}`;
  return join(cacheFolder, organisation, folder);
}

/** The address of a file. */
export function addressOf({ organisation, repository, revision }: HubRepository, file: string, hub: HubAccess): string {
  return `${hub.endpoint}/${organisation}/${repository}/resolve/${revision}/${file}`;
}

/**
 * Neither a token nor the words of an address that names a password stand in any message.
 * @throws BenchError `bad-option` where `HF_ENDPOINT` is no address of the web, or `HF_TOKEN` none that can be sent
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
    cacheFolder: join(nonEmpty(environment['XDG_CACHE_HOME']) ?? join(homedir(), '.cache'), 'dki-bench', 'models'),
  };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
