import { basename } from 'node:path';
import { BenchError } from '../../config/bench-error.ts';
import { grammars } from '../../config/grammar.ts';
import type { UserSpeech } from '../metrics/user-speech.ts';
import { assembleUsers } from './assemble.ts';
import { checkConsistency } from './consistency.ts';
import type { Dataset } from './dataset.ts';
import { readRecords } from './records.ts';

/**
 * Reads a data set that arms can be asked, in JSON Lines, one record a line: an optional `dataset` record first, then `memory` and `item`
 * records in any order. The text in it is data: none of it is used as a path or a command.
 * @throws BenchError `not-found` for a missing file, `bad-data` for the first thing else that is wrong with it, naming
 * file, line and field
 */
export async function readDataset(path: string): Promise<Dataset> {
  const refuse = (_rule: string, problem: BenchError): never => {
    throw problem;
  };
  const records = await readRecords(path, refuse);
  checkConsistency(records, refuse);
  const [unanswered] = records.questions;
  if (unanswered !== undefined) {
    throw new BenchError(
      'bad-data',
      `${unanswered.place}: a question without an answer, on which recall alone can be measured`,
      'choose a data set with items; the suite retrieval makes such questions itself: --suite retrieval --seed N',
    );
  }
  const header = records.header?.record;
  const speech: UserSpeech = {
    language: header?.language ?? 'en',
    unknownAnswer: header?.unknownAnswer ?? grammars.en.unknownAnswer,
  };
  return {
    name: header?.name ?? basename(records.path).replace(/\.jsonl$/, ''),
    sha256: records.sha256,
    ...speech,
    users: assembleUsers(records, speech),
  };
}
