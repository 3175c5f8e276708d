import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process that both sides of a bench use: begun by the first that enters, ended by the last that leaves. */
export interface SharedProcess<Served, Account> {
  /** What it says when it serves. @throws when it ends before */
  enter(): Promise<Served>;
  /** What it answers to a message: the work done so far. @throws when it ends before */
  account(): Promise<Account>;
  leave(): Promise<void>;
}

/** @param file of the process, beside this one; it ends when it is disconnected */
export function sharedProcess<Served, Account>(file: string): SharedProcess<Served, Account> {
  let child: ChildProcess | null = null;
  let served: Promise<Served> | null = null;
  let users = 0;

  async function heard(): Promise<unknown> {
    if (!child) throw new Error('nothing serves');
    const end = new AbortController();
    try {
      const ended = once(child, 'exit', { signal: end.signal }).then(([code]) => {
        throw new Error(`the service ended with code ${code}`);
      });
      const [message] = (await Promise.race([once(child, 'message', { signal: end.signal }), ended])) as [unknown];
      return message;
    } finally {
      end.abort();
    }
  }

  return {
    enter() {
      users++;
      served ??= (async () => {
        child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        });
        return (await heard()) as Served;
      })();
      return served;
    },
    async account() {
      const answer = heard();
      child?.send('account');
      return (await answer) as Account;
    },
    async leave() {
      if (--users > 0) return;
      child?.disconnect();
      if (child && child.exitCode === null) await once(child, 'exit');
    },
  };
}
