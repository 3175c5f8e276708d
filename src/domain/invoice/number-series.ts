import type { Owner } from '../tenant/tenant.ts';
import type { SeriesNumber } from './series-number.ts';

/** The series of legal numbers of the service, as operators see them. */
export interface NumberSeries {
  /**
   * Reads the last number of each series of a tenant in an environment, newest year first, and invoices before
   * credit notes. A series without numbers has no entry. Takes one round trip per series, and one more.
   */
  lastNumbers(owner: Owner): Promise<SeriesNumber[]>;
}
