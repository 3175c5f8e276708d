/** SQLite's primary result code for a full disk. */
const FULL = 13;
/** SQLite's extended result code for a write that the system refused, because of a quota or a limit on file sizes. */
const IOERR_WRITE = 778;

/** Whether an operation failed for lack of disk space. */
export function isOutOfSpace(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (typeof errcode === 'number') return (errcode & 0xff) === FULL || errcode === IOERR_WRITE;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}
