import { describe } from 'vitest';
import { enginePromises } from './engine/promises.ts';
import { largeSubjects } from './engine/subjects.ts';

describe.each(largeSubjects)('$name', enginePromises);
