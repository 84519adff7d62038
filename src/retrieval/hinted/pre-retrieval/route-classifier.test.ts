import { describe, expect, test } from 'vitest';
import { routeExamples } from '../route-examples.ts';
import { fitRouteClassifier } from './route-classifier.ts';

const { train, test: unseen } = routeExamples;
const classifier = fitRouteClassifier(train);

function accuracy(examples: typeof train): number {
  const right = examples.filter(({ question, strategy }) => classifier.classify(question).strategy === strategy);
  return right.length / examples.length;
}

describe('the labelled questions', () => {
  test('all labels have equally many, and no test question is a training question', () => {
    for (const label of ['deep_search', 'temporal_search', 'persona_search', 'semantic_search']) {
      expect(train.filter(({ strategy }) => strategy === label)).toHaveLength(28);
      expect(unseen.filter(({ strategy }) => strategy === label)).toHaveLength(14);
    }
    const learnt = new Set(train.map(({ question }) => question));
    expect(unseen.filter(({ question }) => learnt.has(question))).toEqual([]);
  });
});

describe('RouteClassifier', () => {
  test('labels most test questions correctly, where chance is 25 %', () => {
    expect(accuracy(train)).toBeGreaterThan(0.98);
    expect(accuracy(unseen)).toBeGreaterThan(0.6);
  });

  test('the same examples give the same classifier', () => {
    const again = fitRouteClassifier(train);
    for (const { question } of unseen) expect(again.classify(question)).toEqual(classifier.classify(question));
  });

  test('one known word decides between two labels, and an unknown one does not', () => {
    const two = fitRouteClassifier([
      { question: 'red', strategy: 'a' },
      { question: 'blue', strategy: 'b' },
    ]);
    expect(two.classify('red').strategy).toBe('a');
    expect(two.classify('blue').strategy).toBe('b');
    // Nothing known of it but that it is a text: as likely one as the other.
    expect(two.classify('green').probability).toBeCloseTo(0.5, 6);
    expect(two.classify('red').probability).toBeGreaterThan(0.9);
  });
});
