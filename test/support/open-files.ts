import { closeSync, openSync } from 'node:fs';

/**
 * Opens files until this process may open no more. Only for a process of its own with a low limit (`ulimit -n`).
 * @param spared number of files that it may still open after that
 * @returns a function that closes the files
 */
export function exhaustFiles(spared = 0): () => void {
  const open: number[] = [];
  try {
    for (;;) open.push(openSync('/dev/null', 'r'));
  } catch {}
  const close = (count: number) => {
    for (const file of open.splice(0, count)) closeSync(file);
  };
  close(spared);
  return () => close(open.length);
}
