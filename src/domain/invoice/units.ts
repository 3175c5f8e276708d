import type { DocumentLanguage } from '../document-language.ts';

/** A unit: what it is, and its symbols, which documents print after a quantity. */
interface UnitRow extends Readonly<Record<DocumentLanguage, string>> {
  readonly name: string;
}

/**
 * The units of quantities by their code of UN/ECE Recommendation 20, which EN 16931 requires (BT-130). A new unit needs
 * only a row here: inputs, documents and forms are derived from this table.
 */
export const UNITS = {
  HUR: { name: 'Hour', fr: 'h', ar: 'ساعة', en: 'h' },
  DAY: { name: 'Day', fr: 'j', ar: 'يوم', en: 'd' },
  MON: { name: 'Month', fr: 'mois', ar: 'شهر', en: 'mo' },
  ANN: { name: 'Year', fr: 'an', ar: 'سنة', en: 'y' },
  KGM: { name: 'Kilogram', fr: 'kg', ar: 'كغ', en: 'kg' },
  GRM: { name: 'Gram', fr: 'g', ar: 'غ', en: 'g' },
  TNE: { name: 'Tonne', fr: 't', ar: 'طن', en: 't' },
  LTR: { name: 'Litre', fr: 'l', ar: 'ل', en: 'l' },
  MTR: { name: 'Metre', fr: 'm', ar: 'م', en: 'm' },
  MTK: { name: 'Square metre', fr: 'm²', ar: 'م²', en: 'm²' },
  MTQ: { name: 'Cubic metre', fr: 'm³', ar: 'م³', en: 'm³' },
  KMT: { name: 'Kilometre', fr: 'km', ar: 'كم', en: 'km' },
  KWH: { name: 'Kilowatt hour', fr: 'kWh', ar: 'ك.و.س', en: 'kWh' },
  SET: { name: 'Set', fr: 'lot', ar: 'مجموعة', en: 'set' },
} as const satisfies Readonly<Record<string, UnitRow>>;

export type Unit = keyof typeof UNITS;

export const UNIT_CODES = Object.keys(UNITS) as [Unit, ...Unit[]];

/** The code of a quantity without a unit: "one" in UN/ECE Recommendation 20. */
const UNIT_OF_PIECES = 'C62';

/** Returns the code that documents write. */
export function unitCode(unit: Unit | null | undefined): string {
  return unit ?? UNIT_OF_PIECES;
}
