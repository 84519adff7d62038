import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { z } from 'zod';
import type { PackedBundle } from '../../../store/queue/queue-writer.ts';
import { checkStoredRecord } from '../../../store/check-stored-record.ts';
import type { UserRows } from '../../../store/transfer-user-rows.ts';
import type { IsolationBundle, UserBundle } from '../../../store/records/worker-result-bundle.ts';

/** The state of a worker, stored with the results of each unit. */
export type WorkerState = Omit<IsolationBundle, 'isolation'>;

/** Makes a bundle from the rows of a user. @param pieces texts of tokens by id */
export function makeBundle(
  userId: string,
  { memories, ...rows }: UserRows,
  pieces: ReadonlyMap<number, string>,
  state: WorkerState,
): UserBundle {
  return {
    userId,
    ...rows,
    ...state,
    memories: memories.map(({ embedding, ...memory }) => ({ ...memory, embedding: encodedVector(embedding) })),
    pieces: [...pieces],
  };
}

export function bundleRows({ memories, ...rows }: UserBundle): UserRows {
  const decoded = memories.map(({ embedding, ...memory }) => ({ ...memory, embedding: decodedVector(embedding) }));
  return { ...rows, memories: decoded } as unknown as UserRows;
}

export function promptTokenIds({ turns }: Pick<UserRows, 'turns'>): Set<number> {
  return new Set(
    turns.flatMap(({ document }) => document?.prompt.segments.flatMap(({ tokenIds }) => [...tokenIds]) ?? []),
  );
}

export async function packBundle(bundle: UserBundle | IsolationBundle): Promise<PackedBundle> {
  const content = await promisify(gzip)(JSON.stringify(bundle));
  return { content, turns: 'turns' in bundle ? bundle.turns.length : 0 };
}

/** @param unit such as `user ann`, for the message @throws BenchError `database` if the content is not a bundle of the schema */
export async function unpackBundle<Bundle extends z.ZodType>(schema: Bundle, content: Buffer, unit: string) {
  const document: unknown = JSON.parse((await promisify(gunzip)(content)).toString('utf8'));
  return checkStoredRecord(schema, document, `the results of ${unit}`);
}

function encodedVector(vector: Float32Array | null): string | null {
  return vector === null ? null : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

function decodedVector(text: unknown): Float32Array | null {
  return typeof text === 'string' ? new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer) : null;
}
