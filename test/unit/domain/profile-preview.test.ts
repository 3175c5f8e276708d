import { expect, it } from 'vitest';
import { samplePage } from '../../../src/domain/invoice/sample-page.ts';
import { createFairQueue } from '../../../src/domain/kit/fair-queue.ts';
import { PREVIEW_BYTES, PREVIEWS } from '../../../src/domain/preview.ts';
import type { KeyPrincipal } from '../../../src/domain/principal.ts';
import { type Logo, parseLogo } from '../../../src/domain/tenant/logo.ts';
import { PROFILE_USE_CASES, type ProfileNeeds } from '../../../src/domain/tenant/own-profile.ts';
import { type SellerProfile, SPECIMEN_SELLER, type Tenant } from '../../../src/domain/tenant/tenant.ts';
import { callable } from '../../../src/domain/use-cases.ts';
import { LOGO } from '../pdf/support.ts';

const stored = parseLogo(LOGO);
const { content: _octets, ...reference } = stored;
const tenant: Tenant = {
  id: 'ten_1',
  name: 'T',
  profile: { legalName: 'Before', logo: reference },
  createdAt: new Date(),
  suspendedAt: null,
};
const principal: KeyPrincipal = { kind: 'secret', keyId: 'key_1', tenant, environment: 'test' };

/** The use case with these samples, which records what is drawn. */
function profileWith(drawSample: ProfileNeeds['drawSample']) {
  const refused = () => Promise.reject(new Error('a preview changes nothing'));
  const needs = {
    tenants: { admitLogo: refused, changeProfile: refused } as never,
    logos: { find: async () => stored },
    certificates: { of: async () => null },
    liveConditions: async () => [],
    readLogo: () => parseLogo,
    drawSample,
    previews: createFairQueue(PREVIEWS),
  };
  const { sellerProfilePreview: preview } = callable(PROFILE_USE_CASES, needs, refused);
  return { preview };
}

it('a preview has the stored profile with the change and the logo of either, and uses up no logo', async () => {
  const drawn: [Partial<SellerProfile>, Logo | null][] = [];
  const { preview } = profileWith(async (_tenantId, profile, logo) => {
    drawn.push([profile, logo]);
    return Buffer.from('%PDF');
  });
  expect(await preview(principal, {})).toBe(`data:application/pdf;base64,${btoa('%PDF')}`);
  await preview(principal, { legalName: 'After', logo: null });
  await preview(principal, { logo: LOGO });
  expect(drawn.map(([{ legalName }, logo]) => [legalName, logo?.sha256 ?? null])).toEqual([
    ['Before', stored.sha256],
    ['After', null],
    ['Before', stored.sha256],
  ]);
});

it('a tenant that asks for many previews at once gets three, and another one takes turns with it', async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const { preview } = profileWith(async (tenantId) => {
    await held;
    order.push(tenantId);
    return Buffer.from('%PDF');
  });
  const other = { ...principal, tenant: { ...tenant, id: 'ten_2' } };
  const many = Array.from({ length: 8 }, () => preview(principal, {}));
  const one = preview(other, {});
  resolve();
  const settled = await Promise.allSettled(many);
  await one;
  const refusals = settled.flatMap((each) => (each.status === 'rejected' ? [String(each.reason.message)] : []));
  expect(refusals).toEqual(Array(5).fill('Too many previews are drawn at the moment. Try again in 5 s.'));
  expect(order).toEqual(['ten_1', 'ten_1', 'ten_2', 'ten_1']);
});

it('a preview that no answer holds is refused', async () => {
  const { preview } = profileWith(async () => Buffer.alloc(PREVIEW_BYTES));
  await expect(preview(principal, {})).rejects.toMatchObject({ code: 'invalid_request', param: null });
});

it('the sample is a test invoice with lines of three rates, and a specimen where the profile has gaps', () => {
  const now = new Date('2026-11-23T10:00:00Z');
  const page = samplePage('ten_1', { legalName: 'Atlas', paymentTermDays: 30 }, null, 'https://x.example', now);
  expect(page.invoice).toMatchObject({
    environment: 'test',
    specimen: true,
    amount: 488_000,
    issueDate: '2026-11-23',
    seller: { legalName: 'Atlas', ice: SPECIMEN_SELLER.ice },
    terms: { dueDate: '2026-12-23' },
  });
  expect(page.invoice.lines.map(({ taxRate }) => taxRate)).toEqual([20, 10, 0]);
  expect(samplePage('ten_1', SPECIMEN_SELLER, null, 'https://x.example', now).invoice.specimen).toBe(false);
});
