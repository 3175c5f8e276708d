import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { addDays, isCalendarDate } from '../../../../src/domain/calendar-date.ts';
import { TAX_RATES, type TaxRate } from '../../../../src/domain/invoice/tax-rate.ts';
import { EXEMPTION_CODES, type LineExemption } from '../../../../src/domain/morocco/exemptions.ts';
import type { RuledDocument } from '../../../../src/domain/morocco/rule.ts';
import { ALL_RULES, rulesFrom, rulesOn, standingOf } from '../../../../src/domain/morocco/rules.ts';

const SAMPLES = readFileSync(new URL('rule-samples.md', import.meta.url), 'utf8');

interface Sample {
  readonly date: string;
  readonly text: string;
  readonly warns: readonly string[];
  readonly applies: readonly string[];
}

/** The rows of the tables of `rule-samples.md`. */
const samples: readonly Sample[] = SAMPLES.split('\n')
  .filter((line) => /^\| \d{4}/.test(line))
  .map((line) => {
    const [date = '', text = '', warns = '', applies = ''] = line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1);
    return { date, text, warns: listed(warns), applies: listed(applies) };
  });

function listed(cell: string): string[] {
  return cell === '' ? [] : cell.split(', ').toSorted();
}

/** The document that a row describes. @throws {Error} if the row says something that the test does not know */
function documentOf({ date, text }: Pick<Sample, 'date' | 'text'>): RuledDocument {
  const rates: TaxRate[] = [];
  const exemptions: (LineExemption | null)[] = [];
  let document: RuledDocument = {
    kind: 'invoice',
    correctedOn: null,
    taxRates: [],
    exemptions: [],
    total: 120_000,
    tax: 0,
    buyer: { kind: 'company', ice: '001525713000085', address: '5, avenue Hassan II, Rabat' },
    missingSellerFields: [],
    exemptionReason: 'article 91 du CGI',
    servicePeriod: null,
    withholding: null,
    isDeposit: false,
    hasForeignValue: false,
    terms: { operationDate: date, dueDate: addDays(date, 30), paymentMeans: 'transfer', paymentReference: 'F-1' },
  };
  const { terms, buyer } = document;
  let [stated, bought] = [terms, buyer];
  for (const part of text.split(', ')) {
    const [, word = '', value = ''] = /^(no \w+(?: date)?|credit of|\w+) ?(.*)$/.exec(part) ?? [];
    if (word === 'rate') rates.push(TAX_RATES.find((rate) => rate === Number(value)) ?? fail(part));
    else if (word === 'total') document = { ...document, total: Math.round(Number(value) * 100) };
    else if (word === 'credit of') document = { ...document, kind: 'credit_note', correctedOn: value };
    else if (word === 'due') stated = { ...stated, dueDate: value };
    else if (word === 'operation') stated = { ...stated, operationDate: value };
    else if (word === 'cash') stated = { ...stated, paymentMeans: 'cash' };
    else if (word === 'withheld') document = { ...document, withholding: withholdingOf(value) };
    else if (word === 'no due date') stated = { ...stated, dueDate: null };
    else if (word === 'no operation date') stated = { ...stated, operationDate: null };
    else if (word === 'no reference') stated = { ...stated, paymentReference: null };
    else if (part === 'deposit') document = { ...document, isDeposit: true };
    else if (part === 'other currency') document = { ...document, hasForeignValue: true };
    else if (word === 'exempt') exemptions.push(exemptionOf(value));
    else if (word === 'buyer') bought = { ...bought, kind: value === 'person' ? value : 'foreign', ice: null };
    else if (word === 'no ICE') bought = { ...bought, ice: null };
    else if (word === 'no address') bought = { ...bought, address: null };
    else if (word === 'no cnss') document = { ...document, missingSellerFields: ['cnss'] };
    else if (word === 'reason') document = { ...document, exemptionReason: value === 'none' ? null : value };
    else fail(part);
  }
  const taxRates = rates.length === 0 ? [20 as const] : rates;
  const [rate = 0] = taxRates;
  const tax = Math.round((document.total * rate) / (100 + rate));
  return { ...document, taxRates, exemptions, tax, terms: stated, buyer: bought };
}

