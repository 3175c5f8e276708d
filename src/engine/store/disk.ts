/**
 * SQLite's primary result code for a full disk, and its extended code for a write that the system refused (a quota or a
 * limit on file sizes).
 */
const FULL = 13;
const IOERR_WRITE = 778;

/** Whether an operation failed for lack of disk space. */
export function isOutOfSpace(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (typeof errcode === 'number') return (errcode & 0xff) === FULL || errcode === IOERR_WRITE;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}
