import { expect, it } from 'vitest';
import { currentActivity, outside, within } from '../../../src/domain/activity.ts';
import { readTraceparent } from '../../../src/domain/tracing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

it.each([
  [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
  [`00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
  // Other flags than the first are not ours to pass on.
  [`00-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-01`],
  // A later version may have more.
  [`01-${TRACE}-${SPAN}-01-more`, `00-${TRACE}-${SPAN}-01`],
  [`00-${TRACE}-${SPAN}-01-more`, null],
  [`ff-${TRACE}-${SPAN}-01`, null],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, null],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, null],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, null],
  [`00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`, null],
  [`00-${TRACE}-${SPAN}`, null],
  ['', null],
  [undefined, null],
])('the header %s is read as %s', (header, read) => {
  expect(readTraceparent(header)).toBe(read);
});

it('an activity holds for what it awaits, and not for the work of several that it begins', async () => {
  const seen: unknown[] = [];
  await within({ invoiceId: 'inv_1' }, async () => {
    await Promise.resolve();
    seen.push(currentActivity()?.invoiceId);
    await outside(async () => void seen.push(currentActivity()?.invoiceId));
  });
  seen.push(currentActivity());
  expect(seen).toEqual(['inv_1', undefined, undefined]);
});