/** `suspension`, or `suspension with certificate`; `none` for a line that states no exemption. */
function exemptionOf(value: string): LineExemption | null {
  const [name, ...rest] = value.split(' ');
  const code = EXEMPTION_CODES.find((each) => each === name);
  if (code === undefined) return name === 'none' ? null : fail(value);
  return { code, certificate: rest.length > 0 ? { number: '12', date: '2026-01-31' } : null };
}

/** `75`, or `75 with certificate 2026-01-31`. */
function withholdingOf(value: string): RuledDocument['withholding'] {
  const [, percent, date] = /^(\d+)(?: with certificate (.+))?$/.exec(value) ?? fail(value);
  return { percent: Number(percent), certificate: date === undefined ? null : { date } };
}

function fail(part: string): never {
  throw new Error(`the test does not know "${part}"`);
}

/** The codes that apply, with the beginning of their period. */
function codesOf(date: string, document: RuledDocument, isWarning: boolean): string[] {
  return rulesOn(date, document)
    .filter(
      ({ rule }) => (rule.level === 'warning' && rule.doubt === null) === isWarning && rule.code !== 'records_kept',
    )
    .map(({ rule }) => (rule.validFrom === null ? rule.code : `${rule.code}@${rule.validFrom}`))
    .toSorted();
}

describe('the sample documents', () => {
  it('are at least 60, of the years 2023 to 2028', () => {
    expect(samples.length).toBeGreaterThanOrEqual(60);
    const years = new Set(samples.map(({ date }) => date.slice(0, 4)));
    expect([...years].toSorted()).toEqual(['2023', '2024', '2025', '2026', '2027', '2028']);
  });

  it.each(samples)('$date: $text', ({ date, text, warns, applies }) => {
    const document = documentOf({ date, text });
    expect([codesOf(date, document, true), codesOf(date, document, false)]).toEqual([warns, applies]);
    expect(rulesOn(date, document).some(({ rule }) => rule.code === 'records_kept')).toBe(true);
  });
});

/** The rules that end without another period, with their last day. */
const ENDED: Readonly<Record<string, string>> = { withholding_not_in_force: '2024-06-30' };

describe('the table of rules', () => {
  it.each(ALL_RULES)('$code from $validFrom states itself in three languages, with law, source and day', (rule) => {
    for (const text of [...Object.values(rule.says), ...Object.values(rule.doubt ?? {})]) {
      expect(text).toMatch(/\.$/);
      expect(text).not.toMatch(/[{}]|undefined/);
    }
    expect(rule.says.ar).toMatch(/[\u0600-\u06ff]/);
    expect(rule.source).not.toBe('');
    expect(rule.readOn).toMatch(/^\d{4}-\d{2}(?:-\d{2})?$/);
    for (const day of [rule.validFrom, rule.validUntil]) expect(day === null || isCalendarDate(day)).toBe(true);
    expect(rule.level === 'warning').toBe(rule.warning !== undefined);
  });

  it('has periods that follow one another without gap or overlap', () => {
    for (const [index, { code, validUntil }] of ALL_RULES.entries()) {
      const next = ALL_RULES[index + 1];
      if (next?.code === code) expect(addDays(validUntil!, 1)).toBe(next.validFrom);
      else expect([code, validUntil]).toEqual([code, ENDED[code] ?? null]);
    }
  });

  it('says that what the sources contradict each other on is off', () => {
    const off = new Set(ALL_RULES.filter(({ doubt }) => doubt !== null).map(({ code }) => code));
    expect([...off].toSorted()).toEqual(['customer_ice_missing', 'vat_withheld']);
  });

  it('knows what applies on a day and what comes', () => {
    const withheld = (date: string) =>
      rulesFrom(date).flatMap(({ code, validFrom }) => (code === 'vat_withheld' ? [validFrom] : []));
    expect(withheld('2026-06-30')).toEqual(['2024-07-01', '2026-07-01', '2027-01-01', '2028-01-01']);
    expect(withheld('2026-07-01')).toEqual(['2026-07-01', '2027-01-01', '2028-01-01']);
    expect(withheld('2028-01-01')).toEqual(['2028-01-01']);
  });
});

