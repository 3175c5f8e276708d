/** SQLite's primary result code of a full disk, and the extended one of a write that the system refused: a quota, a limit of file sizes. */
const FULL = 13;
const IOERR_WRITE = 778;

/** Whether something failed because there is no room to write. */
export function isOutOfSpace(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (typeof errcode === 'number') return (errcode & 0xff) === FULL || errcode === IOERR_WRITE;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}
