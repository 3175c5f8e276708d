/** The data file is damaged, of another program, or of a later version: only a person can make it usable again. */
export class UnusableData extends Error {
  override readonly name = 'UnusableData';
}
