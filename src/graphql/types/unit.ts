import { UNITS, type Unit } from '../../domain/invoice/units.ts';
import { enumOf } from '../enum-of.ts';

const MEANINGS = Object.fromEntries(
  Object.entries(UNITS).map(([code, { name, en }]) => [code, `${name} (${en}).`]),
) as Record<Unit, string>;

export const UnitType = enumOf(
  'Unit',
  'The unit of a quantity, as documents encode it (UN/ECE Recommendation 20).',
  MEANINGS,
);
