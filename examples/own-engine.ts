/**
 * An engine of one's own, here one that wraps another and is slow: every evaluation waits a little for each token, as a server far
 * away would. An engine from nothing implements the same port. `npx tsx examples/own-engine.ts`
 */
import { setTimeout as wait } from 'node:timers/promises';
import { adapterNamed, type EngineOpener, type EngineSession, loadBenchConfig, runBench } from 'dki-bench';

const MS_A_TOKEN = 0.2;

const fast = adapterNamed('llama-cpp').opener({});

/** The session, whose evaluation waits first. */
function slowed(session: EngineSession): EngineSession {
  const evaluate = session.evaluate.bind(session);
  const generate = session.generate.bind(session);
  return Object.assign(session, {
    evaluate: async (...[tokens, options]: Parameters<typeof evaluate>) => {
      await wait(tokens.length * MS_A_TOKEN);
      return evaluate(tokens, options);
    },
    generate: async (...[tokens, limits, options]: Parameters<typeof generate>) => {
      await wait(tokens.length * MS_A_TOKEN);
      return generate(tokens, limits, options);
    },
  });
}

const slow: EngineOpener = {
  inspect: (model) => fast.inspect(model),
  fetch: (model, options) => fast.fetch(model, options),
  accelerators: () => fast.accelerators(),
  open: async (request, options) => {
    const engine = await fast.open(request, options);
    const openSession = engine.openSession.bind(engine);
    return Object.assign(engine, {
      openSession: async (...asked: Parameters<typeof openSession>) => slowed(await openSession(...asked)),
    });
  },
};

const config = loadBenchConfig({ flags: { limit: '30', arms: 'rag,rag-cached,dki' } });
const [results] = await runBench(config, { engine: slow });

for (const { arm, costAll } of results!.arms) console.log(arm, costAll?.tokens.evaluated, costAll?.ttftMs.mean);
