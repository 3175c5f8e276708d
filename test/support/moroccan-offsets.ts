import { takeOffsets } from '../../src/dashboard/text/moroccan-time.ts';
import { MOROCCAN_TIME } from '../../src/domain/morocco/time.ts';

/** Morocco's offsets as the server tells them to the pages. */
export const TOLD_OFFSETS = MOROCCAN_TIME.changes.map(({ from, minutes }) => `${from}=${minutes}`).join(' ');

/** Tells them to the modules of the pages, as the page of an address does. */
export function tellOffsets(): void {
  takeOffsets(TOLD_OFFSETS);
}
