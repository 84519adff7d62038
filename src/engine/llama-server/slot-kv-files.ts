import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import { diskErrorHint } from '../../base/disk-error-hint.ts';
import { linkOrCopy, moveFile, readLargeFile } from '../../base/read-remove-rename-files.ts';
import type { ServerConnection } from '../http/server-connection.ts';
import type { SessionCells } from '../sequence-state.ts';
import type { SavableSequence } from '../llama-state/kv-transfer.ts';
import {
  gatherCells,
  type ParsedState,
  parseState,
  PLACEHOLDER_TOKEN,
  stateParts,
  writeParts,
} from '../llama-state/state-file.ts';
import { UNKNOWN_TOKEN } from '../token-id.ts';
import type { Slot } from './slot.ts';

const count = z.int().nonnegative();
const savedShape = z.object({ n_saved: count, n_written: count });
const restoredShape = z.object({ n_restored: count });

/** Saves and loads the KV of a slot, through files in the server's folder. They have random names and are deleted at once. */
export class SlotKvFiles implements SavableSequence {
  readonly #parts;

  /** @param parts `cells`: what the session holds; the slot may hold more, until it drops truncated cells at its next request */
  constructor(parts: Readonly<{ connection: ServerConnection; slot: Slot; cells: SessionCells; folder: string }>) {
    this.#parts = parts;
  }

  async save(path: string): Promise<number> {
    const { name, serverPath } = this.#newFile();
    try {
      const { n_written: written } = await this.#parts.slot.counts.time(() =>
        this.#parts.connection
          .post(`/slots/${this.#parts.slot.id}?action=save`, { filename: name }, savedShape)
          .catch((cause: unknown) => {
            throw cause instanceof BenchError && cause.code !== 'protocol' ? cause : this.#notSaved(cause);
          }),
      );
      const size = statSync(serverPath, { throwIfNoEntry: false })?.size;
      if (size === undefined) throw this.#otherFolder();
      if (size !== written) throw this.#notSaved(new Error(`${size} of ${written} bytes written`));
      chmodSync(serverPath, 0o600);
      const state = parseState(readLargeFile(serverPath), `slot ${this.#parts.slot.id}`);
      this.#requireOwn(state);
      if (state.tokens.length === this.#parts.cells.nextPosition) {
        moveFile(serverPath, path);
        return written;
      }
      const end = this.#parts.cells.nextPosition;
      const below = [...state.positions.keys()].filter((cell) => state.positions[cell]! < end);
      const parts = stateParts(gatherCells(state, below), state.tokens.subarray(0, end), {
        ...state.form,
        streams: state.streams,
      });
      writeParts(path, parts);
      return parts.reduce((bytes, part) => bytes + part.length, 0);
    } finally {
      rmSync(serverPath, { force: true });
    }
  }

  async load(path: string): Promise<void> {
    const { name, serverPath } = this.#newFile();
    try {
      linkFile(path, serverPath);
      await this.#parts.slot.counts.time(() =>
        this.#parts.connection.post(`/slots/${this.#parts.slot.id}?action=restore`, { filename: name }, restoredShape),
      );
    } catch (cause) {
      if (!(cause instanceof BenchError) || cause.code !== 'protocol') throw cause;
      const hint = 'delete it; it will be computed again';
      throw new BenchError('bad-state', `${basename(path)}: ${cause.message}`, hint, cause);
    } finally {
      rmSync(serverPath, { force: true });
    }
  }

  async truncate(): Promise<void> {
    await this.#parts.slot.erase({});
  }

  #requireOwn({ tokens }: ParsedState): void {
    const own = this.#parts.cells
      .tokensByPosition()
      .map((token) => (token === UNKNOWN_TOKEN ? PLACEHOLDER_TOKEN : token));
    if (own.length <= tokens.length && own.every((token, position) => token === tokens[position])) return;
    throw this.#parts.connection.errors.changed(`the tokens in slot ${this.#parts.slot.id} have changed`);
  }

  #newFile(): { readonly name: string; readonly serverPath: string } {
    const name = `dki-bench-${randomUUID()}.bin`;
    return { name, serverPath: join(this.#parts.folder, name) };
  }

  #notSaved(cause: unknown): BenchError {
    const why = cause instanceof Error ? cause.message : String(cause);
    const hint = 'free some space in the folder of --slots-folder';
    return new BenchError('disk', `${this.#parts.folder}: the server could not save a slot: ${why}`, hint, cause);
  }

  #otherFolder(): BenchError {
    const hint = 'name the folder of its --slot-save-path: --slots-folder DIR';
    return new BenchError('bad-option', `--slots-folder ${this.#parts.folder}: the server saves slots elsewhere`, hint);
  }
}

/** @throws BenchError `disk` */
function linkFile(from: string, to: string): void {
  try {
    linkOrCopy(from, to);
  } catch (error) {
    const message = `${to}: a stored state cannot be copied there: ${(error as Error).message}`;
    throw new BenchError('disk', message, diskErrorHint(error), error);
  }
}
