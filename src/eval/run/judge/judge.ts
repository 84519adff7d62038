import type { BenchConfig } from '../../../config/bench-config.ts';
import { judgeKeyVariable, serverKey } from '../../../config/server-address.ts';
import type { BenchDatabase } from '../../../store/database.ts';
import { VerdictRepository } from '../../../store/verdict-repository.ts';
import { chatReply, type ChatServer, JudgeFailure, quoteReply } from './chat-completion.ts';
import { type AnswerToJudge, parseVerdict, promptAbout, verdictKey } from './judge-prompt.ts';

const SHOWN_CHARACTERS = 60;

/** A model that says whether answers are right. Its verdicts are stored, and no answer is judged twice. */
export class Judge {
  readonly model: string;
  readonly #server: ChatServer;
  readonly #verdicts: VerdictRepository;

  constructor(model: string, server: ChatServer, database: BenchDatabase) {
    this.model = model;
    this.#server = server;
    this.#verdicts = new VerdictRepository(database);
  }

  known(answer: AnswerToJudge): boolean | undefined {
    return this.#verdicts.find(verdictKey(this.model, answer));
  }

  /**
   * Asks about an answer, and stores the verdict.
   * @throws JudgeFailure if there is none, also for a reply that is neither yes nor no; the reason of an aborted signal
   */
  async ask(answer: AnswerToJudge, signal?: AbortSignal): Promise<boolean> {
    const reply = await chatReply(this.#server, this.model, promptAbout(answer), signal);
    const verdict = parseVerdict(reply);
    if (verdict === null) {
      const message = `judge ${this.model}: the reply is neither yes nor no`;
      const hint = `it said ${quoteReply(reply, this.#server.key, SHOWN_CHARACTERS)}: ask a model that follows instructions`;
      throw new JudgeFailure('neither yes nor no', message, hint);
    }
    this.#verdicts.add(verdictKey(this.model, answer), verdict);
    return verdict;
  }
}

/** The judge that the options name, with its key from the environment; undefined if they name none. */
export function openJudge({ judge, judgeModel }: BenchConfig, database: BenchDatabase): Judge | undefined {
  if (judge === undefined || judgeModel === undefined) return undefined;
  return new Judge(judgeModel, { address: judge, key: serverKey(judge, judgeKeyVariable, process.env) }, database);
}
