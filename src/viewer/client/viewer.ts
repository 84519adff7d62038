import { listenForKeys } from './keys.ts';
import { watchFilters } from './live-filters.ts';
import { filterStaticMatrix } from './static-matrix.ts';
import { mountAttribution } from './attribution-button.tsx';
import { watchRun } from './watch-run.ts';

// The style shows the hint to the keys only with this attribute.
document.documentElement.dataset['script'] = '';
listenForKeys();
watchFilters();
filterStaticMatrix();
mountAttribution();
watchRun();
