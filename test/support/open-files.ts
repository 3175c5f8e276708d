import { closeSync, openSync } from 'node:fs';

/**
 * Opens files until this process may open no more. For a process of its own, with a low limit (`ulimit -n`).
 * @param spared how many more it may open after that
 * @returns a function that closes them
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
