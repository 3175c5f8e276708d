import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process that both sides of a benchmark use. It starts with the first `enter` and ends with the last `leave`. */
export interface SharedProcess<Served, Account> {
  /** Resolves with the message that the process sends when it is ready. @throws when the process ends before that */
  enter(): Promise<Served>;
  /** Asks the process for the work done so far. @throws when the process ends before it answers */
  account(): Promise<Account>;
  leave(): Promise<void>;
}

/** @param file module of the process, in this folder; it must end when its IPC channel is disconnected */
export function sharedProcess<Served, Account>(file: string): SharedProcess<Served, Account> {
  let child: ChildProcess | null = null;
  let served: Promise<Served> | null = null;
  let users = 0;

  async function heard(): Promise<unknown> {
    if (!child) throw new Error('the process is not running');
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
