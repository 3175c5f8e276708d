import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { INVOICE_STATUSES } from '../../domain/invoice/lifecycle.ts';
import { parseLogo } from '../../domain/tenant/logo.ts';
import type { SellerProfileChange } from '../../domain/tenant/ports.ts';
import { parseSellerProfile } from '../../domain/tenant/seller-profile-input.ts';
import { readJsonInput } from '../files.ts';

const SAMPLES = fileURLToPath(new URL('../../../scripts/samples/', import.meta.url));

const sample = z.strictObject({
  title: z.string().min(1),
  expected: z.strictObject({ statuses: z.array(z.enum(INVOICE_STATUSES)).min(1), reason: z.string().optional() }),
  request: z.looseObject({ amount: z.number() }),
});

/** An invoice of the demo and its expected outcome. */
export interface Sample {
  readonly title: string;
  /** The statuses that the stream should report, in order, and a part of the rejection reason. */
  readonly expected: { readonly statuses: readonly string[]; readonly reason?: string | undefined };
  /** Body of POST /v1/invoices. */
  readonly request: { readonly amount: number; readonly [field: string]: unknown };
}

/**
 * Reads the samples of `scripts/samples/`, ordered by file name.
 * @throws Error naming the file that is not a valid sample
 */
export async function readSamples(folder: string = SAMPLES): Promise<Sample[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(
    names.map(async (name) => {
      const parsed = sample.safeParse(await readJsonInput(join(folder, name)));
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      throw new Error(`${join(folder, name)} is not a valid sample: ${issue?.path.join('.')} ${issue?.message}.`);
    }),
  );
}

/** Reads the seller profile of the samples. */
export async function readSampleSeller(): Promise<SellerProfileChange> {
  return parseSellerProfile(await readJsonInput(join(SAMPLES, 'seller', 'profile.json')), parseLogo);
}