describe('what a rule finds', () => {
  const whatOf = (date: string, text: string, code: string) =>
    rulesOn(date, documentOf({ date, text })).find(({ rule }) => rule.code === code);

  it('names the first line of each rate that is not in force', () => {
    const document = { ...documentOf({ date: '2026-05-04', text: 'cash' }), taxRates: [20, 14, 7, 14] as const };
    const found = rulesOn('2026-05-04', document).filter(({ rule }) => rule.code === 'tax_rate_not_in_force');
    expect(found.map(({ path }) => path)).toEqual(['lines.1.taxRate', 'lines.2.taxRate']);
    expect(found[0]?.what).toContain('14 %');
  });

  it('states what is left to pay if VAT is withheld, and changes no amount', () => {
    const document = documentOf({ date: '2026-05-04', text: 'total 12000.00' });
    const what = whatOf('2026-05-04', 'total 12000.00', 'vat_withheld')?.what;
    expect(what).toContain('10500.00 MAD (75 % withheld) or 10000.00 MAD (100 %) instead of 12000.00 MAD');
    const before = structuredClone(document);
    rulesOn('2026-05-04', document);
    expect(document).toEqual(before);
  });

  it('names the age of a certificate, and the field at fault', () => {
    const warned = (text: string) =>
      rulesOn('2026-08-15', documentOf({ date: '2026-08-15', text })).filter(({ rule }) =>
        /^withholding/.test(rule.code),
      );
    const [old] = warned('total 12000.00, withheld 75 with certificate 2026-01-15');
    expect([old?.path, old?.what]).toEqual(['withholding.certificate.date', expect.stringContaining('7 months old')]);
    const [percent] = warned('total 12000.00, withheld 80');
    expect([percent?.path, percent?.what]).toEqual(['withholding.percent', expect.stringContaining('80 %')]);
    expect(warned('total 4000.00, withheld 75').map(({ path }) => path)).toEqual([
      'withholding',
      'withholding.certificate',
    ]);
  });

  it('states the stamp duty of the whole, rounded half up', () => {
    expect(whatOf('2026-05-04', 'cash, total 1234.00', 'cash_stamp_duty')?.what).toContain('0.25 % is 3.09 MAD');
  });

  it('says from when the term counts if the invoice is late', () => {
    const late = whatOf('2026-02-10', 'operation 2026-01-15, due 2026-06-01', 'due_date_late');
    expect(late?.what).toContain('the end of the month of the operation');
    expect(whatOf('2026-02-10', 'due 2026-07-01', 'due_date_late')?.what).toBeUndefined();
  });

  it('counts from the last day of the period of service, unless the date of the operation is stated', () => {
    const servicePeriod = { from: '2025-12-01', to: '2026-01-31' };
    const pathsOf = (date: string, text: string) =>
      rulesOn(date, { ...documentOf({ date, text }), servicePeriod })
        .filter(({ rule }) => rule.code === 'invoiced_after_month_end')
        .map(({ path }) => path);
    expect(pathsOf('2026-02-01', 'no operation date')).toEqual(['servicePeriod.to']);
    expect(pathsOf('2026-01-31', 'no operation date')).toEqual([]);
    expect(pathsOf('2026-02-01', 'operation 2026-02-01')).toEqual([]);
    expect(pathsOf('2026-02-01', 'operation 2026-01-31')).toEqual(['terms.operationDate']);
  });

  it('says whether it is law in force or announced, with its source', () => {
    const rate = whatOf('2026-05-04', 'rate 14', 'tax_rate_not_in_force')!.rule;
    expect(standingOf(rate)).toMatch(/^Law in force since 2026-01-01: CGI; loi de finances .+\(source: .+; read 2026-/);
    const announced = ALL_RULES.find(({ code }) => code === 'electronic_clearance')!;
    expect(standingOf(announced)).toMatch(/^Announced, not in force: CGI, art\. 145-IX \(source: /);
  });
});
