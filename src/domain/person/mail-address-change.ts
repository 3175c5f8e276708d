import { NEW_ADDRESS_MS } from './limits.ts';
import type { AccountMailer } from './ports.ts';

/** Sends mails about a change of address to both addresses. Neither method waits for the mails, or throws. */
export interface MailAddressChange {
  /** Mails the link to the new address, and a warning to the present one. */
  asked(present: string, wanted: string, token: string): void;
  done(before: string, present: string): void;
}

/** Creates the mails. @param report receives the error of a mail; never throws */
export function createMailAddressChange(
  mailer: Pick<AccountMailer, 'sendNewAddress' | 'sendAddressChange'>,
  publicUrl: string,
  report: (failure: unknown) => void,
): MailAddressChange {
  return {
    asked(present, wanted, token) {
      const url = `${publicUrl}/new-address#${token}`;
      void mailer.sendNewAddress({ to: wanted, url, validMinutes: NEW_ADDRESS_MS / 60_000 }).catch(report);
      void mailer.sendAddressChange({ to: present, newAddress: wanted, isDone: false }).catch(report);
    },
    done(before, present) {
      void mailer.sendAddressChange({ to: before, newAddress: present, isDone: true }).catch(report);
    },
  };
}
