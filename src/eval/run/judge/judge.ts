import type { BenchConfig } from '../../../config/bench-config.ts';
import { judgeKeyVariable, serverKey } from '../../../config/server-address.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import { VerdictRepository } from '../../../store/verdict-repository.ts';
import { chatReply, type ChatServer } from './chat-completion.ts';
import { JudgeFailure } from './judge-failure.ts';
import { type AnswerToJudge, promptAbout, verdictKey, verdictOf } from './judge-prompt.ts';
import { quotedReply } from './quoted-reply.ts';

const SHOWN_CHARACTERS = 60;

/** A model that says whether answers are right; what it said once is not asked again. */
export class Judge {
  readonly model: string;
  readonly #server: ChatServer;
  readonly #verdicts: VerdictRepository;

  constructor(model: string, server: ChatServer, database: BenchDatabase) {
    this.model = model;
    this.#server = server;
    this.#verdicts = new VerdictRepository(database);
  }

  /** The verdict on an answer where it is known. */
  known(answer: AnswerToJudge): boolean | undefined {
    return this.#verdicts.find(verdictKey(this.model, answer));
  }

  /**
   * Asks about an answer, and keeps the verdict.
   * @throws JudgeFailure where none is given, a reply that is neither yes nor no included; the reason of an aborted signal
   */
  async ask(answer: AnswerToJudge, signal?: AbortSignal): Promise<boolean> {
    const reply = await chatReply(this.#server, this.model, promptAbout(answer), signal);
    const verdict = verdictOf(reply);
    if (verdict === null) {
      const shown = quotedReply(reply, this.#server.key, SHOWN_CHARACTERS);
      throw new JudgeFailure(
        'neither yes nor no',
        'protocol',
        `judge ${this.model}: the reply is neither yes nor no`,
        `it said ${shown}: ask a model that follows instructions`,
      );
    }
    this.#verdicts.add(verdictKey(this.model, answer), verdict);
    return verdict;
  }
}

/** The judge that a configuration names, with the key of the environment; undefined where it names none. */
export function openJudge(
  { judge, judgeModel }: Pick<BenchConfig, 'judge' | 'judgeModel'>,
  database: BenchDatabase,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Judge | undefined {
  if (judge === undefined || judgeModel === undefined) return undefined;
  return new Judge(judgeModel, { address: judge, key: serverKey(judge, judgeKeyVariable, environment) }, database);
}
