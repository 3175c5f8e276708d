import type { Owner } from '../tenant/tenant.ts';
import type { SeriesNumber } from './series-number.ts';

/** The series of legal numbers of the service, as operators see them. */
export interface NumberSeries {
  /**
   * The last number of each series of a tenant in an environment, the newest year first; no entry for a year without
   * numbers. One round trip for each, and one.
   */
  lastNumbers(owner: Owner): Promise<SeriesNumber[]>;
}
