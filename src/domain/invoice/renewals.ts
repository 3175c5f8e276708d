import type { Claim, InvoiceClaims } from './repository.ts';

/** Age at which a lease is renewed, milliseconds. */
const RENEW_MS = 1000;
/** Interval at which the ages of the leases are checked, milliseconds. */
const LOOK_MS = 325;

/** Renews the leases of a process's runs, many with one command. */
export function createRenewals({ renew }: Pick<InvoiceClaims, 'renew'>) {
  const held = new Map<Claim, { readonly leaseMs: number; renewedAt: number }>();
  let timer: NodeJS.Timeout | null = null;

  function renewAged(): void {
    const now = performance.now();
    const aged = [...held].filter(([, { renewedAt }]) => now - renewedAt >= RENEW_MS);
    if (aged.length === 0) return;
    for (const [, lease] of aged) lease.renewedAt = now;
    void renew(aged.map(([claim, { leaseMs }]) => ({ claim, leaseMs }))).catch(() => undefined);
  }

  return {
    /**
     * Renews the lease of a claim at intervals from now on. A failed renewal is not reported: the run continues, and
     * its next change fails if another worker has claimed the invoice.
     * @param leaseMs length of the lease, milliseconds
     * @returns a function that ends the renewals
     */
    hold(claim: Claim, leaseMs: number): () => void {
      held.set(claim, { leaseMs, renewedAt: performance.now() });
      // Not `every`, because leases must not wait while the store is slow to renew others.
      timer ??= setInterval(renewAged, LOOK_MS);
      return () => {
        held.delete(claim);
        if (held.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
  };
}
