import { NEW_ADDRESS_MS } from './limits.ts';
import type { AccountMailer } from './ports.ts';

/** Tells both addresses of a change of address. Neither method waits for the mails, or throws. */
export interface MailAddressChange {
  /** The link to the new address, and a warning to the present one. */
  asked(present: string, wanted: string, token: string): void;
  done(before: string, present: string): void;
}

/** @param report gets the failure of a mail. Never throws */
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
