import { describe } from 'vitest';
import { limitedPromises } from './engine/limited.ts';
import { enginePromises } from './engine/promises.ts';
import { subjects } from './engine/subjects.ts';

describe.each(subjects)('$name', enginePromises);

describe('without some capabilities:', () => limitedPromises());
