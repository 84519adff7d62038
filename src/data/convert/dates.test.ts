import { expect, test } from 'vitest';
import { readInstant } from './dates.ts';

test.each([
  ['2026-03-01T09:00:00Z', '2026-03-01T09:00:00Z', true],
  ['2026-03-01T09:00:00.250+0130', '2026-03-01T09:00:00.250+01:30', true],
  ['2026-03-01 09:00', '2026-03-01T09:00:00Z', false],
  [' 2024-02-29 ', '2024-02-29T00:00:00Z', false],
  ['1:56 pm on 8 May, 2023', '2023-05-08T13:56:00Z', false],
  ['12:09 am on 13 September, 2023', '2023-09-13T00:09:00Z', false],
  ['2024/3/5 09:30', '2024-03-05T09:30:00Z', false],
  ['2024年3月5日', '2024-03-05T00:00:00Z', false],
  ['5 March 2024', '2024-03-05T00:00:00Z', false],
  ['March 5, 2024 09:30Z', '2024-03-05T09:30:00Z', true],
  ['12:30 PM on 1 June 2023', '2023-06-01T12:30:00Z', false],
])('%s is %s', (text, iso, zoned) => {
  expect(readInstant(text)).toEqual({ iso, zoned });
});

test.each([
  ...['', 'May', '1772355600', '2026-02-30', '2026-13-01', '2026-03-01T25:00:00Z', '01/03/2026', '2026年2月30日'],
  ...['13:56 pm on 8 May, 2023', '1:60 pm on 8 May, 2023', '1:56 pm on 31 April, 2023', '1:56 pm on 8 Mai, 2023'],
])('%j is no time', (text) => {
  expect(readInstant(text)).toBeUndefined();
});
