import { takeOffsets } from '../../src/dashboard/text/moroccan-time.ts';
import { MOROCCAN_TIME } from '../../src/domain/morocco/time.ts';

/** Morocco's offsets in the form in which the server gives them to the pages. */
export const TOLD_OFFSETS = MOROCCAN_TIME.changes.map(({ from, minutes }) => `${from}=${minutes}`).join(' ');

/** Gives the offsets to the modules of the pages, as the HTML of a page does. */
export function tellOffsets(): void {
  takeOffsets(TOLD_OFFSETS);
}
