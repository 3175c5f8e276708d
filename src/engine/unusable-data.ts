/** The data file is damaged, or was written by another program or a later version. Only a person can repair this. */
export class UnusableData extends Error {
  override readonly name = 'UnusableData';
}
