import { INSTALLATION } from '../audit-entry.ts';
import type { OperatorChange, OperatorUseCase } from '../use-case.ts';
import type { AuthorityStateStore, Pause } from './state.ts';

interface Needs {
  readonly authorityState: Pick<AuthorityStateStore, 'pause' | 'resume'>;
  readonly now: () => Date;
}

/** What operators do with the connection to the authority. */
export const AUTHORITY_OPERATIONS = {
  /** Pauses the authority: nothing is sent to it from now on. @param author see {@link Pause} */
  pauseAuthority: {
    audit: 'authority.paused',
    async run(
      { authorityState, now }: Needs,
      { record }: OperatorChange,
      author: string,
      reason: string | null,
    ): Promise<Pause> {
      const pause = { by: author, reason, since: now() };
      await authorityState.pause(pause);
      const details = reason === null ? {} : { reason };
      await record({ tenantId: INSTALLATION }, { subject: null, details });
      return pause;
    },
  },

  /** Ends the pause. @returns the pause that it ended; null if there was none */
  resumeAuthority: {
    audit: 'authority.resumed',
    async run({ authorityState }: Needs, { record }: OperatorChange): Promise<Pause | null> {
      const ended = await authorityState.resume();
      if (ended !== null) await record({ tenantId: INSTALLATION }, { subject: null });
      return ended;
    },
  },
} as const satisfies Readonly<Record<string, OperatorUseCase>>;
