import { ar } from './ar.ts';
import { en } from './en.ts';
import type { Texts } from './fr.ts';
import { fr } from './fr.ts';
import type { Language } from './languages.ts';

/** The texts of the pages in each language. */
export const TEXTS: Readonly<Record<Language, Texts>> = { fr, en, ar };
