import { listenForKeys } from './keys.ts';
import { watchFilters } from './live-filters.ts';
import { mountInfluence } from './influence-button.tsx';

// Says to the style that there are keys.
document.documentElement.dataset['script'] = '';
listenForKeys();
watchFilters();
mountInfluence();
